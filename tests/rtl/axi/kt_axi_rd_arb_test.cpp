// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Two masters behind kt_axi_rd_arb: each gets its own bytes in order, however the memory interleaves the IDs.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "Vkt_axi_rd_pair.h"
#include "tests/rtl/axi/axi_bench.h"

namespace {

using namespace kaiten::test;
using namespace kaiten::sim;

struct Bench {
  explicit Bench(const AxiMemoryOptions& options)
      : memory(options), monitor(port(), {.name = "rd", .outstanding = 16, .ids = 2}, log) {
    memory.connect(port());
    m->rst_ni = 0;
    m->req_valid_i = m->rsp_ready_i = 0;
    m.tick();  // before the first edge flip-flops hold anything
    for (int i = 0; i < 3; i++) {
      m.eval();
      monitor.sample_in_reset(m.cycles());
      m.tick();
    }
    m->rst_ni = 1;
  }
  AxiReadPort port() { return KAITEN_AXI_READ_PORT(*m.operator->(), ); }
  void offer(unsigned c, bool valid) {
    const bool v = valid && next[c] < requests[c].size();
    m->req_valid_i = (m->req_valid_i & ~(1u << c)) | unsigned{v} << c;
    if (v) {
      m->req_addr_i[c] = requests[c][next[c]].address;
      m->req_bytes_i[c] = requests[c][next[c]].bytes;
    }
  }
  void cycle() {
    m.eval();
    monitor.sample(m.cycles());
    memory.pre_edge();
    for (unsigned c = 0; c < 2; c++) {
      if (m->req_valid_i >> c & m->req_ready_o >> c & 1) next[c]++;
      if (m->rsp_valid_o >> c & m->rsp_ready_i >> c & 1) take(c);
      errors[c] += m->error_o >> c & 1;
    }
    m.tick();
    memory.post_edge();
  }
  void take(unsigned c) {
    ASSERT_LT(done[c], next[c]);
    const Request& r = requests[c][done[c]];
    const uint64_t at = r.address + got[c];
    const unsigned lanes = 16, bytes = std::min<unsigned>(lanes - at % lanes, r.bytes - got[c]);
    ASSERT_EQ(m->rsp_offset_o[c], got[c] ? 0 : r.address % lanes);
    ASSERT_EQ(m->rsp_bytes_o[c], bytes);
    const auto* data = reinterpret_cast<const uint8_t*>(m->rsp_data_o[c].data());
    const auto expected = memory.at(at, bytes);
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), data + at % lanes));
    got[c] += bytes;
    ASSERT_EQ(m->rsp_last_o >> c & 1, got[c] == r.bytes);
    if (got[c] == r.bytes) {
      done[c]++;
      got[c] = 0;
    }
  }

  Model<Vkt_axi_rd_pair> m;
  ProtocolLog log{true};
  AxiMemory memory;
  AxiReadMonitor monitor;
  std::array<std::vector<Request>, 2> requests;
  std::array<size_t, 2> next{}, done{};
  std::array<unsigned, 2> got{}, errors{};
};

TEST(KtAxiRdArb, EachClientGetsItsBytesInOrder) {
  std::mt19937_64 rng(seed());
  for (unsigned run = 0; run < 25; run++) {
    AxiMemoryOptions o = random_timing(rng);
    o.shuffle_ids = run % 2;
    Bench b(o);
    fill(b.memory, rng());
    for (unsigned i = 0; i < 60; i++) b.requests[0].push_back({kBase + rng() % 1000 * 64, 64});
    for (unsigned i = 0; i < 30; i++) b.requests[1].push_back(random_request(rng));
    const unsigned ask[2] = {static_cast<unsigned>(1 + rng() % 60), static_cast<unsigned>(10 + rng() % 91)};
    const unsigned take = 10 + rng() % 91;
    uint64_t limit = 3'000'000;
    while ((b.done[0] < b.requests[0].size() || b.done[1] < b.requests[1].size()) && limit--) {
      for (unsigned c = 0; c < 2; c++) b.offer(c, b.m->req_valid_i >> c & 1 || rng() % 100 < ask[c]);
      b.m->rsp_ready_i = 1u | unsigned{rng() % 100 < take} << 1;
      b.cycle();
      if (HasFatalFailure()) return;
    }
    ASSERT_EQ(b.done[0], b.requests[0].size());
    ASSERT_EQ(b.done[1], b.requests[1].size());
    b.monitor.finish(b.m.cycles());
    EXPECT_EQ(b.m->busy_o, 0);
    EXPECT_EQ(b.errors[0] + b.errors[1], 0u);
  }
}

TEST(KtAxiRdArb, ErrorReachesTheClientThatAsked) {
  Bench b(ideal_timing(10));
  fill(b.memory, seed());
  b.memory.fail_range(kBase + 8192, kBase + 8192, kRespSlverr);
  b.requests[0] = {{kBase, 64}};
  b.requests[1] = {{kBase + 8192, 256}};
  b.m->rsp_ready_i = 3;
  for (int i = 0; i < 100; i++) {
    for (unsigned c = 0; c < 2; c++) b.offer(c, true);
    b.cycle();
  }
  EXPECT_EQ(b.done[0], 1u);
  EXPECT_EQ(b.done[1], 1u);
  EXPECT_EQ(b.errors[0], 0u);
  EXPECT_EQ(b.errors[1], 1u);
  EXPECT_EQ(b.m->error_resp_o[1], kRespSlverr);
}

// The command fetch is not delayed by a LOAD that has filled its quota of bursts.
TEST(KtAxiRdArb, FetchGoesFirst) {
  Bench b(ideal_timing(30));
  fill(b.memory, seed());
  for (unsigned i = 0; i < 20; i++) b.requests[1].push_back({kBase + i * 4096, 4096});
  b.m->rsp_ready_i = 3;
  for (int i = 0; i < 10; i++) {
    b.offer(1, true);
    b.cycle();
  }
  b.requests[0] = {{kBase, 64}};
  unsigned cycles = 0;
  for (; b.next[0] == 0; cycles++) {
    b.offer(0, true);
    b.offer(1, true);
    b.cycle();
  }
  const uint64_t before = b.memory.counters().read_beats_of_id[0];
  EXPECT_EQ(before, 0u);
  for (; b.done[0] == 0 && cycles < 1000; cycles++) {
    b.offer(0, true);
    b.offer(1, true);
    b.cycle();
  }
  // at most the eight bursts of LOAD that were asked for before it
  EXPECT_LT(cycles, 8 * 16 + 30 + 10u);
}

}  // namespace
