// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Pipelines of simulated chips: exact against the reference executor, as fast as the model says, and the same to the cycle
// however the chips are spread over threads and ranks, and however late a rank is.
#include "cluster/cluster.h"

#include <gtest/gtest.h>

#include <ostream>
#include <random>
#include <set>

#include "base/error.h"
#include "import/import.h"
#include "reference/reference.h"
#include "tests/support/graph_builder.h"
#include "tests/support/source_file.h"
#include "tests/sw/cluster/ranks.h"

namespace kaiten::cluster {
namespace {

const Graph& demo() {
  static const Graph graph = require_graph(import_file(test::source_file("models/demo/demo.tflite")));
  return graph;
}

std::vector<Int8Values> images_of(const Graph& graph, int images) {
  std::mt19937 random(5);
  std::vector<Int8Values> out;
  for (int i = 0; i < images; i++) {
    Int8Values& values = out.emplace_back(graph.tensors[std::size_t(graph.inputs.front())].bytes());
    for (auto& v : values) v = std::int8_t(random());
  }
  return out;
}

void expect_equal(const ClusterResult& a, const ClusterResult& b) {
  EXPECT_EQ(a.outputs, b.outputs);
  EXPECT_EQ(a.cycles, b.cycles);
  EXPECT_EQ(a.period, b.period);
  EXPECT_EQ(a.latency, b.latency);
  EXPECT_EQ(a.link_bytes, b.link_bytes);
  ASSERT_EQ(a.chips.size(), b.chips.size());
  for (std::size_t i = 0; i < a.chips.size(); i++) {
    EXPECT_EQ(a.chips[i].counts.cycles, b.chips[i].counts.cycles);
    EXPECT_EQ(a.chips[i].counts.bytes, b.chips[i].counts.bytes);
    EXPECT_EQ(a.chips[i].counts.images, b.chips[i].counts.images);
  }
}

ClusterResult on_ranks(int ranks, const Graph& graph, const Pipeline& pipeline, const Topology& topology,
                       std::span<const Int8Values> inputs) {
  std::vector<ClusterResult> results = test::on_ranks(ranks, [&](Exchange& seat) {
    RunOptions options;
    options.exchange = &seat;
    return run_cluster(graph, pipeline, topology, inputs, options);
  });
  for (std::size_t r = 1; r < results.size(); r++) EXPECT_TRUE(results[r].outputs.empty());
  return results.front();
}

TEST(Cuts, OfTheDemo) {
  const Graph& graph = demo();
  const std::vector<int> cuts = cuts_of(graph);
  ASSERT_FALSE(cuts.empty());
  for (const int cut : cuts) {
    // What is read after the cut and made before it.
    std::set<int> crossing;
    for (std::size_t i = std::size_t(cut) + 1; i < graph.ops.size(); i++) {
      for (int t : graph.ops[i].inputs) {
        for (int j = 0; j <= cut; j++) {
          if (graph.ops[std::size_t(j)].output == t) crossing.insert(t);
        }
        EXPECT_EQ(std::count(graph.inputs.begin(), graph.inputs.end(), t), 0);
      }
    }
    EXPECT_EQ(crossing.size(), 1U);
  }
}

struct Case {
  const char* name;
  Mode mode;
  int chips, stages, images;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Clusters : public testing::TestWithParam<Case> {};

TEST_P(Clusters, AreExactAndAsModelled) {
  const Case& c = GetParam();
  const Topology topology = one_switch(c.chips, "nano");
  PipelineOptions planning;
  planning.mode = c.mode;
  planning.stages = c.stages;
  const Pipeline pipeline = plan_pipeline(demo(), topology, planning);
  if (c.stages > 0) {
    EXPECT_EQ(int(pipeline.stages.size()), c.stages);
  }
  const std::vector<Int8Values> inputs = images_of(demo(), c.images);
  RunOptions options;
  const ClusterResult result = run_cluster(demo(), pipeline, topology, inputs, options);
  EXPECT_TRUE(result.exact) << result.difference;
  for (int i = 0; i < c.images; i++) {
    const std::vector<Int8Values> expected =
        run_reference(demo(), std::span(inputs).subspan(std::size_t(i), 1));
    EXPECT_EQ(result.outputs.at(std::size_t(i)).at(0), expected[std::size_t(demo().outputs[0])]);
  }
  EXPECT_NEAR(result.period / pipeline.period, 1, 0.01);
  EXPECT_NEAR(result.latency / pipeline.latency, 1, 0.01);
  // Boundaries and images cross links, and credits; weights never.
  std::uint64_t boundaries = 0;
  for (const Stage& s : pipeline.stages) boundaries += s.input_bytes();
  boundaries += pipeline.stages.back().output_bytes();
  const std::uint64_t ends = pipeline.stages.front().input_bytes() + pipeline.stages.back().output_bytes();
  EXPECT_GE(result.link_bytes, std::uint64_t(c.images) * (2 * boundaries + ends));
  EXPECT_LE(result.link_bytes,
            std::uint64_t(c.images) * (2 * boundaries + ends + 3 * kCreditBytes * pipeline.stages.size()));

  options.threads = 2;
  expect_equal(run_cluster(demo(), pipeline, topology, inputs, options), result);
  for (int ranks : {2, 4}) expect_equal(on_ranks(ranks, demo(), pipeline, topology, inputs), result);
}

INSTANTIATE_TEST_SUITE_P(Demo, Clusters,
                         testing::Values(Case{"data", Mode::kData, 2, 0, 8},
                                         Case{"stap", Mode::kStap, 3, 0, 8},
                                         Case{"three_stages", Mode::kStap, 3, 3, 5}),
                         [](const auto& info) { return std::string(info.param.name); });

// Rows that cross while others are made: the same answers and period, an image alone sooner by what the model says.
TEST(Clusters, RowsCrossWhileOthersAreMade) {
  const Topology topology = one_switch(3, "nano");
  const std::vector<Int8Values> inputs = images_of(demo(), 8);
  PipelineOptions planning{.mode = Mode::kStap, .stages = 3};
  const Pipeline rows = plan_pipeline(demo(), topology, planning);
  planning.rows = false;
  const Pipeline maps = plan_pipeline(demo(), topology, planning);
  for (std::size_t s = 0; s < 3; s++) {
    const RowStream& input = rows.stages[s].input;
    EXPECT_GE(input.start, 1);
    EXPECT_LE(input.start, input.rows);
    EXPECT_EQ(std::uint64_t(input.rows) * input.row_bytes, rows.stages[s].input_bytes());
    EXPECT_EQ(maps.stages[s].input.rows, 0);
  }
  const ClusterResult by_rows = run_cluster(demo(), rows, topology, inputs, {});
  const ClusterResult by_maps = run_cluster(demo(), maps, topology, inputs, {});
  EXPECT_TRUE(by_rows.exact) << by_rows.difference;
  EXPECT_EQ(by_rows.outputs, by_maps.outputs);
  EXPECT_NEAR(by_rows.period / by_maps.period, 1, 0.01);
  EXPECT_LT(by_rows.latency, by_maps.latency);
  EXPECT_NEAR((by_maps.latency - by_rows.latency) / (maps.latency - rows.latency), 1, 0.1);
}

TEST(Pipelines, AutoTakesTheFaster) {
  const Topology topology = one_switch(3, "nano");
  const auto period = [&](Mode mode) { return plan_pipeline(demo(), topology, {.mode = mode}).period; };
  EXPECT_EQ(period(Mode::kAuto), std::min(period(Mode::kStap), period(Mode::kData)));
}

TEST(Pipelines, Refusals) {
  EXPECT_THROW(plan_pipeline(demo(), one_switch(1, "nano"), {.mode = Mode::kStap}), InputError);
  EXPECT_THROW(plan_pipeline(demo(), one_switch(2, "nano"), {.mode = Mode::kStap, .stages = 3}), InputError);
  Topology mixed = one_switch(2, "nano");
  mixed.chips[1].config = "unit";
  EXPECT_THROW(plan_pipeline(demo(), mixed, {}), InputError);
  Topology small = one_switch(2, "nano");
  small.chips[1].memory_bytes = 1000;
  const Pipeline pipeline = plan_pipeline(demo(), small, {});
  EXPECT_THROW(run_cluster(demo(), pipeline, small, images_of(demo(), 2), {}), InputError);
}

// What the host does at the end is no stage; two int8 outputs leave no cut between them.
TEST(Pipelines, StagesHaveWork) {
  test::GraphBuilder g(3);
  int t = g.input(8, 8, 8);
  for (int i = 0; i < 3; i++) t = g.conv(t, 8, 3, 3, 1, {1, 1, 1, 1}, Activation::Relu);
  g.output(g.softmax(g.mean(t)));
  const Topology topology = one_switch(5, "nano");
  const Pipeline pipeline = plan_pipeline(g.graph, topology, {.mode = Mode::kStap, .stages = 4});
  for (const Stage& s : pipeline.stages) EXPECT_FALSE(s.again.commands.empty());
  EXPECT_THROW(plan_pipeline(g.graph, topology, {.mode = Mode::kStap, .stages = 5}), InputError);
  EXPECT_TRUE(run_cluster(g.graph, pipeline, topology, images_of(g.graph, 9), {}).exact);

  // A dense layer of too many inputs needs the map that they were on its chip: no stage begins with it.
  test::GraphBuilder flat(4);
  int map = flat.input(7, 7, 8);
  for (int i = 0; i < 2; i++) map = flat.conv(map, 512, 1, 1, 1, {}, Activation::Relu);
  flat.output(flat.fully_connected(flat.reshape(map, {1, 7 * 7 * 512}), 10, Activation::None));
  const Pipeline dense = plan_pipeline(flat.graph, one_switch(2, "base"), {.mode = Mode::kStap});
  EXPECT_EQ(dense.stages.at(1).ops, (std::vector<int>{1, 2, 3}));
  EXPECT_THROW(plan_pipeline(flat.graph, one_switch(3, "base"), {.mode = Mode::kStap, .stages = 3}),
               InputError);

  test::GraphBuilder host(1);
  host.output(host.softmax(host.input(1, 1, 16)));
  EXPECT_THROW(plan_pipeline(host.graph, topology, {}), InputError);
}

TEST(Pipelines, OptimisesBytesOrTime) {
  const Topology topology = one_switch(3, "nano");
  const Pipeline bytes = plan_pipeline(demo(), topology, {.mode = Mode::kStap, .optimise = Optimise::kBytes});
  const Pipeline time = plan_pipeline(demo(), topology, {.mode = Mode::kStap, .optimise = Optimise::kTime});
  EXPECT_LE(bytes.reloaded, time.reloaded);
  EXPECT_GE(bytes.period, time.period);
}

TEST(Clusters, FewImages) {
  const Topology topology = one_switch(2, "nano");
  const Pipeline pipeline = plan_pipeline(demo(), topology, {});
  for (int images : {1, 2, 3}) {
    const ClusterResult result = run_cluster(demo(), pipeline, topology, images_of(demo(), images), {});
    EXPECT_TRUE(result.exact);
    EXPECT_EQ(result.period, 0);
    EXPECT_EQ(result.latency > 0, images > 3);
  }
}

}  // namespace
}  // namespace kaiten::cluster
