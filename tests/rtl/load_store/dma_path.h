// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// STORE and LOAD through their AXI masters and a memory with random timing (dma_path.sv): commands and results in, the
// words that reach SB and WB out.
#ifndef KAITEN_TESTS_RTL_LOAD_STORE_DMA_PATH_H
#define KAITEN_TESTS_RTL_LOAD_STORE_DMA_PATH_H

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "Vdma_path.h"
#include "sim/axi_memory.h"
#include "sim/axi_monitor.h"
#include "tests/rtl/axi/axi_bench.h"
#include "tests/rtl/load_store/load_store_test.h"

namespace kaiten::test {

inline constexpr int kKp = PARAM_Kp, kCp = PARAM_Cp, kBus = PARAM_AxiW / 8;
inline constexpr int kLw = std::min(9, kBus / kCp);

struct Path {
  Path(const sim::AxiMemoryOptions& options, std::uint64_t seed)
      : rng(seed),
        memory(options),
        reads(read_port(), {.name = "rd", .outstanding = PARAM_Outstanding, .ids = 2}, log),
        writes(write_port(), {.name = "wr", .outstanding = 8}, log) {
    memory.connect(read_port());
    memory.connect(write_port());
    for (int i = 0; i < 8; i++) m->base_i[i] = kBase + (i & 1) * 333;
    m->rst_ni = 0;
    m->load_valid_i = m->store_valid_i = m->conv_valid_i = m->vector_valid_i = 0;
    m->sb_grant_i = 1;
    for (int i = 0; i < 3; i++) m.tick();
    m->rst_ni = 1;
  }
  std::uint64_t base(std::int64_t i) { return m->base_i[i]; }
  sim::AxiReadPort read_port() { return KAITEN_AXI_READ_PORT(m.top(), ); }
  sim::AxiWritePort write_port() { return KAITEN_AXI_WRITE_PORT(m.top(), ); }

  void store(const StoreCommand& c) { stores.push_back(body_of(c)); }
  template <class C>
  void load(const C& c) {
    loads.push_back({C::kOpcode, body_of(c)});
  }

  void cycle() {
    auto& top = m.top();
    if (!top.store_valid_i && !stores.empty()) {
      top.store_valid_i = 1;
      top.store_index_i = static_cast<std::uint32_t>(pick(rng, 0, 0xffffff));
      set_bytes(top.store_cmd_i, stores.front().data(), sizeof(Body));
    }
    if (!top.load_valid_i && !loads.empty() && !hold_loads) {
      top.load_valid_i = 1;
      top.load_op_i = static_cast<int>(loads.front().first);
      top.load_index_i = indices.draw(rng, load_count++);
      set_bytes(top.load_cmd_i, loads.front().second.data(), sizeof(Body));
    }
    feed(top.conv_valid_i, top.conv_word_i, array);
    feed(top.vector_valid_i, top.vector_word_i, vector);
    top.sb_grant_i = !percent(rng, stall);
    m.eval();
    reads.sample(m.cycles());
    writes.sample(m.cycles());
    memory.pre_edge();
    const bool store_taken = top.store_valid_i && top.store_ready_o,
               load_taken = top.load_valid_i && top.load_ready_o;
    const bool array_taken = top.conv_valid_i && top.conv_ready_o,
               vector_taken = top.vector_valid_i && top.vector_ready_o;
    stored += top.store_done_o;
    loaded += top.load_done_o;
    const EngineError error(top.load_error_o);
    if (error.corrupt) corrupt.push_back({indices.command(error.index), static_cast<int>(error.row)});
    bus_errors += error.bus;
    EXPECT_FALSE(error.illegal);
    if (top.zvc_read_o) {
      read_raw += top.zvc_read_raw_o;
      read_packed += top.read_bytes_o;
    }
    if (top.zvc_written_o) {
      written_raw += top.zvc_written_raw_o;
      written_packed += top.written_bytes_o;
    }
    if (top.wb_en_o) {
      auto& row = weights[top.weights_addr_o];
      row.resize(9 * kCp);
      get_bytes(top.weights_o, row.data(), row.size());
    }
    if (top.sb_valid_o && top.sb_grant_i) {
      for (int w = 0; w < kLw; w++) {
        const unsigned req = top.sb_req_o[w];
        if (!(req >> 20 & 1)) continue;
        auto& word = buffer[static_cast<int>(req & 0xffff) * 9 + static_cast<int>(req >> 16 & 15)];
        word.resize(kCp);
        get_bytes(top.word_o[w], word.data(), kCp);
      }
    }
    top.clk_i = 1;
    top.eval();
    memory.post_edge();
    top.clk_i = 0;
    top.eval();
    count++;
    if (store_taken) {
      top.store_valid_i = 0;
      stores.pop_front();
    }
    if (load_taken) {
      top.load_valid_i = 0;
      loads.pop_front();
    }
    if (array_taken) {
      top.conv_valid_i = 0;
      array.pop_front();
    }
    if (vector_taken) {
      top.vector_valid_i = 0;
      vector.pop_front();
    }
  }

  // Until so many commands are done.
  bool run(std::int64_t store_goal, std::int64_t load_goal) {
    for (int i = 0; i < 500000; i++) {
      if (stored >= store_goal && loaded >= load_goal) return true;
      cycle();
    }
    return false;
  }

  using Pixels = std::deque<std::vector<std::uint8_t>>;
  template <class Words>
  void feed(CData& valid, Words& words, const Pixels& pixels) {
    if (valid || pixels.empty() || percent(rng, stall)) return;
    valid = 1;
    for (std::size_t w = 0; w * kCp < pixels.front().size(); w++) {
      set_bytes(words[w], pixels.front().data() + w * kCp, kCp);
    }
  }

  Rng rng;
  Model<Vdma_path> m;
  sim::AxiMemory memory;
  sim::ProtocolLog log;
  sim::AxiReadMonitor reads;
  sim::AxiWriteMonitor writes;
  std::deque<Body> stores;
  std::deque<std::pair<Opcode, Body>> loads;
  Pixels array, vector;
  std::map<int, std::vector<std::uint8_t>> buffer;   // SB: 9 * address + bank
  std::map<int, std::vector<std::uint8_t>> weights;  // WB
  CommandIndices indices;                            // of LOAD's commands
  std::vector<std::pair<int, int>> corrupt;          // command, row
  std::int64_t bus_errors = 0;
  std::int64_t read_raw = 0, read_packed = 0, written_raw = 0, written_packed = 0;
  std::int64_t stored = 0, loaded = 0, count = 0, load_count = 0;
  int stall = 0;
  bool hold_loads = false;
};

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_RTL_LOAD_STORE_DMA_PATH_H
