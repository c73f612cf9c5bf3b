// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/spans/span_cost.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compile/lower/lower.h"
#include "program/config.h"
#include "tests/support/graph_builder.h"
#include "tests/support/seed.h"

namespace kaiten {
namespace {

using test::GraphBuilder;

// Layers one after the other, some of which are added to what came before or read twice.
void random_network(GraphBuilder& g) {
  int map = g.input(g.uniform(4, 24), g.uniform(4, 12), g.uniform(1, 30));
  for (int layer = 0, n = g.uniform(3, 9); layer < n; layer++) {
    const int k = 2 * g.uniform(0, 2) + 1, stride = g.uniform(1, 3);
    const Nhwc s = g.graph.tensors[std::size_t(map)].nhwc();
    const Padding same{k / 2, k / 2, k / 2, k / 2};
    switch (g.uniform(0, 3)) {
      case 0:
        map = g.depthwise(map, k, k, stride, same, Activation::Relu);
        break;
      case 1:
        map =
            g.element(OpKind::Add, map, g.conv(map, s.c, k, k, 1, same, Activation::None), Activation::None);
        break;
      default:
        map = g.conv(map, g.uniform(1, 40), k, k, stride, same, Activation::Relu);
    }
  }
  g.output(map);
}

SpanShape shape_of(const Lowering& lowering, const UsesOfStorages& uses, const SpanCost& cost,
                   const Span& span) {
  SpanRows rows = span_rows(lowering, uses, span, {});
  SpanShape shape{std::move(rows.rings), std::move(rows.flow).slots_needed()};
  for (SpanRows::Ring& r : shape.rings) r.storage = cost.storages().place(r.storage);
  return shape;
}

// For every run of a network's operators: the planner takes a span whose bound fits without following its rows.
TEST(SpanCost, RowsTakeNoMoreThanTheirBound) {
  std::int64_t measured = 0, bounds = 0;
  for (std::uint64_t i = 0; i < 200; i++) {
    SCOPED_TRACE("network " + std::to_string(i));
    GraphBuilder g(test::seed() * 3000 + i);
    random_network(g);
    const Config& config = preset(i % 2 ? "nano" : "base");
    const Lowering lowering = lower(g.graph, config, RoundingStyle::LiteRt);
    const UsesOfStorages uses = find_uses(lowering, config);
    std::vector<std::size_t> order;
    for (std::size_t at = 0; at < lowering.ops.size(); at++) {
      if (on_device(lowering.ops[at].engine)) order.push_back(at);
    }
    const int images = g.uniform(1, 3);
    SpanCost cost(lowering, uses, images, g.uniform(0, 1));
    for (std::size_t p = 0; p < order.size(); p++) {
      Span span{{}, 0, images};
      for (std::size_t q = p; q < order.size(); q++) {
        const LoweredOp& op = lowering.ops[order[q]];
        span.tasks.push_back({order[q], 0, op.tiles(), op.tiles(), g.uniform(1, std::min(op.out.h, 6))});
        if (span.tasks.size() == 1) continue;
        cost.look_at(span, order[q] + 1, {}, {}, 1);
        cost.measure(shape_of(lowering, uses, cost, span));
        const auto used = cost.spilled().used;
        cost.bound(span);
        for (std::size_t b = 0; b < kBuffers; b++) {
          ASSERT_LE(used[b], cost.spilled().used[b]) << "operators " << p << " to " << q;
          measured += used[b];
          bounds += cost.spilled().used[b];
        }
      }
    }
  }
  EXPECT_LT(double(bounds), 2.0 * double(measured));  // else it would decide little
}

}  // namespace
}  // namespace kaiten
