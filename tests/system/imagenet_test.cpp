// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Whole image networks of other people on the RTL: every tensor against the reference, the values in front of the
// softmax against the framework's (models/golden). One image in the short check, all of them in the long one.

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "import/import.h"
#include "tests/support/seed.h"
#include "tests/support/shared.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

struct Case {
  const char* model;   // under models/tflite
  const char* golden;  // under models/golden
  const char* config;
  const char* name;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.golden << " on " << c.config; }

// A memory as in the measured tables.
std::unique_ptr<sim::SimDevice> make_device(const Config& config) {
  sim::SimOptions options;
  options.memory.read_latency = options.memory.write_latency = 100;
  options.memory.bytes_per_cycle = config.axi_bytes;
  return test::make_device(config.name, test::seed(), options);
}

class ImageNet : public testing::TestWithParam<Case> {};

TEST_P(ImageNet, Images) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "KAITEN_SHARED is absent: " << GetParam().model << " does not run on the RTL";
  Graph graph = require_graph(import_file(*shared / "models/tflite" / GetParam().model));
  const auto folder = *shared / "models/golden" / GetParam().golden;
  const nlohmann::json list = nlohmann::json::parse(std::ifstream(folder / "expected.json"));
  int logits = kNoTensor;
  for (const Op& op : graph.ops) {
    if (op.kind == OpKind::Softmax) logits = op.inputs.front();
  }
  ASSERT_NE(logits, kNoTensor);
  graph.outputs.push_back(logits);

  const Config& config = preset(GetParam().config);
  const auto device = make_device(config);
  test::Session session(*device, graph, config, {});
  for (const auto& entry : list["cases"]) {
    const std::string name = entry["name"];
    SCOPED_TRACE(name);
    const Tensor& input = graph.tensors[std::size_t(graph.inputs.at(0))];
    const auto pixels = read_model_file(*shared / "models/images/raw" /
                                        (name + "_" + std::to_string(input.nhwc().h) + ".rgb"));
    ASSERT_EQ(pixels.size(), input.elements());
    const auto result = session.run(std::vector<Int8Values>{from_model(input, pixels)});
    const auto want = read_model_file(folder / entry["logits_file"].get<std::string>());
    EXPECT_EQ(result.outputs.back(), from_model(graph.tensors[std::size_t(logits)], want));
    std::printf("%s, %s: %llu cycles, simulated at %.0f kHz\n", GetParam().golden, name.c_str(),
                static_cast<unsigned long long>(result.cycles()),
                double(device->loop_cycles()) / device->loop_seconds() / 1e3);
#ifndef KAITEN_LONG
    break;
#endif
  }
}

INSTANTIATE_TEST_SUITE_P(
    Networks, ImageNet,
    testing::Values(Case{"coral/tf2_mobilenet_v2_1.0_224_ptq.tflite", "tf2_mobilenet_v2_1.0_224_ptq", "base",
                         "MobileNetV2"},
                    Case{"coral-edgetpu/mobilenet_edgetpu_0.75_224_post_training_quant.tflite",
                         "mobilenet_edgetpu_0.75_224_post_training_quant", "base", "MobileNetEdgeTpu"},
                    // uint8 with asymmetric weights
                    Case{"coral/mobilenet_v1_0.25_128_quant.tflite", "mobilenet_v1_0.25_128_quant", "nano",
                         "MobileNetV1SmallNano"},
                    Case{"coral/mobilenet_v1_0.75_192_quant.tflite", "mobilenet_v1_0.75_192_quant", "nano",
                         "MobileNetV1Uint8Nano"},
                    Case{"coral/tf2_mobilenet_v2_1.0_224_ptq.tflite", "tf2_mobilenet_v2_1.0_224_ptq", "nano",
                         "MobileNetV2Nano"},
                    Case{"coral/mobilenet_v1_0.25_128_quant.tflite", "mobilenet_v1_0.25_128_quant", "base",
                         "MobileNetV1Small"},
                    Case{"coral/mobilenet_v1_0.75_192_quant.tflite", "mobilenet_v1_0.75_192_quant", "base",
                         "MobileNetV1Uint8"},
                    Case{"coral/mobilenet_v2_1.0_224_quant.tflite", "mobilenet_v2_1.0_224_quant", "base",
                         "MobileNetV2Uint8"}),
    [](const auto& info) { return std::string(info.param.name); });

#ifdef KAITEN_LONG
INSTANTIATE_TEST_SUITE_P(
    OnNano, ImageNet,
    testing::Values(Case{"coral-edgetpu/mobilenet_edgetpu_0.75_224_post_training_quant.tflite",
                         "mobilenet_edgetpu_0.75_224_post_training_quant", "nano", "MobileNetEdgeTpu"},
                    Case{"coral/mobilenet_v2_1.0_224_quant.tflite", "mobilenet_v2_1.0_224_quant", "nano",
                         "MobileNetV2Uint8"}),
    [](const auto& info) { return std::string(info.param.name); });
#endif

// The image of a layer file, every tensor as the framework made it.
TEST(LayerFile, MobileNetV1Uint8) {
  const auto shared = test::shared_dir();
  if (!shared)
    GTEST_SKIP() << "KAITEN_SHARED is absent: mobilenet_v1_0.25_128_quant is not compared layer by layer";
  const std::string name = "mobilenet_v1_0.25_128_quant";
  const Graph graph = require_graph(import_file(*shared / "models/tflite/coral" / (name + ".tflite")));
  const auto values = read_model_file(*shared / "models/layers" / (name + ".bin"));
  std::ifstream table(*shared / "models/layers" / (name + ".tsv"));
  std::string line;
  std::getline(table, line);  // column names
  std::vector<Int8Values> inputs, tensors;
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    std::string op, kind, dtype, shape, scale, zero_point;
    std::size_t tensor = 0, offset = 0, bytes = 0;
    fields >> op >> kind >> tensor >> dtype >> shape >> scale >> zero_point >> offset >> bytes;
    ASSERT_TRUE(fields && offset + bytes <= values.size() && tensor < graph.tensors.size()) << line;
    const Int8Values stored = from_model(graph.tensors[tensor], std::span(values).subspan(offset, bytes));
    if (kind == "INPUT") {
      inputs = {stored};
      tensors = run_reference(graph, inputs, RoundingStyle::LiteRt);
    } else {
      EXPECT_EQ(tensors.at(tensor), stored) << kind << " " << graph.tensors[tensor].name;
    }
  }
  // The session compares each of these tensors with the RTL's.
  for (const char* config : {"nano", "base"}) {
    test::run_on(*make_device(preset(config)), graph, preset(config), {}, inputs);
  }
}

}  // namespace
}  // namespace kaiten
