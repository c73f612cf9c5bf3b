// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Random single layers on the RTL, compared in every element: shapes and channel counts that are multiples of
// nothing, zero points at the ends, sums next to the ends of int32, sums that end on a rounding tie; tensors
// kept on chip or in memory, both rounding styles, and a memory with random timing. A layer that the compiler
// refuses is drawn again.

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "import/import.h"
#include "tests/support/graph_builder.h"
#include "tests/support/model_builder.h"
#include "tests/support/seed.h"
#include "tests/system/session.h"

namespace kaiten {
namespace {

using test::draw_inputs;
using test::ModelBuilder;

struct Selection {
  const char* config;
  int layers;  // of every kind
  test::RandomLayerLimits limits;
};

// Names the configuration where GoogleTest prints its parameter.
void PrintTo(const Selection& s, std::ostream* out) { *out << s.config; }

test::RandomLayerLimits limits(int side, int channels) {
  test::RandomLayerLimits l;
  l.max_side = side;
  l.max_channels = channels;
  return l;
}

#ifdef KAITEN_LONG
const Selection kSelections[] = {{"micro", 600, limits(24, 40)},
                                 {"nano", 600, limits(24, 60)},
                                 {"unit", 600, limits(24, 60)},
                                 {"small", 150, limits(40, 100)},
                                 {"base", 150, limits(48, 150)}};
#else
const Selection kSelections[] = {{"micro", 30, limits(16, 20)},
                                 {"nano", 60, limits(16, 30)},
                                 {"unit", 40, limits(16, 30)},
                                 {"small", 10, limits(24, 60)},
                                 {"base", 10, limits(24, 80)}};
#endif

int draw(std::mt19937_64& random, int low, int high) {
  return low + int(random() % std::uint64_t(high - low + 1));
}

// A layer all of whose scales are powers of two, with small weights: requantisation drops few bits, so that
// many sums stand exactly between two values, negative ones too.
ModelBuilder layer_of_ties(std::uint64_t seed, OpKind kind, const test::RandomLayerLimits& l) {
  ModelBuilder model(seed);
  std::mt19937_64& random = model.random();
  const bool whole = kind == OpKind::FullyConnected;
  // The more products, the fewer ties.
  const int least = whole ? 1 : 3, most = whole ? 2 : l.max_side;
  const int h = draw(random, least, most), w = draw(random, least, most), c = draw(random, 1, l.max_channels);
  const int in = model.input({1, h, w, c}, {0x1p-5F, draw(random, -128, 127)});
  test::ConvSpec spec;
  spec.channels = draw(random, 1, l.max_channels);
  spec.kernel_h = spec.kernel_w = draw(random, 0, 2) ? 3 : 1;
  spec.out_zero_point = draw(random, -40, 40);
  spec.same = draw(random, 0, 1) == 1;
  spec.weight_scales = {0x1p-7F};
  const int fan_in = whole ? h * w * c : spec.kernel_h * spec.kernel_w * (kind == OpKind::Conv2D ? c : 1);
  const int channels = kind == OpKind::DepthwiseConv2D ? c : spec.channels;
  for (int i = 0; i < channels; i++) spec.bias.push_back(draw(random, -300, 300));
  for (int i = 0; i < fan_in * channels; i++) spec.weights.push_back(std::int8_t(draw(random, -2, 2)));
  // Sums spread by about 100 * sqrt(2 * fan_in): bring them to about 50.
  const int shift = std::max(1, int(std::lround(std::log2(2 * std::sqrt(2.0 * fan_in)))));
  spec.out_scale = std::ldexp(1.0F, -12 + shift);
  switch (kind) {
    case OpKind::Conv2D:
      model.output(model.conv(in, spec));
      break;
    case OpKind::DepthwiseConv2D:
      model.output(model.depthwise(in, spec));
      break;
    default:
      model.output(model.fully_connected(in, spec));
  }
  if (l.uint8) model.make_uint8(draw(random, -2, 2));
  return model;
}

// Sums of a weighted layer before requantisation, in plain loops.
std::vector<std::int32_t> sums(const Graph& graph, const Op& op, const Int8Values& input) {
  const Nhwc in = graph.input_of(op).nhwc(), out = graph.output_of(op).nhwc();
  const Tensor& weights = graph.weights_of(op);
  const std::vector<std::int32_t> bias = op.bias == kNoTensor
                                             ? std::vector<std::int32_t>(std::size_t(out.c))
                                             : graph.tensors[std::size_t(op.bias)].int32_values();
  const int zero = graph.input_of(op).zero_point(), weight_zero = weights.zero_point();
  std::vector<std::int32_t> result;
  for (int y = 0; y < out.h; y++) {
    for (int x = 0; x < out.w; x++) {
      for (int o = 0; o < out.c; o++) {
        std::int64_t sum = bias[std::size_t(o)];
        if (op.kind == OpKind::FullyConnected) {
          for (std::size_t i = 0; i < input.size(); i++) {
            sum += (input[i] - zero) * (weights.int8_at(std::size_t(o) * input.size() + i) - weight_zero);
          }
        }
        const bool map = op.kind != OpKind::FullyConnected;
        const bool depthwise = op.kind == OpKind::DepthwiseConv2D;
        for (int i = 0; map && i < op.window.kernel_h; i++) {
          for (int j = 0; j < op.window.kernel_w; j++) {
            const int row = y * op.window.stride_h - op.window.pad.top + i;
            const int column = x * op.window.stride_w - op.window.pad.left + j;
            if (row < 0 || row >= in.h || column < 0 || column >= in.w) continue;
            const int tap = i * op.window.kernel_w + j, taps = op.window.kernel_h * op.window.kernel_w;
            for (int c = depthwise ? o : 0; c < (depthwise ? o + 1 : in.c); c++) {
              const std::size_t weight =
                  depthwise ? std::size_t(tap) * std::size_t(in.c) + std::size_t(c)
                            : (std::size_t(o) * std::size_t(taps) + std::size_t(tap)) * std::size_t(in.c) +
                                  std::size_t(c);
              sum += (input[(std::size_t(row) * std::size_t(in.w) + std::size_t(column)) * std::size_t(in.c) +
                            std::size_t(c)] -
                      zero) *
                     (weights.int8_at(weight) - weight_zero);
            }
          }
        }
        result.push_back(std::int32_t(sum));
      }
    }
  }
  return result;
}

// Sums that are negative and stand exactly between two values in the last rounding.
int negative_ties(const Graph& graph, const Op& op, const Int8Values& input, RoundingStyle style) {
  const ConvParams p = conv_params(graph, op, style);
  const std::vector<std::int32_t> values = sums(graph, op, input);
  int ties = 0;
  for (std::size_t i = 0; i < values.size(); i++) {
    const Multiplier m = p.channel(i % p.multiplier.size());
    std::int64_t x = values[i];
    int drop = 31 - m.shift;
    if (p.output.rule == Rounding::Double) {
      x = doubling_high_multiply(std::int32_t(x), m.m);
      drop = -m.shift;
    } else {
      x *= m.m;
    }
    const std::int64_t mask = (std::int64_t(1) << drop) - 1;
    if (drop > 0 && x < 0 && (x & mask) == (std::int64_t(1) << (drop - 1))) ties++;
  }
  return ties;
}

class Layers : public testing::TestWithParam<Selection> {
 protected:
  void SetUp() override {
    config_ = preset(GetParam().config);
    std::uint64_t s = test::seed();
    for (const char* c = GetParam().config; *c; c++) s = s * 31 + std::uint64_t(*c);
    random_.seed(s);
    device_ = test::make_device(config_.name, random_());
  }

