// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Windows above 3x3 on accelerators that stream them in kernel tiles and on one that does not: any kernel, stride, padding and
// number of channels, depthwise and pooling, every element compared; the slots of the vector engine are those of the kernel
// tiles where all rows can be streamed.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "tests/support/graph_builder.h"
#include "tests/support/seed.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

struct Case {
  OpKind kind = OpKind::DepthwiseConv2D;
  int kernel_h = 5, kernel_w = 5, stride = 1;
  Padding pad;
  int height = 0, width = 0, channels = 0;

  int rows() const { return (height + pad.top + pad.bottom - kernel_h) / stride + 1; }
  int columns() const { return (width + pad.left + pad.right - kernel_w) / stride + 1; }
  std::string text() const {
    return std::string(name_of(kind)) + ", kernel " + std::to_string(kernel_h) + "x" +
           std::to_string(kernel_w) + ", stride " + std::to_string(stride) + ", padding " +
           std::to_string(pad.top) + " " + std::to_string(pad.bottom) + " " + std::to_string(pad.left) + " " +
           std::to_string(pad.right) + ", map " + std::to_string(height) + "x" + std::to_string(width) + "x" +
           std::to_string(channels);
  }
};

Case draw(std::mt19937_64& random, OpKind kind, int kernel_h, int kernel_w, int cp) {
  const auto below = [&](int n) { return int(random() % std::uint64_t(n)); };
  Case c;
  c.kind = kind;
  c.kernel_h = kernel_h;
  c.kernel_w = kernel_w;
  c.stride = below(3) == 0 ? 2 : 1;
  c.pad = {below(kernel_h), below(kernel_h), below(kernel_w), below(kernel_w)};
  c.height = std::max(kernel_h, 1 + below(12));
  c.width = std::max(kernel_w, 1 + below(24));
  c.channels = 1 + below(5 * cp);
  return c;
}

Graph graph_of(const Case& c, std::uint64_t seed) {
  test::GraphBuilder g(seed);
  const int in = g.input(c.height, c.width, c.channels);
  const Activation a = g.activation();
  g.output(c.kind == OpKind::DepthwiseConv2D
               ? g.depthwise(in, c.kernel_h, c.kernel_w, c.stride, c.pad, a)
               : g.pool(c.kind, in, c.kernel_h, c.kernel_w, c.stride, c.pad, a));
  return g.graph;
}

// Steps of the vector engine for a window: its kernel tiles where rows are streamed, else three rows of a column each.
int steps_of(const Case& c, const Config& config) {
  const int tiles = ceil_div(c.kernel_w, 3), last_tile = c.kernel_w - (c.kernel_w % 3 == 0 ? 3 : 2);
  const int first_tile = ceil_div(c.kernel_w, tiles);
  const bool streamed = config.large_windows && c.columns() >= 4 && c.columns() <= 128 &&
                        last_tile - c.pad.left < c.width &&
                        (c.columns() - 1) * c.stride - c.pad.left + first_tile > 0;
  return ceil_div(c.kernel_h, 3) * (streamed ? tiles : c.kernel_w);
}

class LargeWindows : public testing::TestWithParam<const char*> {
 protected:
  void run(const Case& c) {
    SCOPED_TRACE(c.text());
    const Graph graph = graph_of(c, random_());
    test::draw_timing(*device_, random_);
    try {
      const test::Session::Result result =
          test::run_on(*device_, graph, config_, {}, test::draw_inputs(graph, random_));
      const int tiles = ceil_div(c.channels, 3 * config_.cp);
      EXPECT_EQ(result.counters["vector_busy"],
                std::uint64_t(c.rows()) * std::uint64_t(c.columns() * tiles * steps_of(c, config_)));
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  }

  std::mt19937_64 random_{test::seed() * 6151};
  Config config_ = preset(GetParam());
  std::unique_ptr<sim::SimDevice> device_ = test::make_device(GetParam(), random_());
};

TEST_P(LargeWindows, Depthwise) {
  for (int h = 4; h <= 7; h++) {
    for (int w = 4; w <= 7; w++) {
      for (int i = 0; i < 3; i++) run(draw(random_, OpKind::DepthwiseConv2D, h, w, config_.cp));
    }
  }
}

TEST_P(LargeWindows, Pooling) {
  for (const OpKind kind : {OpKind::MaxPool, OpKind::AveragePool}) {
    for (int i = 0; i < 12; i++) {
      const int h = 1 + int(random_() % 9);
      run(draw(random_, kind, h, 4 + int(random_() % 6), config_.cp));
    }
  }
}

// The longest rows that are streamed, one more column, and MobileNetV3's layers of 7x7.
TEST_P(LargeWindows, RowsOfAnyLength) {
  for (const int width : {4, 7, 14, 56, 128, 129}) {
    for (const int kernel : {5, 7}) {
      const int half = kernel / 2;
      run({OpKind::DepthwiseConv2D, kernel, kernel, 1, {half, half, half, half}, 5, width, config_.cp + 1});
    }
  }
}

// A table takes its time where results end, in the last kernel tile of a row: the cycle model knows.
TEST_P(LargeWindows, CyclesWithATable) {
  for (const int kernel : {3, 5, 7}) {
    test::GraphBuilder g(random_());
    const int half = kernel / 2;
    const int map = g.depthwise(g.input(12, 28, 6 * config_.cp), kernel, kernel, 1, {half, half, half, half},
                                Activation::None);
    g.output(g.table(map));
    sim::SimOptions options;
    options.memory.read_latency = options.memory.write_latency = 100;  // as the model has it
    const auto device = test::make_device(GetParam(), 1, options);
    test::Session session(*device, g.graph, config_, {});
    const auto cycles = double(session.run(test::draw_inputs(g.graph, random_)).cycles());
    EXPECT_NEAR(double(session.program().modelled_cycles), cycles, 0.03 * cycles) << kernel;
  }
}

INSTANTIATE_TEST_SUITE_P(On, LargeWindows, testing::Values("nano", "unit", "small"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace kaiten
