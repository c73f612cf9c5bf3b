// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The accelerators of a space that no other one beats: none takes at most as many cycles, LUTs, DSPs, RAM blocks and UltraRAMs, and less
// of one of them (the Pareto set). All of the space is searched; what is left out is never in the set:
//  - accelerators beyond the budget;
//  - those that one which was looked at would beat even if they took their least cycles.
// Accelerators are looked at in rounds of a fixed size, small ones first, and left out between rounds: what is found, and how
// many were looked at, does not depend on who shares the work.
#ifndef KAITEN_EXPLORE_SEARCH_H
#define KAITEN_EXPLORE_SEARCH_H

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "explore/families.h"

namespace kaiten::explore {

// Cycles of each network, or why one of them does not run.
struct Outcome {
  std::vector<std::int64_t> cycles;
  std::string refusal;

  std::int64_t total() const;
  bool operator==(const Outcome&) const = default;
};

// Calls work(item) for each of the items, anywhere, and returns the answers in their order. An answer that could not be had
// because of an interruption is nothing.
using Work = std::function<Outcome(std::size_t)>;
using Share = std::function<std::vector<std::optional<Outcome>>(std::span<const std::size_t>, const Work&)>;

// What is searched, candidates by number.
struct Problem {
  std::vector<Resources> areas;  // of each candidate
  Resources budget;              // the most of each; 0: any
  Work least;  // an outcome that is nowhere above that of modelled(), nor refused where that is not
  Work modelled;
  bool prune = true;  // false: every candidate within the budget is looked at
};

// A candidate that was looked at.
struct Point {
  std::size_t candidate = 0;
  Outcome outcome;
};

struct Found {
  std::vector<Point> front;     // the Pareto set, the fastest first
  std::size_t candidates = 0;   // all
  std::size_t over_budget = 0;  // of them
  std::size_t looked_at = 0;    // by modelled()
  std::size_t refused = 0;      // some network does not run
  std::size_t pruned = 0;       // not looked at, since beaten
  std::string reason;           // of the first refusal
  bool complete = true;         // else interrupted
};

// Called with what is done and what there is, of the first or the second of the two steps.
using Progress = std::function<void(const char* step, std::size_t done, std::size_t all)>;

Found search(const Problem& problem, const Share& share, const Progress& progress = {});

// Whether an accelerator of so many cycles and this area beats the other in all, or is as good in some and better in one.
bool beats(std::int64_t cycles, const Resources& area, std::int64_t other_cycles, const Resources& other);

// On threads of this process. An exception of `work` comes out, unless interrupted(exception): then answers are missing.
Share on_threads(int threads, std::function<bool(std::exception_ptr)> interrupted = {});

}  // namespace kaiten::explore

#endif  // KAITEN_EXPLORE_SEARCH_H
