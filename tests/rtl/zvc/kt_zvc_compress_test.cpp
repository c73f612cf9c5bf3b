// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Compressor and counter against a plain model and against sw/codec: segments of all lengths and densities
// one after the other, random stalls on both sides; what a cycle costs, and how long a segment takes through.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "codec/zvc.h"
#include "tests/rtl/zvc/zvc_bench.h"

namespace kaiten::test {
namespace {

class Compressor {
 public:
  explicit Compressor(std::uint64_t seed) : rng_(seed), model_(seed) { reset(model_); }

  Rng& rng() { return rng_; }

  void add(const ZvcSegment& s) {
    for (std::size_t b = 0; b < s.raw_beats(); b++) {
      In in{{}, s.zero, 0, b + 1 == s.raw_beats()};
      for (std::size_t i = b * kLanes; i < (b + 1) * kLanes; i++) {
        const bool real = i < s.elements.size();
        push_element(in.data, real ? s.elements[i] : static_cast<std::uint32_t>(rng_()));
        in.count += real;
      }
      if (!in.last) in.count = static_cast<int>(pick(rng_, 0, kLanes));  // not looked at
      in_.push_back(std::move(in));
    }
    Bytes packed = model_pack(s);
    lengths_.push_back(packed.size());
    count_doubles(s);
    model_fill(packed, s.zero);
    Bytes raw;
    for (const auto e : s.elements) push_element(raw, e);
    Bytes codec(packed.size() + kBeatBytes);
    const codec::ZvcFormat format{kElemBytes, kLanes, kBeatBytes, s.zero};
    EXPECT_EQ(codec::zvc_pack(format, raw, codec), lengths_.back());
    EXPECT_TRUE(std::equal(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(lengths_.back()),
                           codec.begin()));
    for (std::size_t at = 0; at < packed.size(); at += kBeatBytes) {
      out_.push_back({Bytes(packed.begin() + static_cast<std::ptrdiff_t>(at),
                            packed.begin() + static_cast<std::ptrdiff_t>(at) + kBeatBytes),
                      at + kBeatBytes == packed.size()});
    }
  }

  // Groups that may complete two beats at once, and then take two cycles.
  std::int64_t doubles() const { return doubles_; }
  std::size_t beats_in() const { return in_.size(); }
  std::size_t beats_out() const { return out_.size(); }

  struct Times {
    std::int64_t first_in = -1, last_in = -1, first_out = -1, last_out = -1;  // cycles of the handshakes
  };

  // Until every beat has come out; the model's are used up.
  Times run(int in_stall, int out_stall) {
    auto& top = model_.top();
    Times times;
    std::int64_t quiet = 0;
    std::deque<std::size_t> counting;
    for (std::int64_t cycle = 0; !out_.empty() || !lengths_.empty(); cycle++) {
      if (!in_.empty() && !top.raw_valid_i && !percent(rng_, in_stall)) {
        top.raw_valid_i = 1;
        set_bytes(top.raw_data_i, in_.front().data.data(), kBeatBytes);
        top.raw_last_i = in_.front().last;
        top.raw_count_i = in_.front().count;
        top.raw_zero_i = in_.front().zero;
      }
      top.packed_ready_i = !percent(rng_, out_stall);
      model_.eval();
      const bool in = top.raw_valid_i && top.raw_ready_o;
      const bool out = top.packed_valid_o && top.packed_ready_i;
      if (top.packed_valid_o && !out_.empty()) {  // also while it waits
        Bytes data(kBeatBytes);
        get_bytes(top.packed_data_o, data.data(), kBeatBytes);
        EXPECT_EQ(data, out_.front().data);
        EXPECT_EQ(top.packed_last_o, out_.front().last);
      }
      EXPECT_FALSE(top.packed_valid_o && out_.empty());
      if (top.length_valid_o) {
        EXPECT_FALSE(lengths_.empty());
        if (lengths_.empty()) return times;
        EXPECT_EQ(top.length_o, lengths_.front());
        lengths_.pop_front();
      }
      model_.tick();
      if (in) {
        if (times.first_in < 0) times.first_in = cycle;
        times.last_in = cycle;
        in_.pop_front();
        top.raw_valid_i = 0;
      }
      if (out) {
        if (times.first_out < 0) times.first_out = cycle;
        times.last_out = cycle;
        out_.pop_front();
      }
      quiet = in || out ? 0 : quiet + 1;
      if (quiet > 500 || ::testing::Test::HasFailure()) {
        ADD_FAILURE() << (quiet > 500 ? "no progress" : "stopped");
        break;
      }
    }
    return times;
  }