  // Runs a layer on the device that ran all layers before it. False where the compiler refuses it.
  bool run(const ModelBuilder& model, const std::string& what) {
    return run(require_graph(import_tflite(model.file())), what);
  }
  bool run(const Graph& graph, const std::string& what) {
    CompileOptions options;
    options.rounding = random_() % 2 ? RoundingStyle::Tflm : RoundingStyle::LiteRt;
    options.keep_on_chip = random_() % 3 != 0;
    options.block_pixels = random_() % 4 == 0 ? draw(random_, 1, 60) : 0;
    if (!refusals(graph, config_, options).empty()) return false;
    const std::vector<Int8Values> inputs = draw_inputs(graph, random_);
    test::draw_timing(*device_, random_);
    const Op& op = graph.ops.back();
    const Window& w = op.window;
    SCOPED_TRACE(what + ": " + std::string(name_of(op.kind)) + " " + shape_text(graph.input_of(op).shape) +
                 " to " + shape_text(graph.output_of(op).shape) + ", window " + std::to_string(w.kernel_h) +
                 "x" + std::to_string(w.kernel_w) + ", stride " + std::to_string(w.stride_h) + "x" +
                 std::to_string(w.stride_w) + (options.keep_on_chip ? ", on chip" : ", in memory") +
                 (options.rounding == RoundingStyle::Tflm ? ", tflm" : ", litert") + ", blocks of " +
                 std::to_string(options.block_pixels) + ", memory " +
                 test::timing_text(device_->memory().options()));
    try {
      const auto result = test::run_on(*device_, graph, config_, options, inputs);
      ran_++;
      cycles_ += result.cycles();
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
    if (HasFailure()) {
      // Is it the layer, or what earlier ones left behind?
      auto fresh = test::make_device(config_.name, 1);
      testing::TestPartResultArray failures;
      {
        testing::ScopedFakeTestPartResultReporter quiet(
            testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
        try {
          test::run_on(*fresh, graph, config_, options, inputs);
        } catch (const std::exception& e) {
          ADD_FAILURE() << e.what();
        }
      }
      std::printf("the layer alone, with memory at its fastest: %s\n",
                  failures.size() ? failures.GetTestPartResult(0).message() : "exact");
    }
    if (op.weights != kNoTensor) {
      const AccumulatorRange range = accumulator_range(graph, op, op_params(graph, op, options.rounding));
      constexpr std::int64_t kNear = std::numeric_limits<std::int32_t>::max() - (1 << 24);
      if (range.max > kNear || range.min < -kNear) near_limits_++;
      if (graph.ops.size() == 1) ties_ += negative_ties(graph, op, inputs[0], options.rounding);
    }
    return true;
  }

  void run_kind(OpKind kind, test::RandomLayerLimits l) {
    const int wanted = GetParam().layers;
    // The ordinary ones and, of the weighted kinds, half as many with ties.
    for (int attempts = 0; ran_ < wanted && attempts < 40 * wanted && !HasFailure(); attempts++) {
      const std::uint64_t seed = random_();
      run(test::random_layer(seed, kind, l), "layer of seed " + std::to_string(seed));
    }
    EXPECT_EQ(ran_, wanted);
    if (kind != OpKind::Conv2D && kind != OpKind::DepthwiseConv2D && kind != OpKind::FullyConnected) return;
    const int with_ties = ran_ + std::max(1, wanted / 2);
    for (int attempts = 0; ran_ < with_ties && attempts < 40 * wanted && !HasFailure(); attempts++) {
      const std::uint64_t seed = random_();
      run(layer_of_ties(seed, kind, l), "layer of ties, seed " + std::to_string(seed));
    }
    EXPECT_EQ(ran_, with_ties);
    EXPECT_GT(ties_, 0);
  }

  // Layers whose maps or weights do not fit the buffers.
  void run_large(OpKind kind, test::RandomLayerLimits l) {
    constexpr std::uint64_t kMostMacs = 6'000'000;
    const int wanted = std::max(1, GetParam().layers / 20);
    for (int attempts = 0; ran_ < wanted && attempts < 200 * wanted && !HasFailure(); attempts++) {
      const std::uint64_t seed = random_();
      const ModelBuilder model = test::random_layer(seed, kind, l);
      const Graph graph = require_graph(import_tflite(model.file()));
      const Op& op = graph.ops.back();
      const std::size_t word_bytes = std::size_t(9 * config_.cp);
      const bool map = graph.input_of(op).elements() > word_bytes * std::size_t(config_.sb_depth);
      const bool weights =
          op.weights != kNoTensor && graph.weights_of(op).bytes() > word_bytes * std::size_t(config_.wb_rows);
      if ((map || weights) && macs(graph) < kMostMacs)
        run(model, "large layer of seed " + std::to_string(seed));
    }
    EXPECT_EQ(ran_, wanted);
  }

  void TearDown() override {
    std::printf(
        "%d layers, %llu cycles at %.0f kHz; %d with sums next to the ends of int32, %d negative ties\n",
        ran_, static_cast<unsigned long long>(cycles_),
        double(device_->loop_cycles()) / std::max(device_->loop_seconds(), 1e-9) / 1e3, near_limits_, ties_);
  }

  Config config_;
  std::mt19937_64 random_;
  std::unique_ptr<sim::SimDevice> device_;
  int ran_ = 0, near_limits_ = 0, ties_ = 0;
  std::uint64_t cycles_ = 0;
};

TEST_P(Layers, Convolutions) {
  test::RandomLayerLimits l = GetParam().limits;
  l.max_kernel = 3;
  l.max_stride = 5;
  run_kind(OpKind::Conv2D, l);
  if (GetParam().layers >= 40) {
    EXPECT_GT(near_limits_, 0);
  }
}

// Kernels of several tiles; often larger than the map.
TEST_P(Layers, LargeKernels) {
  test::RandomLayerLimits l = GetParam().limits;
  l.max_channels = 20;
  l.max_kernel = 16;
  l.max_stride = 4;
  const int wanted = GetParam().layers;
  for (int attempts = 0; ran_ < wanted && attempts < 40 * wanted && !HasFailure(); attempts++) {
    const std::uint64_t seed = random_();
    run(test::random_layer(seed, OpKind::Conv2D, l), "layer of seed " + std::to_string(seed));
  }
  EXPECT_EQ(ran_, wanted);
}

// Layers on images: few channels, kernels and strides as stems have them.
TEST_P(Layers, Stems) {
  for (int i = 0; i < GetParam().layers && !HasFailure(); i++) {
    ModelBuilder model(random_());
    const auto& l = GetParam().limits;
    const int in = model.input(
        {1, draw(random_, 8, 2 * l.max_side), draw(random_, 8, 2 * l.max_side), draw(random_, 1, 4)},
        {0.02F, draw(random_, -128, 127)});
    test::ConvSpec spec;
    spec.channels = draw(random_, 1, l.max_channels);
    spec.kernel_h = draw(random_, 0, 2) ? 2 * draw(random_, 1, 3) + 1 : draw(random_, 1, 8);
    spec.kernel_w = draw(random_, 0, 3) ? spec.kernel_h : draw(random_, 1, 8);
    spec.stride_h = draw(random_, 1, 5);
    spec.stride_w = draw(random_, 0, 3) ? spec.stride_h : draw(random_, 1, 5);
    spec.same = draw(random_, 0, 1) == 1;
    model.output(model.conv(in, spec));
    EXPECT_TRUE(run(model, "stem " + std::to_string(i)));
  }
  EXPECT_EQ(ran_, GetParam().layers);
}

// Kernels of one pixel and of 3x3 at stride 1: what most networks consist of.
TEST_P(Layers, PlainConvolutions) {
  for (int kernel : {1, 3}) {
    for (int i = 0; i < GetParam().layers && !HasFailure(); i++) {
      ModelBuilder model(random_());
      const auto& l = GetParam().limits;
      const int in = model.input(
          {1, draw(random_, 1, l.max_side), draw(random_, 1, l.max_side), draw(random_, 1, l.max_channels)},
          {0.02F, draw(random_, 0, 1) ? -128 : 127});
      test::ConvSpec spec;
      spec.channels = draw(random_, 1, l.max_channels);
      spec.kernel_h = spec.kernel_w = kernel;
      spec.out_zero_point = draw(random_, 0, 1) ? -128 : 0;
      spec.activation = Activation::Relu;
      model.output(model.conv(in, spec));
      EXPECT_TRUE(run(model, "kernel " + std::to_string(kernel) + ", layer " + std::to_string(i)));
    }
  }
  EXPECT_EQ(ran_, 2 * GetParam().layers);
}

TEST_P(Layers, Depthwise) {
  test::RandomLayerLimits l = GetParam().limits;
  l.max_stride = 2;
  run_kind(OpKind::DepthwiseConv2D, l);
}

// On the array, as convolutions.
TEST_P(Layers, DepthwiseWithMultiplier) {
  test::RandomLayerLimits l = GetParam().limits;
  l.max_channels = 8;
  l.max_kernel = 3;
  l.max_stride = 3;
  l.max_depth_multiplier = 4;
  run_kind(OpKind::DepthwiseConv2D, l);
}

TEST_P(Layers, FullyConnected) {
  test::RandomLayerLimits l = GetParam().limits;
  l.max_side = 6;
  run_kind(OpKind::FullyConnected, l);
}

// Legacy uint8 models: weights with a zero point, averages of uint8 values.
TEST_P(Layers, Uint8Convolutions) {
  if (!config_.sum_row) GTEST_SKIP() << "no sum row: weights have no zero point";
  test::RandomLayerLimits l = GetParam().limits;
  l.max_kernel = 7;
  l.max_stride = 2;
  l.uint8 = true;
  run_kind(OpKind::Conv2D, l);
}

TEST_P(Layers, Uint8Depthwise) {
  test::RandomLayerLimits l = GetParam().limits;
  l.max_stride = 2;
  l.uint8 = true;
  run_kind(OpKind::DepthwiseConv2D, l);
}

TEST_P(Layers, Uint8DepthwiseWithMultiplier) {
  test::RandomLayerLimits l = GetParam().limits;
  l.max_channels = 8;
  l.max_kernel = 3;
  l.max_stride = 2;
  l.max_depth_multiplier = 4;
  l.uint8 = true;
  run_kind(OpKind::DepthwiseConv2D, l);
}

TEST_P(Layers, Uint8FullyConnected) {
  if (!config_.sum_row) GTEST_SKIP() << "no sum row: weights have no zero point";
  test::RandomLayerLimits l = GetParam().limits;
  l.max_side = 6;
  l.uint8 = true;
  run_kind(OpKind::FullyConnected, l);
}

TEST_P(Layers, Uint8Additions) {
  if (!config_.sum_row) GTEST_SKIP() << "no sum row: weights have no zero point";
  test::RandomLayerLimits l = GetParam().limits;
  l.uint8 = true;
  run_kind(OpKind::Add, l);
}

TEST_P(Layers, Uint8AveragePools) {
  test::RandomLayerLimits l = GetParam().limits;
  l.uint8 = true;
  run_kind(OpKind::AveragePool, l);
}

TEST_P(Layers, Additions) { run_kind(OpKind::Add, GetParam().limits); }
TEST_P(Layers, AveragePools) { run_kind(OpKind::AveragePool, GetParam().limits); }
TEST_P(Layers, MaximumPools) { run_kind(OpKind::MaxPool, GetParam().limits); }
TEST_P(Layers, Means) { run_kind(OpKind::Mean, GetParam().limits); }

// Sums, differences and products: of two maps, of a map and one pixel, of a map and a constant of any shape.
TEST_P(Layers, Elements) {
  static constexpr OpKind kKinds[] = {OpKind::Add, OpKind::Sub, OpKind::Mul};
  const auto& l = GetParam().limits;
  for (int i = 0; i < GetParam().layers && !HasFailure(); i++) {
    const std::uint64_t seed = random_();
    test::GraphBuilder g(seed);
    const int h = g.uniform(1, l.max_side), w = g.uniform(1, l.max_side), c = g.uniform(1, l.max_channels);
    const int map = g.input(h, w, c);
    if (i % 2) {
      g.output(g.element_with_constant(map, g.activation()));
    } else {
      const int other = i % 4 ? g.input(h, w, c) : g.input(1, 1, c);
      const bool first = g.uniform(0, 1) == 1;
      g.output(g.element(kKinds[g.uniform(0, 2)], first ? other : map, first ? map : other, g.activation()));
    }
    EXPECT_TRUE(run(g.graph, "layer of seed " + std::to_string(seed)));
  }
}

TEST_P(Layers, SumsOfSeveralMaps) {
  for (int i = 0; i < GetParam().layers && !HasFailure(); i++) {
    const std::uint64_t seed = random_();
    test::GraphBuilder g(seed);
    if (i % 10 == 0) g.graph.framework = Framework::Onnx;
    g.output(test::sums(g));
    // Where no integers give ONNX's float32 sums the host computes them (onnx_vectors_test).
    if (!run(g.graph, "layer of seed " + std::to_string(seed))) {
      EXPECT_EQ(g.graph.framework, Framework::Onnx);
    }
  }
}

// Functions of one value.
TEST_P(Layers, Tables) {
  const auto& l = GetParam().limits;
  for (int i = 0; i < GetParam().layers && !HasFailure(); i++) {
    const std::uint64_t seed = random_();
    test::GraphBuilder g(seed);
    if (g.uniform(0, 2) == 0) g.graph.framework = Framework::Onnx;
    const int map = g.input(g.uniform(1, l.max_side), g.uniform(1, l.max_side), g.uniform(1, l.max_channels));
    g.output(g.table(map, Function(i % (int(Function::Clamp) + 1))));
    EXPECT_TRUE(run(g.graph, "layer of seed " + std::to_string(seed)));
  }
}

// A function behind windows, by which their results go where the configuration can: nothing is left to do for it.
TEST_P(Layers, TablesBehindWindows) {
  const auto& l = GetParam().limits;
  for (int i = 0; i < GetParam().layers && !HasFailure(); i++) {
    const std::uint64_t seed = random_();
    test::GraphBuilder g(seed);
    const int side = i % 7 == 2 ? 6 : std::min(l.max_side, 20);
    const int map = g.input(g.uniform(1, side), g.uniform(1, side), g.uniform(1, l.max_channels));
    const Padding pad{1, 1, 1, 1};
    int windows = 0;
    switch (i % 7) {
      case 0:
        windows = g.conv(map, g.uniform(1, 100), 1, 1, 1, {}, g.activation());
        break;
      case 1:
        windows = g.conv(map, g.uniform(1, 100), 3, 3, g.uniform(1, 2), pad, g.activation());
        break;
      case 2:
        windows = g.fully_connected(map, g.uniform(1, 200), g.activation());
        break;
      case 3:
        windows = g.depthwise(map, 3, 3, g.uniform(1, 2), pad, g.activation());
        break;
      case 4:
        windows = g.pool(OpKind::AveragePool, map, 3, 3, g.uniform(1, 2), pad, Activation::None);
        break;
      case 5:
        windows = g.depthwise(g.input(side, side, 3), 3, 3, 1, pad, g.activation(), 2);
        break;
      default:
        windows = g.pool(OpKind::MaxPool, map, 3, 3, g.uniform(1, 2), pad, Activation::None);
    }
    g.output(g.table(windows));
    EXPECT_TRUE(run(g.graph, "layer of seed " + std::to_string(seed)));
  }
}

// Of ONNX graphs.
TEST_P(Layers, RuleFloat) {
  if (!config_.float_rule) GTEST_SKIP() << "no rule float";
  for (int i = 0; i < GetParam().layers && !HasFailure(); i++) {
    const std::uint64_t seed = random_();
    test::GraphBuilder g(seed);
    g.output(test::float_layer(g));
    EXPECT_TRUE(run(g.graph, "layer of seed " + std::to_string(seed)));
  }
}

INSTANTIATE_TEST_SUITE_P(Random, Layers, testing::ValuesIn(kSelections),
                         [](const auto& info) { return std::string(info.param.config); });

// On the two smallest configurations only: elsewhere a layer larger than the buffers takes seconds.
class LargeLayers : public Layers {};

TEST_P(LargeLayers, Convolutions) {
  test::RandomLayerLimits l = GetParam().limits;
  l.max_side = 100;
  l.max_channels = 300;
  l.max_kernel = 3;
  l.max_stride = 2;
  run_large(OpKind::Conv2D, l);
}

TEST_P(LargeLayers, Depthwise) {
  test::RandomLayerLimits l = GetParam().limits;
  l.max_side = 90;
  l.max_channels = 60;
  run_large(OpKind::DepthwiseConv2D, l);
}

INSTANTIATE_TEST_SUITE_P(Random, LargeLayers, testing::Values(kSelections[0], kSelections[1]),
                         [](const auto& info) { return std::string(info.param.config); });

}  // namespace
}  // namespace kaiten
