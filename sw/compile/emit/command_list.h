// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The commands of a program in the order of a sequential machine, each with the ranges it touches; waits are
// worked out as they are added, and so is the time at which a simple model of the four queues starts them.
#ifndef KAITEN_COMPILE_EMIT_COMMAND_LIST_H
#define KAITEN_COMPILE_EMIT_COMMAND_LIST_H

#include <array>
#include <boost/container/deque.hpp>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "compile/emit/cycle_model.h"
#include "compile/emit/hazard.h"
#include "compile/emit/row_lives.h"
#include "compile/emit/schedule.h"
#include "graph/graph.h"
#include "program/command.h"
#include "program/config.h"
#include "program/memory_layout.h"
#include "program/program.h"
#include "program/ring.h"

namespace kaiten {

// Of the schedule's model of the queues, in cycles.
constexpr std::int64_t kLoadLatency = 20;
constexpr std::int64_t kEngineLatency = 20;  // beyond the array's depth
constexpr std::int64_t kStoreLatency = 60;
constexpr std::int64_t kLoadStart = 4;
constexpr std::int64_t kLoadExtra[] = {0, 10, 20, 30};  // guesses, see schedule()

// A command that could be added.
struct Offer {
  CommandBody body;
  std::optional<ExtendConvCommand> extension = {};
  CommandMeta meta;
  Accesses accesses;
  boost::container::small_vector<RowUse, 4> rows;  // of SB and VB, as far as they are in `accesses`
  std::int64_t latency = 0;                        // from the end of its busy time to completion
};

class CommandList {
 public:
  CommandList(const Graph& graph, const Config& config) : graph_(graph), config_(config) {}

  // The commands that one of the queue would wait for if it were added now.
  Counts waits_of(Queue queue, std::span<const Access> accesses) const {
    return hazards_.peek(queue, accesses);
  }
  // When one that waits for these could start, in cycles of the model.
  std::int64_t start_after(Queue queue, const Counts& wait) const;
  // Commands so far.
  const Counts& counts() const { return hazards_.counts(); }
  // A STORE is followed by the command that feeds it. Throws InputError naming the layer where a program gets
  // too long.
  void emit(const Offer& offer);
  // A constant blob, aligned to the bus; `fill` appends its bytes when the program is finished.
  std::int64_t constant(std::int64_t bytes, std::function<void(std::vector<std::uint8_t>&)> fill);
  std::int64_t bus_cycles(std::int64_t bytes) const;
  // When the last command is complete, after commands() found the order in which they are fetched.
  std::int64_t modelled_cycles() const { return modelled_cycles_; }
  // Activations moved, both directions.
  std::int64_t activation_bytes() const { return activation_bytes_; }
  // Finds that order. False where none would be complete by cycle `most`: then there is none.
  bool schedule(std::int64_t most = std::numeric_limits<std::int64_t>::max());
  // Commands, in the order that schedule() found or else as they were emitted, and constants if asked for; once.
  Program finish(bool constants = true);

 private:
  struct Constant {
    std::int64_t offset;
    std::int64_t bytes;
    std::function<void(std::vector<std::uint8_t>&)> fill;
  };

  const Graph& graph_;
  const Config& config_;
  // Many large elements, none of which moves when the list grows.
  template <class T>
  using Blocks =
      boost::container::deque<T, void, boost::container::deque_options_t<boost::container::block_size<256>>>;

  // Of each command, in the order of emit().
  Blocks<Command> commands_;
  Blocks<CommandMeta> meta_;
  std::vector<ScheduledCommand> scheduled_;
  std::vector<TimedCommand> timed_;
  // What schedule() found: positions of the commands, and their times.
  std::vector<std::uint32_t> order_;
  std::vector<CommandTime> times_;
  HazardTracker hazards_;
  RowLives lives_;
  std::array<std::int64_t, kQueues> busy_until_{};
  std::array<std::vector<std::int64_t>, kQueues> done_;  // completion times
  bool store_pending_ = false;
  std::vector<Constant> constants_;
  std::int64_t constant_bytes_ = 0;
  std::int64_t modelled_cycles_ = 0;
  std::int64_t activation_bytes_ = 0;
};

// Rows [begin, end) of a ring, and of a tensor in memory, as accesses.
void add_rows(Offer& offer, const RowUse& use, std::uint32_t part_of = 0);
Access memory_rows(const MemoryLayout& m, int begin, int end, bool write, std::uint32_t part_of = 0);
// The size surface of rows.
Access surface_rows(const MemoryLayout& m, int begin, int end, bool write, std::uint32_t part_of = 0);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_EMIT_COMMAND_LIST_H
