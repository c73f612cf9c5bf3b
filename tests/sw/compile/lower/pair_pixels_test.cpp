// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Which convolutions take two windows at once, and how far apart pixels are for it.
#include "compile/lower/pair_pixels.h"

#include <gtest/gtest.h>

#include "compile/lower/lower.h"
#include "program/config.h"
#include "tests/support/graph_builder.h"

namespace kaiten {
namespace {

constexpr int kWords = 4;  // of a result of `base`

struct Layer {
  int in_channels, out_channels, width = 14, kernel = 1, stride = 1;
};

// The convolution, between two others so that its maps stay on the accelerator.
Lowering lowered(const Layer& l, const std::string& config = "base", bool uint8 = false) {
  test::GraphBuilder b(1);
  b.uint8 = uint8;
  const int in = b.conv(b.input(l.width, l.width, 3), l.in_channels, 3, 3, 1, {1, 1, 1, 1}, Activation::Relu);
  const int pad = l.kernel / 2;
  const int out =
      b.conv(in, l.out_channels, l.kernel, l.kernel, l.stride, {pad, pad, pad, pad}, Activation::Relu);
  b.output(b.conv(out, 8, 3, 3, 1, {1, 1, 1, 1}, Activation::None));
  return lower(b.graph, preset(config), RoundingStyle::LiteRt);
}

const LoweredOp& middle(const Lowering& l) { return l.ops.at(1); }

int groups(const Layer& l) { return middle(lowered(l)).pair_groups; }

TEST(PairPixels, TakesLastPassesOfFourGroupsAtMost) {
  EXPECT_EQ(groups({8, 96}), 1);
  EXPECT_EQ(groups({16, 96}), 2);
  EXPECT_EQ(groups({32, 16}), 4);
  EXPECT_EQ(groups({40, 16}), 0);
  EXPECT_EQ(groups({72, 32}), 0);
  EXPECT_EQ(groups({96, 576}), 3);  // nine groups, then three
  EXPECT_EQ(groups({160, 64}), 2);
}

TEST(PairPixels, LeavesOtherConvolutionsAlone) {
  EXPECT_EQ(groups({16, 32, 14, 3}), 0);
  EXPECT_EQ(groups({16, 32, 1}), 0);  // one window
  EXPECT_EQ(groups({16, 32, 2}), 2);
  EXPECT_EQ(groups({96, 32, 2}), 0);  // a window of the last pass would come too soon
  EXPECT_EQ(groups({96, 32, 3}), 3);
  EXPECT_EQ(middle(lowered({16, 96}, "nano")).pair_groups, 0);
  EXPECT_EQ(middle(lowered({16, 96}, "base", true)).pair_groups, 0);  // weights with a zero point
}

// What two windows read at once, and write, lies in different banks.
TEST(PairPixels, MovesPixelsApart) {
  for (const Layer l :
       {Layer{16, 96}, {24, 144}, {32, 192}, {96, 576}, {160, 960}, {32, 16, 14, 1, 2}, {96, 24, 9, 1, 2}}) {
    const Lowering lowering = lowered(l);
    const LoweredOp& op = middle(lowering);
    ASSERT_GT(op.pair_groups, 0);
    const Storage& in = lowering.storage_of(op.inputs[0]);
    const Storage& out = lowering.storage_of(op.output);
    const auto apart = [](int distance, int words) {
      return distance % 9 >= words && distance % 9 <= 9 - words;
    };
    EXPECT_TRUE(apart(l.stride * in.rows().pixel, op.pair_groups)) << l.in_channels;
    EXPECT_EQ(apart(out.rows().pixel, std::min(kWords, out.groups)), !op.pair_splits) << l.out_channels;
    EXPECT_FALSE(op.pair_splits && op.array.passes == 1);
    for (const Storage* s : {&in, &out}) {
      EXPECT_NE(s->rows().pixel % 3, 0);
      EXPECT_GE(s->rows().pixel, s->groups);
    }
  }
  // not where several passes leave the time to write one after the other, nor where they are apart
  const Lowering passes = lowered({96, 576});
  EXPECT_EQ(passes.storage_of(middle(passes).output).rows().pixel, 73);
  EXPECT_TRUE(middle(passes).pair_splits);
  const Lowering same = lowered({32, 16});
  EXPECT_EQ(same.storage_of(middle(same).output).rows().pixel, 2);
}

TEST(PairPixels, HalvesTheCyclesOfTheLastPass) {
  const Lowering one = lowered({32, 64}), two = lowered({96, 64});
  EXPECT_EQ(middle(one).cycles(2, 14), 2 * 14 * 7);
  EXPECT_EQ(middle(one).cycles(2, 14, true), 2 * 14 * 14);  // to memory one by one
  EXPECT_EQ(middle(two).cycles(2, 14), 2 * 14 * (14 + 7));
  EXPECT_EQ(middle(two).cycles(2, 14, true), 2 * 14 * (14 + 7));
  EXPECT_EQ(middle(one).cycles(2, 1), 2 * 8);  // a stage of weights a cycle
}

// Operands of an addition have their pixels equally far apart.
TEST(PairPixels, KeepsOperandsAlike) {
  test::GraphBuilder b(1);
  const int in = b.conv(b.input(14, 14, 3), 24, 3, 3, 1, {1, 1, 1, 1}, Activation::Relu);
  const int expand = b.conv(in, 144, 1, 1, 1, {}, Activation::Relu);
  const int other = b.conv(in, 144, 3, 3, 1, {1, 1, 1, 1}, Activation::Relu);
  b.output(b.conv(b.add(expand, other, Activation::None), 8, 3, 3, 1, {1, 1, 1, 1}, Activation::None));
  const Lowering l = lower(b.graph, preset("base"), RoundingStyle::LiteRt);
  for (const LoweredOp& op : l.ops) {
    if (op.engine != Engine::kAdd) continue;
    EXPECT_EQ(l.storage_of(op.inputs[0]).rows().pixel, l.storage_of(op.inputs[1]).rows().pixel);
    EXPECT_EQ(l.storage_of(op.inputs[0]).rows().pixel, 22);
  }
  EXPECT_EQ(l.ops.at(1).pair_groups, 3);
}

}  // namespace
}  // namespace kaiten
