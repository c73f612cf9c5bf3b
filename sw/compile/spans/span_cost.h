// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What a span moves and how many addresses its rows take, for each choice of what is held in the buffers around it. Bytes
// follow from the maps alone. Addresses need the flow of the rows, which takes time to follow, but have a bound that does not.
#ifndef KAITEN_COMPILE_SPANS_SPAN_COST_H
#define KAITEN_COMPILE_SPANS_SPAN_COST_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "compile/lower/lowered.h"
#include "compile/spans/span_kinds.h"
#include "compile/spans/span_rows.h"

namespace kaiten {

// Of an image in bytes, of all images in addresses.
struct SpanNeeds {
  std::array<std::int64_t, kBuffers> used{};  // addresses of SB and VB
  std::int64_t bytes = 0;                     // moved to and from memory
  bool possible = true;                       // false: what should be held goes through memory in stripes
};

// Of one span at a time: look_at(), then one of both ways to find the addresses, then with().
class SpanCost {
 public:
  // All of them must outlive it.
  SpanCost(const Lowering& lowering, const UsesOfStorages& uses, int images, int slack_blocks)
      : lowering_(lowering),
        uses_(uses),
        images_(images),
        slack_blocks_(slack_blocks),
        storages_(lowering),
        place_around_(uses.size(), -1) {}

  // A span of these tasks, after which `end` is the next operator; storages that live across the cut before it and the one
  // after it. Its loads come so many times.
  void look_at(const Span& span, std::size_t end, const std::vector<StorageId>& before,
               const std::vector<StorageId>& after, int rounds);
  // Addresses as rings take them, or no fewer than they take. The latter knows spans of several operators.
  void measure(const SpanShape& shape);
  void bound(const Span& span);
  // With everything around the span spilled.
  const SpanNeeds& spilled() const { return spilled_; }
  // With what is held before it and after it: bits by position in the lists.
  SpanNeeds with(std::uint32_t held_before, std::uint32_t held_after) const;
  // Of the span.
  const StoragesOfSpan& storages() const { return storages_; }
  // Whether an operator's results are written to memory in a span that ends there.
  bool in_memory(ViewId view, bool held, std::size_t end) const;

 private:
  // A storage that crosses a cut at an end of the span: what changes when it is held.
  struct Around {
    std::array<std::int64_t, kBuffers> rings{};  // that it takes when spilled
    std::array<std::int64_t, kBuffers> whole{};  // that it takes when held
    std::int64_t bytes = 0;                      // that are not moved
    bool must_spill = false;
  };
  // Who makes and reads a storage in the span.
  struct Met {
    int readers = 0;
    int window_rows = 0;  // that a block of the reader reads
    int stride = 1;
    int made_at_once = 0;  // rows, 0: none is made
  };

  void find_around(std::size_t first);
  Around* around(StorageId s);
  StorageId storage_of(ViewId view) const { return lowering_.views[view].storage; }
  // The part that an operator writes.
  const Uses::Part& part_of(ViewId view) const {
    return uses_[storage_of(view)].parts[std::size_t(lowering_.parts_of(view).front())];
  }
  void forget_rings();
  void add_ring(StorageId s, Buffer buffer, std::int64_t addresses);
  void meet(const Span& span);
  int bound_of_slots(StorageId s, const Met& met) const;

  const Lowering& lowering_;
  const UsesOfStorages& uses_;
  int images_;
  int slack_blocks_;
  StoragesOfSpan storages_;
  std::vector<StorageId> before_, after_;
  std::vector<StorageId> ids_around_;           // like around_
  std::vector<Around> around_;                  // those before, then those after that are not among them
  IndexedVector<StorageId, int> place_around_;  // in around_, -1: not there
  std::vector<Met> met_;                        // like the list of storages
  SpanNeeds spilled_;
};

}  // namespace kaiten

#endif  // KAITEN_COMPILE_SPANS_SPAN_COST_H
