// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// kt_axi_rd against a byte-wise model: random requests, random memory timing, random client stalls, monitored
// port.
#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "Vkt_axi_rd_flat.h"
#include "tests/rtl/axi/axi_bench.h"

namespace {

using namespace kaiten::test;
using namespace kaiten::sim;

constexpr unsigned kLanes = PARAM_DataW / 8;
constexpr unsigned kOutstanding = 8;

struct Bench {
  explicit Bench(const AxiMemoryOptions& options)
      : memory(options), monitor(port(), {.name = "rd", .outstanding = kOutstanding}, log) {
    memory.connect(port());
    m->rst_ni = 0;
    m->req_valid_i = 0;
    m->req_addr_i = 0;
    m->req_bytes_i = 1;
    m->rsp_ready_i = 0;
    m.tick();  // before the first edge flip-flops hold anything
    for (int i = 0; i < 3; i++) {
      m.eval();
      monitor.sample_in_reset(m.cycles());
      m.tick();
    }
    m->rst_ni = 1;
  }
  AxiReadPort port() {
    AxiReadPort p;
    p.data_bytes = kLanes;
    p.ar_valid = &m->ar_valid_o;
    p.ar_ready = &m->ar_ready_i;
    p.ar_id = &id;
    p.ar_addr = &m->ar_addr_o;
    p.ar_len = &m->ar_len_o;
    p.ar_size = &size;
    p.ar_burst = &burst;
    p.r_valid = &m->r_valid_i;
    p.r_ready = &m->r_ready_o;
    p.r_id = &r_id;
    p.r_data = m->r_data_i.data();
    p.r_resp = &m->r_resp_i;
    p.r_last = &m->r_last_i;
    return p;
  }
  void offer(bool valid) {
    m->req_valid_i = valid && next < requests.size();
    if (m->req_valid_i) {
      m->req_addr_i = requests[next].address;
      m->req_bytes_i = requests[next].bytes;
    }
  }
  // One cycle; checks the response beat, if one is taken.
  void cycle() {
    m.eval();
    monitor.sample(m.cycles());
    memory.pre_edge();
    if (m->req_valid_i && m->req_ready_o) next++;
    if (m->rsp_valid_o && m->rsp_ready_i) take();
    errors += m->error_o;
    if (m->error_o) last_error = m->error_resp_o;
    m.tick();
    memory.post_edge();
  }
  void take() {
    ASSERT_LT(done, next) << "beat without a request";
    const Request& r = requests[done];
    const uint64_t at = r.address + got;
    ASSERT_EQ(m->rsp_offset_o, got ? 0 : r.address % kLanes);
    const unsigned bytes = std::min<unsigned>(kLanes - at % kLanes, r.bytes - got);
    ASSERT_EQ(m->rsp_bytes_o, bytes);
    const auto* data = reinterpret_cast<const uint8_t*>(m->rsp_data_o.data());
    const auto expected = memory.at(at, bytes);
    if (!m->rsp_error_o) ASSERT_TRUE(std::equal(expected.begin(), expected.end(), data + at % kLanes));
    error_beats += m->rsp_error_o;
    beats++;
    got += bytes;
    ASSERT_EQ(m->rsp_last_o, got == r.bytes);
    if (got == r.bytes) {
      done++;
      got = 0;
    }
  }

  Model<Vkt_axi_rd_flat> m;
  const uint8_t id = 0, burst = 1, size = static_cast<uint8_t>(__builtin_ctz(kLanes));
  uint8_t r_id = 0;
  ProtocolLog log{true};
  AxiMemory memory;
  AxiReadMonitor monitor;
  std::vector<Request> requests;
  size_t next = 0, done = 0;  // offered next, finished
  unsigned got = 0;           // bytes of the current one
  uint64_t beats = 0, errors = 0, error_beats = 0;
  unsigned last_error = 0;
};

TEST(KtAxiRd, RandomRequestsTimingAndStalls) {
  std::mt19937_64 rng(seed());
  for (unsigned run = 0; run < 25; run++) {
    Bench b(random_timing(rng));
    fill(b.memory, rng());
    for (unsigned i = 0; i < 40; i++) b.requests.push_back(random_request(rng));
    const unsigned ask = 10 + rng() % 91, take = 10 + rng() % 91;
    uint64_t limit = 3'000'000;
    while (b.done < b.requests.size() && limit--) {
      b.offer(b.m->req_valid_i || rng() % 100 < ask);
      b.m->rsp_ready_i = rng() % 100 < take;
      b.cycle();
      if (HasFatalFailure()) return;
    }
    ASSERT_EQ(b.done, b.requests.size()) << "hangs";
    b.m->rsp_ready_i = 1;
    for (int i = 0; i < 5; i++) b.cycle();
    EXPECT_FALSE(b.m->busy_o);
    EXPECT_EQ(b.errors, 0u);
    EXPECT_EQ(b.beats, b.memory.counters().read_beats) << "reads more beats than asked for";
    b.monitor.finish(b.m.cycles());
  }
}

// Rows of seven beats at a latency of 40 cycles: with eight bursts under way nothing but the latency is lost.
TEST(KtAxiRd, ShortRowsStreamWithoutBubbles) {
  Bench b(ideal_timing(40));
  constexpr unsigned kRows = 100, kBeats = 7;
  for (unsigned i = 0; i < kRows; i++) b.requests.push_back({kBase + i * 4096, kBeats * kLanes});
  b.m->rsp_ready_i = 1;
  while (b.done < kRows) {
    b.offer(true);
    b.cycle();
    ASSERT_LT(b.m.cycles(), 5000u);
  }
  EXPECT_LE(b.m.cycles(), kRows * kBeats + 40 + 10);
}

TEST(KtAxiRd, LongestRequest) {
  Bench b(ideal_timing(5));
  fill(b.memory, seed());
  b.requests.push_back({kBase + 1, (1u << 20) - 1});
  b.m->rsp_ready_i = 1;
  while (b.done < 1) {
    b.offer(true);
    b.cycle();
    ASSERT_LT(b.m.cycles(), 200'000u);
    ASSERT_FALSE(HasFatalFailure());
  }
  EXPECT_EQ(b.beats, (1u << 20) / kLanes);
}

TEST(KtAxiRd, ErrorsAreReportedAndNothingHangs) {
  for (const uint8_t resp : {kRespSlverr, kRespDecerr}) {
    Bench b(ideal_timing(7));
    fill(b.memory, seed());
    b.memory.fail_range(kBase + 4096, kBase + 4096 + 5 * kLanes - 1, resp);  // five beats
    b.memory.fail_read_beat(2, resp);
    b.requests = {{kBase + 3, 10 * kLanes}, {kBase + 4096 - 3 * kLanes, 12 * kLanes}, {kBase + 100, 5}};
    b.m->rsp_ready_i = 1;
    for (int i = 0; i < 300; i++) {
      b.offer(true);
      b.cycle();
      ASSERT_FALSE(HasFatalFailure());
    }
    EXPECT_EQ(b.done, 3u);
    EXPECT_EQ(b.error_beats, 6u);
    EXPECT_EQ(b.errors, 6u);
    EXPECT_EQ(b.last_error, resp);
    EXPECT_FALSE(b.m->busy_o);
  }
}

}  // namespace
