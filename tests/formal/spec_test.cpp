// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The specification that proofs compare blocks with (formal/kt_spec_pkg.sv) beside the reference executor, which is compared
// with the interpreters: results of random sums, windows and pairs, with random parameters, ties among them; additions with
// every pair of operands, averages with every sum of a window.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "Vspec_bench.h"
#include "compile/pack/weight_packing.h"
#include "reference/kernels.h"
#include "tests/support/model.h"

#ifndef KAITEN_CASES
#define KAITEN_CASES 1000000
#endif

namespace kaiten {
namespace {

constexpr int kCases = KAITEN_CASES;
constexpr int kTaps = PARAM_Taps;
constexpr int kSide = 3, kChannels = kTaps / (kSide * kSide);

class Spec : public testing::Test {
 protected:
  int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  std::int8_t value() { return std::int8_t(between(-128, 127)); }
  // Often one whose products end in a tie, or just beside it.
  Multiplier multiplier(int least_shift, int most_shift) {
    const int shift = between(least_shift, most_shift);
    if (between(0, 3) == 0) return {1 << 30, shift};
    return {between(1 << 30, 0x7fffffff), shift};
  }
  OutputQuant output(Rounding rule) {
    OutputQuant o{between(-128, 127), -128, 127, rule};
    if (between(0, 1) == 0) o.low = between(-128, 127);
    if (between(0, 1) == 0) o.high = between(o.low, 127);
    return o;
  }
  void give(int word, std::int32_t bias, Multiplier m) {
    model_->bias_i[word] = bias;
    model_->mult_i[word] = m.m;
    model_->shift_i[word] = std::uint8_t(m.shift);
  }
  void give(const OutputQuant& o) {
    model_->rule_i = std::uint8_t(o.rule);
    model_->zero_i = std::uint8_t(o.zero_point);
    model_->low_i = std::uint8_t(o.low);
    model_->high_i = std::uint8_t(o.high);
  }
  template <class Pin>
  static std::int8_t of(const Pin& pin) {
    return std::int8_t(pin);
  }

