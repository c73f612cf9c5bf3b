// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Spans that look alike: deep networks repeat their blocks, and what was found out about the rows of one repetition
// holds for the others.
#ifndef KAITEN_COMPILE_SPANS_SPAN_KINDS_H
#define KAITEN_COMPILE_SPANS_SPAN_KINDS_H

#include <map>
#include <vector>

#include "compile/lower/lowered.h"
#include "compile/spans/span_rows.h"

namespace kaiten {

// Of what operators have in common.
using KindNumbers = std::map<std::vector<int>, int>;

// A number for each operator of the lowering, those of other lowerings of the network among `known`: two runs of operators on the device with the same numbers, tiles and
// blocks have the same rows, unless they are in stripes. Says of an operator what SpanRows asks of it, of its maps
// too, and where each of its maps was met before, counted from the operator.
std::vector<int> find_kinds(const Lowering& lowering, const UsesOfStorages& uses, KindNumbers& known);

// The storages of a span in the order in which its operators meet them: alike spans have alike lists. Not thread-safe:
// one thread at a time.
class StoragesOfSpan {
 public:
  explicit StoragesOfSpan(const Lowering& lowering)
      : lowering_(lowering), place_(lowering.storages.size(), -1) {}
  // Makes the list.
  void of(const std::vector<Task>& tasks);
  const std::vector<StorageId>& all() const { return all_; }  // the list
  // In the list, of a storage that is there.
  StorageId place(StorageId s) const { return StorageId(std::size_t(place_[s])); }

 private:
  void meet(ViewId view);

  const Lowering& lowering_;
  IndexedVector<StorageId, int> place_;  // -1: not in the list
  std::vector<StorageId> all_;
};

}  // namespace kaiten

#endif  // KAITEN_COMPILE_SPANS_SPAN_KINDS_H
