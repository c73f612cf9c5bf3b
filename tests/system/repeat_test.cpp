// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The same program again: on the same device, on a new one, with a trace.
// Nothing but the seed of the memory's stalls may matter.

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "import/import.h"
#include "tests/support/seed.h"
#include "tests/support/source_file.h"
#include "tests/system/random_network.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

namespace fs = std::filesystem;

Graph demo() { return require_graph(import_file(test::source_file("models/demo/demo.tflite"))); }

class Repeat : public testing::TestWithParam<std::string> {
 protected:
  const Config& config() const { return preset(GetParam()); }
  std::mt19937_64 random_{test::seed()};
};

TEST_P(Repeat, OnOneDevice) {
  const auto device = test::make_device(GetParam(), test::seed());
  const Graph graph = demo();
  const auto inputs = test::draw_inputs(graph, random_);
  test::Session session(*device, graph, config(), {});
  const auto first = session.run(inputs);
  EXPECT_TRUE(session.run(inputs) == first) << "the second run differs";
  // After other data and another program.
  session.run(test::draw_inputs(graph, random_));
  const test::GraphBuilder other = test::random_network(test::seed(), 8, 8, 3);
  test::run_on(*device, other.graph, config(), {}, test::draw_inputs(other.graph, random_));
  EXPECT_TRUE(test::run_on(*device, graph, config(), {}, inputs) == first)
      << "the run after another program differs";
}

// Random stalls and order, too, are those of the seed.
TEST_P(Repeat, OnNewDevices) {
  const Graph graph = demo();
  const auto inputs = test::draw_inputs(graph, random_);
  std::optional<test::Session::Result> first;
  const std::uint64_t timing = random_();
  for (int i = 0; i < 2; i++) {
    const auto device = test::make_device(GetParam(), test::seed());
    std::mt19937_64 same(timing);
    test::draw_timing(*device, same);
    const auto result = test::run_on(*device, graph, config(), {}, inputs);
    if (first) {
      EXPECT_TRUE(result == *first) << "the run on a second device differs";
    }
    first = result;
  }
}

INSTANTIATE_TEST_SUITE_P(Configurations, Repeat, testing::Values("micro", "nano", "unit", "small", "base"),
                         [](const auto& info) { return info.param; });

// Models with assertions whose registers and memories start at random (initial_state_test: that this does not matter).
class Debug : public Repeat {
 protected:
  std::unique_ptr<sim::SimDevice> make(std::uint64_t seed, sim::SimOptions options = {}) {
    options.debug = true;
    return test::make_device(GetParam(), seed, options);
  }
};

// Assertions hold while anything happens that the compiler can think of.
TEST_P(Debug, RandomNetworks) {
  constexpr int kWanted = 12;
  int ran = 0;
  for (int attempt = 0; ran < kWanted && attempt < 4 * kWanted; attempt++) {
    const std::uint64_t seed = random_();
    SCOPED_TRACE("network of seed " + std::to_string(seed));
    const test::GraphBuilder g = test::random_network(seed, 12, 20, 7);
    CompileOptions options;
    options.keep_on_chip = attempt % 2 == 0;
    if (!refusals(g.graph, config(), options).empty()) continue;
    const auto device = make(seed);
    test::draw_timing(*device, random_);
    test::run_on(*device, g.graph, config(), options, test::draw_inputs(g.graph, random_));
    ran++;
  }
  EXPECT_EQ(ran, kWanted);
}

// A trace of a window of cycles: written on request only, the longer the window the longer the file.
TEST_P(Debug, Trace) {
  const auto network = [](std::uint64_t seed) { return test::random_network(seed, 8, 8, 3); };
  std::uint64_t seed = 3;
  while (!refusals(network(seed).graph, config(), {}).empty()) seed++;
  const test::GraphBuilder g = network(seed);
  const auto inputs = test::draw_inputs(g.graph, random_);
  std::array<std::uintmax_t, 2> sizes{};
  for (std::size_t i = 0; i < 2; i++) {
    const fs::path file =
        fs::temp_directory_path() / ("kaiten_" + GetParam() + "_" + std::to_string(i) + ".fst");
    fs::remove(file);
    {
      sim::SimOptions options;
      options.wave_file = file.string();
      options.wave_from = 20;
      options.wave_to = i == 0 ? 40 : 120;
      const auto device = make(1, options);
      const auto result = test::run_on(*device, g.graph, config(), {}, inputs);
      EXPECT_GT(result.cycles(), options.wave_to);
    }
    ASSERT_TRUE(fs::exists(file)) << file;
    sizes[i] = fs::file_size(file);
    EXPECT_EQ(std::ifstream(file, std::ios::binary).get(), 0);  // the type of an FST header block
    fs::remove(file);
  }
  EXPECT_GT(sizes[0], 1000U);
  EXPECT_GT(sizes[1], sizes[0]);
}

INSTANTIATE_TEST_SUITE_P(Configurations, Debug, testing::Values("micro", "nano", "unit"),
                         [](const auto& info) { return info.param; });

TEST(SimDevice, RefusesWhatIsNotBuilt) {
  EXPECT_THROW(sim::make_sim_device("colossal", {}), InputError);
  sim::SimOptions debug;
  debug.debug = true;
  EXPECT_THROW(sim::make_sim_device("base", debug), InputError);
}

}  // namespace
}  // namespace kaiten
