// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Expander against a plain model: what the model packed, and everything else that may stand in memory.
// Whatever comes in, a segment gives its number of beats, all its units are taken, and its last beat tells
// whether it was right.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "codec/zvc.h"
#include "tests/rtl/zvc/zvc_bench.h"

namespace kaiten::test {
namespace {

class Expander {
 public:
  explicit Expander(std::uint64_t seed) : rng_(seed), model_(seed) { reset(model_); }

  Rng& rng() { return rng_; }

  // Whole units of anything, which claim to be so many elements. Returns whether they are what the compressor
  // makes.
  bool add(const Bytes& units, std::size_t elements, std::uint32_t zero, int bus_errors = 0) {
    bool bus_error = false;
    for (std::size_t at = 0; at < units.size(); at += kBeatBytes) {
      const bool error = percent(rng_, bus_errors);
      bus_error |= error;
      // The number of elements counts with the first beat only.
      in_.push_back({Bytes(units.begin() + static_cast<std::ptrdiff_t>(at),
                           units.begin() + static_cast<std::ptrdiff_t>(at) + kBeatBytes),
                     zero, at == 0 ? elements : static_cast<std::size_t>(pick(rng_, 0, 0xffff)),
                     at + kBeatBytes == units.size(), error});
    }
    const auto expected = model_expand(units, elements, zero);
    for (std::size_t first = 0; first < elements; first += kLanes) {
      Out out{{}, first + kLanes >= elements, !expected, bus_error};
      if (expected) {
        for (std::size_t i = first; i < first + kLanes; i++)
          push_element(out.data, i < elements ? (*expected)[i] : zero);
      }
      out_.push_back(std::move(out));
    }
    compare_codec(units, elements, zero, expected);
    return expected.has_value();
  }
  void add(const ZvcSegment& s) {
    Bytes units = model_pack(s);
    model_fill(units, s.zero);
    EXPECT_TRUE(add(units, s.elements.size(), s.zero));
  }

  std::size_t beats_in() const { return in_.size(); }
  std::size_t beats_out() const { return out_.size(); }

  struct Times {
    std::int64_t first_in = -1, first_out = -1, last_out = -1;
  };

