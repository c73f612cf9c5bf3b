// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Large networks whole on the RTL, every tensor against the reference: random weights on small images in
// every check, the networks as the papers have them in the long one.

#include <gtest/gtest.h>

#include <algorithm>

#include "compile/lower/lower.h"
#include "generate/networks.h"
#include "import/import.h"
#include "tests/support/seed.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

struct Case {
  std::string network;
  int size = 0;
  double utilisation = 0;  // the array's, at least
  std::string config = "base";
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.network << " " << c.size; }

class GeneratedNetworks : public testing::TestWithParam<Case> {};

TEST_P(GeneratedNetworks, Whole) {
  const auto& [name, size, utilisation, on] = GetParam();
  const Graph graph = require_graph(import_tflite(generate::make_network(name, size, 1), name));
  const Config& config = preset(on);
  // A memory as in the measured tables.
  sim::SimOptions options;
  options.memory.read_latency = options.memory.write_latency = 100;
  options.memory.bytes = std::uint64_t(1) << 29;
  options.memory.bytes_per_cycle = config.axi_bytes;
  const auto device = sim::make_sim_device(on, options);
  std::mt19937_64 random(test::seed());
  const auto result = test::run_on(*device, graph, config, {}, test::draw_inputs(graph, random));
  const double reached = double(macs(graph)) / double(result.cycles()) / config.array_multipliers();
  std::printf("%s %d: %llu cycles, array %.1f %%, simulated at %.0f kHz\n", name.c_str(), size,
              static_cast<unsigned long long>(result.cycles()), 100 * reached,
              double(device->loop_cycles()) / std::max(device->loop_seconds(), 1e-9) / 1e3);
  EXPECT_GE(reached, utilisation);
}

// The fewest blocks and all sizes of kernels.
constexpr const char* kMixedMobile = "ofa-mobilenetv3/22222:34663466346634663466:35775377357753773577";
#ifdef KAITEN_LONG
constexpr const char* kLargestMobile = "ofa-mobilenetv3/44444:66666666666666666666:7";
const Case kCases[] = {
    {"resnet18", 224, 0.75},          {"resnet34", 224, 0.80},        {"resnet50", 224, 0.80},
    {"squeezenet", 224, 0.65},        {"googlenet", 224, 0.65},       {"vgg19", 224, 0.65},
    {"shufflenet", 224, 0},           {"stem_7x7", 224, 0.60},        {"stem_11x11", 224, 0.50},
    {"resnet101", 224, 0.85},         {"resnet152", 224, 0.85},       {"mobilenet_v1", 224, 0.70},
    {"mobilenet_v1", 224, 0, "nano"}, {"squeezenet", 224, 0, "nano"}, {"shufflenet", 224, 0, "nano"},
    {"efficientnet_lite0", 224, 0},   {"mobilenet_v4_s", 224, 0},     {"ofa-resnet50/RA", 224, 0},
    {"ofa-resnet50/RB", 224, 0},      {"ofa-resnet50/RC", 224, 0},    {"ofa-resnet50/RD", 224, 0},
    {"ofa-resnet50/RE", 224, 0},      {"ofa-resnet50/RF", 224, 0},    {"ofa-mobilenetv3/MA", 224, 0},
    {"ofa-mobilenetv3/MB", 224, 0},   {"ofa-mobilenetv3/MC", 224, 0}, {"ofa-mobilenetv3/MD", 224, 0},
    {"ofa-mobilenetv3/ME", 224, 0},   {"ofa-mobilenetv3/MF", 224, 0}, {"ofa-mobilenetv3/MG", 224, 0},
    {kLargestMobile, 224, 0},         {kMixedMobile, 224, 0}};
#else
const Case kCases[] = {{"resnet18", 64, 0},
                       {"resnet50", 64, 0},
                       {"squeezenet", 96, 0},
                       {"googlenet", 64, 0},
                       {"vgg19", 32, 0},
                       {"mobilenet_v1", 96, 0},
                       {"shufflenet", 64, 0},
                       {"shufflenet", 32, 0, "nano"},
                       {"stem_7x7", 64, 0},
                       {"stem_11x11", 64, 0},
                       {"efficientnet_lite0", 64, 0},
                       {"mobilenet_v4_s", 64, 0},
                       {"ofa-resnet50/RD", 64, 0},
                       {"ofa-resnet50/RA", 64, 0, "nano"},
                       {kMixedMobile, 64, 0},
                       {kMixedMobile, 32, 0, "nano"}};
#endif

// The accelerator computes all between image and logits.
TEST(GeneratedSubNets, LeaveNothingToTheHost) {
  const Graph graph = require_graph(import_tflite(generate::make_network(kMixedMobile, 64, 1), kMixedMobile));
  const Lowering lowering = lower(graph, preset("base"), RoundingStyle::LiteRt);
  EXPECT_TRUE(lowering.refusals.empty());
  EXPECT_FALSE(lowering.ops.empty());
  for (const LoweredOp& l : lowering.ops)
    EXPECT_NE(l.engine, Engine::kHost) << graph.ops[std::size_t(l.op)].name;
}

INSTANTIATE_TEST_SUITE_P(All, GeneratedNetworks, testing::ValuesIn(kCases), [](const auto& info) {
  std::string name = info.param.network + "_" + info.param.config;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == '-' || c == ':'; }, '_');
  return name;
});

}  // namespace
}  // namespace kaiten
