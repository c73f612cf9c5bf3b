// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Result writer against a plain walk of the loops tile, row, column: random commands queued behind each other, random
// refusals by every sink, never more results than credits.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

#include "Vkt_result_writer.h"
#include "tests/support/model.h"

namespace {

constexpr int kWords = 2, kPixels = PARAM_Pixels, kAllWords = kPixels * kWords, kDepth = 16;

struct Ring {
  int first, slots, size;
  int slot(int row) const { return first + row % slots * size; }
  int last() const { return slot(slots - 1); }
};

struct Command {
  int columns, rows, tiles, groups, group, pixel, first_row, index;
  Ring sb, vb;
  bool to_sb, to_vb, to_store, two;
};

// Writes fields from the lowest bit up, as kt_pkg::out_cmd_t lists them from the highest.
void pack(const Command& c, WData* out) {
  int at = 0;
  const auto put = [&](uint64_t value, int bits) {
    for (int b = 0; b < bits; b++, at++) {
      const WData mask = WData{1} << at % 32;
      out[at / 32] = (value >> b & 1) ? out[at / 32] | mask : out[at / 32] & ~mask;
    }
  };
  const auto word = [&](int i) {
    put(static_cast<uint64_t>(i % 9), 4), put(static_cast<uint64_t>(i / 9), 14);
  };
  const auto ring = [&](const Ring& r) { put(r.size, 16), put(r.last(), 16), put(r.first, 16); };
  put(c.index, 24), put(c.two, 1), put(c.to_store, 1), put(c.to_vb, 1), put(c.to_sb, 1);
  put(c.vb.slot(c.first_row), 16), ring(c.vb);
  put(c.sb.slot(c.first_row), 16), ring(c.sb);
  put(c.first_row % 3, 2), word(c.pixel), word(c.group), put(c.group, 10), put(c.groups, 10);
  put(c.tiles, 10), put(c.rows, 10), put(c.columns, 10);
}

// Two pixels leave one after the other where words of both could meet in a bank.
bool splits(const Command& c) {
  const int words = std::min(kWords, c.groups - c.group);
  return c.two && (c.to_store || c.pixel % 9 < words || c.pixel % 9 > 9 - words);
}

struct Expected {
  const Command* command;
  int x, y, tile;
  uint32_t data[kAllWords];
};

TEST(ResultWriter, RandomCommandsAndSinks) {
  std::mt19937 random(kaiten::test::seed());
  const auto pick = [&](int lo, int hi) {
    return lo + static_cast<int>(random() % static_cast<unsigned>(hi - lo + 1));
  };
  kaiten::test::Model<Vkt_result_writer> top;
  const auto edge = [&] {
    top->clk_i = 1;
    top->eval();
    top->clk_i = 0;
    top->eval();
  };
  top->clk_i = top->rst_ni = 0, top->start_i = top->take_i = top->valid_i = top->second_i = 0;
  top->eval();
  edge();
  top->rst_ni = 1;

  std::deque<Command> commands;  // started, not done (stable addresses)
  std::deque<Expected> results;  // to come out
  struct Pending {
    const Command* command;
    int x, y, tile;
  };
  std::deque<Pending> to_compute;  // pixels of started commands without a credit
  std::deque<int> in_flight;       // cycles until the result of a credit arrives
  std::deque<Pending> flying;
  int done = 0, started = 0, stall = 0, half = 0;  // half: pixels of the first result that have left
  const int kCommands = 300;

  for (int cycle = 0; done < kCommands; cycle++) {
    ASSERT_LT(cycle, 400000) << "hangs after " << done << " commands, started " << started << " results "
                             << results.size() << " to compute " << to_compute.size() << " credit "
                             << int(top->credit_o) << " ready " << int(top->ready_o);
    if (cycle % 500 == 0) stall = pick(0, 1) ? pick(0, 90) : 0;
    const auto allow = [&] { return pick(0, 99) >= stall; };

    top->start_i = 0;
    if (started < kCommands && top->ready_o && pick(0, 20) == 0) {
      Command c;
      c.columns = pick(1, 9), c.rows = pick(1, 4), c.tiles = pick(1, 3), c.index = pick(0, 0xffffff);
      const int large = pick(0, 49);  // few are, each in another way
      if (large == 0) c.columns = pick(1, 1023), c.rows = 1;
      if (large == 1) c.rows = pick(1, 1023), c.columns = 1;
      if (large == 2) c.tiles = pick(1, 500), c.rows = c.columns = 1;
      c.group = pick(0, large == 3 ? 1000 : 12),
      c.groups = c.group + (c.tiles - 1) * kWords + pick(1, kWords);
      c.pixel = c.groups % 3 ? c.groups : c.groups + 1, c.first_row = pick(0, 50);
      const int size = (c.columns * c.pixel + 8) / 9;
      const int most = 65535 - 8 * size;
      c.sb = {pick(0, most), pick(1, 7), size}, c.vb = {pick(0, most), pick(1, 7), size};
      c.to_sb = pick(0, 1), c.to_vb = pick(0, 1), c.to_store = !(c.to_sb || c.to_vb) || pick(0, 1);
      c.two = kPixels == 2 && pick(0, 1);
      commands.push_back(c);
      pack(c, &top->cmd_i[0]);
      top->start_i = 1;
      started++;
      for (int t = 0; t < c.tiles; t++)
        for (int y = 0; y < c.rows; y++)
          for (int x = 0; x < c.columns; x += c.two ? 2 : 1)
            to_compute.push_back({&commands.back(), x, y, t});
    }
    // a credit for the next pixel, whose result comes a few cycles later
    top->take_i = 0;
    if (!to_compute.empty() && top->credit_o && pick(0, 3)) {
      top->take_i = 1;
      in_flight.push_back(5);
      flying.push_back(to_compute.front());
      to_compute.pop_front();
    }
    for (int& left : in_flight) left--;
    top->valid_i = top->second_i = 0;
    if (!in_flight.empty() && in_flight.front() == 0) {
      in_flight.pop_front();
      const Pending p = flying.front();
      flying.pop_front();
      Expected e{p.command, p.x, p.y, p.tile, {}};
      for (int w = 0; w < kAllWords; w++) top->word_i[w] = e.data[w] = static_cast<uint32_t>(random());
      top->valid_i = 1, top->second_i = p.command->two;
      results.push_back(e);
    }
    top->sb_grant_i = allow(), top->vb_grant_i = allow(), top->st_ready_i = allow();
    top->eval();

    const uint64_t watch = top->watch_o;
    const bool leaves = watch >> 54 & 1;
    const bool stored = top->st_valid_o && top->st_ready_i;
    if (leaves) {
      ASSERT_FALSE(results.empty());
      Expected e = results.front();
      const Command& c = *e.command;
      e.x += half;
      const int first_word = half * kWords;
      half = splits(c) && half == 0 && e.x + 1 < c.columns;
      if (half == 0) results.pop_front();
      ASSERT_EQ(watch >> 30 & 0xffffff, static_cast<uint64_t>(c.index));
      ASSERT_EQ(watch >> 20 & 1023, static_cast<uint64_t>(c.columns - 1 - e.x));
      ASSERT_EQ(watch >> 10 & 1023, static_cast<uint64_t>(c.rows - 1 - e.y));
      ASSERT_EQ(watch & 1023, static_cast<uint64_t>(c.tiles - 1 - e.tile));
      const bool two = c.two && !splits(c) && e.x + 1 < c.columns;
      ASSERT_EQ(watch >> 55 & 1, two);
      ASSERT_EQ(top->sb_we_o, c.to_sb);
      ASSERT_EQ(top->vb_we_o, c.to_vb);
      ASSERT_EQ(stored, c.to_store);
      ASSERT_TRUE((!c.to_sb || top->sb_grant_i) && (!c.to_vb || top->vb_grant_i));
      for (int w = 0; w < kAllWords; w++) {
        const int group = c.group + e.tile * kWords + w % kWords, row = c.first_row + e.y;
        const int i = (e.x + w / kWords) * c.pixel + group;
        const bool exists = group < c.groups && (w < kWords || two);
        const uint32_t sb = top->sb_req_o[w], vb = top->vb_req_o[w];
        ASSERT_EQ(sb >> 20 & 1, exists);
        ASSERT_EQ(vb >> 20 & 1, exists);
        if (!exists) continue;
        ASSERT_EQ(top->word_o[w], e.data[first_word + w]);
        ASSERT_EQ(sb >> 16 & 15, static_cast<uint32_t>((i + 3 * row) % 9));
        ASSERT_EQ(vb >> 16 & 15, static_cast<uint32_t>((i + 3 * row) % 9));
        ASSERT_EQ(sb & 0xffff, static_cast<uint32_t>(c.sb.slot(row) + i / 9));
        ASSERT_EQ(vb & 0xffff, static_cast<uint32_t>(c.vb.slot(row) + i / 9));
      }
    } else {
      ASSERT_FALSE(top->sb_we_o || top->vb_we_o || stored);
    }
    ASSERT_LE(results.size(), static_cast<size_t>(kDepth) + 1);  // the FIFO and the output register
    const bool finished = top->done_o;
    edge();
    if (finished) {
      done++;
      commands.pop_front();
    }
  }
  EXPECT_TRUE(results.empty());
}

}  // namespace
