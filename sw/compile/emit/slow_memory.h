// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A memory that moves less than the bus: whole beats of LOADs, of results and of the commands themselves share what it gives.
// LOADs and results take turns (sim/axi_memory.h).
#ifndef KAITEN_COMPILE_EMIT_SLOW_MEMORY_H
#define KAITEN_COMPILE_EMIT_SLOW_MEMORY_H

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compile/emit/passage.h"

namespace kaiten {

struct Program;
struct TimedCommand;

// The memory's cycles for what a command moves: a LOAD reads, an engine writes what the STORE before it takes; none does both.
struct MemoryWork {
  double read = 0;
  double written = 0;
  std::int64_t bursts = 1;  // of what is read
  std::int64_t stalls =
      0;  // cycles by which the engine takes longer, though on average memory takes what it makes

  std::int64_t cycles() const { return std::int64_t(std::ceil(read + written)); }
};

// What a command needs of memory while it works.
struct FromMemory {
  std::int64_t cycles = 0;
  std::int64_t apart =
      0;  // at most: so far is memory ahead of LOAD's writing, or behind the engine's results
  std::int64_t bursts = 1;
};

struct SlowMemory {
  double beat = 1;                   // cycles for a beat of the bus
  double block = 1;                  // and for a block of commands
  std::vector<MemoryWork> commands;  // in the order of the list

  SlowMemory(const Program& program, std::span<const TimedCommand> timed, double bytes_per_cycle);

  // Of a command that works for so many cycles itself and for which memory works as long as `moves`.
  FromMemory from(std::size_t command, std::int64_t cycles, std::int64_t moves) const;
};

// The cycles by which memory works longer for commands because others use it. `cycles`: of each command alone; `work`: when
// memory works for it.
std::vector<std::int64_t> memory_waits(std::span<const MemoryWork> commands,
                                       std::span<const std::int64_t> cycles, std::span<const WorkTime> work);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_EMIT_SLOW_MEMORY_H
