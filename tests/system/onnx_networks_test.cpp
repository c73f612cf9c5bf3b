// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// ONNX networks whole on the RTL: QuantizeLinear of the float input on the host, every tensor of the device
// against the reference, the float outputs against onnxruntime's.

#include <gtest/gtest.h>

#include <string>

#include "import/import.h"
#include "run/session.h"
#include "tests/support/onnx_goldens.h"
#include "tests/support/seed.h"
#include "tests/support/shared.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

#ifdef KAITEN_LONG
constexpr bool kLong = true;
#else
constexpr bool kLong = false;
#endif

void run_network(const std::string& name, const std::string& config) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "KAITEN_SHARED is absent: " << name << " is not run";
  const test::OnnxNetwork& network = test::onnx_network(name);
  const Graph graph = require_graph(import_file(*shared / "models/onnx" / network.file));
  const auto device = test::make_device(config, test::seed());
  test::Session session(*device, graph, preset(config), {});
  std::vector<test::OnnxGolden> goldens = test::onnx_goldens(*shared / "models", network);
  if (!kLong && goldens.size() > 2) goldens.resize(2);
  for (const test::OnnxGolden& golden : goldens) {
    SCOPED_TRACE(golden.name);
    const auto result = session.run(std::vector<Int8Values>{golden.input});
    test::compare_golden(network, golden, result.outputs.at(network.output));
  }
}

// A network of several programs, with averages or additions on the host between them.
void run_programs(const std::string& name, const std::string& config) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "KAITEN_SHARED is absent: " << name << " is not run";
  const test::OnnxNetwork& network = test::onnx_network(name);
  const Graph graph = require_graph(import_file(*shared / "models/onnx" / network.file));
  kaiten::Session session(graph, {.config = config});
  std::vector<test::OnnxGolden> goldens = test::onnx_goldens(*shared / "models", network);
  if (!kLong && goldens.size() > 1) goldens.resize(1);
  for (const test::OnnxGolden& golden : goldens) {
    SCOPED_TRACE(golden.name);
    const RunResult result = session.run(std::vector<Int8Values>{golden.input});
    EXPECT_TRUE(result.report.exact);
    test::compare_golden(network, golden, result.outputs.at(network.output));
    std::printf("%s on %s: %d programs, %llu cycles\n", name.c_str(), config.c_str(), session.sections(),
                static_cast<unsigned long long>(result.report.cycles));
  }
}

TEST(OnnxNetworks, ResNet8QOperatorOnBase) {
  run_programs("resnet8_cifar10_qoperator_s8_perchannel", "base");
}
TEST(OnnxNetworks, ResNet8QOperatorOnNano) {
  run_programs("resnet8_cifar10_qoperator_s8_perchannel", "nano");
}
TEST(OnnxNetworks, ResNet8QdqOnBase) { run_programs("resnet8_cifar10_qdq_s8_perchannel", "base"); }
TEST(OnnxNetworks, ResNet8QdqOnNano) { run_programs("resnet8_cifar10_qdq_s8_perchannel", "nano"); }
TEST(OnnxNetworks, VisualWakeWordsOnBase) { run_network("vww_mobilenetv1_025_96_qdq_s8_perchannel", "base"); }
TEST(OnnxNetworks, VisualWakeWordsOnNano) { run_network("vww_mobilenetv1_025_96_qdq_s8_perchannel", "nano"); }
TEST(OnnxNetworks, MobileNetV1Uint8OnBase) {
  run_programs("mobilenet_v1_0.25_128_qdq_u8_pertensor_asym", "base");
}
TEST(OnnxNetworks, MobileNetV2OnBase) { run_programs("mobilenetv2-12-qdq", "base"); }

}  // namespace
}  // namespace kaiten
