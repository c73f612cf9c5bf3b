// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/emit/hazard.h"

#include <algorithm>

namespace kaiten {

namespace {

void merge(Counts& into, const Counts& from) {
  for (std::size_t q = 0; q < into.size(); q++) into[q] = std::max(into[q], from[q]);
}

bool only(const Counts& counts, std::size_t queue) {
  for (std::size_t q = 0; q < counts.size(); q++) {
    if (q != queue && counts[q] != 0) return false;
  }
  return true;
}

}  // namespace

bool must_wait(Queue queue, std::span<const Access> accesses, Queue before, std::span<const Access> earlier) {
  for (const Access& a : accesses) {
    for (const Access& e : earlier) {
      if (a.space != e.space || a.end <= e.begin || e.end <= a.begin || (!a.write && !e.write)) continue;
      const bool disjoint = queue == before && a.write && e.write && a.part_of != 0 && a.part_of == e.part_of;
      if (!disjoint) return true;
    }
  }
  return false;
}

HazardTracker::Map::iterator HazardTracker::split(Map& map, std::int64_t at) {
  auto it = map.upper_bound(at);
  if (it == map.begin()) return it;
  auto before = std::prev(it);
  if (before->second.end <= at) return it;
  if (before->first == at) return before;
  State right = before->second;
  before->second.end = at;
  return map.emplace_hint(it, at, right);
}

Counts HazardTracker::peek(Queue queue, std::span<const Access> accesses) const {
  const std::size_t q = std::size_t(queue);
  Counts wait{};
  for (const Access& a : accesses) {
    if (a.begin >= a.end) continue;
    const Map& map = maps_[std::size_t(a.space)];
    auto it = map.upper_bound(a.begin);
    if (it != map.begin() && std::prev(it)->second.end > a.begin) --it;
    for (; it != map.end() && it->first < a.end; ++it) {
      const State& s = it->second;
      const bool disjoint = a.write && a.part_of != 0 && a.part_of == s.part_of && only(s.writes, q);
      if (!disjoint) merge(wait, s.writes);
      if (a.write) merge(wait, s.reads);
    }
  }
  return wait;
}

Counts HazardTracker::add(Queue queue, std::span<const Access> accesses) {
  const std::size_t q = std::size_t(queue);
  const std::uint32_t number = counts_[q] + 1;
  const Counts wait = peek(queue, accesses);
  for (const Access& a : accesses) {
    if (a.begin >= a.end) continue;
    Map& map = maps_[std::size_t(a.space)];
    split(map, a.end);
    std::int64_t at = a.begin;
    for (auto it = split(map, a.begin); at < a.end; ++it) {
      if (it == map.end() || it->first > at) {  // a gap: no access yet
        const std::int64_t end = it == map.end() ? a.end : std::min(a.end, it->first);
        it = map.emplace_hint(it, at, State{end, {}, {}, 0});
      }
      State& s = it->second;
      if (!a.write) {
        s.reads[q] = number;
      } else {
        // This command has waited for all that was here, so waiting for it is enough from now on; writers of
        // parts have not waited for each other, they stay.
        const bool disjoint = a.part_of != 0 && a.part_of == s.part_of && only(s.writes, q);
        if (!disjoint) s.writes = {};
        s.reads = {};
        s.writes[q] = number;
        s.part_of = a.part_of;
      }
      at = s.end;
    }
  }
  counts_[q] = number;
  return wait;
}

}  // namespace kaiten
