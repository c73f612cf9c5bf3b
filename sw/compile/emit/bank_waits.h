// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// How long writers wait for banks. SB and VB have nine banks with one write port each; the array's results go first,
// then the vector engine's, which wait for all their banks, then LOAD's words, each where its bank is free
// (rtl/memories/kt_stream_buf.sv).
#ifndef KAITEN_COMPILE_EMIT_BANK_WAITS_H
#define KAITEN_COMPILE_EMIT_BANK_WAITS_H

#include <cstdint>
#include <span>
#include <vector>

#include "compile/emit/passage.h"
#include "program/command.h"

namespace kaiten {

struct Config;

// What a command writes into SB and VB.
struct BankWrites {
  enum class Writer : std::uint8_t { kNone, kLoad, kArray, kVector };

  std::int64_t number = 0;  // of requests or results
  int words = 0;            // of each
  Writer writer = Writer::kNone;
  bool to_sb = false;
  bool to_vb = false;
};
BankWrites bank_writes(const CommandBody& body, const Config& config);

// The cycles by which LOADs of rows and VECTOR commands take longer; 0 for the others. `cycles`: of each command alone.
// On average: results lie evenly over a command's time, their banks anywhere.
std::vector<std::int64_t> bank_waits(std::span<const BankWrites> commands,
                                     std::span<const std::int64_t> cycles, std::span<const WorkTime> work);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_EMIT_BANK_WAITS_H
