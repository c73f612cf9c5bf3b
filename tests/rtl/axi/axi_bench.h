// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What the tests of the AXI masters share: one cycle with memory and monitors in the right order, memory with
// a known pattern.
#ifndef KAITEN_TESTS_RTL_AXI_AXI_BENCH_H
#define KAITEN_TESTS_RTL_AXI_AXI_BENCH_H

#include <random>

#include "sim/axi_memory.h"
#include "sim/axi_monitor.h"
#include "tests/support/model.h"

namespace kaiten::test {

inline constexpr std::uint64_t kBase = 0x12'3450'0000;  // above 32 bits: the upper address bits count
inline constexpr std::size_t kBytes = 1 << 20;

inline sim::AxiMemoryOptions random_timing(std::mt19937_64& rng) {
  sim::AxiMemoryOptions o;
  o.base = kBase;
  o.bytes = kBytes;
  o.read_latency = 1 + rng() % 40;
  o.write_latency = 1 + rng() % 40;
  if (rng() % 3 == 0) o.bytes_per_cycle = 1.0 + static_cast<double>(rng() % 1000) / 10;
  if (rng() % 4 == 0) o.max_reads = o.max_writes = 1 + rng() % 4;
  auto percent = [&] { return rng() % 2 ? 0u : static_cast<unsigned>(rng() % 90); };
  o.stall_ar = percent();
  o.stall_r = percent();
  o.stall_aw = percent();
  o.stall_w = percent();
  o.stall_b = percent();
  o.shuffle_ids = rng() % 2;
  o.seed = rng();
  o.data_first = o.seed % 4 == 0;
  return o;
}

inline sim::AxiMemoryOptions ideal_timing(unsigned latency) {
  sim::AxiMemoryOptions o;
  o.base = kBase;
  o.bytes = kBytes;
  o.read_latency = o.write_latency = latency;
  return o;
}

inline void fill(sim::AxiMemory& memory, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  for (auto& b : memory.at(kBase, kBytes)) b = static_cast<std::uint8_t>(rng());
}

struct Request {
  std::uint64_t address;
  unsigned bytes;
};

// Mostly short requests, some at page ends, a few long ones, up to half of the memory.
inline Request random_request(std::mt19937_64& rng) {
  Request r;
  switch (rng() % 8) {
    case 0:
      r.bytes = 1 + rng() % (rng() % 16 ? 20000 : kBytes / 2);
      break;
    case 1:
      r.bytes = 1 + rng() % 3;
      break;
    case 2:
      r.bytes = 64 << rng() % 5;
      break;
    default:
      r.bytes = 1 + rng() % 1500;
      break;
  }
  r.address = kBase + rng() % (kBytes - r.bytes);
  if (rng() % 4 == 0) r.address &= ~std::uint64_t{63};
  if (rng() % 4 == 0) {
    r.address = (r.address | 4095) + 1 - rng() % 200;
    if (r.address + r.bytes > kBase + kBytes) r.address = kBase;
  }
  return r;
}

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_RTL_AXI_AXI_BENCH_H
