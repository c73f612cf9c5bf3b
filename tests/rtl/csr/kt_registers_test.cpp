// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Registers through AXI4-Lite with random handshakes against a model of docs/formats/registers.md: identity and capabilities,
// stored fields with byte strobes, pulses, events and interrupt, counters, and addresses that do not exist.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>
#include <random>

#include "Vkt_registers.h"
#include "device/csr.h"
#include "tests/support/model.h"

namespace kaiten::test {
namespace {

using Random = std::mt19937_64;
constexpr int kEvents = 32, kSums = 9;

// Bits of a value of 96, from `at` (not 0 or 64) on.
void set_bits(std::uint64_t& low, std::uint64_t& high, int at, std::uint64_t value) {
  if (at > 64) {
    high |= value << (at - 64);
  } else {
    low |= value << at;
    high |= value >> (64 - at);
  }
}

class Registers : public testing::Test {
 protected:
  Registers() : random_(seed()) {
    Vkt_registers& t = top();
    t.aw_valid_i = t.w_valid_i = t.ar_valid_i = t.b_ready_i = t.r_ready_i = 0;
    t.control_events_i = 0;
    set_engine({});
    for (auto& word : t.status_i.m_storage) word = 0;
    t.rst_ni = 0;
    model_.tick();
    t.rst_ni = 1;
    model_.tick();
  }
  Vkt_registers& top() { return model_.top(); }
  int pick(int below) { return static_cast<int>(random_() % below); }

  void set_engine(std::array<std::uint32_t, 3> words) {
    for (int i = 0; i < 3; ++i) top().engine_events_i[i] = words[i];
  }
  void cycle() {
    starts_ += top().start_o;
    resets_ += top().soft_reset_o;
    model_.tick();
  }

  struct Read {
    std::uint32_t data, resp;
  };

  // Address and data of a write may come in any order and at any distance; the response waits for b_ready.
  std::uint32_t write(std::uint32_t address, std::uint32_t data, std::uint32_t strobes = 15) {
    int aw = pick(4), w = pick(4), b = pick(4);
    bool aw_done = false, w_done = false;
    for (int i = 0; i < 100; ++i) {
      top().aw_valid_i = !aw_done && aw-- <= 0;
      top().w_valid_i = !w_done && w-- <= 0;
      top().aw_addr_i = top().aw_valid_i ? address >> 2 : random_() & 0xff;
      top().w_data_i = top().w_valid_i ? data : static_cast<std::uint32_t>(random_());
      top().w_strb_i = top().w_valid_i ? strobes : 15;
      model_.eval();
      top().b_ready_i = top().b_valid_o && b-- <= 0;
      model_.eval();
      aw_done |= top().aw_valid_i && top().aw_ready_o;
      w_done |= top().w_valid_i && top().w_ready_o;
      const bool answered = top().b_valid_o && top().b_ready_i;
      const std::uint32_t resp = top().b_resp_o;
      EXPECT_TRUE(!top().b_valid_o || (aw_done && w_done));
      cycle();
      if (answered) {
        top().aw_valid_i = top().w_valid_i = top().b_ready_i = 0;
        return resp;
      }
    }
    ADD_FAILURE() << "no answer to a write";
    return 3;
  }

  Read read(std::uint32_t address) {
    int ar = pick(4), r = pick(4);
    bool ar_done = false;
    std::optional<std::uint32_t> seen;
    for (int i = 0; i < 100; ++i) {
      top().ar_valid_i = !ar_done && ar-- <= 0;
      top().ar_addr_i = top().ar_valid_i ? address >> 2 : random_() & 0xff;
      model_.eval();
      top().r_ready_i = top().r_valid_o && r-- <= 0;
      model_.eval();
      ar_done |= top().ar_valid_i && top().ar_ready_o;
      EXPECT_TRUE(!top().r_valid_o || ar_done);
      const Read result{top().r_data_o, top().r_resp_o};
      if (top().r_valid_o) {
        if (seen) EXPECT_EQ(*seen, result.data) << "read data changed while waiting";
        seen = result.data;
      }
      const bool answered = top().r_valid_o && top().r_ready_i;
      cycle();
      if (answered) {
        top().ar_valid_i = top().r_ready_i = 0;
        return result;
      }
    }
    ADD_FAILURE() << "no answer to a read";
    return {0, 3};
  }

  std::uint32_t get(std::uint32_t address) {
    const Read r = read(address);
    EXPECT_EQ(r.resp, 0u) << std::hex << address;
    return r.data;
  }
  void put(std::uint32_t address, std::uint32_t data) {
    EXPECT_EQ(write(address, data), 0u) << std::hex << address;
  }
  std::uint64_t counter(int i) {
    const std::uint32_t low = get(csr::kCounters[i].offset);
    return low | std::uint64_t{get(csr::kCounters[i].offset + 4)} << 32;
  }