 private:
  struct In {
    Bytes data;
    std::uint32_t zero;
    int count;
    bool last;
  };
  struct Out {
    Bytes data;
    bool last;
  };
  void count_doubles(const ZvcSegment& s) {
    std::size_t at = 0;
    for (std::size_t first = 0; first < s.elements.size(); first += kLanes) {
      const auto end = std::min<std::size_t>(first + kLanes, s.elements.size());
      const ZvcSegment group{{s.elements.begin() + static_cast<std::ptrdiff_t>(first),
                              s.elements.begin() + static_cast<std::ptrdiff_t>(end)},
                             s.zero};
      const std::size_t bytes = model_pack(group).size();
      doubles_ += at % kBeatBytes + bytes > 2 * kBeatBytes || (at % kBeatBytes == 0 && bytes > kBeatBytes);
      at += bytes;
    }
  }

  Rng rng_;
  std::int64_t doubles_ = 0;
  Model<Vzvc_blocks> model_;
  std::deque<In> in_;
  std::deque<Out> out_;
  std::deque<std::size_t> lengths_;
};

TEST(Compress, GivesTheModelsBytesUnderAnyStalls) { random_segments_under_any_stalls<Compressor>(); }

TEST(Compress, EveryLength) { segments_of_every_length<Compressor>(); }

// A beat in every cycle, but for groups that complete two.
TEST(Compress, TakesABeatACycle) {
  for (const int density : {0, 10, 50, 80}) {
    SCOPED_TRACE(density);
    Compressor c(seed());
    for (int i = 0; i < 100; i++)
      c.add(random_segment(c.rng(), static_cast<std::size_t>(pick(c.rng(), 2, 10) * kLanes), density));
    const auto beats = static_cast<std::int64_t>(c.beats_in());
    const auto times = c.run(0, 0);
    EXPECT_LE(times.last_in - times.first_in + 1, beats + c.doubles());
    if (density <= 10) {
      EXPECT_EQ(c.doubles(), 0);
    } else if (density == 50 && kLanes >= 16) {
      EXPECT_LE(c.doubles(), beats / 50);
    }
  }
}

// Where nothing is zero, the output is what limits: it gives a beat in every cycle.
TEST(Compress, GivesABeatACycle) {
  Compressor c(seed());
  for (int i = 0; i < 50; i++) c.add(random_segment(c.rng(), static_cast<std::size_t>(40 * kLanes), 100));
  const auto beats = static_cast<std::int64_t>(c.beats_out());
  const auto times = c.run(0, 0);
  EXPECT_LE(times.last_out - times.first_out + 1, beats + beats / 50);
}

// Four cycles. The paper's 128-byte line: on a 64-byte bus its last beat is out six cycles after it began to
// come in, on a 32-byte one eight.
TEST(Compress, Latency) {
  Compressor c(seed());
  const auto sparse = [](int groups) {  // one unit whatever the size
    ZvcSegment s{std::vector<std::uint32_t>(static_cast<std::size_t>(groups * kLanes), 5), 5};
    for (int g = 0; g < groups; g++) s.elements[static_cast<std::size_t>(g * kLanes + g)] = 7;
    return s;
  };
  c.add(sparse(1));
  const auto one = c.run(0, 0);
  EXPECT_EQ(one.first_out - one.first_in, 4);
  EXPECT_EQ(one.last_out, one.first_out);
  for (const int groups : {2, 4}) {
    if (groups > 2 && kLanes < 32) continue;  // their masks fill more than a beat
    c.add(sparse(groups));
    const auto line = c.run(0, 0);
    EXPECT_EQ(line.last_out - line.first_in + 1, 4 + groups);
  }
}

}  // namespace
}  // namespace kaiten::test
