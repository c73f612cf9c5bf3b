// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Multipliers and rounding rules against exact arithmetic, with the ties that tell the rules apart.

#include "graph/quantize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "base/error.h"
#include "import/import.h"
#include "tests/support/model_builder.h"
#include "tests/support/seed.h"

namespace kaiten {
namespace {

constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
constexpr int32_t kHalf = 1 << 30;  // M of 0.5

TEST(QuantizeMultiplier, PowersOfTwo) {
  EXPECT_EQ(quantize_multiplier(0.5), (Multiplier{kHalf, 0}));
  EXPECT_EQ(quantize_multiplier(1.0), (Multiplier{kHalf, 1}));
  EXPECT_EQ(quantize_multiplier(0.25), (Multiplier{kHalf, -1}));
  EXPECT_EQ(quantize_multiplier(std::ldexp(1.0, 29)), (Multiplier{kHalf, 30}));
}

TEST(QuantizeMultiplier, RoundsTiesAwayFromZero) {
  // 2^30 + 0.5 in units of 2^-31, then just below it.
  EXPECT_EQ(quantize_multiplier(0.5 + std::ldexp(1.0, -32)), (Multiplier{kHalf + 1, 0}));
  EXPECT_EQ(quantize_multiplier(0.5 + std::ldexp(1.0, -32) - std::ldexp(1.0, -52)), (Multiplier{kHalf, 0}));
}

TEST(QuantizeMultiplier, MantissaThatRoundsUpToOneMovesIntoTheExponent) {
  EXPECT_EQ(quantize_multiplier(1.0 - std::ldexp(1.0, -40)), (Multiplier{kHalf, 1}));
  EXPECT_EQ(quantize_multiplier(1.0 - std::ldexp(1.0, -31)), (Multiplier{kMax, 0}));
}

TEST(QuantizeMultiplier, SmallFactors) {
  EXPECT_EQ(quantize_multiplier(0.0), (Multiplier{0, 0}));
  EXPECT_EQ(quantize_multiplier(std::ldexp(1.0, -32)), (Multiplier{kHalf, -31}));
  EXPECT_EQ(quantize_multiplier(std::ldexp(1.0, -33)), (Multiplier{0, 0}));
  // Exponent -32 before the mantissa rounds up: -31 after it, and kept.
  EXPECT_EQ(quantize_multiplier(std::ldexp(1.0 - std::ldexp(1.0, -40), -32)), (Multiplier{kHalf, -31}));
  EXPECT_EQ(quantize_multiplier(std::numeric_limits<double>::denorm_min()), (Multiplier{0, 0}));
}

TEST(QuantizeMultiplier, RefusesWhatHasNoRepresentation) {
  for (const double real : {-1.0, kMaxRealMultiplier, std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(quantize_multiplier(real), InputError) << real;
  }
  const double largest = std::nextafter(kMaxRealMultiplier, 0.0);
  EXPECT_EQ(quantize_multiplier(largest), (Multiplier{kMax, 30}));
}

TEST(RoundingDouble, FirstStepRoundsHalfUp) {
  // x * 0.5: -0.5 becomes 0, 0.5 becomes 1, -1.5 becomes -1.
  EXPECT_EQ(requantize_double(-1, {kHalf, 0}), 0);
  EXPECT_EQ(requantize_double(1, {kHalf, 0}), 1);
  EXPECT_EQ(requantize_double(-3, {kHalf, 0}), -1);
}

TEST(RoundingDouble, NegativeTiesOfTheSecondStepGoAwayFromZero) {
  // x / 8 through h = x / 2 (exact for even x) and a shift by two: h = -2, -6, -10 are the ties.
  EXPECT_EQ(requantize_double(-4, {kHalf, -2}), -1);
  EXPECT_EQ(requantize_double(-12, {kHalf, -2}), -2);
  EXPECT_EQ(requantize_double(-20, {kHalf, -2}), -3);
  EXPECT_EQ(requantize_double(4, {kHalf, -2}), 1);
  EXPECT_EQ(requantize_double(12, {kHalf, -2}), 2);
  // Next to the ties.
  EXPECT_EQ(requantize_double(-2, {kHalf, -2}), 0);
  EXPECT_EQ(requantize_double(-6, {kHalf, -2}), -1);
  EXPECT_EQ(requantize_double(-10, {kHalf, -2}), -1);
}

TEST(RoundingDouble, RoundsTwiceWhereSingleRoundsOnce) {
  // 0.49999999977: the first step makes it 1, half of which rounds up.
  EXPECT_EQ(requantize_double(1, {kMax, -1}), 1);
  EXPECT_EQ(requantize_single(1, {kMax, -1}), 0);
  EXPECT_EQ(requantize_double(-1, {kMax, -1}), -1);
  EXPECT_EQ(requantize_single(-1, {kMax, -1}), 0);
}

TEST(RoundingDouble, Extremes) {
  EXPECT_EQ(doubling_high_multiply(kMin, kMin), kMax);
  EXPECT_EQ(doubling_high_multiply(kMin, kMax), kMin + 1);
  EXPECT_EQ(doubling_high_multiply(kMax, kMax), kMax - 1);
  EXPECT_EQ(rounding_divide_by_pot(kMin, 31), -1);
  EXPECT_EQ(rounding_divide_by_pot(kMax, 31), 1);
  EXPECT_EQ(rounding_divide_by_pot(kHalf - 1, 31), 0);
  EXPECT_EQ(rounding_divide_by_pot(-kHalf, 31), -1);
  EXPECT_EQ(rounding_divide_by_pot(-kHalf + 1, 31), 0);
  EXPECT_EQ(rounding_divide_by_pot(-7, 0), -7);
  EXPECT_EQ(requantize_double(3, {kHalf, 3}), 12);  // a factor above 1: left shift first
  EXPECT_EQ(requantize_double(12345, {0, 0}), 0);
}

TEST(RoundingSingle, TiesGoAwayFromZero) {
  EXPECT_EQ(requantize_single(1, {kHalf, 0}), 1);
  EXPECT_EQ(requantize_single(-1, {kHalf, 0}), -1);  // rule Double answers 0
  EXPECT_EQ(requantize_single(-3, {kHalf, 0}), -2);
  EXPECT_EQ(requantize_single(-4, {kHalf, -2}), -1);
  EXPECT_EQ(requantize_single(-12, {kHalf, -2}), -2);
  EXPECT_EQ(requantize_single(-3, {kHalf, -2}), 0);
}

TEST(RoundingSingle, Extremes) {
  EXPECT_EQ(requantize_single(kMin, {kMax, 30}), kMin);  // saturates
  EXPECT_EQ(requantize_single(kMax, {kMax, 30}), kMax);
  EXPECT_EQ(requantize_single(kMin, {kHalf, -31}), -1);  // -0.5
  EXPECT_EQ(requantize_single(kMin + 1, {kHalf, -31}), 0);
}

TEST(RoundingAverage, TiesGoAwayFromZero) {
  EXPECT_EQ(average(3, 2), 2);
  EXPECT_EQ(average(-3, 2), -2);
  EXPECT_EQ(average(-1, 2), -1);
  EXPECT_EQ(average(-5, 10), -1);
  EXPECT_EQ(average(-4, 10), 0);
  EXPECT_EQ(average(-128 * 9, 9), -128);
  EXPECT_EQ(average(-1, 3), 0);
  EXPECT_EQ(average(-2, 3), -1);
  EXPECT_EQ(average(7, 1), 7);
}

// Both rules against their definitions in 128 bits, with accumulators and shifts of every size.
TEST(Rounding, MatchesExactArithmetic) {
  using Wide = __int128;
  const auto floor_divide = [](Wide a, int bits) { return a >> bits; };  // arithmetic shift
  const auto ties_away = [&](Wide a, int bits) {
    if (bits == 0) return a;
    const Wide magnitude = floor_divide((a < 0 ? -a : a) + (Wide(1) << (bits - 1)), bits);
    return a < 0 ? -magnitude : magnitude;
  };
  std::mt19937_64 random(test::seed());
  size_t negative_ties = 0;
  for (int i = 0; i < 2000000; i++) {
    const uint64_t bits = random();
    const int shift = -int(bits % 32);
    // Half of the multipliers have few bits set, so that ties happen.
    int32_t m = kHalf + int32_t((bits >> 8) & 0x3fffffff);
    if ((bits & 32) != 0) m &= ~0xffffff;
    const auto x = int32_t(int64_t(random()) >> (32 + (bits >> 40) % 31));
    const Wide product = Wide(x) * m;
    const Wide high = floor_divide(product + kHalf, 31);
    ASSERT_EQ(Wide(requantize_double(x, {m, shift})), ties_away(high, -shift))
        << x << " " << m << " " << shift;
    ASSERT_EQ(Wide(requantize_single(x, {m, shift})), ties_away(product, 31 - shift))
        << x << " " << m << " " << shift;
    if (shift < 0 && high < 0 && (-high & ((Wide(1) << -shift) - 1)) == Wide(1) << (-shift - 1))
      negative_ties++;
  }
  EXPECT_GT(negative_ties, 1000U);
}

TEST(ActivationRange, QuantisesTheBounds) {
  EXPECT_EQ(activation_range(Activation::None, 0.1F, 5), (ActivationRange{-128, 127}));
  EXPECT_EQ(activation_range(Activation::Relu, 0.1F, 5), (ActivationRange{5, 127}));
  EXPECT_EQ(activation_range(Activation::Relu, 0.1F, -128), (ActivationRange{-128, 127}));
  EXPECT_EQ(activation_range(Activation::Relu6, 0.1F, -100), (ActivationRange{-100, -40}));
  EXPECT_EQ(activation_range(Activation::Relu6, 6.0F / 255.0F, -128), (ActivationRange{-128, 127}));
  EXPECT_EQ(activation_range(Activation::ReluN1To1, 0.25F, 3), (ActivationRange{-1, 7}));
  EXPECT_EQ(activation_range(Activation::Relu6, 1.0e-30F, 0), (ActivationRange{0, 127}));
  // 1 / 0.4 = 2.5 rounds away from zero on both sides.
  EXPECT_EQ(activation_range(Activation::ReluN1To1, 0.4F, 0), (ActivationRange{-3, 3}));
}

// The reciprocal of the smallest scales is infinite: 0 stays 0.
TEST(Tables, ScalesNextToZero) {
  Graph graph;
  graph.tensors.resize(2);
  graph.tensors[0].quantization = {{0.05F}, {7}};
  graph.tensors[1].quantization = {{1.0e-40F}, {5}};
  Op op;
  op.kind = OpKind::Concat;
  op.inputs = {0};
  op.output = 1;
  const ValueTable table = concat_params(graph, op).tables.front();
  EXPECT_EQ(table[128 + 6], -128);
  EXPECT_EQ(table[128 + 7], 5);
  EXPECT_EQ(table[128 + 8], 127);
}

// A 1x1 convolution of few channels: every corner of the input cube can be tried.
TEST(AccumulatorRange, IsReachedAndNeverExceeded) {
  std::mt19937_64 random(test::seed());
  for (int run = 0; run < 50; run++) {
    const int channels = 1 + int(random() % 6);
    const int zp = int(random() % 256) - 128;
    test::ModelBuilder model(random());
    test::ConvSpec spec;
    spec.channels = 3;
    spec.kernel_h = spec.kernel_w = 1;
    spec.out_scale = 1.0F;
    model.output(model.conv(model.input({1, 1, 1, channels}, {0.02F, zp}), spec));
    const Graph graph = require_graph(import_tflite(model.file()));
    const ConvParams params = conv_params(graph, graph.ops[0], RoundingStyle::LiteRt);
    const AccumulatorRange range = accumulator_range(graph, graph.ops[0], params);
    const std::vector<int32_t> folded = folded_bias(graph, graph.ops[0], params);
    const Tensor& weights = graph.weights_of(graph.ops[0]);
    AccumulatorRange seen;
    for (size_t o = 0; o < 3; o++) {
      for (int corner = 0; corner < 1 << channels; corner++) {
        int64_t acc = params.bias[o];
        int64_t stored = folded[o];
        for (int c = 0; c < channels; c++) {
          const int a = (corner >> c & 1) != 0 ? 127 : -128;
          const int w = weights.int8_at(o * size_t(channels) + size_t(c));
          acc += (a - zp) * w;
          stored += a * w;
        }
        ASSERT_EQ(acc, stored);
        seen.min = std::min(seen.min, acc);
        seen.max = std::max(seen.max, acc);
      }
    }
    EXPECT_EQ(range.min, seen.min);
    EXPECT_EQ(range.max, seen.max);
  }
}

TEST(Padding, FollowsTensorFlow) {
  using Pair = std::array<int, 2>;
  EXPECT_EQ(same_padding(32, 3, 1), (Pair{1, 1}));
  EXPECT_EQ(same_padding(32, 3, 2), (Pair{0, 1}));
  EXPECT_EQ(same_padding(31, 3, 2), (Pair{1, 1}));
  EXPECT_EQ(same_padding(49, 10, 2), (Pair{4, 5}));
  EXPECT_EQ(same_padding(10, 4, 2), (Pair{1, 1}));
  EXPECT_EQ(same_padding(8, 1, 2), (Pair{0, 0}));
  EXPECT_EQ(same_padding(1, 6, 9), (Pair{2, 3}));
  EXPECT_EQ(window_outputs(32, 0, 1, 3, 2), 16);
  EXPECT_EQ(window_outputs(2, 0, 0, 3, 1), 0);
}

}  // namespace
}  // namespace kaiten
