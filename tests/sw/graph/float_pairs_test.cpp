// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

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
  kaiten::integer_add(p, std::vector<std::span<const int8_t>>{x, y}, out);
  return out;
}

float draw(std::mt19937_64& random, double low, double high) {
  return float(std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(random)));
}

AddParams draw_add(std::mt19937_64& random) {
  AddParams p;
  p.output.rule = Rounding::Float;
  p.scale[0] = draw(random, 1.0e-3, 1.0);
  p.scale[1] = p.scale[0] * draw(random, 0.05, 20.0);
  p.out_scale = (p.scale[0] + p.scale[1]) * draw(random, 0.3, 1.5);
  for (int* z : {&p.zp_in[0], &p.zp_in[1], &p.output.zero_point}) *z = int(random() % 256) - 128;
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
            chain(float(a - p.zp_in[0]) * p.scale[0], p.subtract ? -y : y, p.out_scale, p.output.zero_point);
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
      p.output.rule = Rounding::Float;
      p.scale[0] = std::ldexp(1.0F, first);
      p.scale[1] = std::ldexp(1.0F, -4);
      p.out_scale = std::ldexp(1.0F, out);
      fit_integers(p);
      EXPECT_EQ(p.differing_pairs, 0) << first << " " << out;
    }
  }
}

