// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Which operators share the on-chip memory (Occam's question, asked of this accelerator). A span is a run of
// consecutive operators whose rows are interleaved: its weights lie in WB and VWB together, every row it reads
// from memory is read once, rows in between live in rings just long enough. A map that crosses the cut between
// two spans is held (whole, in the buffers that read it, until its last consumer) or spilled (written once, read
// once by every span that uses it), both with all its parts.
//
// plan_spans() finds the cheapest chain of feasible spans by dynamic programming over the cuts of the operators'
// order and, for each map that crosses a cut, held or spilled: least bytes moved to and from memory, ties broken
// by the least time of a coarse estimate. Optimal for the given order, block size and slack;
// docs/compiler/planning.md has the rules.
//
// Units: rows of WB and VWB, words of the ZSBs, addresses of SB and VB, bytes.
#ifndef KAITEN_COMPILE_SPANS_SPANS_H
#define KAITEN_COMPILE_SPANS_SPANS_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "compile/lower/lowered.h"
#include "compile/spans/span_kinds.h"
#include "compile/spans/span_rows.h"
#include "program/config.h"
#include "program/ring.h"

namespace kaiten {

struct SpanOptions {
  int block_pixels = 0;      // output pixels of a command, 0: as many as suit the array
  int slack_blocks = 1;      // blocks a producer may be ahead of the rows that are needed
  bool keep_on_chip = true;  // false: every operator a span of its own, every tensor spilled
  bool time_first = false;   // least estimated time, ties broken by bytes
  // Addresses of SB and VB left unused, for gaps between rings.
  std::array<int, kBuffers> reserve{};
  // Where not empty: the spans end after these operators (of the graph, ascending) and nowhere else.
  std::vector<int> cuts;
  // That go through each span one after the other: maps count so many times, in bytes and, where held, in
  // addresses.
  int images = 1;
  // Called for every operator; what it throws ends the planning.
  std::function<void()> cancellation_check = {};
};

// Spans whose rows were looked at, by what they have in common: plans of other slack see them again, and so do repetitions
// of a block of layers and the same operators in another order.
struct SpanMemo {
  KindNumbers kinds;
  std::map<std::vector<int>, SpanShape> shapes;
  int order = 0;  // of the operators: spans in stripes are known by their place in it
};

struct SpanPlan {
  std::vector<Span> spans;
  std::vector<bool> stored;  // operators of the lowering whose results are written to memory
  Held held;                 // storages kept whole from their first span to their last
  std::int64_t bytes = 0;    // activations moved to and from memory
  int images = 1;            // of the batch

  bool operator==(const SpanPlan&) const = default;
};

// Throws InputError naming the layer that does not fit, and by how much.
SpanPlan plan_spans(const Graph& graph, const Lowering& lowering, const Config& config,
                    const SpanOptions& options, SpanMemo& memo);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_SPANS_SPANS_H
