// The integer form of ONNX's additions and products against the float32 chain, on all pairs of operands.
#include "graph/float_pairs.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

#include "tests/support/seed.h"

namespace kaiten {
namespace {

// Written here once more, as numpy would.
int chain(float first, float second, float scale, int zero_point) {
  const float rounded = std::nearbyintf((first + second) / scale);
  return int(std::fmin(std::fmax(rounded + float(zero_point), -128.0F), 127.0F));
}

// All pairs at once.
std::vector<int8_t> products(const MulParams& p) {
  std::vector<int8_t> x, y, out(65536);
  for (int i = 0; i < 65536; i++) {
    x.push_back(int8_t(i / 256 - 128));
    y.push_back(int8_t(i % 256 - 128));
  }
  integer_multiply(p, x, y, out);
  return out;
}
std::vector<int8_t> sums(const AddParams& p) {
  std::vector<int8_t> x, y, out(65536);
  for (int i = 0; i < 65536; i++) {
    x.push_back(int8_t(i / 256 - 128));
    y.push_back(int8_t(i % 256 - 128));
  }
  kaiten::integer_add(p, x, y, out);
  return out;
}

float draw(std::mt19937_64& random, double low, double high) {
  return float(std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(random)));
}

AddParams draw_add(std::mt19937_64& random) {
  AddParams p;
  p.rounding = Rounding::Float;
  p.scale[0] = draw(random, 1.0e-3, 1.0);
  p.scale[1] = p.scale[0] * draw(random, 0.05, 20.0);
  p.out_scale = (p.scale[0] + p.scale[1]) * draw(random, 0.3, 1.5);
  for (int* z : {&p.zp_in[0], &p.zp_in[1], &p.zp_out}) *z = int(random() % 256) - 128;
  return p;
}

TEST(FloatPairs, AdditionsOfGeneralScalesAgreeOnEveryPair) {
  std::mt19937_64 random(test::seed());
  double worst_ms = 0;
  for (int trial = 0; trial < 100; trial++) {
    AddParams p = draw_add(random);
    p.subtract = trial % 4 == 3;
    if (trial % 5 == 0) p.scale[1] = p.scale[0];
    const auto start = std::chrono::steady_clock::now();
    fit_integers(p);
    worst_ms =
        std::max(worst_ms,
                 std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    ASSERT_EQ(p.differing_pairs, 0) << "scales " << p.scale[0] << " " << p.scale[1] << " " << p.out_scale;
    for (int i = 0; i < 2; i++) {
      EXPECT_LE(p.in[i].shift, 0);
      EXPECT_GE(p.in[i].m, 0);
    }
    const std::vector<int8_t> found = sums(p);
    for (int a = -128; a <= 127; a++) {
      for (int b = -128; b <= 127; b++) {
        const float y = float(b - p.zp_in[1]) * p.scale[1];
        const int want =
            chain(float(a - p.zp_in[0]) * p.scale[0], p.subtract ? -y : y, p.out_scale, p.zp_out);
        ASSERT_EQ(int(found[size_t((a + 128) * 256 + b + 128)]), want) << a << " " << b;
      }
    }
  }
  std::printf("longest search %.1f ms\n", worst_ms);
}

// Scales that are powers of two make ties of many pairs, all of them exact: half to even everywhere.
TEST(FloatPairs, PowersOfTwo) {
  for (int first = -8; first <= 0; first++) {
    for (int out = -8; out <= 0; out++) {
      AddParams p;
      p.rounding = Rounding::Float;
      p.scale[0] = std::ldexp(1.0F, first);
      p.scale[1] = std::ldexp(1.0F, -4);
      p.out_scale = std::ldexp(1.0F, out);
      fit_integers(p);
      EXPECT_EQ(p.differing_pairs, 0) << first << " " << out;
    }
  }
}

// Thousands of ties that the chain's own roundings break one way or the other: no multipliers follow that.
// What is left is counted, and is one step each.
TEST(FloatPairs, CountsWhatCannotAgree) {
  AddParams p;
  p.rounding = Rounding::Float;
  p.scale[0] = p.scale[1] = 0.0269081183F;
  p.out_scale = 0.0538162366F;
  fit_integers(p);
  const std::vector<int8_t> made = sums(p);
  int differing = 0;
  for (int a = -128; a <= 127; a++) {
    for (int b = -128; b <= 127; b++) {
      const int want = chain(float(a) * p.scale[0], float(b) * p.scale[1], p.out_scale, 0);
      const int found = made[size_t((a + 128) * 256 + b + 128)];
      differing += found != want ? 1 : 0;
      ASSERT_LE(std::abs(found - want), 1);
    }
  }
  EXPECT_GT(differing, 0);
  EXPECT_EQ(differing, p.differing_pairs);
}

TEST(FloatPairs, SearchIsDeterministic) {
  std::mt19937_64 random(test::seed());
  for (int trial = 0; trial < 20; trial++) {
    AddParams first = draw_add(random);
    AddParams second = first;
    fit_integers(first);
    fit_integers(second);
    EXPECT_EQ(first.in[0], second.in[0]);
    EXPECT_EQ(first.in[1], second.in[1]);
    EXPECT_EQ(first.out, second.out);
  }
}

TEST(FloatPairs, Products) {
  std::mt19937_64 random(test::seed());
  int agree = 0;
  constexpr int kTrials = 200;
  for (int trial = 0; trial < kTrials; trial++) {
    MulParams p;
    p.rounding = Rounding::Float;
    p.scale[0] = draw(random, 1.0e-3, 1.0);
    p.scale[1] = draw(random, 1.0e-3, 1.0);
    p.out_scale = p.scale[0] * p.scale[1] * draw(random, 10.0, 300.0);
    for (int* z : {&p.zp_in[0], &p.zp_in[1], &p.zp_out}) *z = int(random() % 256) - 128;
    fit_integers(p);
    const std::vector<int8_t> made = products(p);
    int differing = 0;
    for (int a = -128; a <= 127; a++) {
      for (int b = -128; b <= 127; b++) {
        const float product = (float(a - p.zp_in[0]) * p.scale[0]) * (float(b - p.zp_in[1]) * p.scale[1]);
        const int want = chain(product, 0.0F, p.out_scale, p.zp_out);
        const int found = made[size_t((a + 128) * 256 + b + 128)];
        differing += found != want ? 1 : 0;
        ASSERT_LE(std::abs(found - want), 1);
      }
    }
    EXPECT_EQ(differing, p.differing_pairs);
    agree += differing == 0 ? 1 : 0;
  }
  std::printf("%d of %d products agree on every pair\n", agree, kTrials);
  EXPECT_GT(agree, kTrials * 3 / 4);
}

}  // namespace
}  // namespace kaiten
