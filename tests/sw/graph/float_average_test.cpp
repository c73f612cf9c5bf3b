// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Averages of ONNX models: float32 sums in onnxruntime's orders against what it gave for ties, and when integers do as well.

#include "graph/float_average.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "graph/values.h"
#include "reference/kernels.h"
#include "tests/support/seed.h"

namespace kaiten {
namespace {

PoolParams params_of(float in_scale, float out_scale, int zero_point) {
  PoolParams p;
  p.zp_in = zero_point;
  p.in_scale = in_scale;
  p.out_scale = out_scale;
  p.output.zero_point = zero_point;
  p.output.rule = Rounding::Float;
  return p;
}

// Two rows of three cells, then the average by QLinearAveragePool, AveragePool 19 and AveragePool 13 of onnxruntime 1.32.0 on
// x86-64; scale 0.0443188 and zero point -3 on both sides. Of 4,000 random windows 425 differ; these are the first of them.
struct Case {
  std::array<std::int8_t, 6> cells;
  int qlinear, by_rows, by_columns;
};
constexpr Case kCases[] = {
    {{19, 72, -61, 36, 29, -62}, 6, 5, 6},           {{32, -113, 110, 4, -74, 116}, 12, 13, 13},
    {{52, -63, -69, 37, 24, -74}, -16, -16, -15},    {{-1, 1, -18, 122, 10, 99}, 36, 35, 35},
    {{94, 28, 71, 82, -106, -46}, 21, 21, 20},       {{62, -29, 36, -86, 51, -73}, -6, -7, -6},
    {{42, 47, -95, -43, -68, 48}, -12, -11, -12},    {{17, -56, 49, 38, -67, -74}, -16, -15, -15},
    {{-63, 56, -33, 32, -122, 7}, -20, -21, -21},    {{80, -58, 109, -62, -8, -4}, 9, 9, 10},
    {{85, 127, -76, -2, -63, 28}, 16, 16, 17},       {{-8, 59, -29, 71, 117, -81}, 22, 21, 21},
    {{69, 74, 84, 32, 126, 14}, 66, 67, 67},         {{-5, -86, -34, -59, 46, -75}, -36, -35, -35},
    {{-37, 56, -25, -88, -93, -20}, -34, -35, -35},  {{45, -36, 80, 24, 126, 82}, 54, 53, 53},
    {{-72, -124, 27, 76, -10, -80}, -31, -31, -30},  {{-64, 122, 83, -6, -45, 3}, 15, 15, 16},
    {{-116, -114, -14, -3, -55, 41}, -44, -43, -43}, {{-86, -38, 38, -107, -3, -53}, -42, -41, -42},
    {{-4, -38, -15, -105, -23, -76}, -44, -43, -43}, {{-49, -21, -119, -85, 96, -65}, -40, -41, -41},
    {{56, 51, 95, -31, -61, -35}, 12, 13, 13},       {{74, 97, 62, -115, 2, 21}, 24, 23, 23},
};

TEST(FloatAverage, TiesAreThoseOfOnnxruntime) {
  Window window{.kernel_h = 2, .kernel_w = 3};
  const auto average = [&](const Case& c, bool qlinear, Additions additions) {
    PoolParams p = params_of(0.0443188F, 0.0443188F, -3);
    p.qlinear = qlinear;
    p.additions = additions;
    Int8Values out(1);
    reference::average_pool(p, window, {1, 2, 3, 1}, c.cells, {1, 1, 1, 1}, out);
    return int(out[0]);
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(average(c, true, Additions::ByRows), c.qlinear);
    EXPECT_EQ(average(c, false, Additions::ByRows), c.by_rows);
    EXPECT_EQ(average(c, false, Additions::ByColumns), c.by_columns);
  }
}

// A window over a whole map: two rows of three cells, three of four, by AveragePool 19 and AveragePool 13 of the same; the order
// in lanes gives all 8,000 results of random maps, of which 214 differ from those by rows. These are the first of them.
struct WholeMap {
  std::vector<std::int8_t> cells;
  int by_rows, in_lanes;
};

TEST(FloatAverage, WindowsOverWholeMapsAddInLanes) {
  const WholeMap cases[] = {
      {{-21, 4, -54, -99, -20, 31}, -27, -26},
      {{51, 55, 127, -58, -18, -94}, 10, 11},
      {{-8, 95, -9, -21, 35, -107}, -2, -3},
      {{-37, 100, 119, -21, -67, -61}, 5, 6},
      {{-53, -123, 19, -86, 31, -49}, -43, -44},
      {{42, 36, -41, 77, -79, -26}, 1, 2},
      {{-43, -36, -121, -92, 60, 37, -20, -68, 7, 33, 94, 83}, -6, -5},
      {{-32, 111, 30, 111, -16, 54, -91, 63, -56, -61, -77, -30}, 1, 0},
      {{68, 107, 50, 91, -121, -56, 49, 85, 19, 35, 106, 29}, 39, 38},
      {{57, 16, -3, -113, 13, -71, -72, -92, -128, 58, 85, 64}, -16, -15},
      {{-1, 89, -47, -54, 69, 53, 63, -96, 69, -126, 125, -6}, 12, 11},
      {{67, -14, -44, -125, 71, 82, 115, 91, -15, -83, 64, -107}, 8, 9},
  };
  for (const WholeMap& c : cases) {
    const int rows = c.cells.size() == 6 ? 2 : 3, columns = int(c.cells.size()) / rows;
    const Window window{.kernel_h = rows, .kernel_w = columns};
    PoolParams p = params_of(0.0443188F, 0.0443188F, -3);
    for (const Additions additions : {Additions::ByRows, Additions::InLanes}) {
      p.additions = additions;
      Int8Values out(1);
      reference::average_pool(p, window, {1, rows, columns, 1}, c.cells, {1, 1, 1, 1}, out);
      EXPECT_EQ(out[0], additions == Additions::ByRows ? c.by_rows : c.in_lanes);
    }
  }
}

// Maps of three rows of six cells, each a channel of four, by GlobalAveragePool and ReduceMean 13 and 18 of the same: these two
// orders give all results of 7,500 random maps of 6, 12, 49, 5 and 18 cells. QLinearGlobalAveragePool gives `by_factor`, and so
// does GlobalAveragePool with graph optimisation.
struct ChannelOfMap {
  int channel;
  std::array<std::int8_t, 18> cells;
  int by_factor, in_lanes, in_packets;
};

TEST(FloatAverage, MeansOfWholeMapsAddInLanesOrInPackets) {
  const ChannelOfMap cases[] = {
      {0,
       {-74, -126, -109, 13, 21, -9, 111, 124, 77, 86, -93, 122, 8, -97, -53, -122, 8, -94},
       -11,
       -12,
       -12},
      {1, {31, 45, 74, -28, -83, 64, 62, -47, -48, -26, -72, -87, -12, -43, 30, -40, -126, 9}, -17, -16, -17},
      {1, {82, -46, -27, 106, -50, 92, -88, 49, -84, -83, 2, -18, -19, -7, -100, 34, 66, -62}, -9, -9, -8},
      {1,
       {-120, -8, -123, -61, 122, -123, 26, -37, 67, -124, -103, 57, -76, 12, 89, -7, -31, 17},
       -23,
       -24,
       -24},
      {2, {-100, 86, 6, 67, 34, -14, 29, 84, -97, -68, 46, -39, -22, 44, -125, -96, 29, 109}, -1, -1, -2},
      {2, {116, 39, 91, 65, 93, 81, 53, 60, -116, -111, -118, 39, 102, -23, 57, 118, 22, 53}, 35, 34, 35},
      {3, {-68, 61, 17, -34, 90, -47, 104, 36, -92, -4, 88, -76, 25, -36, 30, -10, -123, -60}, -5, -5, -6},
  };
  for (const ChannelOfMap& c : cases) {
    PoolParams p = params_of(0.0443188F, 0.0443188F, -3);
    std::vector<float> real;
    int sum = 0;
    for (const int cell : c.cells) {
      real.push_back(float(cell + 3) * p.in_scale);
      sum += cell + 3;
    }
    const auto stored = [&](float total) { return int(p.output.stored(float_mean(p, total, 18))); };
    EXPECT_EQ(stored(sum_in_packets(real, std::size_t(c.channel) * 18)), c.in_packets);
    EXPECT_EQ(stored(sum_in_lanes(real)), c.in_lanes);
    p.additions = Additions::InLanes;
    Int8Values out(1);
    reference::average_pool(p, {.kernel_h = 3, .kernel_w = 6}, {1, 3, 6, 1}, c.cells, {1, 1, 1, 1}, out);
    EXPECT_EQ(int(out[0]), c.in_lanes);
    EXPECT_EQ(int(p.output.stored(requantize_float(sum, pool_factor(p, 18)))), c.by_factor);
  }
}

TEST(FloatAverage, OrderFollowsTheOperatorsVersion) {
  const Window window{.kernel_h = 2, .kernel_w = 2, .stride_h = 3, .stride_w = 2};
  const Nhwc map{1, 10, 100, 8}, wide{1, 10, 5000, 8}, whole{1, 2, 2, 8};
  EXPECT_EQ(additions_of(18, window, map), Additions::ByColumns);
  EXPECT_EQ(additions_of(19, window, map), Additions::ByRows);
  EXPECT_EQ(additions_of(18, window, wide), Additions::ByRows);
  const Window apart{.kernel_h = 2, .kernel_w = 2, .stride_h = 1, .stride_w = 3};
  EXPECT_EQ(additions_of(18, apart, map), Additions::ByRows);
  EXPECT_EQ(additions_of(18, {.kernel_h = 2, .kernel_w = 2}, whole), Additions::InLanes);
  EXPECT_EQ(additions_of(18, window, whole), Additions::ByColumns);
  EXPECT_EQ(additions_of(18, apart, whole), Additions::ByRows);
  EXPECT_EQ(additions_of(19, {.kernel_h = 2, .kernel_w = 2}, whole), Additions::ByRows);
}

// Four cells of one scale on both sides have ties, nine have none.
TEST(FloatAverage, IntegersDoWhereThereAreNoTies) {
  const PoolParams p = params_of(0.03F, 0.03F, 5);
  const auto agree = [&](Window w, int side) {
    return averages_agree(p, w, {1, side, side, 8}, {1, 4, 4, 8});
  };
  EXPECT_FALSE(agree({.kernel_h = 2, .kernel_w = 2}, 5));
  EXPECT_TRUE(agree({.kernel_h = 3, .kernel_w = 3}, 6));
  EXPECT_FALSE(
      agree({.kernel_h = 3, .kernel_w = 3, .pad = {1, 1, 1, 1}}, 4));  // four and six cells at the border
  PoolParams padded = p;
  padded.count_pad = true;
  EXPECT_TRUE(averages_agree(padded, {.kernel_h = 3, .kernel_w = 3, .pad = {1, 1, 1, 1}}, {1, 4, 4, 8},
                             {1, 4, 4, 8}));
  EXPECT_FALSE(agree({.kernel_h = 100, .kernel_w = 100}, 103));  // too many sums to try
}

// Wherever they are said to agree, random windows in every order give what the accelerator's rule gives.
TEST(FloatAverage, AgreementHolds) {
  std::mt19937_64 random(test::seed());
  int agreed = 0;
  for (int i = 0; i < 300; i++) {
    const float in = 0.01F + 0.05F * float(random() % 1000) / 1000;
    const float out = random() % 2 == 0 ? in : in * (0.5F + float(random() % 1000) / 1000);
    PoolParams p = params_of(in, out, int(random() % 256) - 128);
    p.qlinear = random() % 2 == 0;
    p.additions = random() % 2 == 0 ? Additions::ByColumns : Additions::ByRows;
    const int side = 1 + int(random() % 4);
    const Window window{.kernel_h = side, .kernel_w = side};
    const Nhwc from{1, side + 15, side + 15, 4}, to{1, 16, 16, 4};
    if (!averages_agree(p, window, from, to)) continue;
    agreed++;
    Int8Values cells(from.elements()), result(to.elements());
    for (auto& c : cells) c = std::int8_t(random() & 0xff);
    reference::average_pool(p, window, from, cells, to, result);
    const Multiplier factor = pool_factor(p, side * side);
    for (std::size_t at = 0; at < result.size(); at++) {
      const int c = int(at) % to.c, x = int(at) / to.c % to.w, y = int(at) / to.c / to.w;
      std::int32_t sum = 0;
      for (int row = y; row < y + side; row++) {
        for (int column = x; column < x + side; column++)
          sum += cells[std::size_t((row * from.w + column) * from.c + c)] - p.zp_in;
      }
      ASSERT_EQ(result[at], p.output.stored(requantize_float(sum, factor)));
    }
  }
  EXPECT_GT(agreed, 30);
}

}  // namespace
}  // namespace kaiten
