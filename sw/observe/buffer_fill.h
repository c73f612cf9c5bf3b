// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// How full the memories are that commands fill, while a program runs: what complete commands have written there and commands
// that are not complete still read. The commands complete as the device counts them; which ones write and read a place is
// the program's: of SB and VB its lives of rows, of WB and VWB the rows that its LOADs and engines name.
//
// Rows count from their first part on, in whole slots. Slots that hold parts of several rows (Ring::kRowsApart) are not
// counted. Weights that are read and were not loaded are there from the start: an earlier run has left them.
#ifndef KAITEN_OBSERVE_BUFFER_FILL_H
#define KAITEN_OBSERVE_BUFFER_FILL_H

#include <cstdint>
#include <span>
#include <vector>

#include "program/program.h"

namespace kaiten {

class BufferFill {
 public:
  // Addresses of SB and VB (nine words), rows of WB and VWB.
  struct Held {
    std::int64_t sb = 0;
    std::int64_t vb = 0;
    std::int64_t wb = 0;
    std::int64_t vwb = 0;
  };
  // Weights between the completion of what loads them and that of what reads them last.
  struct Weights {
    int begin = 0;
    int end = 0;
    Counts written{};
    Counts after{};
  };

  // The program must outlive it.
  explicit BufferFill(const Program& program);

  // When so many commands of each queue are complete.
  Held held(std::span<const std::uint32_t, kQueues> completed) const;
  const std::vector<Weights>& wb() const { return wb_; }
  const std::vector<Weights>& vwb() const { return vwb_; }

 private:
  const std::vector<RowDeath>& rows_;
  std::vector<Weights> wb_, vwb_;
};

}  // namespace kaiten

#endif  // KAITEN_OBSERVE_BUFFER_FILL_H
