// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// All that a bus can do to a run: the states of chip and memory that differ, each once, with everything the bus may do in the next
// cycle. States are told apart by 128 bits of hash. A stall is a cycle in which one channel could move something and does not.
#ifndef KAITEN_TESTS_FORMAL_SYMBOLIC_EXPLORER_H
#define KAITEN_TESTS_FORMAL_SYMBOLIC_EXPLORER_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tests/formal/symbolic/chip.h"
#include "tests/formal/symbolic/network.h"

namespace kaiten::symbolic {

inline constexpr int kPatience = 5000;  // cycles

class Explorer {
 public:
  struct At {
    Chip chip;
    int stalls = 0;  // fewest with which it is reached
  };

  // At most so many stalls in a run; negative: any number.
  explicit Explorer(int most_stalls) : most_(most_stalls) {}

  // From these states until the interrupt, when the memory must hold `expected` and nothing else. Returns the states then, if they
  // are kept. Throws RunError for other bytes, an interrupt before the last answer, a run that does not end once the bus stops
  // stalling, and one of more than kPatience cycles: its states may differ for ever.
  std::vector<At> explore(const std::vector<At>& starts, const SymbolicBytes& expected, bool keep_ends);

  std::size_t last_states() const { return last_states_; }  // of the last exploration
  std::size_t states() const { return states_; }
  std::size_t cycles() const { return cycles_; }

 private:
  using Key = std::array<std::uint64_t, 2>;
  struct Hash {
    std::size_t operator()(const Key& k) const { return std::size_t(k[0]); }
  };
  struct Seen {
    int stalls = 0;
    Key calm{};  // the state after a cycle without stalls, 0: the end
  };

  Key reach(const Chip& chip, int stalls, const SymbolicBytes& expected);
  void go_on(const At& from, const SymbolicBytes& expected);
  bool allowed(int stalls) const { return most_ < 0 || stalls <= most_; }
  void check_ends() const;

  int most_, last_cycle_ = 0;
  bool keep_ends_ = true;
  std::unordered_map<Key, Seen, Hash> seen_;
  std::unordered_map<Key, std::size_t, Hash> end_at_;
  std::vector<At> open_, ends_;
  std::size_t states_ = 0, last_states_ = 0, cycles_ = 0;
};

// The first address at which they differ; 0: none.
std::uint64_t difference(const SymbolicBytes& a, const SymbolicBytes& b);

}  // namespace kaiten::symbolic

#endif  // KAITEN_TESTS_FORMAL_SYMBOLIC_EXPLORER_H
