// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Which command must wait for which. Commands are given in the order of a sequential machine, each with the
// ranges it reads and writes; the tracker answers with the number of commands of each queue that must be complete
// before it starts, so that every pair of commands that touch a common element, one of them writing, runs in
// that order. Engines may take a command before their last one is complete, so a command may have to wait for
// its own queue.
//
// The counts are positions inside the queues: they stay right in any order of the whole list that keeps the
// order inside each queue and puts no command before one it waits for.
#ifndef KAITEN_COMPILE_EMIT_HAZARD_H
#define KAITEN_COMPILE_EMIT_HAZARD_H

#include <array>
#include <boost/container/flat_map.hpp>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <span>

#include "program/command.h"

namespace kaiten {

// Addresses of SB and VB, rows of WB and VWB, words of the two ZSBs, bytes of memory from each base
// register.
enum class Space : std::uint8_t { kSb, kVb, kWb, kVwb, kZsbArray, kZsbVector, kMemory0 };
constexpr int kSpaces = int(Space::kMemory0) + 8;

constexpr Space memory_space(int base) { return Space(int(Space::kMemory0) + base); }

struct Access {
  Space space = Space::kSb;
  std::int64_t begin = 0;
  std::int64_t end = 0;  // one past the last
  bool write = false;
  // Writers of one queue with the same nonzero part name write disjoint elements of the range (different
  // channels of the same rows, say) and do not wait for each other.
  std::uint32_t part_of = 0;
};

// Of a command: as many as most have, without memory of their own.
using Accesses = boost::container::small_vector<Access, 6>;
inline std::span<const Access> all_of(const Accesses& a) { return {a.data(), a.size()}; }

// Whether a command of `queue` waits for an earlier one of `before`.
bool must_wait(Queue queue, std::span<const Access> accesses, Queue before, std::span<const Access> earlier);

class HazardTracker {
 public:
  // Waits that the next command would have if it went into `queue` now.
  Counts peek(Queue queue, std::span<const Access> accesses) const;
  // Waits of the next command, which goes into `queue`.
  Counts add(Queue queue, std::span<const Access> accesses);
  // Commands given so far.
  const Counts& counts() const { return counts_; }

 private:
  struct State {
    std::int64_t end = 0;
    Counts writes{};  // number of the last writer of each queue that no command has waited for, 0: none
    Counts reads{};   // number of the last reader of each queue since the last write
    std::uint32_t part_of = 0;
  };
  using Map = boost::container::flat_map<std::int64_t, State>;

  // First interval that ends after `at`, split so that none straddles it.
  static Map::iterator split(Map& map, std::int64_t at);

  std::array<Map, kSpaces> maps_;
  Counts counts_{};
};

}  // namespace kaiten

#endif  // KAITEN_COMPILE_EMIT_HAZARD_H
