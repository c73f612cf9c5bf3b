// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/lower/channel_map.h"

#include <gtest/gtest.h>

#include <random>

#include "compile/pack/weight_packing.h"
#include "tests/support/seed.h"

namespace kaiten {
namespace {

constexpr int kCp = 4;

TEST(ChannelMap, FullWordsHaveNoGapBetweenThem) {
  ChannelMap map(8);
  map.append(ChannelMap(6), 2, kCp);
  EXPECT_TRUE(map.dense());
  EXPECT_EQ(map.channels(), 14);
  EXPECT_EQ(map.end(kCp), 4);
  EXPECT_TRUE(map.channel_of(kCp).empty());
}

TEST(ChannelMap, PartialWordsLeaveAGap) {
  ChannelMap map(5);
  map.append(ChannelMap(3), 2, kCp);
  EXPECT_FALSE(map.dense());
  EXPECT_EQ(map.lanes(kCp), 11);
  EXPECT_EQ(map.channel_of(kCp), (std::vector<int>{0, 1, 2, 3, 4, -1, -1, -1, 5, 6, 7}));
}

TEST(ChannelMap, SlicesBeginWithAWord) {
  ChannelMap map(5);
  map.append(ChannelMap(6), 2, kCp);
  EXPECT_EQ(map.slice(4, 7, kCp)->segments(), (std::vector<Segment>{{1, 1}, {2, 2}}));
  EXPECT_EQ(map.slice(9, 11, kCp)->segments(), (std::vector<Segment>{{2, 3}}));
  EXPECT_FALSE(map.slice(6, 11, kCp));
  EXPECT_FALSE(map.slice(3, 5, kCp));
}

// Spans, lanes and slices tell the same of every channel.
TEST(ChannelMap, AgreesWithItself) {
  std::mt19937_64 rng(test::seed());
  for (int round = 0; round < 300; round++) {
    ChannelMap map(1 + int(rng() % 12));
    for (int n = int(rng() % 4); n > 0; n--) map.append(ChannelMap(1 + int(rng() % 12)), map.end(kCp), kCp);
    map.move(int(rng() % 5));
    std::vector<int> lane_of(std::size_t(map.channels()), -1);
    for (const ChannelSpan& s : map.spans(kCp)) {
      for (int i = 0; i < s.channels; i++) lane_of[std::size_t(s.channel + i)] = s.lane + i;
    }
    const std::vector<int> channel_of = map.channel_of(kCp);
    for (int c = 0; c < map.channels(); c++) {
      const int lane = lane_of[std::size_t(c)];
      ASSERT_GE(lane, 0);
      ASSERT_LT(lane, map.lanes(kCp));
      if (!channel_of.empty()) {
        EXPECT_EQ(channel_of[std::size_t(lane)], c);
      }
      const auto rest = map.slice(c, map.channels(), kCp);
      EXPECT_EQ(rest.has_value(), lane % kCp == 0);
      if (rest) {
        EXPECT_EQ(rest->begin(), map.begin() + lane / kCp);
        EXPECT_EQ(rest->end(kCp), map.end(kCp));
      }
    }
  }
}

// The kernel that the array sees has the model's weights on the channels and zeros in the gaps and between the taps.
TEST(ChannelMap, KernelsHaveZerosInGaps) {
  ChannelMap map(5);
  map.append(ChannelMap(6), 2, kCp);
  const int channels = map.channels();
  std::vector<std::uint8_t> data(std::size_t(2 * 2 * 3 * channels));
  for (std::size_t i = 0; i < data.size(); i++) data[i] = std::uint8_t(i % 200 + 1);
  KernelView view;
  view.data = data.data();
  view.out_channels = 2;
  view.rows = 2;
  view.columns = 3;
  view.in_channels = channels;
  view.channel_of = map.channel_of(kCp);
  view.dilation_rows = 3;
  view.dilation_columns = 2;
  for (int o = 0; o < 2; o++) {
    for (int row = 0; row < 6; row++) {
      for (int column = 0; column < 6; column++) {
        for (int lane = 0; lane < map.lanes(kCp); lane++) {
          const int c = view.channel_of[std::size_t(lane)];
          const bool tap = row % 3 == 0 && row / 3 < 2 && column % 2 == 0 && column / 2 < 3 && c >= 0;
          const int want = tap ? data[std::size_t(((o * 2 + row / 3) * 3 + column / 2) * channels + c)] : 0;
          EXPECT_EQ(view.at(o, row, column, lane), want);
        }
      }
    }
  }
}

}  // namespace
}  // namespace kaiten
