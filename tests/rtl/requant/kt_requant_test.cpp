// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// kt_requant against the frameworks' own arithmetic: TFLite's two roundings (`double`), one rounding of the exact
// product (`single`), integer division (`average`), the machine's own float32 (`float`). Every lane has its own validity, rule and parameters in each cycle.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <random>

#include "Vkt_requant.h"
#include "tests/support/model.h"

namespace {

constexpr int kLanes = PARAM_Lanes;
constexpr int kLatency = 6;
enum Rule { kDouble, kSingle, kAverage, kFloat };

struct Input {
  bool valid = false;
  std::int32_t acc = 0, bias = 0, mult = 0;
  int shift = 0, zero = 0, low = -128, high = 127;
  Rule rule = kDouble;
  int cells = 1;  // average: what bias, mult and shift were made from
};

// TensorFlow Lite: SaturatingRoundingDoublingHighMul, then RoundingDivideByPOT, written as there.
std::int64_t rounded_twice(std::int32_t x, std::int32_t mult, int right) {
  const std::int64_t product = std::int64_t{x} * mult;
  const std::int64_t nudge = product >= 0 ? (1 << 30) : (1 - (1 << 30));
  const auto high = static_cast<std::int32_t>((product + nudge) / (std::int64_t{1} << 31));
  const auto mask = static_cast<std::int32_t>((std::int64_t{1} << right) - 1);
  const std::int32_t remainder = high & mask;
  const std::int32_t threshold = (mask >> 1) + (high < 0 ? 1 : 0);
  return (high >> right) + (remainder > threshold ? 1 : 0);
}

// x * mult / 2^n, ties away from zero
std::int64_t rounded_once(std::int32_t x, std::int32_t mult, int n) {
  const __int128 product = static_cast<__int128>(x) * mult;
  const __int128 size = product < 0 ? -product : product;
  const auto quotient = static_cast<std::int64_t>((size + (static_cast<__int128>(1) << (n - 1))) >> n);
  return product < 0 ? -quotient : quotient;
}

// acc / n, ties away from zero
std::int64_t divided(std::int64_t acc, std::int64_t n) {
  return acc >= 0 ? (acc + n / 2) / n : -((-acc + n / 2) / n);
}

// float32(x) * factor to the nearest integer, half to even; only what the clamp can tell apart.
std::int64_t in_float(std::int32_t x, std::int32_t mult, int shift) {
  const float factor = std::ldexp(static_cast<float>(mult), shift - 31);  // exact: 24 bits
  const float product = static_cast<float>(x) * factor;
  return static_cast<std::int64_t>(std::clamp(std::nearbyint(product), -1.0e6F, 1.0e6F));
}

int expected(const Input& in) {
  const auto sum =
      static_cast<std::int32_t>(static_cast<std::uint32_t>(in.acc) + static_cast<std::uint32_t>(in.bias));
  const auto x = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) << std::max(in.shift, 0));
  const int right = std::max(-in.shift, 0);
  std::int64_t y = 0;
  if (in.rule == kDouble) y = rounded_twice(x, in.mult, right);
  if (in.rule == kSingle) y = rounded_once(x, in.mult, 31 + right);
  if (in.rule == kAverage) y = divided(in.acc, in.cells);
  if (in.rule == kFloat) y = in_float(sum, in.mult, in.shift);
  return static_cast<int>(std::clamp<std::int64_t>(y + in.zero, in.low, in.high));
}

class Bench {
 public:
  Bench() {
    model_->rst_ni = 0;
    model_->valid_i = 0;
    model_.tick();
    model_->rst_ni = 1;
  }

