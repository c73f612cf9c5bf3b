// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// kt_axi_wr against a byte-wise model: random requests, random data gaps, random memory timing, monitored
// port.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "Vkt_axi_wr_flat.h"
#include "tests/rtl/axi/axi_bench.h"

namespace {

using namespace kaiten::test;
using namespace kaiten::sim;

constexpr unsigned kLanes = PARAM_DataW / 8;
constexpr unsigned kOutstanding = 8;

struct Bench {
  explicit Bench(const AxiMemoryOptions& options)
      : memory(options), monitor(port(), {.name = "wr", .outstanding = kOutstanding}, log), expected(kBytes) {
    memory.connect(port());
    m->rst_ni = 0;
    m->req_valid_i = 0;
    m->req_addr_i = 0;
    m->req_bytes_i = 1;
    m->data_valid_i = 0;
    m.tick();  // before the first edge flip-flops hold anything
    for (int i = 0; i < 3; i++) {
      m.eval();
      monitor.sample_in_reset(m.cycles());
      m.tick();
    }
    m->rst_ni = 1;
  }
  AxiWritePort port() { return KAITEN_AXI_WRITE_PORT(*m.operator->(), ); }
  void offer(bool valid) {
    m->req_valid_i = valid && next < requests.size();
    if (m->req_valid_i) {
      m->req_addr_i = requests[next].address;
      m->req_bytes_i = requests[next].bytes;
    }
  }
  // Next beat of the data stream, random bytes everywhere; those that the request covers go into `expected`.
  void feed(bool valid, std::mt19937_64& rng) {
    if (!m->data_valid_i && valid && feeding < requests.size()) {
      m->data_valid_i = 1;
      auto* data = reinterpret_cast<uint8_t*>(m->data_i.data());
      for (unsigned i = 0; i < kLanes; i++) data[i] = static_cast<uint8_t>(rng());
    }
  }
  void fed() {
    const Request& r = requests[feeding];
    const uint64_t at = r.address + sent;
    const unsigned bytes = std::min<unsigned>(kLanes - at % kLanes, r.bytes - sent);
    const auto* data = reinterpret_cast<const uint8_t*>(m->data_i.data()) + at % kLanes;
    std::copy(data, data + bytes, expected.begin() + static_cast<std::ptrdiff_t>(at - kBase));
    sent += bytes;
    beats++;
    if (sent == r.bytes) {
      feeding++;
      sent = 0;
    }
  }
  void cycle() {
    m.eval();
    monitor.sample(m.cycles());
    memory.pre_edge();
    if (m->req_valid_i && m->req_ready_o) next++;
    const bool push = m->data_valid_i && m->data_ready_o;
    if (push) fed();
    if (m->done_o) {
      // done means written: the last byte of the request stands in memory
      const Request& r = requests[done++];
      const auto bytes = memory.at(r.address, r.bytes);
      if (check_done) {
        ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(),
                               expected.begin() + static_cast<std::ptrdiff_t>(r.address - kBase)));
      }
    }
    errors += m->error_o;
    if (m->error_o) last_error = m->error_resp_o;
    m.tick();
    memory.post_edge();
    if (push) m->data_valid_i = 0;
  }

  Model<Vkt_axi_wr_flat> m;
  ProtocolLog log{true};
  AxiMemory memory;
  AxiWriteMonitor monitor;
  std::vector<uint8_t> expected;
  std::vector<Request> requests;
  size_t next = 0, feeding = 0, done = 0;
  unsigned sent = 0;
  uint64_t beats = 0, errors = 0;
  unsigned last_error = 0;
  bool check_done = true;
};

TEST(KtAxiWr, RandomRequestsTimingAndGaps) {
  std::mt19937_64 rng(seed());
  for (unsigned run = 0; run < 25; run++) {
    Bench b(random_timing(rng));
    // Disjoint ranges, so that a request can be compared when its completion comes.
    uint64_t at = kBase + rng() % 5000;
    for (unsigned i = 0; i < 40; i++) {
      Request r = random_request(rng);
      at += rng() % 3 ? 0 : rng() % 4000;
      r.address = at;
      at += r.bytes;
      if (at > kBase + kBytes) break;
      b.requests.push_back(r);
    }
    const unsigned ask = 5 + rng() % 96, give = 5 + rng() % 96;
    uint64_t limit = 3'000'000;
    while (b.done < b.requests.size() && limit--) {
      b.offer(b.m->req_valid_i || rng() % 100 < ask);
      b.feed(rng() % 100 < give, rng);
      b.cycle();
      if (HasFatalFailure()) return;
    }
    ASSERT_EQ(b.done, b.requests.size()) << "hangs";
    EXPECT_FALSE(b.m->busy_o);
    EXPECT_EQ(b.errors, 0u);
    EXPECT_EQ(b.beats, b.memory.counters().write_beats);
    const auto all = b.memory.at(kBase, kBytes);
    EXPECT_TRUE(std::equal(all.begin(), all.end(), b.expected.begin()))
        << "a byte outside the requests was written";
    b.monitor.finish(b.m.cycles());
  }
}

TEST(KtAxiWr, StreamsWithoutBubbles) {
  std::mt19937_64 rng(seed());
  Bench b(ideal_timing(20));
  constexpr unsigned kRows = 60, kBeats = 7;
  for (unsigned i = 0; i < kRows; i++) b.requests.push_back({kBase + i * 4096, kBeats * kLanes});
  while (b.done < kRows) {
    b.offer(true);
    b.feed(true, rng);
    b.cycle();
    ASSERT_FALSE(HasFatalFailure());
    ASSERT_LT(b.m.cycles(), 5000u);
  }
  EXPECT_LE(b.m.cycles(), kRows * kBeats + 20 + 20);
}

// An address never leaves before the data of its burst are here.
TEST(KtAxiWr, AddressWaitsForData) {
  std::mt19937_64 rng(seed());
  Bench b(ideal_timing(3));
  b.requests = {{kBase, 4 * kLanes}};
  for (int i = 0; i < 20; i++) {
    b.offer(true);
    if (b.beats < 3) b.feed(true, rng);
    b.cycle();
    ASSERT_FALSE(b.m->aw_valid_o);
  }
  for (int i = 0; i < 20; i++) {
    b.feed(true, rng);
    b.cycle();
  }
  EXPECT_EQ(b.done, 1u);
}

TEST(KtAxiWr, ErrorsAreReportedAndTheRequestCompletes) {
  for (const uint8_t resp : {kRespSlverr, kRespDecerr}) {
    std::mt19937_64 rng(seed());
    Bench b(ideal_timing(7));
    b.check_done = false;
    b.memory.fail_range(kBase + 4096, kBase + 4096, resp);
    b.memory.fail_write_burst(0, resp);
    b.requests = {{kBase + 3, 10 * kLanes}, {kBase + 4096 - 3 * kLanes, 12 * kLanes}, {kBase + 9000, 5}};
    for (int i = 0; i < 300; i++) {
      b.offer(true);
      b.feed(true, rng);
      b.cycle();
    }
    EXPECT_EQ(b.done, 3u);
    EXPECT_EQ(b.errors, 2u);
    EXPECT_EQ(b.last_error, resp);
    EXPECT_FALSE(b.m->busy_o);
  }
}

}  // namespace
