// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Least cycles against the compiler's cycle model, on random networks and accelerators; the search that leaves candidates out
// by them against the whole one.
#include "explore/cost.h"

#include <gtest/gtest.h>

#include <set>

#include "compile/sections.h"
#include "explore/search.h"
#include "tests/support/graph_builder.h"
#include "tests/support/seed.h"

namespace kaiten::explore {
namespace {

using test::GraphBuilder;

Graph drawn(std::uint64_t seed) {
  GraphBuilder b(seed);
  int t = b.input(b.uniform(4, 20), b.uniform(4, 20), b.uniform(1, 24));
  for (int layers = b.uniform(1, 4); layers > 0; layers--) {
    const Padding same{1, 1, 1, 1};
    switch (b.uniform(0, 5)) {
      case 0:
        t = b.conv(t, b.uniform(1, 40), 1, 1, 1, {}, b.activation());
        break;
      case 1:
        t = b.conv(t, b.uniform(1, 24), 3, 3, b.uniform(1, 2), same, b.activation());
        break;
      case 2:
        t = b.depthwise(t, 3, 3, b.uniform(1, 2), same, b.activation());
        break;
      case 3:
        t = b.pool(OpKind::MaxPool, t, 3, 3, 1, same, Activation::None);
        break;
      case 4:
        t = b.add(t, t, b.activation());
        break;
      default:
        t = b.conv(t, b.uniform(1, 16), 5, 5, 1, {2, 2, 2, 2}, b.activation());
    }
  }
  b.output(b.uniform(0, 1) == 0 ? t : b.fully_connected(t, b.uniform(1, 60), Activation::None));
  return b.graph;
}

Axes small_axes() {
  Axes axes;
  axes.kp = {4, 8, 16};
  axes.cp = {4, 8};
  axes.bus_bits = {128, 256};
  axes.wb_kib = {18, 72};
  axes.sb_kib = {9, 36};
  axes.vb_kib = {18};
  axes.ob_pixels = {64};
  axes.zsb_channels = {512};
  axes.pb_percent = {0, 50};
  axes.large_windows = axes.conv_table = {0, 1};
  return axes;
}

ResidentWeights resident(const Graph& graph, const Candidate& c) {
  const Graph* const one = &graph;
  return c.pb_rows > 0 ? resident_of(std::span(&one, 1), c.config, c.pb_rows) : ResidentWeights{};
}

TEST(Least, IsAtMostWhatTheModelSays) {
  const std::vector<Candidate> all = candidates(small_axes());
  std::mt19937_64 rng(test::seed());
  int compared = 0, near = 0, kept = 0;
  for (int round = 0; round < 150; round++) {
    const Graph graph = drawn(rng());
    const Candidate& c = all[rng() % all.size()];
    CostOptions options;
    options.bytes_per_cycle = round % 3 == 0 ? 2 : 0;
    const ResidentWeights held = resident(graph, c);
    const Cost low = least(graph, c, options);
    const Cost real = modelled(graph, c, held.rows > 0 ? &held : nullptr, options);
    if (!low.refusal.empty()) EXPECT_NE(real.refusal, "") << low.refusal;
    if (!real.refusal.empty()) continue;
    EXPECT_LE(low.cycles, real.cycles) << "round " << round;
    compared++;
    near += low.cycles * 2 > real.cycles ? 1 : 0;
    kept += held.rows > 0 ? 1 : 0;
  }
  EXPECT_GT(compared, 75);
  EXPECT_GT(near, 5);  // a bound of nothing would pass, too
  EXPECT_GT(kept, 5);
}

TEST(Modelled, IsTheCompilersOwn) {
  const Graph graph = drawn(test::seed());
  const Config& unit = preset("unit");
  std::int64_t cycles = 0;
  for (const Section& s : compile_sections(graph, unit)) cycles += s.program.modelled_cycles;
  const Cost cost = modelled(graph, {unit, 0}, nullptr, {});
  EXPECT_EQ(cost.cycles, cycles);
  CostOptions slow;
  slow.bytes_per_cycle = 0.5;
  EXPECT_GT(modelled(graph, {unit, 0}, nullptr, slow).cycles, cycles);
}

// What an engine refuses must not be cheap because the host does it.
TEST(Modelled, RefusesWhatWouldMoveToTheHost) {
  GraphBuilder b(1);
  b.output(b.conv(b.input(4, 4, 64), 8, 3, 3, 1, {1, 1, 1, 1}, Activation::None));
  Config tiny = preset("unit");
  tiny.wb_rows = tiny.kp;  // a tile takes more
  EXPECT_FALSE(try_compile_sections(b.graph, tiny).moved.empty());
  EXPECT_NE(modelled(b.graph, {tiny, 0}, nullptr, {}).refusal, "");
  EXPECT_NE(least(b.graph, {tiny, 0}, {}).refusal, "");
}

TEST(Modelled, WeightsInPbAreNotReadAgain) {
  GraphBuilder b(1);
  b.output(b.conv(b.input(4, 4, 64), 32, 3, 3, 1, {1, 1, 1, 1}, Activation::None));
  const Config& unit = preset("unit");
  const int rows = unit.wb_rows / 2 / unit.kp * unit.kp;
  const ResidentWeights held = resident(b.graph, {unit, rows});
  ASSERT_GT(held.rows, 0);
  EXPECT_LE(held.rows, rows);
  CostOptions slow;
  slow.bytes_per_cycle = 1;
  EXPECT_LT(modelled(b.graph, {unit, rows}, &held, slow).cycles,
            modelled(b.graph, {unit, 0}, nullptr, slow).cycles);
}

// Networks of three convolutions each, whose weights are the first `kernels` of those of the largest.
Graph prefix(std::uint64_t seed, int kernels) {
  GraphBuilder b(seed);
  int t = b.input(4, 4, 64);
  for (int i = 0; i < 3; i++) t = b.conv(t, 64, 3, 3, 1, {1, 1, 1, 1}, Activation::None);
  b.output(t);
  Graph g = b.graph;
  for (std::size_t i = 0; i < g.ops.size(); i++) {
    Op& op = g.ops[i];
    op.name = "layer" + std::to_string(i);
    Tensor& w = g.tensors[std::size_t(op.weights)];
    const int channels = i == 0 ? 64 : kernels;
    std::vector<std::uint8_t> data;
    for (int row = 0; row < kernels * 9; row++)
      data.insert(data.end(), w.data.begin() + row * 64, w.data.begin() + row * 64 + channels);
    w.data = std::move(data);
    w.shape = {kernels, 3, 3, channels};
    w.quantization.scale.resize(std::min(w.quantization.scale.size(), std::size_t(kernels)));
    w.quantization.zero_point.resize(w.quantization.scale.size());
    Tensor& bias = g.tensors[std::size_t(op.bias)];
    bias.data.resize(std::size_t(kernels) * 4);
    bias.shape = {kernels};
    g.tensors[std::size_t(op.output)].shape.back() = kernels;
  }
  return g;
}

TEST(Sharing, NetworksOfOneSuperNetAreAGroup) {
  const std::vector<Graph> all = {prefix(1, 64), prefix(2, 64), prefix(1, 32), prefix(2, 16), drawn(3)};
  EXPECT_EQ(sharing(all), (Groups{{0, 2}, {1, 3}, {4}}));
}

// PB is of use to every network of the set, whichever comes first, and never makes one slower.
TEST(Sharing, EveryNetworkHasItsPartInPb) {
  const std::vector<Graph> all = {prefix(1, 64), prefix(2, 64), prefix(1, 32)};
  const Groups groups = sharing(all);
  const Config& unit = preset("unit");
  const Candidate candidate{unit, unit.wb_rows / 2 / unit.kp * unit.kp};
  CostOptions slow;
  slow.bytes_per_cycle = 1;
  const std::vector<Cost> with = modelled_all(all, groups, candidate, slow);
  ASSERT_EQ(with.size(), 3U);
  for (std::size_t i = 0; i < all.size(); i++)
    EXPECT_LT(with[i].cycles, modelled(all[i], {unit, 0}, nullptr, slow).cycles) << i;
  // What a group holds is what all of it has.
  const Graph* const members[] = {&all[0], &all[2]};
  const ResidentWeights held = resident_of(members, unit, candidate.pb_rows);
  ASSERT_FALSE(held.layers.empty());
  for (const ResidentLayer& l : held.layers) EXPECT_EQ(l.tiles.out_channels, 32) << l.name;
  // Where nothing waits for weights PB only takes rows from DB: it stays empty.
  const std::vector<Cost> fast = modelled_all(all, groups, candidate, {});
  for (std::size_t i = 0; i < all.size(); i++)
    EXPECT_LE(fast[i].cycles, modelled(all[i], {unit, 0}, nullptr, {}).cycles) << i;
}

TEST(Search, LeavesOutNothingOfRealSpaces) {
  std::mt19937_64 rng(test::seed());
  const std::vector<Candidate> all = candidates(small_axes());
  std::size_t pruned = 0;
  for (int round = 0; round < 3; round++) {
    const Graph graph = drawn(rng());
    Problem problem;
    for (const Candidate& c : all) {  // any area that grows with the accelerator
      const double multipliers = double(c.config.kp) * c.config.cp;
      problem.areas.push_back(
          {multipliers, multipliers, double(c.config.wb_rows) * c.config.cp + c.config.sb_depth});
    }
    const auto outcome = [](const Cost& c) {
      return c.refusal.empty() ? Outcome{{c.cycles}, ""} : Outcome{{}, c.refusal};
    };
    problem.least = [&](std::size_t i) { return outcome(least(graph, all[i], {})); };
    problem.modelled = [&](std::size_t i) {
      const ResidentWeights held = resident(graph, all[i]);
      return outcome(modelled(graph, all[i], held.rows > 0 ? &held : nullptr, {}));
    };
    const Found some = search(problem, on_threads(2));
    problem.prune = false;
    const Found whole = search(problem, on_threads(2));
    ASSERT_EQ(some.front.size(), whole.front.size()) << round;
    for (std::size_t i = 0; i < some.front.size(); i++)
      EXPECT_EQ(some.front[i].candidate, whole.front[i].candidate);
    pruned += some.pruned;
  }
  EXPECT_GT(pruned, 0U);
}

}  // namespace
}  // namespace kaiten::explore
