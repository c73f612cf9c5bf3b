// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A run as a timeline, in the JSON of Chrome's trace viewer, which Perfetto (ui.perfetto.dev) opens: a track
// for each queue with a slice for every command, a track beside it that says what the queue waited for,
// counters of the engines. One cycle is one microsecond of the viewer.
//
// Commands of a queue overlap: an engine takes the next while the results of the last are on their way. A
// slice begins when its command starts, or, if that is later, when the one before it is complete; the start
// itself is among its arguments. Format: "Trace Event Format",
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
#ifndef KAITEN_OBSERVE_TRACE_H
#define KAITEN_OBSERVE_TRACE_H

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "program/program.h"

namespace kaiten {

class TraceRecorder {
 public:
  // Both must outlive the recorder.
  TraceRecorder(const Graph& graph, const Program& program);

  // Every cycle of the run, in order: first what was counted in the cycle before (bit i for
  // csr::kCounters[i]), then the queues in this one: a bit for each queue with a command at its head that has
  // not started, and the number of its commands that are complete.
  void events(std::uint32_t flags);
  void queues(std::uint32_t heads, std::span<const std::uint32_t, kQueues> completed);

  // When the run is over: its events, `first_cycle` later than they were seen.
  void add_events(std::uint64_t first_cycle, std::vector<std::string>& events) const;
  // The same commands, queue by queue: number in the program, and the cycles of its slice.
  struct Slice {
    std::size_t queue;
    std::uint32_t command;
    std::uint64_t from, to;
  };
  std::vector<Slice> slices() const;
  std::uint64_t cycles() const { return cycles_; }
  std::size_t commands() const { return program_.commands.size(); }

 private:
  // One cause of waiting over some cycles: bits 0 to 3 for what is waited for, 4 for an empty queue.
  struct Waiting {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    std::uint32_t cause = 0;
  };
  struct Track {
    std::vector<std::uint32_t> commands;   // their numbers in the program
    std::vector<std::uint64_t> started;    // cycle, of the commands that have started
    std::vector<std::uint64_t> completed;  // likewise
    std::vector<Waiting> waits;
  };

  const Graph& graph_;
  const Program& program_;
  std::array<Track, kQueues> tracks_;
  std::uint32_t heads_ = 0;
  std::uint64_t cycles_ = 0;
  // Cycles in which each counted event happened, for each interval of kInterval cycles.
  std::vector<std::vector<std::uint8_t>> samples_;
};

// One timeline of programs that ran one after the other, on the network `graph` and the configuration `config`.
std::string trace_json(std::span<const std::unique_ptr<TraceRecorder>> recorders, const std::string& graph,
                       const std::string& config);

}  // namespace kaiten

#endif  // KAITEN_OBSERVE_TRACE_H