  Times run(int in_stall, int out_stall) {
    auto& top = model_.top();
    Times times;
    std::int64_t quiet = 0;
    for (std::int64_t cycle = 0; !out_.empty() || !in_.empty(); cycle++) {
      if (!in_.empty() && !top.unit_valid_i && !percent(rng_, in_stall)) {
        top.unit_valid_i = 1;
        set_bytes(top.unit_data_i, in_.front().data.data(), kBeatBytes);
        top.unit_last_i = in_.front().last;
        top.unit_error_i = in_.front().error;
        top.unit_elements_i = in_.front().elements;
        top.unit_zero_i = in_.front().zero;
      }
      top.beat_ready_i = !percent(rng_, out_stall);
      model_.eval();
      const bool in = top.unit_valid_i && top.unit_ready_o;
      const bool out = top.beat_valid_o && top.beat_ready_i;
      EXPECT_FALSE(top.beat_valid_o && out_.empty()) << "more elements than the segment has";
      if (top.beat_valid_o && !out_.empty()) {
        const Out& expected = out_.front();
        EXPECT_EQ(top.beat_last_o, expected.last);
        EXPECT_FALSE(top.beat_error_o && !expected.error);
        EXPECT_FALSE(top.beat_bus_error_o && !expected.bus_error);
        if (expected.last) {
          EXPECT_EQ(top.beat_error_o, expected.error);
          // A beat that is there too much may come after this one.
          if (!expected.error) EXPECT_EQ(top.beat_bus_error_o, expected.bus_error);
        }
        if (!expected.error) {
          Bytes data(kBeatBytes);
          get_bytes(top.beat_data_o, data.data(), kBeatBytes);
          EXPECT_EQ(data, expected.data);
        }
      }
      model_.tick();
      if (in) {
        if (times.first_in < 0) times.first_in = cycle;
        in_.pop_front();
        top.unit_valid_i = 0;
      }
      if (out && !out_.empty()) {
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
    for (int i = 0; i < 10; i++) {
      model_.tick();
      EXPECT_FALSE(top.beat_valid_o);
    }
    return times;
  }

 private:
  struct In {
    Bytes data;
    std::uint32_t zero;
    std::size_t elements;
    bool last, error;
  };
  struct Out {
    Bytes data;
    bool last, error, bus_error;
  };

  // The codec judges like the model. It knows of segments that a writer stores packed only.
  static void compare_codec(const Bytes& units, std::size_t elements, std::uint32_t zero,
                            const std::optional<std::vector<std::uint32_t>>& expected) {
    const std::size_t count = units.size() / kBeatBytes;
    if (count > codec::kMaxZvcUnits || count >= (elements + kLanes - 1) / kLanes) return;
    Bytes raw(elements * kElemBytes);
    try {
      codec::zvc_load({kElemBytes, kLanes, kBeatBytes, zero}, units, static_cast<std::uint8_t>(count), raw);
      EXPECT_TRUE(expected.has_value());
    } catch (const codec::CorruptStream&) {
      EXPECT_FALSE(expected.has_value());
    }
  }

  Rng rng_;
  Model<Vzvc_blocks> model_;
  std::deque<In> in_;
  std::deque<Out> out_;
};

TEST(Expand, GivesTheElementsUnderAnyStalls) { random_segments_under_any_stalls<Expander>(); }

TEST(Expand, EveryLength) { segments_of_every_length<Expander>(); }

// A bit inverted, bytes changed, units missing or too many, another number of elements: right segments stand
// between.
TEST(Expand, FindsEveryCorruption) {
  under_any_stalls<Expander>([](Expander& e, int in_stall, int out_stall) {
    auto& rng = e.rng();
    int corrupt = 0;
    for (int i = 0; i < 300; i++) {
      const ZvcSegment s = random_segment(rng);
      Bytes units = model_pack(s);
      model_fill(units, s.zero);
      std::size_t elements = s.elements.size();
      const auto last = static_cast<std::int64_t>(units.size()) - 1;
      switch (pick(rng, 0, 6)) {
        case 0:
          units[static_cast<std::size_t>(pick(rng, 0, last))] ^= 1 << pick(rng, 0, 7);
          break;
        case 1:
          for (int k = 0; k < 3; k++)
            units[static_cast<std::size_t>(pick(rng, 0, last))] = static_cast<std::uint8_t>(rng());
          break;
        case 2:
          units.resize(units.size() + static_cast<std::size_t>(pick(rng, 1, 7) * kBeatBytes));
          break;
        case 3:
          units.resize(static_cast<std::size_t>(pick(rng, 1, (last + 1) / kBeatBytes) * kBeatBytes));
          break;
        case 4:
          elements = static_cast<std::size_t>(pick(rng, 1, static_cast<std::int64_t>(2 * elements)));
          break;
        case 5: {  // padded with something else
          const std::size_t used = model_pack(s).size();
          if (used < units.size())
            units[static_cast<std::size_t>(pick(rng, static_cast<std::int64_t>(used), last))]++;
          break;
        }
        default:
          break;
      }
      corrupt += !e.add(units, elements, s.zero);
    }
    EXPECT_GT(corrupt, 100);
    e.run(in_stall, out_stall);
  });
}

TEST(Expand, IsSafeOnArbitraryBytes) {
  under_any_stalls<Expander>([](Expander& e, int in_stall, int out_stall) {
    auto& rng = e.rng();
    for (int i = 0; i < 200; i++) {
      Bytes units(static_cast<std::size_t>(pick(rng, 1, 10) * kBeatBytes));
      const int bits = static_cast<int>(pick(rng, 0, 2));  // of three: few or many bits of the masks set
      for (auto& b : units) {
        const auto r = rng();
        b = static_cast<std::uint8_t>(bits == 0   ? r & r >> 8 & r >> 16
                                      : bits == 1 ? r
                                                  : r | r >> 8 | r >> 16);
      }
      e.add(units, static_cast<std::size_t>(pick(rng, 1, 12 * kLanes)),
            static_cast<std::uint32_t>(pick(rng, 0, 3)), 5);
    }
    e.run(in_stall, out_stall);
  });
}

TEST(Expand, GivesABeatACycle) {
  for (const int density : {0, 10, 50, 80}) {
    SCOPED_TRACE(density);
    Expander e(seed());
    for (int i = 0; i < 100; i++)
      e.add(random_segment(e.rng(), static_cast<std::size_t>(pick(e.rng(), 2, 10) * kLanes), density));
    const auto beats = static_cast<std::int64_t>(std::max(e.beats_out(), e.beats_in()));
    const auto times = e.run(0, 0);
    EXPECT_LE(times.last_out - times.first_out + 1, beats + beats / 50 + 2);
  }
}

// Where nothing is zero, the bus is what limits.
TEST(Expand, TakesABeatACycle) {
  Expander e(seed());
  for (int i = 0; i < 50; i++) e.add(random_segment(e.rng(), static_cast<std::size_t>(40 * kLanes), 100));
  const auto beats = static_cast<std::int64_t>(e.beats_in());
  const auto times = e.run(0, 0);
  EXPECT_LE(times.last_out - times.first_in, beats + beats / 50 + 3);
}

// Four cycles, three more than a register; the paper has one less.
TEST(Expand, Latency) {
  Expander e(seed());
  e.add(random_segment(e.rng(), kLanes, 20));
  const auto times = e.run(0, 0);
  EXPECT_EQ(times.first_out - times.first_in, 4);
}

}  // namespace
}  // namespace kaiten::test
