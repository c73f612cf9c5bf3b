// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// kt_requant on every value of ranges that decide, against integer models of docs/compiler/numerics.md written with magnitudes, halves
// and divisions. A prover does not multiply (formal/kt_requant.sby), so here the products are formed. Exhaustive are
//   double, single, float  all accumulators of kAccBits bits, for 64 multipliers (next to powers of two, with long carries, random)
//                          and four right shifts each, with which the results just fit, or fill, the output's range
//   average                all sums of all windows of up to kCells cells
// 2^26 cases of each. Without KAITEN_LONG `float` alone: for the others formal/kt_requant.sby speaks of all inputs.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "Vkt_requant.h"
#include "tests/support/model.h"

namespace {

constexpr int kLanes = PARAM_Lanes;
constexpr int kLatency = 6;
enum Rule { kDouble, kSingle, kAverage, kFloat };
constexpr int kAccBits = 18;
constexpr int kCells = 720;

// size / 2^n to the nearest integer, halves away from zero or to even
std::uint64_t nearest(std::uint64_t size, int n, bool even) {
  if (n == 0) return size;
  const std::uint64_t quotient = size >> n;
  const std::uint64_t twice_rest = 2 * (size - (quotient << n));
  const std::uint64_t unit = std::uint64_t{1} << n;
  if (twice_rest == unit) return even ? quotient + quotient % 2 : quotient + 1;
  return quotient + (twice_rest > unit ? 1 : 0);
}

std::uint64_t significant(std::uint64_t size) {
  int n = 0;
  while (size >> n >= std::uint64_t{1} << 24) ++n;
  return nearest(size, n, true) << n;
}

struct Factor {
  std::int32_t mult;
  int right;
};

// The result before the zero point; accumulators here are small enough for 64 bits.
std::int64_t rounded(Rule rule, std::int64_t acc, const Factor& f) {
  const auto mult = static_cast<std::uint64_t>(f.mult);
  const std::uint64_t size = std::llabs(acc);
  std::uint64_t y = 0;
  if (rule == kDouble) {
    // (acc * mult + 2^30) / 2^31, rounded down: the nearest, halves up
    const std::uint64_t product = size * mult;
    std::uint64_t high = nearest(product, 31, false);
    if (acc < 0 && product % (std::uint64_t{1} << 31) == std::uint64_t{1} << 30) --high;
    y = nearest(high, f.right, false);
  } else if (rule == kSingle) {
    y = nearest(size * mult, 31 + f.right, false);
  } else {
    y = nearest(significant(size * mult), 31 + f.right, true);
  }
  return acc < 0 ? -static_cast<std::int64_t>(y) : static_cast<std::int64_t>(y);
}

std::int8_t clamped(std::int64_t y) { return static_cast<std::int8_t>(y < -128 ? -128 : y > 127 ? 127 : y); }

// Feeds accumulators in order, all lanes full, and compares each result when it comes.
class Bench {
 public:
  Bench() {
    model_->rst_ni = 0;
    model_->valid_i = 0;
    model_.tick();
    model_->rst_ni = 1;
    for (int l = 0; l < kLanes; ++l) {
      model_->zero_i[l] = 0;
      model_->low_i[l] = 0x80;
      model_->high_i[l] = 0x7f;
    }
  }

  // `value(acc)` is what results are compared with.
  template <class Value>
  void sweep(Rule rule, const Factor& f, std::int32_t bias, std::int64_t begin, std::int64_t end,
             Value value) {
    for (int l = 0; l < kLanes; ++l) {
      model_->rule_i[l] = rule;
      model_->mult_i[l] = f.mult;
      model_->shift_i[l] = static_cast<std::uint8_t>(-f.right);
      model_->bias_i[l] = bias;
    }
    model_->float_i = rule == kFloat;
    std::array<std::vector<std::int8_t>, kLatency> want;
    const std::int64_t steps = (end - begin + kLanes - 1) / kLanes;
    for (std::int64_t s = 0; s < steps + kLatency; ++s) {
      auto& now = want[s % kLatency];
      if (s >= kLatency) {
        for (std::size_t l = 0; l < now.size(); ++l) {
          ASSERT_EQ(static_cast<std::int8_t>(model_->data_o[l]), now[l])
              << "rule " << rule << " acc " << begin + (s - kLatency) * kLanes + static_cast<std::int64_t>(l)
              << " mult " << f.mult << " right shift " << f.right << " bias " << bias;
        }
        checked_ += static_cast<std::int64_t>(now.size());
      }
      now.clear();
      for (std::int64_t a = begin + s * kLanes; a < end && a < begin + (s + 1) * kLanes; ++a) {
        model_->acc_i[now.size()] = static_cast<std::int32_t>(a);
        now.push_back(value(a));
      }
      model_->valid_i = (std::uint64_t{1} << now.size()) - 1;
      model_.tick();
    }
  }
  std::int64_t checked() const { return checked_; }

 private:
  kaiten::test::Model<Vkt_requant> model_;
  std::int64_t checked_ = 0;
};

// 64 multipliers, each with four right shifts around the one that maps the accumulators onto -128..127. For `float`, which
// has 24 bits of them, the lower seven are cut off.
std::vector<Factor> factors(Rule rule) {
  std::vector<std::int32_t> mults{1 << 30,    (1 << 30) + 1, 0x7fffffff, 0x7ffffffe,
                                  0x60000000, 0x5fffffff,    0x55555555, 0x6aaaaaab};
  std::uint64_t state = kaiten::test::seed();
  while (mults.size() < 64) {
    state = state * 6364136223846793005 + 1442695040888963407;
    mults.push_back(static_cast<std::int32_t>((1U << 30) | (state >> 34)));
  }
  std::vector<Factor> all;
  for (const std::int32_t m : mults) {
    for (int right = kAccBits - 10; right < kAccBits - 6; ++right)
      all.push_back({rule == kFloat ? m & ~0x7f : m, right});
  }
  return all;
}

void sweep_all(Rule rule) {
  Bench bench;
  constexpr std::int64_t kEnd = std::int64_t{1} << (kAccBits - 1);
  for (const Factor& f : factors(rule)) {
    bench.sweep(rule, f, 0, -kEnd, kEnd, [&](std::int64_t acc) { return clamped(rounded(rule, acc, f)); });
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_EQ(bench.checked(), std::int64_t{1} << (kAccBits + 8));
}

TEST(RequantExhaustive, Float) { sweep_all(kFloat); }

#ifdef KAITEN_LONG
TEST(RequantExhaustive, Double) { sweep_all(kDouble); }
TEST(RequantExhaustive, Single) { sweep_all(kSingle); }

TEST(RequantExhaustive, EverySumOfEveryWindow) {
  Bench bench;
  for (int n = 1; n <= kCells && !testing::Test::HasFatalFailure(); ++n) {
    int log2 = 0;
    while ((1 << log2) < n) ++log2;
    const Factor f{static_cast<std::int32_t>(((std::int64_t{1} << (31 + log2)) + 2 * n - 1) / (2 * n)), log2};
    bench.sweep(kAverage, f, n, -128 * n, 127 * n + 1, [&](std::int64_t acc) {
      const std::int64_t size = (2 * std::llabs(acc) + n) / (2 * n);  // halves away from zero
      return clamped(acc < 0 ? -size : size);
    });
  }
  EXPECT_GT(bench.checked(), std::int64_t{255} * kCells * kCells / 2);
}
#endif

}  // namespace
