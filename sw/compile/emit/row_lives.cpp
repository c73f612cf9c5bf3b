// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/emit/row_lives.h"

#include <stdexcept>

namespace kaiten {

RowDeath RowLives::death(Buffer buffer, int begin, const Life& life) {
  return {buffer, begin, life.end, life.consumers, life.written};
}

void RowLives::use(Queue queue, std::uint32_t number, const RowUse& use) {
  std::map<int, Life>& lives = lives_[std::size_t(use.buffer)];
  for (int row = use.begin; row < use.end; row++) {
    const int begin = use.ring.slot(row), end = begin + use.ring.slot_size;
    auto at = lives.find(begin);
    const bool apart = use.ring.map == Ring::kRowsApart;
    if (apart && !use.write) continue;
    const bool there = !apart && at != lives.end() && at->second.map == use.ring.map &&
                       at->second.row == use.ring.row0 + row;
    if (!there) {
      if (!use.write) throw std::logic_error("a command reads a row that is not there");
      // Whatever it overlaps has died.
      at = lives.lower_bound(begin);
      if (at != lives.begin() && std::prev(at)->second.end > begin) --at;
      while (at != lives.end() && at->first < end) {
        if (!apart && at->second.written[std::size_t(queue)] == number)
          throw std::logic_error("a command writes two rows into one slot");
        if (at->second.read()) dead_.push_back(death(use.buffer, at->first, at->second));
        at = lives.erase(at);
      }
      if (apart) continue;
      at = lives.emplace_hint(at, begin, Life{end, use.ring.map, use.ring.row0 + row, {}, {}});
      at->second.written[std::size_t(queue)] = number;
    }
    if (!use.write) at->second.consumers[std::size_t(queue)] = number;
  }
}

std::vector<RowDeath> RowLives::deaths() const {
  std::vector<RowDeath> all = dead_;
  for (const Buffer buffer : {Buffer::kSb, Buffer::kVb}) {
    for (const auto& [begin, life] : lives_[std::size_t(buffer)]) {
      if (life.read()) all.push_back(death(buffer, begin, life));
    }
  }
  return all;
}

}  // namespace kaiten
