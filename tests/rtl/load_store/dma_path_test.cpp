// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// STORE and LOAD through their AXI masters and a memory with random timing: tensors written by STORE come back through
// LOAD, word for word, while the next ones are written. Ports are monitored. Then bandwidth with a latency of 100 cycles.
#include "tests/rtl/load_store/dma_path.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <vector>

namespace kaiten::test {
namespace {

// One tensor on its way through memory: its commands, and what SB must hold in the end.
struct Trip {
  StoreCommand store;
  LoadRowsCommand load;
  std::map<int, std::vector<std::uint8_t>> words;
};

Trip random_trip(Path& path, std::int64_t offset, int slot) {
  Rng& rng = path.rng;
  Trip t;
  t.store.from_vector = percent(rng, 50);
  const std::int64_t group = t.store.from_vector ? 3 : kKp / kCp;  // words of a segment
  t.store.segments = t.load.segments = pick(rng, 1, 4);
  t.store.rows = t.load.rows = pick(rng, 1, 5);
  t.store.columns = t.load.columns = pick(rng, 1, 20);
  t.store.pixel_bytes = t.load.pixel_bytes = group * kCp;
  t.store.last_pixel_bytes = t.load.last_pixel_bytes = pick(rng, 1, group * kCp);
  t.store.segment_pitch = t.load.segment_pitch = t.store.columns * t.store.pixel_bytes;
  t.store.row_pitch = t.load.row_pitch = t.store.segments * t.store.segment_pitch;
  t.store.base = t.load.base = pick(rng, 0, 7);
  t.store.offset = t.load.offset = offset;
  t.load.segment_groups = group;
  const std::int64_t groups = t.load.segments * group;
  t.load.pixel = groups % 3 ? groups : groups + 1;
  t.load.slot_size = (t.load.columns * t.load.pixel + 8) / 9;
  t.load.sb_first = t.load.sb_slot = slot * 1024;
  t.load.sb_last = t.load.sb_first + t.load.rows * t.load.slot_size;
  t.load.row_mod3 = pick(rng, 0, 2);
  t.load.to_sb = 1;
  for (int s = 0; s < t.store.segments; s++) {
    const std::int64_t bytes = s == t.store.segments - 1 ? t.store.last_pixel_bytes : t.store.pixel_bytes;
    for (int r = 0; r < t.store.rows; r++) {
      for (int x = 0; x < t.store.columns; x++) {
        std::vector<std::uint8_t> pixel(group * kCp);
        for (auto& b : pixel) b = static_cast<std::uint8_t>(rng());
        (t.store.from_vector ? path.vector : path.array).push_back(pixel);
        for (std::int64_t w = 0; w * kCp < bytes; w++) {
          std::vector<std::uint8_t> word(pixel.begin() + w * kCp, pixel.begin() + (w + 1) * kCp);
          for (std::int64_t b = 0; b < kCp; b++) {
            if (w * kCp + b >= bytes) word[b] = 0;
          }
          const std::int64_t i = s * group + w + x * t.load.pixel;
          t.words[static_cast<int>((t.load.sb_first + r * t.load.slot_size + i / 9) * 9 +
                                   (i + 3 * (t.load.row_mod3 + r)) % 9)] = word;
        }
      }
    }
  }
  return t;
}

TEST(DmaPath, TensorsComeBack) {
  Rng seeds(seed());
  for (int device = 0; device < 6; device++) {
    Path path(random_timing(seeds), seeds());
    path.stall = device % 2 ? 30 : 0;
    std::deque<Trip> trips;
    for (int i = 0; i < 25; i++) {
      trips.push_back(random_trip(path, (i % 8) * 65536 + pick(path.rng, 0, 300), i % 8));
      path.store(trips.back().store);
      // the tensor before this one is read while this one is written
      ASSERT_TRUE(path.run(i + 1, i)) << "device " << device << " tensor " << i;
      path.load(trips.back().load);
      if (i > 0) {
        for (const auto& [where, word] : trips[trips.size() - 2].words) {
          ASSERT_EQ(path.buffer[where], word)
              << "device " << device << " tensor " << i - 1 << " at " << where;
        }
      }
    }
    ASSERT_TRUE(path.run(25, 25));
    path.reads.finish(path.m.cycles());
    path.writes.finish(path.m.cycles());
    for (const auto& e : path.log.errors()) ADD_FAILURE() << e.text();
  }
}

// What of the bus a stream of commands uses when memory answers after 100 cycles.
double use_of(Path& path, std::int64_t bytes, std::int64_t commands) {
  EXPECT_TRUE(path.run(0, commands));
  return static_cast<double>(bytes) / kBus / static_cast<double>(path.count);
}

TEST(DmaPath, BandwidthAtLatency100) {
  {
    Path path(ideal_timing(100), 1);
    LoadWeightsCommand c;
    c.rows = c.pass_pitch = kKp;
    c.last_row_bytes = 9 * kCp;
    c.last_full_words = 9;
    c.tile_passes = c.passes = 16384 / (9 * kCp * kKp);
    c.bytes = c.passes * kKp * 9 * kCp;
    for (int i = 0; i < 20; i++) path.load(c);
    const double use = use_of(path, 20 * c.bytes, 20);
    std::printf("weights, 16 KiB a command: %.1f %% of the bus\n", 100 * use);
    EXPECT_GT(use, kBus >= 64 ? 0.9 : 0.95);
  }
  for (const int width : {56, 14, 7}) {
    Path path(ideal_timing(100), 1);
    LoadRowsCommand c;
    c.rows = 7;
    c.columns = width;
    c.segments = 4;
    c.segment_groups = kKp / kCp;
    c.pixel_bytes = c.last_pixel_bytes = kKp;
    c.pixel = 4 * c.segment_groups + 1;
    c.slot_size = (width * c.pixel + 8) / 9;
    c.sb_last = 6 * c.slot_size;
    c.to_sb = 1;
    c.segment_pitch = width * kKp;
    c.row_pitch = 4 * c.segment_pitch;
    for (int i = 0; i < 40; i++) path.load(c);
    const double use = use_of(path, 40 * 28 * c.segment_pitch, 40);
    // one pixel of a segment a cycle is all that LOAD takes
    std::printf("rows of %d columns, segments of %d bytes a pixel: %.1f %% of the bus, %.1f %% of LOAD\n",
                width, kKp, 100 * use, 100 * use * kBus / kKp);
    EXPECT_GT(use * kBus / kKp, 0.95);
  }
}

}  // namespace
}  // namespace kaiten::test
