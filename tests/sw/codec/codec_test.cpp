// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// All codecs through their one interface: round trips, bounds, damage; the fast ZVC against the plain loops
// on every kind of vector the machine has; copies, queues, layouts, bounds of information.
#include "codec/codec.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "codec/copy.h"
#include "codec/map_layout.h"
#include "codec/rle.h"
#include "codec/statistics.h"
#include "codec/zvc.h"
#include "codec/zvc_simd.h"
#include "tests/support/byte_flips.h"
#include "tests/support/seed.h"

namespace kaiten::codec {
namespace {

using Bytes = std::vector<std::uint8_t>;

// Runs of zero values and of others, of lengths that depend on the draw.
Bytes random_raw(const Elements& elements, std::size_t count, std::mt19937_64& random) {
  Bytes raw;
  const std::uint64_t longest = 1 + random() % 300, density = random() % 101;
  while (raw.size() < count * std::size_t(elements.bytes)) {
    const bool zeros = random() % 100 >= density;
    for (std::uint64_t i = 1 + random() % longest; i > 0; i--) {
      const std::uint32_t value = zeros ? elements.zero : std::uint32_t(random());
      for (int b = 0; b < elements.bytes; b++) raw.push_back(std::uint8_t(value >> (8 * b)));
    }
  }
  raw.resize(count * std::size_t(elements.bytes));
  return raw;
}

std::vector<std::string> present() {
  std::vector<std::string> names;
  for (std::string_view name : codec_names()) {
    if (codec_missing(name).empty()) names.emplace_back(name);
  }
  return names;
}

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(Codecs, RoundTrip) {
  std::mt19937_64 random(test::seed());
  for (const std::string& name : present()) {
    for (const Elements& elements :
         {Elements{1, 0}, Elements{1, 0x80}, Elements{2, 0}, Elements{4, 0x3f800000}}) {
      const auto codec = make_codec(name, elements);
      EXPECT_EQ(codec->name(), name);
      for (int i = 0; i < 60; i++) {
        const Bytes raw = random_raw(elements, i < 40 ? std::size_t(i) : random() % 3000, random);
        Bytes packed(codec->max_packed_bytes(raw.size()) + 3, 0x77), back(raw.size());
        const std::size_t bytes = codec->pack(raw, std::span(packed).first(packed.size() - 3));
        ASSERT_LE(bytes, packed.size() - 3);
        ASSERT_EQ(Bytes(packed.end() - 3, packed.end()), Bytes(3, 0x77));
        codec->expand(std::span(packed).first(bytes), back);
        ASSERT_EQ(back, raw) << name;
      }
    }
  }
}

TEST(Codecs, DamageNeverLeavesTheBlock) {
  std::mt19937_64 random(test::seed());
  for (const std::string& name : present()) {
    const Elements elements{1, 0};
    const auto codec = make_codec(name, elements);
    for (int i = 0; i < 3000; i++) {
      const Bytes raw = random_raw(elements, 1 + random() % 500, random);
      Bytes packed(codec->max_packed_bytes(raw.size()));
      packed.resize(codec->pack(raw, packed));
      Bytes damaged = test::flip_bytes(packed, 1 + random() % 4, random);
      if (random() % 2 == 0) damaged.resize(random() % (damaged.size() + 20));
      // Exactly the block's bytes on the heap: the sanitizers' build sees what goes beyond.
      Bytes back(raw.size());
      try {
        codec->expand(damaged, back);
      } catch (const CorruptStream&) {
        continue;
      }
      if (name != "zvc" && name != "rle") continue;  // ours are canonical
      Bytes again(codec->max_packed_bytes(back.size()));
      again.resize(codec->pack(back, again));
      ASSERT_EQ(again, damaged) << name;
    }
  }
}

TEST(Codecs, Refusals) {
  EXPECT_EQ(message([] { make_codec("gzip", {}); }),
            "codec: expected one of zvc, rle, zlib, lz4, zstd, found 'gzip'");
  EXPECT_NE(message([] { make_codec("zvc", {3, 0}); }), "");
  EXPECT_NE(message([] { make_codec("rle", {1, 256}); }), "");
  EXPECT_NE(message([] { make_zvc({1, 0}, 0); }), "");
}

TEST(Rle, ByHand) {
  const Elements bytes{1, 0x80};
  const Bytes raw{0x80, 0x80, 0x80, 1, 2, 0x80};
  Bytes packed(rle_max_packed_bytes(bytes, raw.size()));
  packed.resize(rle_pack(bytes, raw, packed));
  EXPECT_EQ(packed, (Bytes{0x82, 0x01, 1, 2, 0x80}));
  Bytes back(6);
  const auto told = [&](const Bytes& stream) { return message([&] { rle_expand(bytes, stream, back); }); };
  EXPECT_EQ(told({0x82, 0x01, 1, 2}), "RLE, byte 4: the stream ends before the block");
  EXPECT_EQ(told({0x82, 0x02, 1, 2}), "RLE, byte 2: the stream ends in a run");
  EXPECT_EQ(told({0x86}), "RLE, byte 0: the run leaves the block");
  EXPECT_EQ(told({0x82, 0x82}), "RLE, byte 1: the run continues without need");
  EXPECT_EQ(told({0x82, 0x02, 1, 0x80, 2}), "RLE, byte 2: a copied element is the zero value");
  EXPECT_EQ(told({0x85, 0x85}), "RLE, byte 1: the stream continues after the block");
  // A run of 300 words: three tokens.
  packed.resize(rle_max_packed_bytes({4, 0}, 1200));
  EXPECT_EQ(rle_pack({4, 0}, Bytes(1200, 0), packed), 3U);
}

TEST(ZvcFast, EqualsTheLoopsOnEveryTarget) {
  std::mt19937_64 random(test::seed());
  int targets = 0;
  for (; zvc_choose_target(targets); targets++) {
    for (const int bytes : {1, 2, 4}) {
      for (const int group : {1, 4, 8, 12, 16, 32, 48, 64, 128, 256, 4096}) {
        const ZvcFormat format{bytes, group, 64, bytes == 1 ? 0x80U : bytes == 2 ? 0U : 0xff7fU};
        for (int i = 0; i < 60; i++) {
          const std::size_t count = random() % 3 == 0 ? random() % 10000 : random() % 600;
          const Bytes raw = random_raw({bytes, format.zero}, count, random);
          Bytes plain(zvc_max_packed_bytes(format, raw.size())), fast(plain.size() + kZvcSlack),
              back(raw.size());
          plain.resize(zvc_pack(format, raw, plain));
          fast.resize(zvc_pack_fast(format, raw, fast));
          ASSERT_EQ(fast, plain) << zvc_target() << ", " << bytes << " bytes, group " << group;
          ASSERT_EQ(zvc_expand_fast(format, plain, back), plain.size());
          ASSERT_EQ(back, raw) << zvc_target();
          // Damage: the same words.
          if (plain.empty()) continue;
          Bytes damaged = test::flip_bytes(plain, 1 + random() % 3, random);
          if (random() % 3 == 0) damaged.resize(random() % damaged.size());
          Bytes other(raw.size());
          std::size_t used[2] = {};
          const std::string words = message([&] { used[0] = zvc_expand(format, damaged, back); });
          const std::string fast_words = message([&] { used[1] = zvc_expand_fast(format, damaged, other); });
          ASSERT_EQ(words, fast_words) << zvc_target();
          if (!words.empty()) continue;
          ASSERT_EQ(used[0], used[1]);
          ASSERT_EQ(back, other);
        }
      }
    }
  }
  EXPECT_GE(targets, 1);
  ASSERT_TRUE(zvc_choose_target(-1));
}

TEST(Copy, RoundTripsWithEveryCodec) {
  std::mt19937_64 random(test::seed());
  for (const std::string& name : present()) {
    const Elements elements{1, 3};
    const auto codec = make_codec(name, elements);
    for (const std::size_t window : {std::size_t(64), std::size_t(1000), kDefaultWindow, kMaxWindow}) {
      for (const std::size_t bytes :
           {std::size_t(0), std::size_t(1), std::size_t(8192), std::size_t(100001)}) {
        const Bytes raw = random_raw(elements, bytes, random);
        Bytes packed(copy_bound(*codec, bytes, window)), back(bytes);
        const std::size_t size = memcpy_compressed(packed, raw, Direction::kCompress, *codec, window);
        ASSERT_LE(size, bytes + 2 * ((bytes + window - 1) / window));
        ASSERT_EQ(memcpy_compressed(back, packed, Direction::kExpand, *codec, window), size);
        ASSERT_EQ(back, raw);
      }
    }
  }
}

TEST(Copy, Refusals) {
  const auto codec = make_codec("zvc", {});
  Bytes raw(8192, 0), packed(copy_bound(*codec, raw.size()));
  const auto copy = [&](std::span<std::uint8_t> to, std::span<const std::uint8_t> from, Direction direction,
                        std::size_t window = kDefaultWindow) {
    return message([&] { memcpy_compressed(to, from, direction, *codec, window); });
  };
  EXPECT_NE(copy(std::span(packed).first(8192), raw, Direction::kCompress), "");
  EXPECT_EQ(copy(packed, raw, Direction::kCompress, 65537), "window: expected 1 to 65536 bytes, found 65537");
  EXPECT_EQ(copy(packed, raw, Direction::kCompress, 0), "window: expected 1 to 65536 bytes, found 0");
  ASSERT_EQ(copy(packed, raw, Direction::kCompress), "");
  EXPECT_EQ(copy(raw, std::span(packed).first(3), Direction::kExpand),
            "the stream has 3 bytes, the sizes of its windows 4");
  EXPECT_EQ(copy(raw, std::span(packed).first(1027), Direction::kExpand), "window 1: the stream ends");
  packed[4 + 512] = 1;  // a bit in window 1 whose element is missing
  EXPECT_EQ(copy(raw, packed, Direction::kExpand),
            "window 1: group 0: element 0 is coded but is the zero value");
  packed[3] = 0x10;
  EXPECT_EQ(copy(raw, packed, Direction::kExpand), "window 1: 4096 packed bytes, raw it has 4096");
}

TEST(CopyQueue, InOrderFromManyThreads) {
  std::mt19937_64 random(test::seed());
  const std::shared_ptr<const Codec> codec = make_codec("zvc", {});
  const Bytes raw = random_raw({}, 100000, random);
  Bytes expected(copy_bound(*codec, raw.size()));
  const std::size_t size = memcpy_compressed(expected, raw, Direction::kCompress, *codec);
  std::atomic<int> done = 0;
  std::vector<Bytes> packed(8, Bytes(expected.size())), back(8, Bytes(raw.size()));
  {
    CopyQueue queue(codec);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 8; t++) {
      threads.emplace_back([&, t] {
        queue.copy(packed[t], raw, Direction::kCompress,
                   [&](std::size_t bytes, const std::exception_ptr& error) {
                     EXPECT_EQ(bytes, size);
                     EXPECT_FALSE(error);
                     done++;
                   });
        // Queued behind the copy that makes its source.
        std::future<std::size_t> result = queue.copy(back[t], packed[t], Direction::kExpand);
        EXPECT_EQ(result.get(), size);
        EXPECT_EQ(back[t], raw);
      });
    }
    for (std::thread& thread : threads) thread.join();
    queue.wait();
    EXPECT_EQ(done, 8);
    std::future<std::size_t> bad = queue.copy(packed[0], Bytes(), Direction::kExpand);
    EXPECT_THROW(bad.get(), CorruptStream);
    for (Bytes& b : back) std::fill(b.begin(), b.end(), std::uint8_t(0));
    for (std::size_t t = 1; t < 8; t++) queue.copy(back[t], packed[t], Direction::kExpand);
  }
  for (std::size_t t = 1; t < 8; t++) EXPECT_EQ(back[t], raw);  // the destructor finished them
  EXPECT_THROW(CopyQueue(codec, 0), InputError);
}

TEST(MapLayout, ByHand) {
  // Value 16 n + 8 c + 4 h + w of a map 2x2x2x3.
  const MapShape shape{2, 2, 2, 3};
  Bytes nchw;
  for (int n = 0; n < 2; n++)
    for (int c = 0; c < 2; c++)
      for (int h = 0; h < 2; h++)
        for (int w = 0; w < 3; w++) nchw.push_back(std::uint8_t(16 * n + 8 * c + 4 * h + w));
  const Bytes nhwc = in_layout(nchw, 1, shape, MapLayout::kNchw, MapLayout::kNhwc);
  EXPECT_EQ(Bytes(nhwc.begin(), nhwc.begin() + 8), (Bytes{0, 8, 1, 9, 2, 10, 4, 12}));
  const Bytes chwn = in_layout(nhwc, 1, shape, MapLayout::kNhwc, MapLayout::kChwn);
  EXPECT_EQ(Bytes(chwn.begin(), chwn.begin() + 8), (Bytes{0, 16, 1, 17, 2, 18, 4, 20}));
  EXPECT_EQ(in_layout(chwn, 1, shape, MapLayout::kChwn, MapLayout::kNchw), nchw);
  const Bytes words =
      in_layout({{1, 2, 3, 4, 5, 6, 7, 8}}, 2, {1, 2, 1, 2}, MapLayout::kNchw, MapLayout::kNhwc);
  EXPECT_EQ(words, (Bytes{1, 2, 5, 6, 3, 4, 7, 8}));
}

TEST(Statistics, ByHand) {
  const Bytes map{5, 5, 7, 5};
  EXPECT_DOUBLE_EQ(density_of(map, {1, 5}), 0.25);
  EXPECT_DOUBLE_EQ(density_of({}, {1, 0}), 0);
  EXPECT_NEAR(entropy_of(map, {1, 5}), 0.811278, 1e-6);
  EXPECT_DOUBLE_EQ(entropy_of({{1, 0, 2, 0}}, {2, 0}), 1);
  EXPECT_DOUBLE_EQ(entropy_of({{1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0}}, {4, 0}), 1.5);
  EXPECT_DOUBLE_EQ(entropy_of({}, {1, 0}), 0);
  EXPECT_DOUBLE_EQ(zvc_limit(8, 0.5), 1.6);
  EXPECT_DOUBLE_EQ(zvc_limit(32, 0.4), 32 / 13.8);
}

}  // namespace
}  // namespace kaiten::codec
