// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Batches whose maps spill to the host: every map exact, whatever spills, compressed or not; as much memory as the limit
// allows and no more; the same to the cycle on any number of threads and ranks; less waiting by better plans.
#include "cluster/spill.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "import/import.h"
#include "tests/support/graph_builder.h"
#include "tests/support/source_file.h"
#include "tests/sw/cluster/ranks.h"

namespace kaiten::cluster {
namespace {

const Graph& demo() {
  static const Graph graph = require_graph(import_file(test::source_file("models/demo/demo.tflite")));
  return graph;
}

constexpr int kBatch = 3;
constexpr std::uint64_t kLimit = 80'000;  // of some 135,000 bytes that wait

std::vector<Int8Values> images_of(const Graph& graph, int images) {
  std::mt19937 random(7);
  std::vector<Int8Values> out;
  for (int i = 0; i < images; i++) {
    Int8Values& values = out.emplace_back(graph.tensors[std::size_t(graph.inputs.front())].bytes());
    for (auto& v : values) v = std::int8_t(random());
  }
  return out;
}

// Chips that share an uplink which carries less than they make.
Topology narrow(int chips) {
  Topology t = one_switch(chips, "nano");
  t.latency = 100;
  t.uplinks = {1};
  return t;
}

SpillPlan plan_of(const Topology& topology, swap::Policy policy, bool compress = false,
                  std::uint64_t limit = kLimit) {
  SpillOptions options;
  options.limit = limit;
  options.batch = kBatch;
  options.policy = policy;
  options.compress = compress;
  return plan_spilling(demo(), topology, images_of(demo(), 1), options);
}

SpillResult run(const SpillPlan& plan, const Topology& topology, RunOptions options = {}) {
  const std::vector<Int8Values> inputs = images_of(demo(), kBatch * int(topology.chips.size()));
  return run_spilling(demo(), plan, topology, inputs, options);
}

std::uint64_t stall_of(const SpillResult& r) {
  std::uint64_t sum = 0;
  for (const SpillRunner::Counts& c : r.chips) sum += c.stall;
  return sum;
}

class Spilling : public testing::TestWithParam<bool> {};

TEST_P(Spilling, IsExactWithinTheLimit) {
  const Topology topology = narrow(2);
  const SpillPlan plan = plan_of(topology, swap::Policy::kVdnnAll, GetParam());
  ASSERT_GT(plan.held_bytes, kLimit);
  const SpillResult result = run(plan, topology);
  EXPECT_TRUE(result.exact) << result.difference;
  ASSERT_EQ(result.chips.size(), 2U);
  for (const SpillRunner::Counts& c : result.chips) {
    EXPECT_EQ(c.runs, 2 * kBatch * int(plan.segments.size()));
    EXPECT_LE(c.peak_bytes, kLimit);
    EXPECT_GT(c.out_bytes, 0U);
    EXPECT_EQ(c.out_bytes, c.in_bytes);
    EXPECT_EQ(GetParam(), c.out_bytes < c.raw_bytes);
    EXPECT_EQ(c.finish, c.busy + c.stall);
    // Contention: what the model of fluid shares says, within what packets and whole maps make of it.
    EXPECT_NEAR(double(c.finish) / (plan.choice.result.seconds * 1e6 * topology.clock_mhz), 1, 0.15);
  }
  // The maps, their acknowledgements, requests and the end of each chip, both ways.
  std::uint64_t maps = 0;
  for (const SpillRunner::Counts& c : result.chips) maps += c.out_bytes + c.in_bytes;
  std::uint64_t crossed = 0;
  for (const LinkCount& link : result.uplinks) crossed += link.bytes;
  const std::uint64_t swaps = plan.choice.plan.devices[0].size() + plan.choice.plan.devices[1].size();
  EXPECT_EQ(crossed, maps + kCreditBytes * (2 * swaps + 2));
  EXPECT_GT(result.uplinks.front().delay, 0U);
}

INSTANTIATE_TEST_SUITE_P(Links, Spilling, testing::Bool(),
                         [](const auto& info) { return info.param ? "Compressed" : "Raw"; });

void expect_equal(const SpillResult& a, const SpillResult& b) {
  EXPECT_EQ(a.exact, b.exact);
  EXPECT_EQ(a.cycles, b.cycles);
  ASSERT_EQ(a.chips.size(), b.chips.size());
  for (std::size_t i = 0; i < a.chips.size(); i++) {
    EXPECT_EQ(a.chips[i].finish, b.chips[i].finish);
    EXPECT_EQ(a.chips[i].stall, b.chips[i].stall);
    EXPECT_EQ(a.chips[i].in_bytes, b.chips[i].in_bytes);
    EXPECT_EQ(a.chips[i].peak_bytes, b.chips[i].peak_bytes);
  }
  ASSERT_EQ(a.uplinks.size(), b.uplinks.size());
  for (std::size_t i = 0; i < a.uplinks.size(); i++) EXPECT_EQ(a.uplinks[i].delay, b.uplinks[i].delay);
}

TEST(Spilling, IsTheSameOnThreadsAndRanks) {
  const Topology topology = narrow(3);
  const SpillPlan plan = plan_of(topology, swap::Policy::kStaggered);
  const SpillResult alone = run(plan, topology);
  EXPECT_TRUE(alone.exact);
  RunOptions threads;
  threads.threads = 3;
  expect_equal(run(plan, topology, threads), alone);
  const std::vector<SpillResult> results = test::on_ranks(2, [&](Exchange& seat) {
    RunOptions options;
    options.exchange = &seat;
    return run(plan, topology, options);
  });
  expect_equal(results.front(), alone);
  EXPECT_TRUE(results.back().chips.empty());
}

TEST(Spilling, BetterPlansWaitLess) {
  const Topology topology = narrow(2);
  const auto stall = [&](swap::Policy policy) { return stall_of(run(plan_of(topology, policy), topology)); };
  const std::uint64_t all = stall(swap::Policy::kVdnnAll);
  EXPECT_GT(all, 0U);
  EXPECT_LT(stall(swap::Policy::kStaggered), all);
  EXPECT_LT(stall(swap::Policy::kBest), all / 2);
}

TEST(Spilling, NothingSpillsWhereAllFits) {
  const Topology topology = narrow(1);
  const SpillPlan plan = plan_of(topology, swap::Policy::kBest, false, 1'000'000);
  const SpillResult result = run(plan, topology);
  EXPECT_TRUE(result.exact);
  EXPECT_EQ(result.chips.front().out_bytes, 0U);
  EXPECT_EQ(result.chips.front().stall, 0U);
  // Besides what waits, what the last segment makes.
  EXPECT_EQ(result.chips.front().peak_bytes, plan.held_bytes + kBatch * plan.segments.back().output_bytes());
}

TEST(Spilling, FindsAWrongMap) {
  // Another network's weights: the same shapes, other maps.
  test::GraphBuilder a(3), b(4);
  for (test::GraphBuilder* g : {&a, &b}) {
    int t = g->input(8, 8, 8);
    for (int i = 0; i < 3; i++) t = g->conv(t, 8, 3, 3, 1, {1, 1, 1, 1}, Activation::Relu);
    g->output(t);
  }
  const Topology topology = narrow(1);
  SpillOptions options;
  options.limit = 1'000'000;
  const std::vector<Int8Values> inputs = images_of(a.graph, 1);
  const SpillPlan plan = plan_spilling(a.graph, topology, inputs, options);
  EXPECT_EQ(plan.segments.size(), 3U);
  EXPECT_TRUE(run_spilling(a.graph, plan, topology, inputs, {}).exact);
  const SpillResult wrong = run_spilling(b.graph, plan, topology, inputs, {});
  EXPECT_FALSE(wrong.exact);
  EXPECT_NE(wrong.difference.find("6 maps"), std::string::npos) << wrong.difference;
}

TEST(Spilling, Refusals) {
  const Topology topology = narrow(2);
  EXPECT_THROW(plan_of(topology, swap::Policy::kNone), InputError);
  EXPECT_THROW(plan_of(topology, swap::Policy::kBest, false, 10'000), InputError);
  Topology mixed = narrow(2);
  mixed.chips[1].config = "unit";
  EXPECT_THROW(plan_of(mixed, swap::Policy::kBest), InputError);
  Topology small = narrow(1);
  small.chips[0].memory_bytes = 1000;
  const SpillPlan plan = plan_of(small, swap::Policy::kBest);
  EXPECT_THROW(run(plan, small), InputError);
}

}  // namespace
}  // namespace kaiten::cluster
