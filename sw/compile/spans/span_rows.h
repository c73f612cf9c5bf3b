// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The rows of a span: which maps it loads, which rings keep them, who waits for whose rows. Spans are found in
// spans.h; here is what one span looks like.
#ifndef KAITEN_COMPILE_SPANS_SPAN_ROWS_H
#define KAITEN_COMPILE_SPANS_SPAN_ROWS_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/arithmetic.h"
#include "base/id.h"
#include "compile/lower/lowered.h"
#include "compile/spans/row_flow.h"
#include "program/config.h"
#include "program/ring.h"

namespace kaiten {

// An operator in a span, or some of its tiles. More than one chunk: its weights follow each other through the
// weight buffer, the rows before and after it stay.
struct Task {
  std::size_t position = 0;  // in Lowering::ops
  int tile_begin = 0;
  int tile_end = 0;
  int chunk_tiles = 0;  // tiles whose weights are loaded together
  int block_rows = 1;   // output rows of a command

  int chunks() const { return ceil_div(tile_end - tile_begin, chunk_tiles); }
  bool operator==(const Task&) const = default;
};

struct Span {
  std::vector<Task> tasks;
  // Of the batch: its weights are loaded once for so many.
  int first_image = 0;
  int images = 1;
  int stripes = 1;  // of columns, where its only task has rows that are too long

  // Images, stripe by stripe.
  int passes() const { return images * stripes; }
  int image(int pass) const { return first_image + pass / stripes; }
  bool operator==(const Span&) const = default;
};

// A position that no operator has, after all others.
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

// Producers and consumers of a storage, by position in the lowering.
struct Uses {
  struct Part {
    std::size_t producer = kNone;
    std::vector<std::size_t> consumers;  // of rows
    std::int64_t bytes = 0;              // of all rows in memory
    bool needed_in_memory = false;       // by the host, or to be read as another shape
  };
  std::vector<Part> parts;
  std::size_t first_producer = kNone;
  std::vector<std::size_t> consumers[kBuffers];
  int slot_size = 0;

  bool read_in(Buffer b, std::size_t first, std::size_t end) const {
    return any_in(consumers[std::size_t(b)], first, end);
  }
  bool read_in(std::size_t first, std::size_t end) const {
    return read_in(Buffer::kSb, first, end) || read_in(Buffer::kVb, first, end);
  }
  // Parts that operators [first, end) read and none of them makes.
  std::vector<int> loaded_in(std::size_t first, std::size_t end) const {
    std::vector<int> loaded;
    for (std::size_t i = 0; i < parts.size(); i++) {
      const bool before = parts[i].producer == kNone || parts[i].producer < first;
      if (before && any_in(parts[i].consumers, first, end)) loaded.push_back(int(i));
    }
    return loaded;
  }
  bool made_before(std::size_t at) const { return first_producer < at; }

  static bool any_in(const std::vector<std::size_t>& positions, std::size_t first, std::size_t end) {
    return std::any_of(positions.begin(), positions.end(),
                       [&](std::size_t at) { return at >= first && at < end; });
  }
};

using UsesOfStorages = IndexedVector<StorageId, Uses>;

UsesOfStorages find_uses(const Lowering& lowering, const Config& config);

// The storages that are held across the cuts they live over; all others are spilled. Empty: none is held.
using Held = IndexedVector<StorageId, bool>;

// The rows of a span: a node for each map that is loaded (in front), one for each task (in their order), a ring for
// each map and buffer that reads it.
struct SpanRows {
  struct Node {
    StorageId storage;  // loaded; none: a task
    std::size_t task = 0;
    std::vector<int> parts;  // of the storage that are loaded
  };
  struct Ring {
    StorageId storage;
    Buffer buffer = Buffer::kSb;
    int slot_size = 0;
    bool whole = false;  // held, or gone through more than once
    int producer_block = 1;
    // Parts may be rows apart: rows that share a slot must share the banks of their words, which repeat every three.
    bool parts = false;
    int all = 0;  // slots for all rows of all images

    // Slots where so many rows are needed, with room for so many blocks more.
    int slots(int needed, int slack_blocks) const {
      if (whole) return all;
      const int wanted = needed + slack_blocks * producer_block;
      return std::min(all, parts ? ceil_div(wanted, 3) * 3 : wanted);
    }
  };

  RowFlow flow;
  std::vector<Node> nodes;
  std::vector<Ring> rings;
};

// What a span needs with everything around it spilled: its rings with their slots. A plan
// looks at thousands of spans and remembers them, so their flows are not kept. Storages are places in the list of the
// span's (span_kinds.h), so that it holds for all spans that are alike.
struct SpanShape {
  std::vector<SpanRows::Ring> rings;
  std::vector<int> slots;
};

SpanRows span_rows(const Lowering& lowering, const UsesOfStorages& uses, const Span& span,
                   const Held& is_held);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_SPANS_SPAN_ROWS_H