  // One cycle: feeds the lanes, checks what comes out against what went in five cycles ago.
  void step(const std::array<Input, kLanes>& in) {
    std::uint64_t valid = 0;
    for (int l = 0; l < kLanes; ++l) {
      valid |= std::uint64_t{in[l].valid} << l;
      model_->acc_i[l] = in[l].acc;
      model_->bias_i[l] = in[l].bias;
      model_->mult_i[l] = in[l].mult;
      model_->shift_i[l] = static_cast<std::uint8_t>(in[l].shift);
      model_->zero_i[l] = static_cast<std::uint8_t>(in[l].zero);
      model_->low_i[l] = static_cast<std::uint8_t>(in[l].low);
      model_->high_i[l] = static_cast<std::uint8_t>(in[l].high);
      model_->rule_i[l] = static_cast<std::uint8_t>(in[l].rule);
    }
    model_->valid_i = static_cast<std::uint8_t>(valid);
    // High for no reason, too.
    const bool some =
        std::any_of(in.begin(), in.end(), [](const Input& lane) { return lane.rule == kFloat; });
    model_->float_i = some || model_.cycles() % 4 == 0;
    model_.tick();
    flight_.push_back(in);
    if (flight_.size() < kLatency) return;
    const auto out = flight_.front();
    flight_.pop_front();
    for (int l = 0; l < kLanes; ++l) {
      ASSERT_EQ(model_->valid_o >> l & 1, out[l].valid) << "lane " << l << " cycle " << model_.cycles();
      if (!out[l].valid) continue;
      ++checked_;
      ASSERT_EQ(static_cast<std::int8_t>(model_->data_o[l]), expected(out[l]))
          << "rule " << out[l].rule << " acc " << out[l].acc << " bias " << out[l].bias << " mult "
          << out[l].mult << " shift " << out[l].shift << " zero " << out[l].zero << " cells " << out[l].cells;
    }
  }

  void drain() {
    for (int i = 0; i < kLatency; ++i) step({});
  }
  int checked() const { return checked_; }

 private:
  kaiten::test::Model<Vkt_requant> model_;
  std::deque<std::array<Input, kLanes>> flight_;
  int checked_ = 0;
};

