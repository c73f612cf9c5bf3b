// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Analytic mode: one capacity, weights resident, the cost of a span what it reads and writes (Occam, section
/// III-D; docs/compiler/planning.md, "Analytic mode"). The partition of least traffic comes out of dynamic programming over
/// where spans end; ties go to the last cut.
#ifndef KAITEN_PLAN_PARTITION_H
#define KAITEN_PLAN_PARTITION_H

#include <optional>
#include <vector>

#include "plan/closure.h"
#include "plan/plan.h"

namespace kaiten::plan {

/// What analytic mode plans for.
struct PaperOptions {
  std::int64_t capacity_bytes = 0;      ///< on chip, 1 to kMaxCapacity: a span takes less than that
  Closure closure = Closure::kRolling;  ///< rule for the rows kept
  int batch = 1;                        ///< images at a time, 1 to kMaxBatch
  bool residual_penalty = true;         ///< residual edges that a cut crosses cost a write and a read
};

/// Spans that end with map `end`, from the shortest on: SPAN(end - 1, end), SPAN(end - 2, end), ...
/// Not thread-safe: one thread at a time.
class SpanWalk {
 public:
  /// Before the first span: call next(). Dataflow and options must outlive the walk.
  SpanWalk(const Dataflow& dataflow, const PaperOptions& options, int end);
  /// To the next span. False when there is none.
  bool next();
  int begin() const { return begin_; }                     ///< map that the span reads; its first layer
  std::int64_t weights_bytes() const { return weights_; }  ///< of all its layers
  /// Kept of its maps, for the batch: rows, or columns where they take less.
  std::int64_t rows_bytes() const { return along_columns() ? columns_bytes_ : rows_bytes_; }
  bool along_columns() const { return columns_ && columns_bytes_ < rows_bytes_; }  ///< columns take less
  std::int64_t footprint() const { return weights_ + rows_bytes(); }               ///< bytes on chip
  /// The footprint is less than the capacity.
  bool feasible() const { return footprint() < options_.capacity_bytes; }
  /// Off-chip bytes of the span itself, for the batch: the map it reads, the one it writes, network outputs inside.
  std::int64_t traffic_bytes() const;
  /// Off-chip bytes of the edges from its maps to layers after it, written and read.
  std::int64_t penalty_bytes() const { return options_.residual_penalty ? penalty_ : 0; }
  int rows_of_begin() const { return rows_of_begin_; }        ///< rows kept of map begin()
  int columns_of_begin() const { return columns_of_begin_; }  ///< columns instead

 private:
  const Dataflow& dataflow_;
  const Network& network_;
  const PaperOptions& options_;
  ClosureRows closure_;
  std::optional<ClosureRows> columns_;  ///< of the transposed network, where it is another
  int end_;
  int begin_;
  int rows_of_begin_ = 0;
  int columns_of_begin_ = 0;
  std::int64_t weights_ = 0;
  std::int64_t rows_bytes_ = 0;
  std::int64_t columns_bytes_ = 0;
  std::int64_t penalty_ = 0;
  std::int64_t outputs_ = 0;  ///< network outputs inside
};

/// The span of layers begin .. end - 1 with its closure, for a report. It need not be feasible.
Span describe(const Dataflow& dataflow, const PaperOptions& options, int begin, int end);

/// The method made of given cuts: 0 = cuts[0] < ... < cuts.back() = layers.
Method of_cuts(const Dataflow& dataflow, const PaperOptions& options, const std::vector<int>& cuts);

/// Throws InputError naming the first layer that does not fit alone, and by how many bytes.
void require_layers_fit(const Dataflow& dataflow, const PaperOptions& options);

/// The cuts of least traffic; only maps p with allowed[p] are cut (all when empty). Every layer must fit
/// alone; nothing when the allowed cuts leave no feasible partition.
std::optional<std::vector<int>> best_cuts(const Dataflow& dataflow, const PaperOptions& options,
                                          const std::vector<bool>& allowed = {});

}  // namespace kaiten::plan

#endif  // KAITEN_PLAN_PARTITION_H
