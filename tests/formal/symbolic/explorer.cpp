// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/formal/symbolic/explorer.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <string>
#include <unordered_set>
#include <utility>

namespace kaiten::symbolic {

std::uint64_t difference(const SymbolicBytes& a, const SymbolicBytes& b) {
  for (const auto* map : {&a, &b})
    for (const auto& [address, byte] : *map) {
      const auto x = a.find(address), y = b.find(address);
      if (x == a.end() || y == b.end() || x->second != y->second) return address;
    }
  return 0;
}

Explorer::Key Explorer::reach(const Chip& chip, int stalls, const SymbolicBytes& expected) {
  cycles_++;
  if (chip.cycles() > last_cycle_)
    throw RunError("no interrupt after " + std::to_string(kPatience) + " cycles");
  const Key key = chip.state();
  if (chip.interrupt() && chip.registers_written()) {
    if (!chip.idle()) throw RunError("an interrupt before the last answer");
    if (const std::uint64_t at = difference(expected, chip.written())) {
      char text[40];
      std::snprintf(text, sizeof text, "the byte at %llx", static_cast<unsigned long long>(at));
      throw RunError(text);
    }
    const auto [end, added] = end_at_.emplace(key, ends_.size());
    if (!keep_ends_) return {};
    if (added)
      ends_.push_back({chip, stalls});
    else
      ends_[end->second].stalls = std::min(ends_[end->second].stalls, stalls);
    return {};
  }
  const auto [at, added] = seen_.try_emplace(key, Seen{stalls, {}});
  if (!added && (most_ < 0 || at->second.stalls <= stalls)) return key;
  at->second.stalls = stalls;
  open_.push_back({chip, stalls});
  return key;
}

// Everything that the bus may do in one cycle.
void Explorer::go_on(const At& from, const SymbolicBytes& expected) {
  const Key here = from.chip.state();
  const unsigned offers = from.chip.offers();
  for (unsigned mine = offers;; mine = (mine - 1) & offers) {
    const int cost = from.stalls + std::popcount(mine);
    if (allowed(cost) && ((mine & kStallR) == 0 || (mine & kOtherRead) == 0)) {
      Chip next = from.chip;
      next.cycle(mine);
      const Key reached = reach(next, cost, expected);
      if (mine == 0) seen_.at(here).calm = reached;
      const unsigned its = next.offered_by_chip();
      if (const unsigned idle = (kStallAr | kStallAw | kStallW) & ~its; mine == 0 && idle != 0) {
        Chip other =
            from.chip;  // a ready that waits for the valid: the same state, unless the chip looks at it
        other.cycle(idle);
        reach(other, cost, expected);
      }
      for (unsigned part = its; part != 0; part = (part - 1) & its) {
        if (!allowed(cost + std::popcount(part))) continue;
        Chip other = from.chip;
        other.cycle(mine | part);
        reach(other, cost + std::popcount(part), expected);
      }
    }
    if (mine == 0) break;
  }
}

void Explorer::check_ends() const {
  std::unordered_set<Key, Hash> good;
  for (const auto& [key, seen] : seen_) {
    std::unordered_set<Key, Hash> way;
    for (Key at = key; at != Key{} && !good.contains(at); at = seen_.at(at).calm)
      if (!way.insert(at).second) throw RunError("a run does not end though the bus does not stall");
    good.merge(way);
  }
}

std::vector<Explorer::At> Explorer::explore(const std::vector<At>& starts, const SymbolicBytes& expected,
                                            bool keep_ends) {
  keep_ends_ = keep_ends;
  seen_.clear();
  end_at_.clear();
  ends_.clear();
  for (const At& start : starts) last_cycle_ = std::max(last_cycle_, start.chip.cycles() + kPatience);
  for (const At& start : starts) reach(start.chip, start.stalls, expected);
  while (!open_.empty()) {
    const At from = std::move(open_.back());
    open_.pop_back();
    go_on(from, expected);
  }
  check_ends();
  states_ += seen_.size();
  last_states_ = end_at_.size();
  return std::move(ends_);
}

}  // namespace kaiten::symbolic
