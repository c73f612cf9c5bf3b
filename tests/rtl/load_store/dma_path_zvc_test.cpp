// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Compression on the way through memory: what STORE leaves there is what the codec makes of the map (docs/formats/zvc.md), LOAD
// brings the words back, at any back-pressure and beside uncompressed commands; what no compressor writes is reported with
// command and row and stays inside the destination.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "codec/zvc_map.h"
#include "tests/rtl/load_store/dma_path.h"

namespace kaiten::test {
namespace {

constexpr int kRegion = 64 << 10;

// A map on its way through memory.
struct Trip {
  StoreCommand store;
  LoadRowsCommand load;
  std::uint64_t at = 0, surface = 0;  // bus addresses
  codec::ZvcGeometry geometry;
  codec::ZvcFormat format;
  std::vector<std::uint8_t> raw;                   // as the geometry lays it out
  std::map<int, std::vector<std::uint8_t>> words;  // SB in the end
  bool compressed = false;
};

std::int64_t up(std::int64_t n) { return (n + kBus - 1) / kBus * kBus; }

// The words of SB that the map becomes.
void spread(Trip& t) {
  t.words.clear();
  const std::int64_t group = t.load.segment_groups;
  for (std::int64_t r = 0; r < t.load.rows; r++) {
    for (std::int64_t s = 0; s < t.load.segments; s++) {
      const std::int64_t bytes = s == t.load.segments - 1 ? t.load.last_pixel_bytes : t.load.pixel_bytes;
      for (std::int64_t x = 0; x < t.load.columns; x++) {
        for (std::int64_t w = 0; w * kCp < bytes; w++) {
          std::vector<std::uint8_t> word(kCp, static_cast<std::uint8_t>(t.load.fill));
          for (std::int64_t b = 0; b < kCp && w * kCp + b < bytes; b++)
            word[b] =
                t.raw[r * t.geometry.row_pitch + s * t.geometry.segment_pitch + x * bytes + w * kCp + b];
          const std::int64_t i = s * group + w + x * t.load.pixel;
          t.words[static_cast<int>((t.load.sb_first + r * t.load.slot_size + i / 9) * 9 +
                                   (i + 3 * (t.load.row_mod3 + r)) % 9)] = word;
        }
      }
    }
  }
}

Trip random_trip(Path& path, int slot, bool compressed) {
  Rng& rng = path.rng;
  Trip t;
  t.compressed = compressed;
  const bool vector = percent(rng, 50);
  const std::int64_t group = vector ? 3 : kKp / kCp;  // words of a segment
  t.store.from_vector = vector;
  t.store.segments = t.load.segments = pick(rng, 1, 5);
  t.store.rows = t.load.rows = pick(rng, 1, 6);
  t.store.columns = t.load.columns = pick(rng, 1, 20);
  switch (pick(rng, 0, 29)) {  // few have many segments, rows or columns
    case 0:
      t.store.segments = t.load.segments = pick(rng, 1, 100);
      t.store.rows = t.load.rows = t.store.columns = t.load.columns = pick(rng, 1, 2);
      break;
    case 1:
      t.store.rows = t.load.rows = pick(rng, 1, 40);
      t.store.columns = t.load.columns = pick(rng, 1, 2);
      break;
    case 2:
      t.store.rows = t.load.rows = t.store.segments = t.load.segments = pick(rng, 1, 2);
      t.store.columns = t.load.columns = pick(rng, 1, PARAM_Zvc * kBus / (group * kCp));
      break;
    default:
      break;
  }
  t.store.pixel_bytes = t.load.pixel_bytes = group * kCp;
  t.store.last_pixel_bytes = t.load.last_pixel_bytes =
      percent(rng, 70) ? group * kCp : pick(rng, 1, group * kCp);
  t.store.segment_pitch = t.load.segment_pitch =
      up(t.store.columns * t.store.pixel_bytes) + kBus * pick(rng, 0, 2);
  t.store.row_pitch = t.load.row_pitch = t.store.segments * t.store.segment_pitch + kBus * pick(rng, 0, 2);
  t.store.base = t.load.base = 2 * pick(rng, 0, 3);  // the aligned ones
  t.store.offset = t.load.offset = slot * kRegion + kBus * pick(rng, 0, 20);
  t.load.segment_groups = group;
  const std::int64_t groups = t.load.segments * group;
  t.load.pixel = groups % 3 ? groups : groups + 1;
  t.load.slot_size = (t.load.columns * t.load.pixel + 8) / 9;
  t.load.sb_first = t.load.sb_slot = slot * 1024;
  t.load.sb_last = t.load.sb_first + t.load.rows * t.load.slot_size;
  t.load.row_mod3 = pick(rng, 0, 2);
  t.load.to_sb = 1;
  t.load.fill = pick(rng, -128, 127);
  if (compressed) {
    t.store.zvc = t.load.zvc = 1;
    t.store.zero_value = t.load.fill;
    t.store.surface = t.load.surface = slot * kRegion + kRegion - 1024 + pick(rng, 0, 200);
    t.store.surface_pitch = t.store.segments;
  }
  t.at = path.base(t.store.base) + t.store.offset;
  t.surface = path.base(t.store.base) + t.store.surface;

  t.format = codec::accelerator_format(kBus, static_cast<int>(t.load.fill));
  t.geometry.rows = t.store.rows;
  for (std::int64_t s = 0; s < t.store.segments; s++)
    t.geometry.segment_bytes.push_back(
        t.store.columns * (s + 1 < t.store.segments ? t.store.pixel_bytes : t.store.last_pixel_bytes));
  t.geometry.segment_pitch = t.store.segment_pitch;
  t.geometry.row_pitch = t.store.row_pitch;

  // Rows of nothing but the zero value beside dense ones.
  t.raw.assign(t.geometry.memory_bytes(), 0);
  for (std::int64_t s = 0; s < t.store.segments; s++) {
    const std::int64_t bytes = s == t.store.segments - 1 ? t.store.last_pixel_bytes : t.store.pixel_bytes;
    for (std::int64_t r = 0; r < t.store.rows; r++) {
      const int density = percent(rng, 30) ? 0 : percent(rng, 30) ? 100 : static_cast<int>(pick(rng, 1, 99));
      for (std::int64_t x = 0; x < t.store.columns; x++) {
        std::vector<std::uint8_t> pixel(group * kCp);
        for (std::int64_t b = 0; b < group * kCp; b++)
          pixel[b] = static_cast<std::uint8_t>(
              b >= bytes || percent(rng, density) ? static_cast<std::int64_t>(rng()) : t.load.fill);
        std::copy_n(pixel.begin(), bytes,
                    t.raw.begin() + r * t.store.row_pitch + s * t.store.segment_pitch + x * bytes);
        (vector ? path.vector : path.array).push_back(std::move(pixel));
      }
    }
  }
  spread(t);
  return t;
}

// The map's bytes in memory, and its surface.
void expect_in_memory(Path& path, const Trip& t, const std::string& what) {
  std::vector<std::uint8_t> memory(t.geometry.memory_bytes()), surface(t.geometry.surface_bytes());
  codec::zvc_store_map(t.format, t.geometry, t.raw, memory, surface);
  const auto found = path.memory.at(t.at, memory.size());
  const auto sizes = path.memory.at(t.surface, surface.size());
  for (std::size_t r = 0, i = 0; r < t.geometry.rows; r++) {
    for (std::size_t s = 0; s < t.geometry.segment_bytes.size(); s++, i++) {
      if (t.compressed) ASSERT_EQ(int(sizes[i]), int(surface[i])) << what << " row " << r << " segment " << s;
      const std::size_t n =
          t.compressed && surface[i] != 0 ? surface[i] * std::size_t(kBus) : t.geometry.segment_bytes[s];
      const std::size_t at = r * t.geometry.row_pitch + s * t.geometry.segment_pitch;
      const auto& expected = t.compressed ? memory : t.raw;
      ASSERT_TRUE(std::equal(found.begin() + at, found.begin() + at + n, expected.begin() + at))
          << what << " row " << r << " segment " << s;
    }
  }
}

// What the counters count: whole units where packed, else the segment's own bytes, and the surface.
std::int64_t packed_bytes(const Trip& t) {
  std::vector<std::uint8_t> memory(t.geometry.memory_bytes()), surface(t.geometry.surface_bytes());
  codec::zvc_store_map(t.format, t.geometry, t.raw, memory, surface);
  std::size_t bytes = surface.size();
  for (std::size_t i = 0; i < surface.size(); i++)
    bytes += surface[i] != 0 ? surface[i] * std::size_t(kBus)
                             : t.geometry.segment_bytes[i % t.geometry.segment_bytes.size()];
  return static_cast<std::int64_t>(bytes);
}

TEST(DmaPathZvc, MapsComeBackPacked) {
  Rng seeds(seed());
  for (int device = 0; device < 8; device++) {
    Path path(random_timing(seeds), seeds());
    path.stall = device % 2 ? static_cast<int>(pick(seeds, 1, 70)) : 0;
    const int share = device < 2 ? 100 : 60;
    constexpr int kTrips = 30;
    std::int64_t raw = 0, packed = 0, raw_read = 0, packed_read = 0;
    std::deque<Trip> trips;
    for (int i = 0; i < kTrips; i++) {
      const std::string what = "device " + std::to_string(device) + " map " + std::to_string(i);
      trips.push_back(random_trip(path, i % 8, percent(path.rng, share)));
      path.store(trips.back().store);
      // two stores under way, and the map before them is read
      ASSERT_TRUE(path.run(i, i - 1)) << what;
      if (trips[i].compressed) {
        raw += trips[i].geometry.raw_bytes();
        packed += packed_bytes(trips[i]);
      }
      if (i > 0) {
        expect_in_memory(path, trips[i - 1], what);
        path.load(trips[i - 1].load);
        if (trips[i - 1].compressed) {
          raw_read += trips[i - 1].geometry.raw_bytes();
          packed_read += packed_bytes(trips[i - 1]);
        }
      }
      if (i > 1) {
        for (const auto& [where, word] : trips[i - 2].words)
          ASSERT_EQ(path.buffer[where], word) << what << " at " << where;
      }
      if (HasFatalFailure()) return;
    }
    ASSERT_TRUE(path.run(kTrips, kTrips - 1));
    EXPECT_EQ(path.written_raw, raw);
    EXPECT_EQ(path.written_packed, packed);
    EXPECT_EQ(path.read_raw, raw_read);
    EXPECT_EQ(path.read_packed, packed_read);
    EXPECT_TRUE(path.corrupt.empty());
    path.reads.finish(path.m.cycles());
    path.writes.finish(path.m.cycles());
    for (const auto& e : path.log.errors()) ADD_FAILURE() << e.text();
  }
}

// Several loads of the same maps in a row, so that surfaces are read ahead of segments.
TEST(DmaPathZvc, LoadsFollowEachOther) {
  Rng seeds(seed() + 1);
  for (int device = 0; device < 6; device++) {
    Path path(random_timing(seeds), seeds());
    path.stall = device % 2 ? static_cast<int>(pick(seeds, 1, 70)) : 0;
    std::vector<Trip> trips;
    for (int i = 0; i < 8; i++) {
      trips.push_back(random_trip(path, i, i % 4 != 3));
      path.store(trips.back().store);
    }
    ASSERT_TRUE(path.run(8, 0));
    for (int round = 0; round < 4; round++) {
      for (const Trip& t : trips) path.load(t.load);
      path.buffer.clear();
      ASSERT_TRUE(path.run(8, 8 * (round + 1))) << "device " << device << " round " << round;
      for (const Trip& t : trips) {
        for (const auto& [where, word] : t.words) ASSERT_EQ(path.buffer[where], word) << "device " << device;
      }
    }
    EXPECT_TRUE(path.corrupt.empty());
  }
}

// A tile of segments at a time: the surface of a row is written in parts.
TEST(DmaPathZvc, SegmentsInChunks) {
  Rng seeds(seed() + 2);
  for (int round = 0; round < 12; round++) {
    Path path(random_timing(seeds), seeds());
    Trip t = random_trip(path, 0, true);
    StoreCommand first = t.store, second = t.store;
    first.segments = pick(path.rng, 1, t.store.segments);
    second.segments -= first.segments;
    if (second.segments == 0) continue;
    first.last_pixel_bytes = first.pixel_bytes;
    second.offset += first.segments * first.segment_pitch;
    second.surface += first.segments;
    path.store(first);
    path.store(second);
    ASSERT_TRUE(path.run(2, 0));
    expect_in_memory(path, t, "round " + std::to_string(round));
    if (HasFatalFailure()) return;
  }
}

TEST(DmaPathZvc, CorruptRowsAreNamed) {
  Rng seeds(seed() + 3);
  int found = 0, harmless = 0;
  for (int device = 0; device < 4; device++) {
    Path path(random_timing(seeds), seeds());
    for (int i = 0; i < 60; i++) {
      Trip t = random_trip(path, 0, true);
      path.store(t.store);
      ASSERT_TRUE(path.run(path.stored + 1, path.loaded));
      // a bit or a byte anywhere, often a size
      std::vector<std::uint8_t> memory(t.geometry.memory_bytes()), surface(t.geometry.surface_bytes());
      auto in_memory = path.memory.at(t.at, memory.size());
      auto sizes = path.memory.at(t.surface, surface.size());
      std::uint8_t& hit = percent(path.rng, 40) ? sizes[pick(path.rng, 0, sizes.size() - 1)]
                                                : in_memory[pick(path.rng, 0, in_memory.size() - 1)];
      hit = static_cast<std::uint8_t>(percent(path.rng, 50) ? hit ^ (1 << pick(path.rng, 0, 7)) : path.rng());
      std::copy(in_memory.begin(), in_memory.end(), memory.begin());
      std::copy(sizes.begin(), sizes.end(), surface.begin());
      int row = -1;  // the first corrupt one
      const std::size_t segments = t.geometry.segment_bytes.size();
      for (std::size_t k = 0; k < surface.size() && row < 0; k++) {
        std::vector<std::uint8_t> segment(t.geometry.segment_bytes[k % segments]);
        const std::size_t at = k / segments * t.geometry.row_pitch + k % segments * t.geometry.segment_pitch;
        try {
          codec::zvc_load(t.format, std::span(memory).subspan(at), surface[k], segment);
          std::copy(segment.begin(), segment.end(), t.raw.begin() + at);
        } catch (const codec::CorruptStream&) {
          row = int(k / segments);
        }
      }
      path.corrupt.clear();
      path.buffer.clear();
      const int index = static_cast<int>(path.load_count);
      path.load(t.load);
      ASSERT_TRUE(path.run(path.stored, path.loaded + 1)) << "map " << i;
      for (int k = 0; k < 40; k++) path.cycle();
      for (const auto& [where, word] : path.buffer)
        ASSERT_TRUE(t.words.contains(where)) << "outside the destination";
      if (row >= 0) {
        ASSERT_FALSE(path.corrupt.empty()) << "map " << i << " row " << row;
        EXPECT_EQ(path.corrupt.front(), std::pair(index, row)) << "map " << i;
        found++;
      } else {
        ASSERT_TRUE(path.corrupt.empty()) << "map " << i;
        spread(t);
        for (const auto& [where, word] : t.words) ASSERT_EQ(path.buffer[where], word) << "map " << i;
        harmless++;
      }
    }
  }
  std::printf("%d corrupt maps named, %d changed harmlessly\n", found, harmless);
  EXPECT_GT(found, 60);
}

// Weights: one segment a command, its size in the command.
TEST(DmaPathZvc, Weights) {
  Rng seeds(seed() + 4);
  for (int device = 0; device < 4; device++) {
    Path path(random_timing(seeds), seeds());
    path.weights.clear();
    std::map<int, std::vector<std::uint8_t>> expected;
    for (int i = 0; i < 8; i++) {
      LoadWeightsCommand c;
      c.rows = c.pass_pitch = kKp;
      c.last_row_bytes = 9 * kCp;
      c.last_full_words = 9;
      c.tile_passes = c.passes = pick(path.rng, 1, std::min(256 / kKp, 16384 / (9 * kCp * kKp)));
      c.bytes = c.passes * kKp * 9 * kCp;
      c.fill = pick(path.rng, -128, 127);
      c.offset = i * 32768 + kBus * pick(path.rng, 0, 10);
      c.row = i * 256;
      const int density = static_cast<int>(pick(path.rng, 0, 70));
      std::vector<std::uint8_t> raw(c.bytes), packed(c.bytes + c.bytes / 8 + 2);
      for (auto& b : raw)
        b = static_cast<std::uint8_t>(percent(path.rng, density) ? static_cast<std::int64_t>(path.rng())
                                                                 : c.fill);
      const codec::ZvcFormat format = codec::accelerator_format(kBus, static_cast<int>(c.fill));
      const std::int64_t bytes = codec::zvc_pack(format, raw, packed);
      packed.resize(up(bytes), static_cast<std::uint8_t>(c.fill));
      std::fill(packed.begin() + bytes, packed.end(), static_cast<std::uint8_t>(c.fill));
      ASSERT_LT(packed.size(), raw.size());
      c.zvc_beats = packed.size() / kBus;
      std::copy(packed.begin(), packed.end(), path.memory.at(kBase + c.offset, packed.size()).begin());
      for (std::int64_t r = 0; r < c.passes * kKp; r++)
        expected[static_cast<int>(c.row + r)] = {raw.begin() + r * 9 * kCp, raw.begin() + (r + 1) * 9 * kCp};
      path.load(c);
    }
    ASSERT_TRUE(path.run(0, 8));
    for (int k = 0; k < 4; k++) path.cycle();
    EXPECT_TRUE(path.weights == expected);
    EXPECT_TRUE(path.corrupt.empty());
  }
}

}  // namespace
}  // namespace kaiten::test
