// The commands of a program in the order of a sequential machine, each with the ranges it touches; waits are
// worked out as they are added.
#ifndef KAITEN_COMPILE_COMMAND_LIST_H
#define KAITEN_COMPILE_COMMAND_LIST_H

#include <cstdint>
#include <span>
#include <vector>

#include "compile/command.h"
#include "compile/config.h"
#include "compile/hazard.h"
#include "compile/layout.h"
#include "compile/place.h"
#include "compile/program.h"
#include "compile/schedule.h"
#include "graph/graph.h"

namespace kaiten {

// Of the schedule's model of the queues, in cycles.
constexpr std::int64_t kLoadLatency = 20;
constexpr std::int64_t kEngineLatency = 20;  // beyond the rows of the array
constexpr std::int64_t kStoreLatency = 60;
constexpr std::int64_t kLoadStart = 4;

class CommandList {
 public:
  CommandList(const Graph& graph, const Config& config) : graph_(graph) { program.config = config; }

  // Throws InputError naming the layer where a program gets too long.
  void emit(CommandBody body, const CommandMeta& meta, std::span<const Access> accesses,
            std::int64_t latency);
  // Start of a new region of the constants, aligned to the bus.
  std::int64_t append_region();
  std::int64_t bus_cycles(std::int64_t bytes) const;
  // Puts the commands into the order of the schedule.
  void schedule();

  Program program;

 private:
  const Graph& graph_;
  std::vector<ScheduledCost> costs_;
  HazardTracker hazards_;
};

// Rows [begin, end) of a ring, and of a tensor in memory, as accesses.
void add_rows(std::vector<Access>& accesses, Buffer buffer, const Ring& ring, int begin, int end, bool write,
              std::uint32_t part_of = 0);
Access memory_rows(const MemoryLayout& m, int begin, int end, bool write, std::uint32_t part_of = 0);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_COMMAND_LIST_H
