// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// AxiMemory: contents, latency, bandwidth, order, errors. A port that is driven by hand stands for the
// Verilated model.
#include "sim/axi_memory.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "tests/support/seed.h"
#include "tests/sw/sim/axi_signals.h"

namespace {

using namespace kaiten::sim;
using kaiten::test::ReadSignals;
using kaiten::test::WriteSignals;

constexpr uint64_t kBase = 0x8000'0000;

AxiMemoryOptions options() { return {.base = kBase, .bytes = 1 << 16}; }

template <unsigned Lanes>
struct Bench {
  explicit Bench(const AxiMemoryOptions& o) : memory(o) {
    memory.connect(r.port());
    memory.connect(w.port());
    r.r_ready = w.b_ready = 1;
    edge();
  }
  void edge() {
    memory.pre_edge();
    memory.post_edge();
    edges++;
  }
  // Holds an address until it is taken; returns the number of the edge that took it.
  uint64_t read(uint64_t address, unsigned beats, uint8_t id = 0) {
    r.ar_valid = 1;
    r.ar_addr = address;
    r.ar_len = static_cast<uint8_t>(beats - 1);
    r.ar_id = id;
    while (!r.ar_ready) edge();
    edge();
    r.ar_valid = 0;
    return edges - 1;
  }
  uint64_t write(uint64_t address, unsigned beats) {
    w.aw_valid = 1;
    w.aw_addr = address;
    w.aw_len = static_cast<uint8_t>(beats - 1);
    while (!w.aw_ready) edge();
    edge();
    w.aw_valid = 0;
    return edges - 1;
  }
  uint64_t data(uint32_t word, uint64_t strobes, bool last) {
    w.w_valid = 1;
    w.w_data.fill(word);
    w.w_strb = strobes;
    w.w_last = last;
    while (!w.w_ready) edge();
    edge();
    w.w_valid = 0;
    return edges - 1;
  }
  ReadSignals<Lanes> r;
  WriteSignals<Lanes> w;
  AxiMemory memory;
  uint64_t edges = 0;
};

TEST(AxiMemory, ReadsWithTheLatencyAsked) {
  for (const unsigned latency : {1u, 2u, 100u}) {
    auto o = options();
    o.read_latency = latency;
    Bench<16> b(o);
    for (unsigned i = 0; i < 64; i++) b.memory.at(kBase + 32, 64)[i] = static_cast<uint8_t>(i);
    const uint64_t taken = b.read(kBase + 32, 4);
    while (!b.r.r_valid) b.edge();
    EXPECT_EQ(b.edges, taken + latency) << "the next edge takes the beat";
    for (unsigned beat = 0; beat < 4; beat++) {
      ASSERT_TRUE(b.r.r_valid);
      EXPECT_EQ(b.r.r_last, beat == 3);
      EXPECT_EQ(b.r.r_data[0], 0x03020100u + 0x10101010u * beat);
      b.edge();
    }
    EXPECT_FALSE(b.r.r_valid);
    EXPECT_TRUE(b.memory.idle());
    EXPECT_EQ(b.memory.counters().read_beats, 4u);
  }
}

TEST(AxiMemory, WaitsForReady) {
  Bench<16> b(options());
  b.r.r_ready = 0;
  b.read(kBase, 2);
  for (int i = 0; i < 10; i++) b.edge();
  EXPECT_TRUE(b.r.r_valid);
  EXPECT_FALSE(b.r.r_last);
  b.r.r_ready = 1;
  b.edge();
  EXPECT_TRUE(b.r.r_last);
}

TEST(AxiMemory, WritesOnlyStrobedBytes) {
  auto o = options();
  o.write_latency = 9;
  Bench<32> b(o);
  b.write(kBase + 64, 2);
  b.data(0x11111111, 0xffff0000, false);
  const uint64_t taken = b.data(0x22222222, 0xffffffff, true);
  while (!b.w.b_valid) b.edge();
  EXPECT_EQ(b.edges, taken + 9);
  EXPECT_EQ(b.memory.at(kBase + 64, 1)[0], 0);
  EXPECT_EQ(b.memory.at(kBase + 79, 1)[0], 0);
  EXPECT_EQ(b.memory.at(kBase + 80, 1)[0], 0x11);
  EXPECT_EQ(b.memory.at(kBase + 127, 1)[0], 0x22);
  EXPECT_EQ(b.memory.at(kBase + 128, 1)[0], 0);
  EXPECT_EQ(b.memory.counters().write_bytes, 48u);
  b.edge();
  EXPECT_FALSE(b.w.b_valid);
  EXPECT_TRUE(b.memory.idle());
}

TEST(AxiMemory, DataMayComeBeforeTheirAddress) {
  Bench<64> b(options());
  b.data(1, ~uint64_t{0}, false);
  b.data(2, ~uint64_t{0}, true);
  b.data(3, ~uint64_t{0}, true);
  EXPECT_FALSE(b.w.b_valid);
  b.write(kBase, 2);
  b.write(kBase + 128, 1);
  for (int i = 0; i < 5; i++) b.edge();
  EXPECT_EQ(b.memory.at(kBase, 1)[0], 1);
  EXPECT_EQ(b.memory.at(kBase + 64, 1)[0], 2);
  EXPECT_EQ(b.memory.at(kBase + 128, 1)[0], 3);
  EXPECT_TRUE(b.memory.idle());
}

TEST(AxiMemory, TakesNoAddressBeforeDataWhenSaid) {
  auto o = options();
  o.data_first = true;
  Bench<64> b(o);
  b.w.aw_valid = 1;
  for (int i = 0; i < 5; i++) {
    b.edge();
    EXPECT_FALSE(b.w.aw_ready);
  }
  b.w.aw_valid = 0;
  b.data(1, ~uint64_t{0}, false);
  EXPECT_TRUE(b.w.aw_ready);
  b.write(kBase, 2);
  EXPECT_FALSE(b.w.aw_ready);
  b.data(2, ~uint64_t{0}, true);
  for (int i = 0; i < 5; i++) b.edge();
  EXPECT_EQ(b.memory.at(kBase, 1)[0], 1);
  EXPECT_EQ(b.memory.at(kBase + 64, 1)[0], 2);
  EXPECT_TRUE(b.memory.idle());
}

TEST(AxiMemory, BandwidthOfOneDirection) {
  for (const double rate : {64.0, 32.0, 19.2, 6.4, 1.0}) {
    auto o = options();
    o.bytes_per_cycle = rate;
    Bench<64> b(o);
    for (int i = 0; i < 4; i++) b.read(kBase + i * 1024, 16);
    while (!b.r.r_valid) b.edge();
    while (b.memory.counters().read_beats < 63) b.edge();
    const double cycles = static_cast<double>(b.edges), expected = 63 * 64 / rate;
    EXPECT_NEAR(cycles, expected, 0.03 * expected + 8) << rate;
  }
}

TEST(AxiMemory, DirectionsShareTheBandwidthAndTakeTurns) {
  for (const bool separate : {false, true}) {
    auto o = options();
    o.bytes_per_cycle = 64;
    o.separate_directions = separate;
    Bench<64> b(o);
    for (int i = 0; i < 16; i++) b.write(kBase + i * 1024, 16);
    for (int i = 0; i < 16; i++) b.read(kBase + i * 1024, 16);
    const uint64_t reads = b.memory.counters().read_beats, from = b.edges;
    b.w.w_valid = 1;
    while (b.edges < from + 100) b.edge();
    const double r = static_cast<double>(b.memory.counters().read_beats - reads),
                 w = static_cast<double>(b.memory.counters().write_beats);
    EXPECT_NEAR(r, separate ? 100 : 50, 6);
    EXPECT_NEAR(w, separate ? 100 : 50, 6);
  }
}

TEST(AxiMemory, ShufflesIdsButKeepsEachInOrder) {
  auto o = options();
  o.shuffle_ids = true;
  o.seed = kaiten::test::seed();
  Bench<16> b(o);
  for (unsigned i = 0; i < 1024; i++) b.memory.at(kBase + i * 16, 1)[0] = static_cast<uint8_t>(i % 251);
  b.r.r_ready = 0;
  for (unsigned i = 0; i < 4; i++)
    for (uint8_t id = 0; id < 3; id++) b.read(kBase + 4096 * id + 128 * i, 8, id);
  b.r.r_ready = 1;
  unsigned next[3] = {}, changes = 0, last_id = 9;
  for (unsigned n = 0; n < 96; n++) {
    while (!b.r.r_valid) b.edge();
    const uint8_t id = b.r.r_id;
    ASSERT_LT(id, 3);
    EXPECT_EQ(b.r.r_data[0] & 0xff, (256u * id + next[id]) % 251);
    EXPECT_EQ(b.r.r_last, next[id] % 8 == 7);
    next[id]++;
    changes += id != last_id;
    last_id = id;
    b.edge();
  }
  EXPECT_GT(changes, 20u);
}

TEST(AxiMemory, Errors) {
  Bench<16> b(options());
  b.memory.at(kBase + 32, 1)[0] = 7;
  b.memory.fail_range(kBase + 40, kBase + 40, kRespSlverr);
  b.memory.fail_read_beat(3, kRespDecerr);
  b.read(kBase, 4);
  const uint8_t expected[] = {kRespOkay, kRespOkay, kRespSlverr, kRespDecerr};
  for (const uint8_t resp : expected) {
    while (!b.r.r_valid) b.edge();
    EXPECT_EQ(b.r.r_resp, resp);
    b.edge();
  }
  b.write(kBase + 16, 2);
  b.data(5, 0xffff, false);
  b.data(5, 0xffff, true);
  while (!b.w.b_valid) b.edge();
  EXPECT_EQ(b.w.b_resp, kRespSlverr);
  EXPECT_EQ(b.memory.at(kBase + 16, 1)[0], 5);
  EXPECT_EQ(b.memory.at(kBase + 32, 1)[0], 7) << "a failed beat is not written";
  b.edge();
  b.memory.clear_failures();
  b.memory.fail_write_burst(1, kRespSlverr);
  for (const uint8_t resp : {kRespOkay, kRespSlverr}) {
    b.write(kBase, 1);
    b.data(5, 0xffff, true);
    while (!b.w.b_valid) b.edge();
    EXPECT_EQ(b.w.b_resp, resp);
    b.edge();
  }
  // outside the memory
  b.read(kBase + (1 << 16), 1);
  while (!b.r.r_valid) b.edge();
  EXPECT_EQ(b.r.r_resp, kRespDecerr);
  EXPECT_THROW(b.memory.at(kBase + 65535, 2), kaiten::DeviceError);
  EXPECT_THROW(b.memory.at(kBase - 1, 1), kaiten::DeviceError);
}

TEST(AxiMemory, ResetForgetsWhatIsUnderWay) {
  auto o = options();
  o.read_latency = 50;
  Bench<16> b(o);
  b.read(kBase, 8);
  b.write(kBase, 4);
  b.data(1, 0xffff, false);
  b.memory.reset();
  EXPECT_TRUE(b.memory.idle());
  for (int i = 0; i < 100; i++) b.edge();
  EXPECT_FALSE(b.r.r_valid);
  EXPECT_FALSE(b.w.b_valid);
  EXPECT_TRUE(b.r.ar_ready);
}

}  // namespace
