// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/emit/schedule.h"

#include <algorithm>
#include <array>
#include <optional>

namespace kaiten {

namespace {

// A STORE and its producer, or a command alone.
struct Unit {
  std::size_t first = 0;
  std::size_t commands = 1;
};

}  // namespace

std::vector<std::uint32_t> schedule(std::span<const ScheduledCommand> commands, std::int64_t load_extra) {
  // One list of units per queue of the producer; STOREs ride with them.
  std::array<std::vector<Unit>, kQueues> lists;
  std::vector<std::size_t> store_order;  // first command of every unit with a STORE
  for (std::size_t i = 0; i < commands.size();) {
    const bool store = commands[i].queue == Queue::kStore;
    const Unit unit{i, store ? 2U : 1U};
    if (store) store_order.push_back(i);
    lists[std::size_t(commands[i + unit.commands - 1].queue)].push_back(unit);
    i += unit.commands;
  }
  std::array<std::size_t, kQueues> next{};
  std::size_t next_store = 0;
  std::array<std::vector<std::int64_t>, kQueues> done;  // completion times of what has been placed
  std::array<std::int64_t, kQueues> busy_until{};
  std::vector<std::uint32_t> order;
  order.reserve(commands.size());

  // When the command could start; nothing while it waits for one that has no place yet.
  const auto start_of = [&](const ScheduledCommand& c) -> std::optional<std::int64_t> {
    std::int64_t start = busy_until[std::size_t(c.queue)];
    for (std::size_t q = 0; q < kQueues; q++) {
      if (c.wait[q] == 0) continue;
      if (c.wait[q] > done[q].size()) return std::nullopt;
      start = std::max(start, done[q][c.wait[q] - 1]);
    }
    return start;
  };

  while (order.size() < commands.size()) {
    std::optional<std::int64_t> best_start;
    std::size_t best = 0;
    for (std::size_t q = 0; q < kQueues; q++) {
      if (next[q] == lists[q].size()) continue;
      const Unit& u = lists[q][next[q]];
      // STOREs keep their order too.
      if (u.commands == 2 && store_order[next_store] != u.first) continue;
      const auto start = start_of(commands[u.first + u.commands - 1]);
      if (!start || (u.commands == 2 && !start_of(commands[u.first]))) continue;
      if (!best_start || *start < *best_start) {
        best_start = start;
        best = q;
      }
    }
    // The unit that comes first in the sequential order can always go, so there is one.
    const Unit& u = lists[best][next[best]++];
    const std::size_t producer = u.first + u.commands - 1;
    const ScheduledCommand& p = commands[producer];
    const std::int64_t extra = p.queue == Queue::kLoad ? load_extra : 0;
    const std::int64_t end = *best_start + p.cost.cycles + extra;
    const std::int64_t complete = end + p.cost.latency;
    const auto finish = [&](std::size_t i, std::int64_t at) {
      auto& d = done[std::size_t(commands[i].queue)];
      d.push_back(d.empty() ? at : std::max(d.back(), at));  // completions are in order
      order.push_back(std::uint32_t(i));
    };
    busy_until[best] = end;
    if (u.commands == 2) {
      next_store++;
      finish(u.first, complete + commands[u.first].cost.latency);
    }
    finish(producer, complete);
  }
  return order;
}

}  // namespace kaiten
