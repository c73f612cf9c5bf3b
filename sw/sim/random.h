// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Small fast generator (xorshift64*) for stalls in the simulation loop; seeded, the same on every platform.
#ifndef KAITEN_SIM_RANDOM_H
#define KAITEN_SIM_RANDOM_H

#include <cstdint>

namespace kaiten::sim {

class Random {
 public:
  explicit Random(uint64_t seed = 1) : state_(seed * 0x9E3779B97F4A7C15u | 1u) {
    for (int i = 0; i < 4; i++) next();
  }
  uint32_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<uint32_t>((state_ * 0x2545F4914F6CDD1Du) >> 32);
  }
  // 0 .. bound - 1
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>((uint64_t{next()} * bound) >> 32); }
  bool percent(unsigned p) { return p != 0 && below(100) < p; }

 private:
  uint64_t state_;
};

}  // namespace kaiten::sim

#endif  // KAITEN_SIM_RANDOM_H
