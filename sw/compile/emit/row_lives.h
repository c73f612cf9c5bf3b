// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// How long the rows in SB and VB live, as the commands are planned: from the first command that writes a row
// to the last one that reads it. The test bench destroys what is dead (observe/row_poison.h), so that a
// command that reads a row too early or too late computes something else. Slots that hold parts of several rows
// (Ring::kRowsApart) are not followed: they only end what was there before.
#ifndef KAITEN_COMPILE_EMIT_ROW_LIVES_H
#define KAITEN_COMPILE_EMIT_ROW_LIVES_H

#include <cstdint>
#include <map>
#include <vector>

#include "program/command.h"
#include "program/ring.h"
#include "program/row_death.h"

namespace kaiten {

// Rows [begin, end) of a map, in a ring.
struct RowUse {
  Buffer buffer = Buffer::kSb;
  Ring ring;
  int begin = 0;
  int end = 0;
  bool write = false;
};

class RowLives {
 public:
  // By the command with this number in its queue, the first has 1. Throws std::logic_error where a row is
  // read that is not there, or a command writes two rows into one slot.
  void use(Queue queue, std::uint32_t number, const RowUse& use);
  // Of all rows so far that a command reads: what is written over others need not wait until its producers are
  // complete.
  std::vector<RowDeath> deaths() const;

 private:
  struct Life {
    int end = 0;  // of its addresses
    int map = 0;
    int row = 0;       // over all images
    Counts written{};  // the first of its producers
    Counts consumers{};

    bool read() const { return consumers != Counts{}; }
  };
  static RowDeath death(Buffer buffer, int begin, const Life& life);

  std::map<int, Life> lives_[kBuffers];  // by their first address
  std::vector<RowDeath> dead_;
};

}  // namespace kaiten

#endif  // KAITEN_COMPILE_EMIT_ROW_LIVES_H