class Generator {
 public:
  int uniform(int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng_); }

  void finish(Input& in) {
    constexpr std::array<int, 3> kZeros{-128, 127, 0};
    in.valid = true;
    in.zero = uniform(0, 1) ? kZeros[uniform(0, 2)] : uniform(-128, 127);
    in.low = uniform(0, 1) ? -128 : uniform(-128, 127);
    in.high = uniform(0, 1) ? 127 : uniform(in.low, 127);
    if (in.high < in.low) in.high = in.low;
  }

  // A result near the output's range: acc of about y * 2^31 / mult * 2^right.
  Input scaled(Rule rule) {
    Input in;
    finish(in);
    in.rule = rule;
    in.mult = uniform(1 << 30, std::numeric_limits<std::int32_t>::max());
    in.shift = uniform(-22, 6);
    const int bits = std::min(31 - std::max(in.shift, 0), 9 + std::max(-in.shift, 0));
    const auto limit = static_cast<std::int32_t>((std::int64_t{1} << (bits - 1)) - 1);
    const std::int32_t sum = uniform(-limit - 1, limit);
    in.bias = uniform(-(1 << 20), 1 << 20);
    in.acc = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) - static_cast<std::uint32_t>(in.bias));
    return in;
  }

  // Exact halves of the last shift, of both signs: mult = 2^30 or a neighbour of it.
  Input tie(Rule rule) {
    Input in;
    finish(in);
    in.low = -128;
    in.high = 127;
    in.rule = rule;
    in.mult = (1 << 30) + uniform(0, 1);
    in.shift = -uniform(1, 20);
    const std::int32_t h =
        (2 * uniform(-140, 140) + 1) * (1 << (-in.shift - 1));  // half-integers times 2^right
    in.acc = 2 * h + uniform(-1, 1);
    return in;
  }

  Input extreme(Rule rule) {
    constexpr std::array<std::int32_t, 7> kAcc{
        std::numeric_limits<std::int32_t>::min(),     std::numeric_limits<std::int32_t>::min() + 1, -1, 0, 1,
        std::numeric_limits<std::int32_t>::max() - 1, std::numeric_limits<std::int32_t>::max()};
    constexpr std::array<std::int32_t, 4> kMult{0, 1 << 30, std::numeric_limits<std::int32_t>::max(),
                                                1 << 30 | 1};
    Input in;
    finish(in);
    in.rule = rule;
    in.acc = kAcc[uniform(0, 6)];
    in.mult = kMult[uniform(0, 3)];
    in.shift = uniform(0, 3) ? -uniform(0, 31) : 0;
    return in;
  }

  Input average() {
    Input in;
    finish(in);
    in.rule = kAverage;
    in.cells = uniform(0, 1) ? uniform(1, 64) : uniform(1, 255) * uniform(1, 255);
    in.acc = in.cells * uniform(-128, 127) + uniform(-in.cells, in.cells);
    in.acc = std::clamp(in.acc, -128 * in.cells, 127 * in.cells);
    int log2 = 0;
    while ((std::int64_t{1} << log2) < in.cells) ++log2;
    in.shift = -log2;
    in.bias = in.cells;
    const std::int64_t power = std::int64_t{1} << (31 + log2);
    in.mult = static_cast<std::int32_t>((power + 2 * in.cells - 1) / (2 * in.cells));
    return in;
  }

  // Splits a sum into accumulator and bias.
  void set_sum(Input& in, std::int64_t sum) {
    // float32 of what is nearer to the ends has 33 bits
    const std::int64_t most = ((std::int64_t{1} << 31) - 129) >> std::max(in.shift, 0);
    sum = std::clamp(sum, -most, most);
    in.bias = uniform(-(1 << 20), 1 << 20);
    in.acc = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) - static_cast<std::uint32_t>(in.bias));
  }

  // Float32 factors: any significand or one of few bits; any exponent. Sums of any length, next to powers of two, or
  // such that the product is next to the half of an integer in the output's range.
  Input in_float() {
    Input in;
    finish(in);
    in.rule = kFloat;
    in.shift = uniform(0, 3) ? uniform(-24, 0) : uniform(-31, 6);
    std::int64_t significand = uniform(1 << 23, (1 << 24) - 1);
    if (!uniform(0, 2)) significand = (1 << 23) | (uniform(0, 7) << uniform(0, 20));
    if (!uniform(0, 9)) significand = (1 << 24) - 1 - uniform(0, 3);
    in.mult = static_cast<std::int32_t>(significand << 7);
    std::int64_t sum = 0;
    switch (uniform(0, 4)) {
      case 0:
        sum = uniform(std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
        break;
      case 1:  // any length, the last bits around a tie of the first rounding
        sum = (std::int64_t{1} << uniform(0, 31)) + uniform(-1, 1) * (std::int64_t{1} << uniform(0, 9)) +
              uniform(-1, 1);
        break;
      default:  // y + 1/2 = sum * factor
        const double half = uniform(-300, 300) + 0.5;
        const double exact =
            half * std::ldexp(static_cast<double>(std::int64_t{1} << 31), -in.shift) / in.mult;
        sum = static_cast<std::int64_t>(std::clamp(exact, -2.2e9, 2.2e9)) + uniform(-2, 2);
    }
    set_sum(in, uniform(0, 1) ? sum : -sum);
    if (!uniform(0, 99)) in.mult = 0;
    return in;
  }

  // Few bits in both factors: the product often stands on a tie of its first or second rounding.
  Input float_tie() {
    Input in;
    finish(in);
    in.low = -128;
    in.high = 127;
    in.rule = kFloat;
    // sum = small * 2^scale, significand = other * 2^n: a product of up to 34 bits, with `whole` of them before the point
    const int small = 2 * uniform(0, 511) + 1;
    const int bits = uniform(10, 23);
    const int other = 2 * uniform(0, (1 << (bits - 1)) - 1) + 1;
    int width = 0;
    while ((other >> width) != 0) ++width;
    in.mult = other << (31 - width);
    int length = 0;
    while ((std::int64_t{small} * other >> length) != 0) ++length;
    const int whole = uniform(0, 9);
    const int scale = uniform(0, 20);  // sum = small * 2^scale
    in.shift = std::clamp(width + whole - length - scale, -31, 6);
    const std::int64_t sum = std::int64_t{small} << scale;
    set_sum(in, uniform(0, 1) ? sum : -sum);
    return in;
  }

  Input any() {
    if (!uniform(0, 7)) return {};
    if (PARAM_Float && !uniform(0, 2)) return uniform(0, 2) ? in_float() : float_tie();
    const Rule rule = uniform(0, 1) ? kDouble : kSingle;
    switch (uniform(0, PARAM_Average ? 3 : 2)) {
      case 0:
        return scaled(rule);
      case 1:
        return tie(rule);
      case 2:
        return extreme(rule);
      default:
        return average();
    }
  }

 private:
  std::mt19937_64 rng_{kaiten::test::seed()};
};

