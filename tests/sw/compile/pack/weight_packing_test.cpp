// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/pack/weight_packing.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/arithmetic.h"
#include "program/memory_layout.h"
#include "program/ring.h"
#include "tests/support/seed.h"

namespace kaiten {
namespace {

// Every pattern the hardware reads or writes in one cycle touches nine different banks at most once each.
TEST(RowLayout, PatternsDoNotConflict) {
  for (int channels = 1; channels <= 200; channels += 3) {
    const RowLayout rows(ceil_div(channels, 8), 11);
    EXPECT_NE(rows.pixel % 3, 0);
    EXPECT_GE(rows.slot_size * 9, 11 * rows.pixel);
    EXPECT_LT((rows.slot_size - 1) * 9, 11 * rows.pixel);
    const auto distinct = [](const std::vector<std::pair<int, int>>& words) {  // row, word
      std::set<int> banks;
      for (const auto& [row, word] : words) banks.insert(bank_of(row, word));
      return banks.size() == words.size();
    };
    for (int row = 0; row < 9; row++) {
      for (int column = 0; column < 9; column++) {
        for (int group = 0; group < rows.groups; group++) {
          const int word = column * rows.pixel + group;
          const auto next = word + rows.pixel;
          EXPECT_TRUE(distinct({{row, word},
                                {row + 1, word},
                                {row + 2, word},
                                {row, next},
                                {row + 1, next},
                                {row + 2, next}}));
          std::vector<std::pair<int, int>> nine;
          std::vector<std::pair<int, int>> square;
          for (int i = 0; i < 9; i++) {
            nine.emplace_back(row, word + i);
            square.emplace_back(row + i / 3, word + i % 3);
          }
          EXPECT_TRUE(distinct(nine));
          EXPECT_TRUE(distinct(square));
        }
      }
    }
  }
}

TEST(RowLayout, WordsHaveTheirOwnPlace) {
  std::mt19937_64 rng(test::seed());
  for (int round = 0; round < 50; round++) {
    const RowLayout rows(1 + int(rng() % 19), 1 + int(rng() % 40));
    const Ring ring{int(rng() % 100), 3 + int(rng() % 7), rows.slot_size};
    const int first_row = int(rng() % 50);
    std::set<std::pair<int, int>> places;  // bank, address
    for (int row = first_row; row < first_row + ring.slots; row++) {
      for (int word = 0; word < rows.width * rows.pixel; word++) {
        const int address = ring.slot(row) + address_of(word);
        EXPECT_GE(address, ring.first);
        EXPECT_LT(address, ring.end());
        EXPECT_TRUE(places.insert({bank_of(row, word), address}).second);
      }
    }
    EXPECT_EQ(ring.slot(-1), ring.slot(ring.slots - 1));
    EXPECT_EQ(ring.last(), ring.slot(ring.slots - 1));
  }
}

TEST(MemoryLayout, BytesHaveTheirOwnPlace) {
  std::mt19937_64 rng(test::seed());
  for (int round = 0; round < 100; round++) {
    const int h = 1 + int(rng() % 5);
    const int w = 1 + int(rng() % 9);
    const int c = 1 + int(rng() % 90);
    const int cp = rng() % 2 ? 4 : 8;
    MemoryLayout m =
        rng() % 2 ? dense_layout(h, w, c, cp) : spilled_layout(h, w, c, 1 + int(rng() % 4), cp, 16);
    m.offset = 64;
    std::set<std::int64_t> places;
    for (int y = 0; y < h; y++) {
      for (int x = 0; x < w; x++) {
        for (int i = 0; i < c; i++) {
          const std::int64_t at = m.at(y, x, i);
          EXPECT_GE(at, m.offset);
          EXPECT_LT(at, m.offset + m.bytes());
          EXPECT_TRUE(places.insert(at).second);
        }
      }
    }
  }
  const MemoryLayout dense = dense_layout(3, 4, 5, 4);
  EXPECT_EQ(dense.at(1, 2, 3), (1 * 4 + 2) * 5 + 3);
}

// Puts the packed bytes back where LOAD would and looks every multiplier up.
TEST(Weights, EveryMultiplierGetsItsKernel) {
  std::mt19937_64 rng(test::seed());
  for (int round = 0; round < 60; round++) {
    const int kp = rng() % 2 ? 8 : 4;
    const int cp = 4;
    const int in = 1 + int(rng() % 90);
    const int out = 1 + int(rng() % 20);
    const int rows = 1 + int(rng() % 7);
    const int columns = rng() % 2 ? rows : 1 + int(rng() % 7);
    const ConvMode mode = ConvMode(rng() % 3);
    std::vector<std::uint8_t> data(std::size_t(out * rows * columns * in));
    for (auto& v : data) v = std::uint8_t(rng());
    const int zero_point = rng() % 2 ? 0 : int(rng() % 256) - 128;
    KernelView view;
    view.data = data.data();
    view.out_channels = out;
    view.rows = rows;
    view.columns = columns;
    view.in_channels = in;
    view.zero_point = zero_point;
    const ArrayTiles tiles(mode, {rows, columns, in, out}, kp, cp);
    std::vector<std::uint8_t> packed;
    pack_weights(tiles, view, {0, tiles.tiles, 0}, packed);

    std::vector<std::vector<int>> wb(std::size_t(tiles.tiles * tiles.rows_of_tile()),
                                     std::vector<int>(std::size_t(9 * cp), 0));
    std::size_t at = 0;
    int next = 0;  // pass of all
    for (const WeightLoad& load : split_weights(tiles, {0, tiles.tiles, 0})) {
      EXPECT_EQ((load.tile * tiles.kernel_tiles() + load.kernel_tile) * tiles.passes + load.first_pass, next);
      EXPECT_LE(load.bytes, kMaxLoadBytes);
      const std::size_t begin = at;
      for (int p = 0; p < load.passes; p++, next++) {
        const int pass = next % tiles.passes;
        const int tile = next / tiles.passes / tiles.kernel_tiles();
        EXPECT_EQ(tiles.kernels(tile), tiles.kernels(load.tile));
        for (int k = 0; k < tiles.kernels(tile); k++) {
          auto& row = wb[std::size_t(next * kp + k)];
          const bool last = pass == tiles.passes - 1;
          int left = tiles.row_bytes(pass);
          EXPECT_TRUE(last || left == 9 * cp);
          for (int word = 0; word < 9; word++) {
            const int bytes = last && word >= tiles.last_full_words() ? tiles.last_word_bytes() : cp;
            for (int i = 0; i < bytes && left > 0; i++, left--)
              row[std::size_t(word * cp + i)] = packed.at(at++);
          }
          EXPECT_EQ(left, 0);
        }
      }
      EXPECT_EQ(at - begin, std::size_t(load.bytes));
    }
    EXPECT_EQ(at, packed.size());
    const int height = mode == ConvMode::k1x1 ? 1 : 3;
    const int width = mode == ConvMode::k3x3 ? 3 : 1;
    EXPECT_EQ(packed.size(), std::size_t(height * width * tiles.kernel_tiles() * in * out));
    EXPECT_EQ(next, tiles.tiles * tiles.kernel_tiles() * tiles.passes);

    for (int o = 0; o < out; o++) {
      for (int i = 0; i < in; i++) {
        const auto multiplier = [&](int kernel_tile, int pass, int word) {
          const int row = ((o / kp * tiles.kernel_tiles() + kernel_tile) * tiles.passes + pass) * kp + o % kp;
          return wb[std::size_t(row)][std::size_t(word * cp + i % cp)];
        };
        // Words: tap row, then tap column or channel group of the pass.
        const int groups = mode == ConvMode::k3x3 ? 1 : mode == ConvMode::k1x1 ? 9 : 3;
        for (int row = 0; row < height * tiles.kernel_tile_rows; row++) {
          for (int column = 0; column < width * tiles.kernel_tile_columns; column++) {
            const int want = row < rows && column < columns
                                 ? data[std::size_t(((o * rows + row) * columns + column) * in + i)]
                                 : std::uint8_t(zero_point);
            const int kernel_tile = row / height * tiles.kernel_tile_columns + column / width;
            const int word = (column % width + i / cp % groups) * height + row % height;
            EXPECT_EQ(multiplier(kernel_tile, i / (groups * cp), word), want);
          }
        }
      }
    }
  }
}

TEST(Weights, VectorRowsHoldThreeTapRowsOfThreeGroups) {
  std::mt19937_64 rng(test::seed());
  const int cp = 4;
  for (int kernel = 1; kernel <= 5; kernel++) {
    const int channels = 29;
    std::vector<std::uint8_t> data(std::size_t(kernel * kernel * channels));
    for (auto& v : data) v = std::uint8_t(rng());
    const VectorTiles tiles(channels, kernel, kernel, cp);
    std::vector<std::uint8_t> packed;
    pack_vector_weights(tiles, {data.data(), channels, kernel, kernel, {}, 1, 1, -9 * kernel}, 0, tiles.tiles,
                        packed);
    ASSERT_EQ(packed.size(), std::size_t(tiles.tiles * tiles.rows_of_tile() * 9 * cp));
    for (int c = 0; c < tiles.tiles * 3 * cp; c++) {
      for (int row = 0; row < 3 * tiles.kernel_tiles; row++) {
        for (int column = 0; column < kernel; column++) {
          const int tile = c / (3 * cp);
          const int vwb_row = (tile * tiles.kernel_tiles + row / 3) * kernel + column;
          const int word = 3 * (row % 3) + c / cp % 3;
          const int want = c < channels && row < kernel
                               ? data[std::size_t((row * kernel + column) * channels + c)]
                               : std::uint8_t(-9 * kernel);
          EXPECT_EQ(packed[std::size_t((vwb_row * 9 + word) * cp + c % cp)], want);
        }
      }
    }
  }
}

// Of uint8 values: every result's first and last sum, for every number of cells of a window.
TEST(Requantisation, AverageOfUint8IsExact) {
  for (int cells = 1; cells <= 255 * 255; cells += cells < 5000 ? 1 : 7) {
    const RequantParams w = average_word_uint8(cells);
    const Multiplier m{w.multiplier, w.shift};
    ASSERT_GE(w.multiplier, 1 << 30);
    for (std::int64_t value = 0; value <= 255; value++) {
      // ceil((2 * value - 1) * cells / 2) is the first sum that rounds to `value`
      for (std::int64_t sum : {((2 * value - 1) * cells + 1) / 2, ((2 * value + 1) * cells + 1) / 2 - 1}) {
        sum = std::clamp<std::int64_t>(sum, 0, 255LL * cells);
        ASSERT_EQ(average(std::int32_t(sum), cells), value) << sum << " / " << cells;
        const std::int64_t stored = sum - 128LL * cells;
        ASSERT_EQ(requantize_single(std::int32_t(stored + w.bias), m), value) << sum << " / " << cells;
      }
    }
  }
}

TEST(Requantisation, AverageIsExact) {
  for (int cells : {1, 2, 3, 4, 5, 7, 9, 16, 25, 49, 63, 64, 65, 100, 1000, 1023, 4096}) {
    const RequantParams w = average_word(cells);
    EXPECT_EQ(w.bias, cells);
    for (std::int64_t sum = -128LL * cells; sum <= 127LL * cells; sum += cells > 100 ? 37 : 1) {
      const std::int64_t magnitude = ((2 * std::abs(sum) + w.bias) * w.multiplier) >> (31 - w.shift);
      EXPECT_EQ(sum < 0 ? -magnitude : magnitude, average(std::int32_t(sum), cells)) << sum << " / " << cells;
    }
  }
}

TEST(Requantisation, IdentityIsOne) {
  for (int x = -128; x <= 127; x++)
    EXPECT_EQ(requantize_double(x, {kIdentityWord.multiplier, kIdentityWord.shift}), x);
}

TEST(Requantisation, WordsAreLittleEndian) {
  std::vector<std::uint8_t> bytes;
  const RequantParams word{-2, 0x12345678, -3};
  pack_params(std::span(&word, 1), bytes);
  EXPECT_EQ(bytes, (std::vector<std::uint8_t>{0xfe, 0xff, 0xff, 0xff, 0x78, 0x56, 0x34, 0x12, 0xfd}));
}

}  // namespace
}  // namespace kaiten
