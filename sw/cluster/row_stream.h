// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Rows of a boundary's map that cross to the next chip while the others are made. A chip starts when so many are there that, by
// the model, it never waits for one of the others: it would be done no sooner if it started before, and its time is free for
// the image before. Its LOADs wait for the rows they read all the same (program/arrivals.h).
#ifndef KAITEN_CLUSTER_ROW_STREAM_H
#define KAITEN_CLUSTER_ROW_STREAM_H

#include <cstdint>
#include <vector>

#include "cluster/topology.h"
#include "graph/graph.h"
#include "graph/values.h"
#include "program/program.h"

namespace kaiten::cluster {

// How often a chip's host asks for the STOREs that are complete, in cycles from the start of a run.
inline constexpr std::uint64_t kPollCycles = 256;

struct RowStream {
  int rows = 0;  // of the map; 0: the whole map crosses before its receiver starts
  std::uint64_t row_bytes = 0;
  int start = 0;  // rows that are there before its receiver starts

  // Rows leave in groups of this many, the last one smaller, so that packets are full.
  int group() const;
  // The row behind the group that begins with `first_row`.
  int group_end(int first_row) const;
  // The values of that group.
  Int8Values rows_of(const Int8Values& map, int first_row) const;
};

// Cycles in which the first n rows of a map have been made, [0] to [rows]; counted from wherever the caller counts.
using RowTimes = std::vector<std::int64_t>;

// How the input of a stage could cross by rows: makes both of its programs wait for them. Nothing where they cannot, or where the
// map has not so many rows as its sender tells of (0: any).
RowStream stream_input(Program& first, Program& again, const Graph& graph, int told);

// When rows made at these times have arrived at `target`, with nothing else under way.
RowTimes arrivals(const Topology& topology, Endpoint source, Endpoint target, const RowStream& stream,
                  const RowTimes& made);

// The least rows with which the program may start so that no LOAD waits for one.
int rows_to_start(const Program& program, const RowTimes& arrived);

// A run that starts at `start`, into which rows arrive: when it is complete, and when its output's rows are known to be stored
// (empty where they are not told row by row).
struct StreamedRun {
  std::int64_t complete = 0;
  RowTimes stored;
};
StreamedRun streamed_run(const Program& program, const Graph& graph, std::int64_t start,
                         const RowTimes& arrived);

}  // namespace kaiten::cluster

#endif  // KAITEN_CLUSTER_ROW_STREAM_H