  std::mt19937_64 random_{test::seed()};
  test::Model<Vspec_bench> model_;
};

Rounding one_of(int i) {
  return std::array{Rounding::Double, Rounding::Single, Rounding::Float}[std::size_t(i)];
}

TEST_F(Spec, RequantisesAsTheReferenceDoes) {
  int in_range = 0;
  for (int i = 0; i < kCases; i++) {
    const Rounding rule = one_of(between(0, 2));
    Multiplier m = multiplier(-31, 8);
    if (rule == Rounding::Float) m.m &= ~0x7f;  // a float32 has 24 bits
    // Sums whose results lie around the stored range, and any.
    const int bits = between(0, 3) == 0 ? 31 : std::clamp(8 - m.shift, 1, 31);
    const int room = 31 - std::max(m.shift, 0);
    const auto sum = std::int32_t(std::int64_t(random_()) >> (64 - std::min(bits, room)));
    const std::int32_t bias = between(-1000, 1000);
    const OutputQuant out = output(rule);
    const std::int64_t acc = std::int64_t(sum) - bias;
    if (acc != std::int32_t(acc)) continue;
    give(0, bias, m);
    give(out);
    model_->acc_i = std::uint32_t(acc);
    model_.eval();
    const std::int8_t wanted = out.stored(requantize(sum, m, rule));
    ASSERT_EQ(of(model_->requantised_o), wanted)
        << "sum " << sum << " M " << m.m << " shift " << m.shift << " rule " << int(rule);
    in_range += wanted > out.low && wanted < out.high ? 1 : 0;
  }
  EXPECT_GT(in_range, kCases / 20);
}

TEST_F(Spec, ConvolvesAsTheReferenceDoes) {
  const Nhwc in{1, kSide, kSide, kChannels}, out{1, 1, 1, 1};
  Window window;
  window.kernel_h = window.kernel_w = kSide;
  for (int i = 0; i < kCases / 10; i++) {
    ConvParams p;
    const Multiplier m = multiplier(-16, -4);
    p.bias = {between(-20000, 20000)};
    p.multiplier = {m.m};
    p.shift = {m.shift};
    p.zp_in = between(-128, 127);
    p.output = output(i % 2 == 0 ? Rounding::Double : Rounding::Single);
    std::vector<std::int8_t> a, w;
    std::int32_t weights = 0;
    for (int t = 0; t < kTaps; t++) {
      model_->a_i[t] = std::uint8_t(a.emplace_back(value()));
      model_->w_i[t] = std::uint8_t(w.emplace_back(value()));
      weights += w.back();
    }
    give(0, p.bias[0] - p.zp_in * weights, m);
    give(p.output);
    model_.eval();
    std::int8_t wanted = 0;
    reference::conv2d({p, window, in, out}, a, w, {&wanted, 1});
    ASSERT_EQ(of(model_->convolved_o), wanted) << "case " << i;
  }
}

TEST_F(Spec, PoolsAsTheReferenceDoes) {
  // The map is what of the window lies inside: some rows and columns at its beginning are padding.
  for (int i = 0; i < kCases / 10; i++) {
    constexpr int kWindow = 6;
    const int top = between(0, kWindow - 1), left = between(0, kWindow - 1);
    const Nhwc in{1, kWindow - top, kWindow - left, 1}, out{1, 1, 1, 1};
    Window window;
    window.kernel_h = window.kernel_w = kWindow;
    window.pad.top = top;
    window.pad.left = left;
    PoolParams p;
    p.output = output(Rounding::Average);
    p.output.zero_point = 0;
    std::vector<std::int8_t> cells;
    for (int t = 0; t < kTaps; t++) {
      const bool inside = t / kWindow >= top && t % kWindow >= left;
      model_->inside_i[t] = inside;
      model_->a_i[t] = std::uint8_t(value());
      if (inside) cells.push_back(of(model_->a_i[t]));
    }
    const RequantParams word = average_word(int(cells.size()));
    give(0, word.bias, {word.multiplier, word.shift});
    give(p.output);
    model_.eval();
    std::int8_t average = 0, maximum = 0;
    reference::average_pool(p, window, in, cells, out, {&average, 1});
    reference::max_pool(p, window, in, cells, out, {&maximum, 1});
    ASSERT_EQ(of(model_->average_o), average) << "case " << i;
    ASSERT_EQ(of(model_->maximum_o), maximum) << "case " << i;
  }
}

TEST_F(Spec, AveragesEverySum) {
  give({0, -128, 127, Rounding::Average});
  for (int n = 1; n <= kTaps; n++) {
    const RequantParams word = average_word(n);
    give(0, word.bias, {word.multiplier, word.shift});
    for (int sum = -128 * n; sum <= 127 * n; sum++) {
      model_->acc_i = std::uint32_t(sum);
      model_.eval();
      ASSERT_EQ(of(model_->requantised_o), average(sum, n)) << sum << " / " << n;
    }
  }
}

TEST_F(Spec, AddsEveryPairAsTheReferenceDoes) {
  for (int set = 0; set < std::max(2, kCases / 100000); set++) {
    AddParams p;
    p.subtract = set % 2 == 1;
    p.output = output(Rounding::Double);
    p.out = multiplier(-20, -17);
    for (int o = 0; o < 2; o++) {
      p.in[o] = multiplier(-3, 0);
      p.zp_in[o] = between(-128, 127);
      give(1 + o, -p.zp_in[o], p.in[o]);
    }
    give(0, 0, p.out);
    give(p.output);
    model_->subtract_i = p.subtract;
    for (int pair = 0; pair < 65536; pair++) {
      const auto a = std::int8_t(pair), b = std::int8_t(pair >> 8);
      model_->a_i[0] = std::uint8_t(a);
      model_->a_i[1] = std::uint8_t(b);
      model_.eval();
      const std::array<reference::Input, 2> operands{reference::Input(&a, 1), reference::Input(&b, 1)};
      std::int8_t wanted = 0;
      reference::add(p, operands, {&wanted, 1});
      ASSERT_EQ(of(model_->added_o), wanted) << int(a) << " and " << int(b) << " of set " << set;
    }
  }
}

TEST_F(Spec, MultipliesEveryPairAsTheReferenceDoes) {
  MulParams p;
  p.output = output(Rounding::Double);
  p.multiplier = multiplier(-9, -5);
  for (int o = 0; o < 2; o++) {
    p.zp_in[o] = between(-128, 127);
    give(1 + o, -p.zp_in[o], {});
  }
  give(0, 0, p.multiplier);
  give(p.output);
  for (int pair = 0; pair < 65536; pair++) {
    const auto a = std::int8_t(pair), b = std::int8_t(pair >> 8);
    model_->a_i[0] = std::uint8_t(a);
    model_->a_i[1] = std::uint8_t(b);
    model_.eval();
    std::int8_t wanted = 0;
    reference::multiply(p, {&a, 1}, {&b, 1}, {&wanted, 1});
    ASSERT_EQ(of(model_->multiplied_o), wanted) << int(a) << " and " << int(b);
  }
}

}  // namespace
}  // namespace kaiten