  Random random_;
  Model<Vkt_registers> model_;
  int starts_ = 0, resets_ = 0;
};

TEST_F(Registers, IdentityAndCapabilities) {
  EXPECT_EQ(get(csr::kId), csr::kIdValue);
  EXPECT_EQ(get(csr::kVersion), 0x500u);
  EXPECT_EQ(get(csr::kKp), PARAM_Kp);
  EXPECT_EQ(get(csr::kCp), PARAM_Cp);
  EXPECT_EQ(get(csr::kStageRows), PARAM_StageRows);
  EXPECT_EQ(get(csr::kAxiBytes), PARAM_AxiW / 8);
  EXPECT_EQ(get(csr::kWbRows), PARAM_WbRows);
  EXPECT_EQ(get(csr::kVwbRows), PARAM_VwbRows);
  EXPECT_EQ(get(csr::kSbDepth), PARAM_SbDepth);
  EXPECT_EQ(get(csr::kVbDepth), PARAM_VbDepth);
  EXPECT_EQ(get(csr::kObPixels), PARAM_ObPixels);
  EXPECT_EQ(get(csr::kZsbArray), PARAM_ZsbArray);
  EXPECT_EQ(get(csr::kZsbVector), PARAM_ZsbVector);
  const std::uint32_t options = get(csr::kOptions);
  EXPECT_EQ(csr::kOptionsConvModes.get(options), 7u);
  EXPECT_EQ(csr::kOptionsWindowKinds.get(options), 7u);
  EXPECT_EQ(csr::kOptionsLargeWindows.get(options), std::uint32_t(PARAM_LargeWindows));
  EXPECT_EQ(csr::kOptionsConvTables.get(options), std::uint32_t(PARAM_ConvTable));
  EXPECT_EQ(csr::kOptionsTables.get(options), 1u);
  EXPECT_EQ(csr::kOptionsRules.get(options), 15u);
  EXPECT_EQ(csr::kOptionsFeatures.get(options), 15u);  // sum row, pairs, resident weights, two pixels
  EXPECT_EQ(csr::kOptionsElementKinds.get(options), 15u);
  EXPECT_EQ(get(csr::kZvcBeats), PARAM_Zvc);
}

TEST_F(Registers, StoredFieldsKeepWhatTheyAreGiven) {
  // what a register can hold; written at random, with random strobes, also where there is nothing
  std::map<std::uint32_t, std::uint32_t> mask{{csr::kWatchdog, ~0u},   {csr::kProgramLo, 0xffffffc0},
                                              {csr::kProgramHi, 0xff}, {csr::kCommandCount, 0xffffff},
                                              {csr::kWbSplit, 0xffff}, {csr::kArrived, 0xfff}};
  for (int i = 0; i < 8; ++i) {
    mask[csr::kBaseLo(i)] = ~0u;
    mask[csr::kBaseHi(i)] = 0xff;
  }
  std::map<std::uint32_t, std::uint32_t> value;
  for (int i = 0; i < 3000; ++i) {
    const std::uint32_t address = 4 * pick(0x400 / 4);
    const bool counters =
        address >= csr::kCounters[0].offset && address < csr::kCounters[0].offset + 8 * (kEvents + kSums);
    const bool hole =
        (address > csr::kStageRows && address < csr::kControl) || (address > csr::kBaseHi(7) && !counters);
    if (pick(2)) {
      if (address == csr::kControl) continue;
      const std::uint32_t data = static_cast<std::uint32_t>(random_()), strobes = pick(16);
      ASSERT_EQ(write(address, data, strobes), hole ? 2u : 0u) << std::hex << address;
      std::uint32_t bits = 0;
      for (int b = 0; b < 4; ++b) bits |= (strobes >> b & 1) * 0xffu << (8 * b);
      if (mask.count(address)) value[address] = ((value[address] & ~bits) | (data & bits)) & mask[address];
    } else {
      const Read r = read(address);
      ASSERT_EQ(r.resp, hole ? 2u : 0u) << std::hex << address;
      if (mask.count(address)) ASSERT_EQ(r.data, value[address]) << std::hex << address;
    }
    ASSERT_EQ(top().settings_o[0], value[csr::kWatchdog]);
    const std::uint64_t program = value[csr::kProgramLo] | std::uint64_t{value[csr::kProgramHi]} << 32;
    ASSERT_EQ(top().settings_o[1], value[csr::kCommandCount] | static_cast<std::uint32_t>(program << 24));
    ASSERT_EQ(top().settings_o[2], program >> 8);
    ASSERT_EQ(top().settings_o[3], value[csr::kArrived]);
    ASSERT_EQ(top().wb_split_o, value[csr::kWbSplit]);
    for (int b = 0; b < 8; ++b)
      ASSERT_EQ(top().base_o[b], value[csr::kBaseLo(b)] | std::uint64_t{value[csr::kBaseHi(b)]} << 32);
  }
  EXPECT_EQ(starts_ + resets_, 0);
}

TEST_F(Registers, ReadAndWriteAtOnce) {
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t data = static_cast<std::uint32_t>(random_());
    top().aw_valid_i = top().w_valid_i = top().ar_valid_i = 1;
    top().aw_addr_i = csr::kWatchdog >> 2;
    top().w_data_i = data;
    top().w_strb_i = 15;
    top().ar_addr_i = csr::kId >> 2;
    top().b_ready_i = top().r_ready_i = 1;
    int writes = 0, reads = 0;
    for (int i = 0; i < 30; ++i) {
      model_.eval();
      writes += top().b_valid_o;
      if (top().r_valid_o) {
        ++reads;
        ASSERT_EQ(top().r_data_o, csr::kIdValue);
      }
      const bool aw = top().aw_ready_o, w = top().w_ready_o, ar = top().ar_ready_o;
      cycle();
      if (aw) top().aw_valid_i = 0;
      if (w) top().w_valid_i = 0;
      if (ar) top().ar_valid_i = 0;
    }
    ASSERT_EQ(writes, 1);
    ASSERT_EQ(reads, 1);
    top().b_ready_i = top().r_ready_i = 0;
    ASSERT_EQ(get(csr::kWatchdog), data);
  }
}

TEST_F(Registers, StartAndSoftResetArePulses) {
  put(csr::kControl, csr::kControlStart.put(1));
  EXPECT_EQ(starts_, 1);
  EXPECT_EQ(resets_, 0);
  put(csr::kControl, csr::kControlSoftReset.put(1));
  EXPECT_EQ(starts_, 1);
  EXPECT_EQ(resets_, 1);
  put(csr::kControl, 0);
  EXPECT_EQ(write(csr::kControl, 3, 0xe), 0u);  // without the strobe of its byte
  EXPECT_EQ(get(csr::kControl), 0u);
  EXPECT_EQ(starts_ + resets_, 2);
}

TEST_F(Registers, EventsAndInterrupt) {
  constexpr std::uint32_t kDone = 1, kError = 2;
  const auto event = [&](bool done, bool error) {  // run_completed, run_stopped of status_t
    top().status_i[3] = (done ? 1u << 23 : 0) | (error ? 1u << 22 : 0);
    cycle();
    top().status_i[3] = 0;
    cycle();
    cycle();
  };
  EXPECT_EQ(get(csr::kIrqStatus), 0u);
  event(true, false);
  EXPECT_EQ(get(csr::kIrqStatus), kDone);
  EXPECT_FALSE(top().irq_o);
  put(csr::kControl, csr::kControlIrqEnable.put(1));
  cycle();
  EXPECT_TRUE(top().irq_o);
  EXPECT_EQ(get(csr::kControl), csr::kControlIrqEnable.put(1));
  event(false, true);
  EXPECT_EQ(get(csr::kIrqStatus), kDone | kError);
  put(csr::kIrqStatus, kDone);
  EXPECT_EQ(get(csr::kIrqStatus), kError);
  EXPECT_TRUE(top().irq_o);
  put(csr::kIrqStatus, kError);
  cycle();
  EXPECT_FALSE(top().irq_o);
  event(true, true);
  put(csr::kIrqStatus, 0);
  EXPECT_EQ(get(csr::kIrqStatus), kDone | kError);
  put(csr::kIrqStatus, kError);
  EXPECT_EQ(get(csr::kIrqStatus), kDone);
}

TEST_F(Registers, StatusAndErrors) {
  for (int i = 0; i < 50; ++i) {
    for (auto& word : top().status_i.m_storage) word = static_cast<std::uint32_t>(random_());
    top().status_i[4] &= 63;
    top().status_i[3] &= ~(3u << 22);
    const auto& s = top().status_i;
    EXPECT_EQ(get(csr::kStatus),
              (s[3] >> 27 & 1) | (s[3] >> 26 & 1) << 1 | (s[3] >> 25 & 1) << 2 | (s[3] >> 24 & 1) << 3);
    EXPECT_EQ(get(csr::kErrorCause), s[3] >> 18 & 15);
    EXPECT_EQ(get(csr::kErrorIndex), s[2] >> 26 | (s[3] & 0x3ffff) << 6);
    EXPECT_EQ(get(csr::kErrorInfo), (s[2] >> 16 & 0x3ff) | (s[3] >> 28 | s[4] << 4) << 10);
    EXPECT_EQ(get(csr::kCompletedLoad), s[0] & 0xfffff);
    EXPECT_EQ(get(csr::kCompletedConv), s[0] >> 20 | (s[1] & 0xff) << 12);
    EXPECT_EQ(get(csr::kCompletedVector), s[1] >> 8 & 0xfffff);
    EXPECT_EQ(get(csr::kCompletedStore), s[1] >> 28 | (s[2] & 0xffff) << 4);
  }
}

// Random events with random rates; counted while running, zero at a start, kept after the end. Reads in between.
TEST_F(Registers, Counters) {
  // control_events_t, engine_events_t from the lowest bit
  constexpr int kWaits = 20, kLoadArrived = 20, kFetchBytes = 21, kFetch = 41, kRunning = 42, kStart = 43;
  constexpr int kWrittenBytes = 10, kWritten = 30, kReadBytes = 31, kRead = 51;
  constexpr int kZvcWritten = 54, kZvcRead = 75;
  for (int round = 0; round < 12; ++round) {
    std::array<std::uint64_t, kEvents + kSums> expected{};
    std::array<int, kEvents> rate{};
    for (int& r : rate) r = pick(3) == 0 ? 0 : 1 + pick(100);
    const std::uint32_t most = round % 2 ? 0xfffff : 64;
    top().control_events_i = 1ull << kStart;
    cycle();
    const auto random_events = [&](bool running) {
      std::uint64_t control = std::uint64_t{running} << kRunning, engine = 0;
      for (int i = 1; i < kEvents; ++i) {
        if (pick(100) >= rate[i]) continue;
        if (i >= 9 && i < 9 + kWaits) {
          control |= 1ull << (i - 9);
        } else if (i == 31) {
          control |= 1ull << kLoadArrived;
        } else {
          engine |= 1ull << (i < 9 ? i - 1 : i - 29 + 8);
        }
        if (running) ++expected[i];
      }
      expected[0] += running;
      const std::uint32_t fetched = pick(most + 1), written = pick(most + 1), read = pick(most + 1);
      control |= std::uint64_t{fetched} << kFetchBytes;
      engine |= std::uint64_t{written} << kWrittenBytes | std::uint64_t{read} << kReadBytes;
      if (pick(2)) {
        control |= 1ull << kFetch;
        if (running) expected[kEvents + 3] += fetched;
      }
      if (pick(2)) {
        engine |= 1ull << kWritten;
        if (running) expected[kEvents + 4] += written;
      }
      std::uint64_t high = 0;
      if (pick(2)) {
        const std::uint32_t raw = pick(most + 1);
        set_bits(engine, high, kZvcWritten, raw | 1u << 20);
        if (running) expected[kEvents + 7] += raw, expected[kEvents + 8] += written;
      }
      if (pick(2)) {
        const std::uint32_t raw = pick(most + 1);
        set_bits(engine, high, kZvcRead, raw | 1u << 20);
        if (running) expected[kEvents + 5] += raw, expected[kEvents + 6] += read;
      }
      if (const int what = pick(4); what < 3) {  // read_params, read_weights, read_rows
        engine |= 1ull << (kRead + what);
        constexpr int kCounter[] = {1, 0, 2};
        if (running) expected[kEvents + kCounter[what]] += read;
      }
      top().control_events_i = control;
      set_engine({std::uint32_t(engine), std::uint32_t(engine >> 32), std::uint32_t(high)});
    };
    const int cycles = round < 4 ? pick(40) : 3000 + pick(20000);
    for (int i = 0; i < cycles; ++i) {
      random_events(true);
      cycle();
    }
    random_events(false);
    cycle();
    top().control_events_i = 0;
    set_engine({});
    for (int i = 0; i < kEvents + kSums; ++i) {
      ASSERT_EQ(counter(i), expected[i]) << csr::kCounters[i].name << " after " << cycles << " cycles";
    }
  }
}

// The pair low, high is one value while the counter runs: no step back or forth around a carry.
TEST_F(Registers, RunningCounterIsReadAsOneValue) {
  top().control_events_i = 1ull << 43;
  cycle();
  top().control_events_i = 1ull << 42;
  const std::uint64_t start = model_.cycles();
  std::uint64_t last = 0;
  for (int i = 0; i < 4; ++i) cycle();
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t before = model_.cycles() - start, value = counter(0), after = model_.cycles() - start;
    ASSERT_GE(value + 2, before);
    ASSERT_LE(value, after);
    ASSERT_GT(value, last);
    last = value;
  }
  // bytes cross 32 bits
  set_engine({0x80000000u, 0xfffff >> 1 | 1u << 21, 0});
  std::uint64_t expected = 0;
  for (int i = 0; i < 5000; ++i) {
    cycle();
    expected += 0xfffff;
  }
  set_engine({});
  cycle();
  EXPECT_EQ(counter(kEvents + 2), expected);
  EXPECT_GT(expected >> 32, 0u);
}

}  // namespace
}  // namespace kaiten::test
