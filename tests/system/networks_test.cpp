// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Networks on the RTL: the demo network against its goldens, ResNet-8 and the keyword spotter against their labelled vectors,
// every tensor of all of them against the reference.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "import/import.h"
#include "tests/support/demo_network.h"
#include "tests/support/seed.h"
#include "tests/support/shared.h"
#include "tests/support/source_file.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

namespace fs = std::filesystem;

#ifdef KAITEN_LONG
constexpr bool kLong = true;
#else
constexpr bool kLong = false;
#endif

constexpr std::size_t kTwiceRounded = 34;  // the image in which tflite-micro differs from LiteRT

int answer(const Int8Values& logits) {
  return int(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

// A memory as in the measured tables: 100 cycles, every cycle a beat.
std::unique_ptr<sim::SimDevice> make_device(const std::string& config) {
  sim::SimOptions options;
  options.memory.read_latency = 100;
  options.memory.write_latency = 100;
  return test::make_device(config, test::seed(), options);
}

void print_speed(const std::string& what, std::uint64_t cycles, sim::SimDevice& device) {
  std::printf("%s: %llu cycles each, simulated at %.0f kHz\n", what.c_str(),
              static_cast<unsigned long long>(cycles),
              double(device.loop_cycles()) / std::max(device.loop_seconds(), 1e-9) / 1e3);
}

class Networks : public testing::TestWithParam<std::string> {
 protected:
  bool important() const { return GetParam() == "nano" || GetParam() == "base"; }
  void run_vectors(const std::string& name, const std::string& model, const std::string& folder);
};

TEST_P(Networks, Demo) {
  const Graph graph = test::demo_network();
  const std::vector<test::DemoGolden> goldens = test::demo_goldens();
  ASSERT_EQ(goldens.size(), test::kDemoImages);
  const std::vector<Int8Values> images = test::demo_images();
  const auto device = make_device(GetParam());
  std::vector<std::size_t> selection;
  // Ten, among them the one with two answers.
  for (std::size_t i = 4; i < test::kDemoImages; i += kLong ? 1 : 10) selection.push_back(i);
  for (std::size_t i = 0; kLong && i < 4; i++) selection.push_back(i);
  if (!kLong && !important()) selection = {kTwiceRounded};
  test::Session session(*device, graph, preset(GetParam()), {});
  std::uint64_t cycles = 0;
  for (std::size_t i : selection) {
    SCOPED_TRACE("image " + std::to_string(i));
    const auto result = session.run(std::vector<Int8Values>{images[i]});
    EXPECT_EQ(result.outputs.at(0), goldens[i].logits);
    EXPECT_EQ(answer(result.outputs.at(0)), goldens[i].answer);
    EXPECT_EQ(answer(result.outputs.at(0)), goldens[i].label);
    if (cycles != 0) {
      EXPECT_EQ(result.cycles(), cycles) << "cycles depend on the data";
    }
    cycles = result.cycles();
  }
  print_speed(std::to_string(selection.size()) + " images", cycles, *device);

  test::Session tflm(*device, graph, preset(GetParam()), {.rounding = RoundingStyle::Tflm});
  Int8Values twice = goldens[kTwiceRounded].logits;
  EXPECT_EQ(twice[5], -74);
  twice[5] = -75;
  EXPECT_EQ(tflm.run(std::vector<Int8Values>{images[kTwiceRounded]}).outputs.at(0), twice);
}

// A network that ends in a softmax, its vectors and the answers that came with them.
void Networks::run_vectors(const std::string& name, const std::string& model, const std::string& folder) {
  const auto shared = test::shared_dir();
  if (!shared)
    GTEST_SKIP() << "KAITEN_SHARED is absent: " << name << " (" << model << ") does not run on the RTL";
  const Graph graph = require_graph(import_file(*shared / "models/tflite" / model));
  const fs::path vectors = *shared / "models/vectors" / folder;
  const nlohmann::json list = nlohmann::json::parse(std::ifstream(vectors / "expected.json"));
  // The values in front of the softmax come out of the hardware: let them be an output too.
  Graph with_logits = graph;
  ASSERT_EQ(graph.ops.back().kind, OpKind::Softmax);
  with_logits.outputs.push_back(graph.ops.back().inputs.front());
  const auto device = make_device(GetParam());
  std::size_t cases = 0;
  for (RoundingStyle style : {RoundingStyle::LiteRt, RoundingStyle::Tflm}) {
    const bool tflm = style == RoundingStyle::Tflm;
    test::Session session(*device, with_logits, preset(GetParam()), {.rounding = style});
    std::uint64_t cycles = 0;
    for (const auto& entry : list["cases"]) {
      // One vector is enough for the lesser configurations, and in the other style, which differs in one layer.
      if ((tflm || !important()) && !kLong && &entry != &list["cases"][0]) continue;
      if (tflm && !important()) continue;
      const std::string file = entry["file"];
      SCOPED_TRACE(file + (tflm ? ", tflm" : ", litert"));
      std::vector<std::uint8_t> bytes = read_model_file(vectors / file);
      if (list.value("how_to_feed", "").find("uint8") != std::string::npos) {  // pixels for an int8 input
        for (std::uint8_t& b : bytes) b ^= 0x80;
      }
      const auto result = session.run(std::vector<Int8Values>{Int8Values(bytes.begin(), bytes.end())});
      const auto field = [&](const std::string& name) {
        const std::string litert = name + "_litert_int8";  // present where LiteRT differs
        return entry[!tflm && entry.contains(litert) ? litert : name + "_int8"].get<Int8Values>();
      };
      EXPECT_EQ(result.outputs.at(0), field("output"));
      EXPECT_EQ(result.outputs.at(1), field("logits"));
      cycles = result.cycles();
      cases++;
    }
    if (cycles != 0) print_speed(name, cycles, *device);
  }
  EXPECT_GE(cases, important() ? list["cases"].size() + 1 : 1U);
}

TEST_P(Networks, ResNet8) { run_vectors("ResNet-8", "mlperf-tiny/pretrainedResnet_quant.tflite", "resnet8"); }

// Its first kernel has 10x4 taps.
TEST_P(Networks, KeywordSpotting) {
  run_vectors("Keyword spotting", "mlperf-tiny/kws_ref_model.tflite", "kws");
}

// Scales its input by multiplication and subtraction of constants. The five rows of its last average do not
// fit VB of the small configurations: it goes by ranges of channels there.
TEST_P(Networks, MobileNetV2For160) {
  run_vectors("MobileNetV2 0.35-160", "cfu-playground/model_mobilenetv2_160_035.tflite",
              "mobilenetv2_160_035");
}

// Without answers of their own: kernels of 5x5 with stride 2, and what the smaller configurations run too.
TEST_P(Networks, OthersWithRandomInputs) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "KAITEN_SHARED is absent: five networks do not run on the RTL";
  std::vector<std::string> files{"tinymaix/cifar10_q.tflite"};
  if (important()) {
    for (const char* file : {"tinymaix/mnist_valid_q.tflite", "tinymaix/mnist_resnet_q.tflite",
                             "mlperf-tiny/vww_96_int8.tflite", "mlperf-tiny/ad01_int8.tflite"})
      files.emplace_back(file);
  }
  const auto device = make_device(GetParam());
  std::mt19937_64 random(test::seed());
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const Graph graph = require_graph(import_file(*shared / "models/tflite" / file));
    const auto inputs = test::draw_inputs(graph, random);
    print_speed(file, test::run_on(*device, graph, preset(GetParam()), {}, inputs).cycles(), *device);
  }
}

INSTANTIATE_TEST_SUITE_P(Configurations, Networks, testing::Values("micro", "nano", "unit", "small", "base"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace kaiten