TEST(Requant, MatchesTheFrameworksArithmeticLaneByLane) {
  Bench bench;
  Generator make;
  for (int i = 0; i < 60000 && !testing::Test::HasFatalFailure(); ++i) {
    std::array<Input, kLanes> in;
    const bool idle = !make.uniform(0, 9);
    for (auto& lane : in) lane = idle ? Input{} : make.any();
    bench.step(in);
  }
  bench.drain();
  EXPECT_GT(bench.checked(), 300000);
}

#if PARAM_Average  // the array's requantiser is built without this rule
TEST(Requant, AveragesOfSmallWindowsAreExactForEverySum) {
  Bench bench;
  std::array<Input, kLanes> in;
  int lane = 0;
  for (int n = 1; n <= 66 && !testing::Test::HasFatalFailure(); ++n) {
    int log2 = 0;
    while ((1 << log2) < n) ++log2;
    for (int acc = -128 * n; acc <= 127 * n && !testing::Test::HasFatalFailure(); ++acc) {
      Input& x = in[lane];
      x = {};
      x.valid = true;
      x.rule = kAverage;
      x.acc = acc;
      x.cells = x.bias = n;
      x.shift = -log2;
      x.mult = static_cast<std::int32_t>(((std::int64_t{1} << (31 + log2)) + 2 * n - 1) / (2 * n));
      lane = (lane + 1) % kLanes;
      if (!lane) bench.step(in);
    }
  }
  bench.drain();
}
#endif

#if PARAM_Float
TEST(Requant, IsTheMachinesFloat32) {
  ASSERT_EQ(std::fegetround(), FE_TONEAREST);
  Bench bench;
  Generator make;
  for (int i = 0; i < 500000 && !testing::Test::HasFatalFailure(); ++i) {
    std::array<Input, kLanes> in;
    for (auto& lane : in) lane = make.uniform(0, 3) ? make.in_float() : make.float_tie();
    bench.step(in);
  }
  bench.drain();
  EXPECT_GT(bench.checked(), 3000000);
}

// Sums of 25 to 31 bits around a half: what the first rounding drops decides whether it is one.
TEST(Requant, RoundsLongSumsHalfToEven) {
  Bench bench;
  std::array<Input, kLanes> in;
  int lane = 0;
  for (int length = 25; length <= 31; ++length) {
    const int dropped = 1 << (length - 24);
    for (int y = 64; y < 127; ++y) {
      for (int beside = -dropped; beside <= dropped; ++beside) {
        const std::int64_t sum = (std::int64_t{2 * y + 1} << (length - 8)) + beside;
        for (const int sign : {1, -1}) {
          Input& x = in[lane];
          x = {};
          x.valid = true;
          x.rule = kFloat;
          x.acc = static_cast<std::int32_t>(sign * sum);
          x.mult = 1 << 30;
          x.shift = -(length - 8);
          lane = (lane + 1) % kLanes;
          if (!lane) bench.step(in);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
  bench.drain();
}
#endif

}  // namespace
