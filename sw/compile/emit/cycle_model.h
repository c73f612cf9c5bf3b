// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// When the accelerator starts and completes each command of a program, by a model finer than the scheduler's:
// commands come through the fetch, a few at a time, in order, and after the data that LOADs asked for before
// them; LOADs ask ahead of their data; engines take the next command while the one before is on its way out.
// Cycles of the bus and of engines are the commands' own; what queues, waits and latencies add is here.
#ifndef KAITEN_COMPILE_EMIT_CYCLE_MODEL_H
#define KAITEN_COMPILE_EMIT_CYCLE_MODEL_H

#include <cstdint>
#include <span>
#include <vector>

#include "compile/emit/bank_waits.h"
#include "program/command.h"

namespace kaiten {

struct Config;
struct Program;

struct CommandTime {
  std::int64_t start = 0;     // taken by its engine, in cycles from the start of the run
  std::int64_t complete = 0;  // counted by the scoreboard
};

// Of a command, what its time depends on.
struct TimedCommand {
  Counts wait{};
  std::uint32_t arrived = 0;
  Queue queue{};
  std::uint8_t blocks = 1;
  std::int64_t setup = 0;        // loading what its first result needs, hidden behind the command before
  std::int64_t cycles = 0;       // that it takes alone
  std::int64_t spare_slots = 0;  // of them, in which nobody waits for it
  BankWrites writes;

  TimedCommand(const Command& command, std::int64_t alone, const Config& config);
};

// In the order of the list.
std::vector<CommandTime> command_times(std::span<const TimedCommand> commands, const Config& config);

// A lower bound of when the last command is complete, whatever the order of the list, as long as each queue keeps its own: as if
// the fetch were never late and banks always free. In an order in which nothing waits for what follows it.
std::int64_t least_cycles(std::span<const TimedCommand> commands, const Config& config);

// Of a program whose LOADs wait for rows from outside (program/arrivals.h): the first n rows are told row_at[n] cycles after the
// start.
std::vector<CommandTime> command_times(const Program& program, const std::vector<std::int64_t>& row_at);

// What the model says of an accelerator whose vector engine takes half the cycles for each command, everything else being
// equal: sets the times of the program's commands and its modelled cycles. Its bytes and its order stay.
void halve_vector_cycles(Program& program);

// The same of a memory that moves fewer bytes a cycle than the bus. One as fast as that, or 0 for no bound, changes nothing.
void limit_bandwidth(Program& program, double bytes_per_cycle);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_EMIT_CYCLE_MODEL_H
