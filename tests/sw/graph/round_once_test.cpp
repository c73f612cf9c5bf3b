// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Multipliers of 31 bits that round as a product in double does: next to every tie, and against what LiteRT gave.

#include "graph/round_once.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/support/seed.h"

namespace kaiten {
namespace {

std::int32_t in_double(std::int32_t x, double real) { return std::int32_t(std::round(double(x) * real)); }

// Every sum up to that of `reach` and the result on both sides of each tie; returns how many sums differ.
int differing(double real, Multiplier m, int reach) {
  int count = 0;
  for (int n = -reach; n < reach; n++) {
    const auto tie = std::int64_t((n + 0.5) / real);
    for (std::int64_t x = tie - 2; x <= tie + 2; x++)
      count += requantize_single(std::int32_t(x), m) != in_double(std::int32_t(x), real) ? 1 : 0;
  }
  return count;
}

TEST(RoundOnce, EqualsTheProductInDouble) {
  std::mt19937_64 random(test::seed());
  int moved = 0;
  for (int i = 0; i < 20000; i++) {
    const double real = std::ldexp(1.0 + double(random() >> 12) * 0x1p-52, -int(4 + random() % 10));
    const int reach = 1 + int(random() % 255);
    const Multiplier m = round_once(real, reach);
    moved += m != quantize_multiplier(real) ? 1 : 0;
    ASSERT_EQ(differing(real, m, reach), 0) << real << ", reach " << reach;
  }
  EXPECT_GT(moved, 0);  // else the nearest multiplier would do
}

// The first layer in which this was seen: 29240 * 0.00176... is 51.499999998..., and 31 bits of the factor give 52.
TEST(RoundOnce, StaysBelowATie) {
  const double real = 0.0017612859096735605;
  EXPECT_EQ(requantize_single(29240, quantize_multiplier(real)), 52);
  EXPECT_EQ(requantize_single(29240, round_once(real, 135)), 51);
}

TEST(RoundOnce, KeepsTiesAndLimits) {
  EXPECT_EQ(round_once(0.5, 255), quantize_multiplier(0.5));
  EXPECT_EQ(round_once(0.0, 255), (Multiplier{0, 0}));
  EXPECT_EQ(round_once(3.75, 255), quantize_multiplier(3.75));
  EXPECT_EQ(round_once(0x1.234567p28, 255), quantize_multiplier(0x1.234567p28));
  EXPECT_EQ(round_once(0x1.23456789abcdp-31, 255),
            quantize_multiplier(0x1.23456789abcdp-31));  // no sum reaches 1
}

}  // namespace
}  // namespace kaiten
