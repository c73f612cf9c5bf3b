// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// How long rows of SB and VB live, by the program's own plan: test benches destroy the dead (observe/row_poison.h), and who
// looks at a run counts the living (observe/buffer_fill.h).
#ifndef KAITEN_PROGRAM_ROW_DEATH_H
#define KAITEN_PROGRAM_ROW_DEATH_H

#include "program/command.h"
#include "program/ring.h"

namespace kaiten {

// Addresses that hold nothing any more when so many commands of each queue are complete, until they are
// written again.
struct RowDeath {
  Buffer buffer = Buffer::kSb;
  int begin = 0;
  int end = 0;
  Counts after{};
  Counts written{};  // from so many on they hold a row, or the first part of it
};

}  // namespace kaiten

#endif  // KAITEN_PROGRAM_ROW_DEATH_H
