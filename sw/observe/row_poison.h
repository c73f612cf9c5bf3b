// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Destroys the rows of SB and VB that are dead by the program's plan, and before a run all of them, in a
// simulated device: whoever reads a row too late, or before it was written, gets wrong values even where the
// right ones still lie there, and the watcher sees it.
#ifndef KAITEN_OBSERVE_ROW_POISON_H
#define KAITEN_OBSERVE_ROW_POISON_H

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "program/program.h"

namespace kaiten {

class RowPoison {
 public:
  // Changes every byte at addresses [begin, end) of a buffer.
  using Spoil = std::function<void(Buffer buffer, int begin, int end)>;

  // The program must outlive it. The device has no run under way.
  RowPoison(const Program& program, Spoil spoil);

  // Every cycle, before it: commands of each queue that are complete since the start of the run.
  void completed(std::span<const std::uint32_t, kQueues> counts);

 private:
  const std::vector<RowDeath>& deaths_;
  Spoil spoil_;
  std::vector<int> queues_left_;                            // of each death: queues that have not gone so far
  std::array<std::vector<std::vector<int>>, kQueues> due_;  // deaths by queue and count
  Counts seen_{};
  bool started_ = false;
};

}  // namespace kaiten

#endif  // KAITEN_OBSERVE_ROW_POISON_H
