// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Streaming buffer against nine plain arrays: three writers with random requests, random reads every cycle.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <numeric>
#include <random>
#include <vector>

#include "Vkt_stream_buf.h"
#include "tests/support/model.h"

namespace {

constexpr int kDepth = 32, kConvWords = 2, kVectorWords = 3, kLoadWords = 4;

struct Access {
  bool enabled;
  int bank, address;
  uint32_t packed() const {
    return static_cast<uint32_t>(enabled << 20 | bank << 16 | address);
  }  // kt_pkg::bank_req_t
};

class StreamBuf : public testing::Test {
 protected:
  StreamBuf() : random(kaiten::test::seed()) {
    top->clk_i = top->rst_ni = 0;
    top->conv_we_i = top->vector_valid_i = top->vector_we_i = top->load_valid_i = 0;
    top->eval();
    for (int t = 0; t < 9; t++) top->rd_req_i[t] = 0;
    edge();
    top->rst_ni = 1;
  }
  void edge() {
    top->clk_i = 1;
    top->eval();
    top->clk_i = 0;
    top->eval();
  }
  int pick(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }

  // Accesses of one request: different banks.
  std::vector<Access> request(int words) {
    std::array<int, 9> banks;
    std::iota(banks.begin(), banks.end(), 0);
    std::shuffle(banks.begin(), banks.end(), random);
    std::vector<Access> accesses;
    for (int w = 0; w < words; w++) accesses.push_back({pick(4) != 0, banks[w], pick(kDepth)});
    return accesses;
  }
  static bool meet(const Access& a, const std::vector<Access>& b) {
    for (const Access& y : b)
      if (a.enabled && y.enabled && a.bank == y.bank) return true;
    return false;
  }
  static bool meet(const std::vector<Access>& a, const std::vector<Access>& b) {
    for (const Access& x : a)
      if (meet(x, b)) return true;
    return false;
  }

  std::mt19937 random;
  kaiten::test::Model<Vkt_stream_buf> top;
};

TEST_F(StreamBuf, WritersAndReader) {
  using Banks = std::array<std::array<int64_t, kDepth>, 9>;  // -1: never written
  Banks memory;
  for (auto& bank : memory) bank.fill(-1);
  struct Write {
    int bank, address;
    uint32_t data;
  };
  std::deque<std::vector<Write>> under_way(1);  // written one cycle later
  struct Read {
    int access;
    int64_t data;
  };
  std::vector<Read> expected;
  // LOAD's request stays until its grant; `open` are its words not yet written
  bool load_waits = false;
  std::vector<Access> load, open;
  std::array<uint32_t, kLoadWords> load_data;
  uint64_t refused = 0, in_parts = 0, checked = 0;

  for (int cycle = 0; cycle < 20000; cycle++) {
    const auto array = request(kConvWords), vector = request(kVectorWords);
    const bool conv_on = pick(2), vector_wants = pick(2), load_valid = load_waits || pick(2);
    std::vector<Write> writes;
    const auto drive = [&](const std::vector<Access>& accesses, auto& ports, auto& words, bool on) {
      for (size_t w = 0; w < accesses.size(); w++) {
        const uint32_t data = static_cast<uint32_t>(random());
        ports[w] = accesses[w].packed();
        words[w] = data;
        if (on && accesses[w].enabled) writes.push_back({accesses[w].bank, accesses[w].address, data});
      }
    };
    // a request may wait for another sink: it is not written then, but LOAD keeps off its banks
    const bool vector_grant = !(conv_on && vector_wants && meet(array, vector));
    const bool vector_on = vector_wants && vector_grant && pick(4);
    drive(array, top->conv_req_i, top->conv_word_i, conv_on);
    drive(vector, top->vector_req_i, top->vector_word_i, vector_on);
    if (!load_waits) {
      load = open = request(kLoadWords);
      for (uint32_t& data : load_data) data = static_cast<uint32_t>(random());
    }
    bool load_grant = true;
    for (int w = 0; w < kLoadWords; w++) {
      top->load_req_i[w] = load[w].packed();
      top->load_word_i[w] = load_data[w];
      if (!load_valid || !open[w].enabled) continue;
      if ((conv_on && meet(open[w], array)) || (vector_wants && meet(open[w], vector))) {
        load_grant = false;
      } else {
        writes.push_back({load[w].bank, load[w].address, load_data[w]});
        open[w].enabled = false;
      }
    }
    top->conv_we_i = conv_on;
    top->vector_valid_i = vector_wants;
    top->load_valid_i = load_valid;
    top->eval();
    if (vector_wants) ASSERT_EQ(top->vector_grant_o, vector_grant);
    top->vector_we_i = vector_on;
    top->eval();
    if (load_valid) ASSERT_EQ(top->load_grant_o, load_grant) << "cycle " << cycle;
    refused += !vector_grant + !load_grant;
    in_parts += load_valid && load_waits && load_grant;
    load_waits = load_valid && !load_grant;

    const auto reads = request(9);
    for (int t = 0; t < 9; t++) top->rd_req_i[t] = reads[t].packed();
    edge();
    // the words asked for in this cycle stand at the outputs behind its edge
    for (int t = 0; t < 9; t++) {
      if (!reads[t].enabled || memory[reads[t].bank][reads[t].address] < 0) continue;
      ASSERT_EQ(top->word_o[t], memory[reads[t].bank][reads[t].address])
          << "cycle " << cycle << " access " << t;
      checked++;
    }
    under_way.push_back(writes);
    for (const Write& w : under_way.front()) memory[w.bank][w.address] = w.data;
    under_way.pop_front();
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(in_parts, 1000u);
  EXPECT_GT(checked, 50000u);
}

}  // namespace
