// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The order of the command list. Commands arrive in the order of a sequential machine with their waits; the
// queues of the hardware run side by side, but the list is fetched in order into queues of a few entries, so
// a command that follows one that cannot enter its queue yet is late. The scheduler merges the queues
// by the time at which a small model of them says each command can start. The order inside a queue, and with
// it every wait, stays as it is.
#ifndef KAITEN_COMPILE_EMIT_SCHEDULE_H
#define KAITEN_COMPILE_EMIT_SCHEDULE_H

#include <cstdint>
#include <span>
#include <vector>

#include "program/command.h"

namespace kaiten {

struct ScheduledCost {
  std::int64_t cycles = 0;   // busy time in the engine
  std::int64_t latency = 0;  // from the end of that time to completion
};

// What a command's place depends on.
struct ScheduledCommand {
  Counts wait{};
  Queue queue{};
  ScheduledCost cost;
};

// The order of the list, as positions in the commands given, if LOADs take `load_extra` cycles longer. A STORE stays
// immediately before the command after it.
std::vector<std::uint32_t> schedule(std::span<const ScheduledCommand> commands, std::int64_t load_extra);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_EMIT_SCHEDULE_H
