// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// How long writers wait for banks. SB and VB have nine banks with one write port each; the array's results go first,
// then the vector engine's, which wait for all their banks, then LOAD's words, each where its bank is free
// (rtl/memories/kt_stream_buf.sv).
#ifndef KAITEN_COMPILE_EMIT_BANK_WAITS_H
#define KAITEN_COMPILE_EMIT_BANK_WAITS_H

#include <cstdint>
#include <vector>

#include "program/command.h"

namespace kaiten {

struct Config;

// When a command's data moves: a LOAD's beats, an engine's slots.
struct WorkTime {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// The cycles by which LOADs of rows and VECTOR commands take longer; 0 for the others. `cycles`: of each command alone.
// On average: results lie evenly over a command's time, their banks anywhere.
std::vector<std::int64_t> bank_waits(const std::vector<Command>& commands,
                                     const std::vector<std::int64_t>& cycles,
                                     const std::vector<WorkTime>& work, const Config& config);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_EMIT_BANK_WAITS_H
