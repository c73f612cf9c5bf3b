// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "observe/row_poison.h"

namespace kaiten {

RowPoison::RowPoison(const Program& program, Spoil spoil)
    : deaths_(program.deaths), spoil_(std::move(spoil)), queues_left_(deaths_.size()) {
  for (std::size_t i = 0; i < deaths_.size(); i++) {
    for (std::size_t q = 0; q < kQueues; q++) {
      const std::uint32_t count = deaths_[i].after[q];
      if (count == 0) continue;
      if (due_[q].size() <= count) due_[q].resize(count + 1);
      due_[q][count].push_back(int(i));
      queues_left_[i]++;
    }
  }
  spoil_(Buffer::kSb, 0, program.config.sb_depth);
  spoil_(Buffer::kVb, 0, program.config.vb_depth);
}

void RowPoison::completed(std::span<const std::uint32_t, kQueues> counts) {
  // Until the run starts they are those of the run before.
  if (!started_) {
    for (const std::uint32_t n : counts) {
      if (n != 0) return;
    }
    started_ = true;
  }
  for (std::size_t q = 0; q < kQueues; q++) {
    while (seen_[q] < counts[q]) {
      seen_[q]++;
      if (seen_[q] >= due_[q].size()) continue;
      for (const int i : due_[q][seen_[q]]) {
        const RowDeath& death = deaths_[std::size_t(i)];
        if (--queues_left_[std::size_t(i)] == 0) spoil_(death.buffer, death.begin, death.end);
      }
    }
  }
}

}  // namespace kaiten
