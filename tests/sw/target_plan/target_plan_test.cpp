// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Target mode: the compiler's span planner against every way to cut small random graphs, on configurations so
// small that cuts are needed, and the properties of a plan.
#include "target_plan/target_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "base/error.h"
#include "compile/compiler.h"
#include "compile/lower/lower.h"
#include "compile/spans/spans.h"
#include "plan/from_graph.h"
#include "plan/table.h"
#include "plan/to_graph.h"
#include "program/bus_beats.h"
#include "tests/support/graph_builder.h"
#include "tests/support/seed.h"

namespace kaiten {
namespace {

using test::GraphBuilder;

#ifdef KAITEN_LONG
constexpr int kGraphs = 20000;
#else
constexpr int kGraphs = 3000;
#endif

// Convolutions, depthwise layers and pools in a chain, additions over some of them.
Graph random_graph(std::mt19937_64& rng, int layers) {
  GraphBuilder g(rng());
  int at = g.input(g.uniform(4, 12), g.uniform(2, 8), g.uniform(1, 8));
  std::vector<int> made;
  for (int i = 0; i < layers; i++) {
    const Nhwc s = g.graph.tensors[std::size_t(at)].nhwc();
    std::vector<int> same;
    for (int t : made) {
      if (t != at && g.graph.tensors[std::size_t(t)].nhwc() == s) same.push_back(t);
    }
    const int k = std::min({g.uniform(1, 3), s.h, s.w});
    const int stride = g.uniform(0, 3) == 0 ? 2 : 1;
    const Padding pad = GraphBuilder::same(s.h, s.w, k, k, stride);
    if (!same.empty() && g.uniform(0, 1) == 0) {
      at = g.add(at, same[std::size_t(g.uniform(0, int(same.size()) - 1))], Activation::None);
    } else if (g.uniform(0, 3) == 0) {
      at = g.depthwise(at, k, k, stride, pad, Activation::None);
    } else if (g.uniform(0, 5) == 0) {
      at = g.pool(OpKind::MaxPool, at, k, k, stride, pad, Activation::None);
    } else {
      const int channels = g.uniform(0, 1) == 0 ? s.c : g.uniform(1, 12);
      at = g.conv(at, channels, k, k, stride, pad, Activation::None);
    }
    made.push_back(at);
  }
  g.output(at);
  return g.graph;
}

Config small_config(std::mt19937_64& rng) {
  Config c = preset("nano");
  c.wb_rows = 16 << (rng() % 4);
  c.vwb_rows = 16;
  c.sb_depth = 8 << (rng() % 4);
  c.vb_depth = 8 << (rng() % 4);
  c.zsb_array = 32;
  c.zsb_vector = 64;
  return c;
}

std::optional<SpanPlan> planned(const Graph& graph, const Lowering& lowering, const Config& config,
                                const SpanOptions& options = {}) {
  try {
    SpanMemo memo;
    return plan_spans(graph, lowering, config, options, memo);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

TEST(TargetPlan, NoWayToCutIsBetter) {
  std::mt19937_64 rng(test::seed());
  int cut = 0;
  int fit = 0;
  int moved = 0;
  int skipped = 0;
  for (int t = 0; t < kGraphs; t++) {
    const Graph graph = random_graph(rng, 2 + int(rng() % 4));
    const Config config = small_config(rng);
    const Lowering lowering = lower(graph, config, RoundingStyle::LiteRt);
    // Layers that go by ranges of channels are several operators each: cuts cannot name all the places
    // between them.
    if (!lowering.refusals.empty() || lowering.ops.size() != graph.ops.size()) continue;
    const int n = int(lowering.ops.size());
    SpanOptions batch;
    batch.images = t % 3 == 0 ? 1 + int(rng() % 4) : 1;
    const auto best = planned(graph, lowering, config, batch);
    std::optional<std::int64_t> least;
    for (unsigned mask = 0; mask < 1U << (n - 1); mask++) {
      SpanOptions options = batch;
      for (int op = 0; op < n; op++) {
        if (op == n - 1 || (mask >> op & 1U) != 0) options.cuts.push_back(op);
      }
      const auto p = planned(graph, lowering, config, options);
      if (p && (!least || p->bytes < *least)) least = p->bytes;
    }
    ASSERT_EQ(best.has_value(), least.has_value()) << "graph " << t;
    if (!best) continue;
    ASSERT_EQ(best->bytes, *least) << "graph " << t;
    // Every operator once, in their order.
    std::vector<std::size_t> positions;
    for (const Span& s : best->spans) {
      for (const Task& task : s.tasks) {
        if (task.tile_begin == 0) positions.push_back(task.position);
      }
    }
    for (std::size_t i = 0; i < positions.size(); i++) ASSERT_EQ(positions[i], i);
    ASSERT_EQ(int(positions.size()), n);
    SpanOptions off = batch;
    off.keep_on_chip = false;
    if (const auto per_layer = planned(graph, lowering, config, off))
      EXPECT_LE(best->bytes, per_layer->bytes) << "graph " << t;
    const Tensor& in = graph.tensors[std::size_t(graph.inputs[0])];
    const Tensor& out = graph.tensors[std::size_t(graph.outputs[0])];
    // But for columns between the windows of two stripes, which nobody needs and no other span leaves out.
    const bool skips = std::any_of(best->spans.begin(), best->spans.end(), [&](const Span& s) {
      const LoweredOp& op = lowering.ops[s.tasks.front().position];
      return s.stripes > 1 && op.column_stride > op.kernel_columns;
    });
    skipped += skips;
    if (!skips) EXPECT_GE(best->bytes, batch.images * std::int64_t(in.bytes() + out.bytes()));
    const auto again = planned(graph, lowering, config, batch);
    ASSERT_EQ(again->spans.size(), best->spans.size());
    // Larger memories never cost traffic.
    Config larger = config;
    larger.wb_rows *= 2;
    larger.sb_depth += 16;
    larger.vb_depth += 16;
    const auto with_more = planned(graph, lower(graph, larger, RoundingStyle::LiteRt), larger, batch);
    ASSERT_TRUE(with_more.has_value());
    if (!skips) EXPECT_LE(with_more->bytes, best->bytes) << "graph " << t;
    fit++;
    cut += best->spans.size() > 1;
    moved += best->bytes > std::int64_t(in.bytes()) + std::int64_t(out.bytes()) * 4;
  }
  std::printf("%d fit, %d of them in several spans, %d spill\n", fit, cut, moved);
  EXPECT_GT(fit, kGraphs / 5);
  EXPECT_GT(cut, kGraphs / 30);
  EXPECT_LT(skipped, kGraphs / 30);
}

TEST(TargetPlan, TellsTheBytesOfTheCommands) {
  std::mt19937_64 rng(test::seed() + 1);
  for (int t = 0; t < 40; t++) {
    const Graph graph = random_graph(rng, 5);
    const Config config = preset("nano");
    if (!lower(graph, config, RoundingStyle::LiteRt).refusals.empty()) continue;
    const plan::Network network = plan::network_of(graph);
    TargetPlanner planner(graph, network, false, config);
    const plan::Method best = planner.run(plan::MethodKind::kOptimal);
    const plan::Method bound = planner.run(plan::MethodKind::kBound);
    const plan::Method per_layer = planner.run(plan::MethodKind::kPerLayer);
    EXPECT_LE(bound.traffic_bytes, best.traffic_bytes);
    EXPECT_LE(best.traffic_bytes - best.bytes.commands, per_layer.traffic_bytes - per_layer.bytes.commands);
    const Program program = compile(graph, config);
    std::int64_t bytes = std::int64_t(program.commands.size() * kCommandBytes);
    for (const CommandMeta& m : program.meta) bytes += m.read_bytes + m.written_bytes;
    EXPECT_EQ(best.traffic_bytes, bytes);
    EXPECT_EQ(best.traffic_bytes, best.bytes.total());
    std::int64_t sum = best.penalty_bytes;
    for (const plan::Span& s : best.spans) sum += s.traffic_bytes;
    EXPECT_EQ(sum, best.traffic_bytes);
    // Of layers and of commands, too.
    plan::Bytes of_layers, of_commands, bus_of_layers, bus_of_commands;
    std::int64_t cycles = 0, last = 0;
    for (const plan::LayerWork& l : best.layers) {
      of_layers += l.bytes;
      bus_of_layers += l.bus_bytes;
      cycles += l.cycles;
    }
    for (const plan::CommandWork& c : best.commands) {
      of_commands += c.bytes;
      bus_of_commands += c.bus_bytes;
      last = std::max(last, c.complete);
    }
    EXPECT_EQ(of_layers, best.bytes);
    EXPECT_EQ(of_commands, best.bytes);
    EXPECT_EQ(bus_of_layers, best.bus_bytes);
    EXPECT_EQ(bus_of_commands, best.bus_bytes);
    EXPECT_EQ(cycles, best.cycles);
    EXPECT_EQ(last, best.cycles);
    EXPECT_EQ(best.commands.size(), program.commands.size());
    const BusBeats beats = bus_beats(program);
    EXPECT_EQ(best.bus_bytes.total(), (beats.read + beats.written) * config.axi_bytes);
    // Every map on chip, so nothing but both ends moves.
    EXPECT_EQ(best.bytes.spilled + best.bytes.residual, 0);
    EXPECT_EQ(best.bytes.input, network.maps.front().elements());
  }
}

TEST(TargetPlan, OfATable) {
  const plan::Network table = plan::read_table(
      R"({"name": "t", "input": {"height": 8, "width": 8, "channels": 3}, "layers": [
          {"name": "a", "op": "conv", "kernel": [3, 3], "pad": [1, 1, 1, 1], "channels": 8},
          {"name": "b", "op": "conv", "kernel": [3, 3], "stride": [2, 2], "pad": [1, 1, 1, 1], "channels": 16, "add": "a"},
          {"name": "c", "op": "depthwise", "kernel": [3, 3], "pad": [1, 1, 1, 1]},
          {"name": "d", "op": "global_pool"}, {"name": "e", "op": "fc", "channels": 10}]})",
      "t");
  const plan::Network network = plan::with_addition_layers(table);
  ASSERT_EQ(network.layer_count(), 7);  // with the projection and the addition
  const Graph graph = plan::graph_of(network);
  EXPECT_EQ(macs(graph), std::uint64_t(network.macs()));
  const Config config = preset("base");
  TargetPlanner planner(graph, network, true, config);
  const plan::Method m = planner.run(plan::MethodKind::kOptimal);
  EXPECT_EQ(m.bytes.input, 8 * 8 * 3);
  EXPECT_EQ(m.bytes.spilled + m.bytes.residual, 0);
  EXPECT_GE(m.bytes.weights, 3 * 9 * 8 + 8 * 9 * 16 + 8 * 16 + 9 * 16 + 160);
  EXPECT_THROW(planner.run(plan::MethodKind::kLayerFusion), InputError);
}

}  // namespace
}  // namespace kaiten