// Thousands of ties that the chain's own roundings break one way or the other: no multipliers follow that.
// Then the operator is the host's.
TEST(FloatPairs, CountsWhatCannotAgree) {
  AddParams p;
  p.output.rule = Rounding::Float;
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

AddParams draw_sum(std::mt19937_64& random, size_t operands) {
  AddParams p;
  p.output.rule = Rounding::Float;
  p.operands = operands;
  p.out_scale = 0;
  for (size_t k = 0; k < operands; k++) {
    p.scale[k] = draw(random, 0.01, 0.1);
    p.zp_in[k] = int(random() % 256) - 128;
    p.out_scale += p.scale[k] * draw(random, 0.2, 1.0);
  }
  p.output.zero_point = int(random() % 256) - 128;
  fit_integers(p);
  return p;
}

// Of three operands all combinations are tried, against what sums_agree() finds by looking near the ties.
int64_t differing_triples(const AddParams& p) {
  std::vector<int8_t> x(65536), y(65536), z(65536), made(65536);
  int64_t differing = 0;
  for (int i = 0; i < 65536; i++) {
    x[size_t(i)] = int8_t(i / 256 - 128);
    y[size_t(i)] = int8_t(i % 256 - 128);
  }
  for (int c = -128; c <= 127; c++) {
    z.assign(z.size(), int8_t(c));
    integer_add(p, std::vector<std::span<const int8_t>>{x, y, z}, made);
    for (size_t i = 0; i < made.size(); i++) {
      const float sum = float(x[i] - p.zp_in[0]) * p.scale[0] + float(y[i] - p.zp_in[1]) * p.scale[1];
      const int want = chain(sum, float(c - p.zp_in[2]) * p.scale[2], p.out_scale, p.output.zero_point);
      differing += made[i] != want ? 1 : 0;
    }
  }
  return differing;
}

TEST(FloatPairs, SumsOfThree) {
  std::mt19937_64 random(test::seed());
  for (int trial = 0; trial < 3; trial++) {
    const AddParams p = draw_sum(random, 3);
    EXPECT_EQ(sums_agree(p), differing_triples(p) == 0);
  }
  AddParams p = draw_sum(random, 3);
  p.scale[0] = 0.25F;
  p.scale[1] = 0.5F;
  p.scale[2] = 0.125F;
  p.out_scale = 1.0F;
  fit_integers(p);
  EXPECT_TRUE(sums_agree(p));
  EXPECT_EQ(differing_triples(p), 0);
}

// A fourth operand too small to count changes nothing.
TEST(FloatPairs, SumsOfFour) {
  std::mt19937_64 random(test::seed());
  AddParams p = draw_sum(random, 3);
  const bool three = sums_agree(p);
  p.operands = 4;
  p.scale[3] = 1.0e-30F;
  fit_integers(p);
  EXPECT_EQ(sums_agree(p), three);
}

// Half of all sums are ties here: too many to compare.
TEST(FloatPairs, SumsThatAreTiesDoNotAgree) {
  AddParams p;
  p.output.rule = Rounding::Float;
  p.operands = 4;
  for (float& s : p.scale) s = 0.0269081183F;
  p.out_scale = 2 * p.scale[0];
  fit_integers(p);
  EXPECT_FALSE(sums_agree(p));
}

// onnxruntime's QLinearAdd, written here once more.
int qlinear_sum(const AddParams& p, int a, int b) {
  const auto z = [&](int stored) { return float(stored + p.model_offset); };
  int k = 0, other = 1;
  if (p.second_is_last) {
    std::swap(a, b);
    std::swap(k, other);
  }
  const float r = p.scale[k] / p.out_scale, s = p.scale[other] / p.out_scale;
  const float fixed = z(p.output.zero_point) - std::fma(r, z(p.zp_in[k]), s * z(p.zp_in[other]));
  const float sum = std::fma(z(a), r, std::fma(z(b), s, fixed));
  return int(std::fmin(std::fmax(std::nearbyintf(sum) - float(p.model_offset), -128.0F), 127.0F));
}

TEST(FloatPairs, QLinearSums) {
  std::mt19937_64 random(test::seed());
  int agree = 0;
  constexpr int kTrials = 200;
  for (int trial = 0; trial < kTrials; trial++) {
    AddParams p = draw_add(random);
    p.qlinear = true;
    p.model_offset = trial % 2 * 128;
    p.second_is_last = trial % 3 == 0;
    if (trial % 5 == 0) p.scale[1] = p.scale[0];
    fit_integers(p);
    const std::vector<int8_t> made = sums(p);
    int differing = 0;
    for (int a = -128; a <= 127; a++) {
      for (int b = -128; b <= 127; b++)
        differing += int(made[size_t((a + 128) * 256 + b + 128)]) != qlinear_sum(p, a, b) ? 1 : 0;
    }
    ASSERT_EQ(differing, p.differing_pairs);
    agree += differing == 0 ? 1 : 0;
  }
  std::printf("%d of %d additions of QLinearAdd agree on every pair\n", agree, kTrials);
  EXPECT_GT(agree, kTrials * 3 / 4);
}

TEST(FloatPairs, QLinearProducts) {
  std::mt19937_64 random(test::seed());
  int agree = 0;
  constexpr int kTrials = 100;
  for (int trial = 0; trial < kTrials; trial++) {
    MulParams p;
    p.output.rule = Rounding::Float;
    p.qlinear = true;
    p.model_offset = trial % 2 * 128;
    p.scale[0] = draw(random, 1.0e-3, 1.0);
    p.scale[1] = draw(random, 1.0e-3, 1.0);
    p.out_scale = p.scale[0] * p.scale[1] * draw(random, 10.0, 300.0);
    for (int* z : {&p.zp_in[0], &p.zp_in[1], &p.output.zero_point}) *z = int(random() % 256) - 128;
    fit_integers(p);
    const std::vector<int8_t> made = products(p);
    const float ratio = p.scale[0] * p.scale[1] / p.out_scale;
    int differing = 0;
    for (int i = 0; i < 65536; i++) {
      const int product = (i / 256 - 128 - p.zp_in[0]) * (i % 256 - 128 - p.zp_in[1]);
      const float y = std::nearbyintf(float(product) * ratio + float(p.output.zero_point + p.model_offset));
      const int want = int(std::fmin(std::fmax(y - float(p.model_offset), -128.0F), 127.0F));
      differing += made[size_t(i)] != want ? 1 : 0;
    }
    ASSERT_EQ(differing, p.differing_pairs);
    agree += differing == 0 ? 1 : 0;
  }
  std::printf("%d of %d products of QLinearMul agree on every pair\n", agree, kTrials);
  EXPECT_GT(agree, kTrials * 3 / 4);
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
    p.output.rule = Rounding::Float;
    p.scale[0] = draw(random, 1.0e-3, 1.0);
    p.scale[1] = draw(random, 1.0e-3, 1.0);
    p.out_scale = p.scale[0] * p.scale[1] * draw(random, 10.0, 300.0);
    for (int* z : {&p.zp_in[0], &p.zp_in[1], &p.output.zero_point}) *z = int(random() % 256) - 128;
    fit_integers(p);
    const std::vector<int8_t> made = products(p);
    int differing = 0;
    for (int a = -128; a <= 127; a++) {
      for (int b = -128; b <= 127; b++) {
        const float product = (float(a - p.zp_in[0]) * p.scale[0]) * (float(b - p.zp_in[1]) * p.scale[1]);
        const int want = chain(product, 0.0F, p.out_scale, p.output.zero_point);
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
