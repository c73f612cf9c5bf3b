// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Registers and memories start at random values (Verilator's --x-initial unique), other ones with every seed: what has no
// reset must not matter. Outputs, every tensor and every counter, cycles included, are those of the model that starts at 0.

#include <gtest/gtest.h>

#include <string>

#include "Vkaiten_base_unique.h"
#include "Vkaiten_base_unique___024root.h"
#include "device/csr.h"
#include "import/import.h"
#include "sim/sim_model.h"
#include "tests/support/seed.h"
#include "tests/support/source_file.h"
#include "tests/system/random_network.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

constexpr std::uint64_t kStates = 8;
constexpr int kRandomNetworks = 8;

void evaluate(Vkaiten_base_unique& top) { top.eval(); }

// With the memory of `like`, in another initial state for another seed.
std::unique_ptr<sim::SimDevice> random_device(const std::string& config, sim::SimDevice& like,
                                              std::uint64_t seed) {
  sim::SimOptions options;
  options.memory = like.memory().options();
  options.memory.seed = seed;
  options.debug = true;
  if (config != "base") return sim::make_sim_device(config, options);
  return std::make_unique<sim::SimModel<Vkaiten_base_unique, sim::NoTrace, evaluate>>(options);
}

class InitialState : public testing::TestWithParam<const char*> {
 protected:
  static void compare(const Graph& graph, const CompileOptions& options, std::uint64_t states = kStates) {
    const Config& config = preset(GetParam());
    std::mt19937_64 random(test::seed());
    const auto inputs = test::draw_inputs(graph, random);
    const auto zero = test::make_device(GetParam(), test::seed());
    const auto expected = test::run_on(*zero, graph, config, options, inputs);
    for (std::uint64_t i = 0; i < states; i++) {
      const std::uint64_t seed = test::seed() + 1000 * i;
      SCOPED_TRACE("initial state of seed " + std::to_string(seed));
      const auto device = random_device(GetParam(), *zero, seed);
      const auto result = test::run_on(*device, graph, config, options, inputs);
      EXPECT_TRUE(result.outputs == expected.outputs);
      for (std::size_t c = 0; c < Counters::kCount; c++) {
        EXPECT_EQ(result.counters.values[c], expected.counters.values[c]) << csr::kCounters[c].name;
      }
    }
  }
};

TEST_P(InitialState, DemoNetwork) {
  compare(require_graph(import_file(test::source_file("models/demo/demo.tflite"))), {});
}

// Every engine, every kind of load and store, through memory and compressed. Words have gaps behind the last channel,
// which no channel's result fills; the packed size of a map must not depend on them.
TEST_P(InitialState, EveryEngine) {
  test::GraphBuilder g(5);
  const int a = g.conv(g.input(9, 11, 5), 13, 3, 3, 1, {1, 1, 1, 1}, Activation::Relu);
  const int b = g.depthwise(a, 3, 3, 1, {1, 1, 1, 1}, Activation::None);
  const int c = g.add(a, b, Activation::None);
  const int d = g.table(g.pool(OpKind::MaxPool, c, 2, 2, 2, {}, Activation::None));
  g.output(g.fully_connected(g.mean(d), 7, Activation::None));
  compare(g.graph, {.keep_on_chip = false, .compress = Compress::kOn});
}

// Any layers and concatenations, whose words have gaps in the middle too.
TEST_P(InitialState, RandomNetworks) {
  const Config& config = preset(GetParam());
  const CompileOptions options{.keep_on_chip = false, .compress = Compress::kOn};
  int ran = 0;
  for (std::uint64_t seed = test::seed(); ran < kRandomNetworks && !HasFailure(); seed++) {
    const test::GraphBuilder g = test::random_network(seed, 10, 20, 7);
    const Compiled compiled = try_compile(g.graph, config, options);
    if (!compiled.program || compiled.program->compressed.empty()) continue;
    SCOPED_TRACE("network of seed " + std::to_string(seed));
    compare(g.graph, options, 2);
    ran++;
  }
}

INSTANTIATE_TEST_SUITE_P(Configurations, InitialState, testing::Values("nano", "unit", "base"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace kaiten
