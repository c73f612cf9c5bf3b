// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The functional cover table of whole-program tests: which cases the programs that ran consist of. Windows by kernel, stride,
// padding and what is left of the channels in the last group; queues by which of them completes a command after which, which
// waits for which, and which stand waiting at the same time. scripts/coverage.py collects the tables and prints what no test
// has met.
#ifndef KAITEN_TESTS_SYSTEM_COVER_H
#define KAITEN_TESTS_SYSTEM_COVER_H

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "graph/graph.h"
#include "program/config.h"

namespace kaiten::test {

class Cover {
 public:
  // Null unless KAITEN_COVER names the folder into which the table goes when the program ends.
  static Cover* table();

  void network(const Graph& graph, const Config& config);
  // What a cycle counts (sim::ResultWatcher::events).
  void events(std::uint64_t flags);
  // sim::QueueWatcher::queues
  void queues(std::uint32_t heads, std::span<const std::uint32_t, 4> completed);
  // A program starts: completion counts start at 0.
  void start();

  Cover(const Cover&) = delete;
  Cover& operator=(const Cover&) = delete;

 private:
  explicit Cover(std::string folder);
  ~Cover();

  std::string folder_;
  std::map<std::string, std::uint64_t> met_;  // every case there is, the counts
  std::array<std::uint64_t, 16> heads_{};
  std::array<std::array<std::uint64_t, 4>, 4> after_{}, waits_{};
  std::array<std::uint32_t, 4> completed_{};
  int last_ = -1;  // queue that completed a command last
};

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SYSTEM_COVER_H
