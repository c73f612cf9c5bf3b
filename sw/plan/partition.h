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

struct PaperOptions {
  std::int64_t capacity_bytes = 0;
  Closure closure = Closure::kRolling;
  int batch = 1;
  bool residual_penalty = true;
};

/// Spans that end with map `end`, from the shortest on: SPAN(end - 1, end), SPAN(end - 2, end), ...
class SpanWalk {
 public:
  SpanWalk(const Dataflow& dataflow, const PaperOptions& options, int end);
  /// To the next span. False when there is none.
  bool next();
  int begin() const { return begin_; }
  std::int64_t weights_bytes() const { return weights_; }
  std::int64_t rows_bytes() const { return rows_; }
  std::int64_t footprint() const { return weights_ + rows_; }
  bool feasible() const { return footprint() < options_.capacity_bytes; }
  /// Off-chip bytes of the span itself, and of the edges that its end cuts first.
  std::int64_t traffic_bytes() const;
  std::int64_t penalty_bytes() const { return options_.residual_penalty ? penalty_ : 0; }
  int rows_of_begin() const { return rows_of_begin_; }

 private:
  const Dataflow& dataflow_;
  const Network& network_;
  const PaperOptions& options_;
  ClosureRows closure_;
  int end_;
  int begin_;
  int rows_of_begin_ = 0;
  std::int64_t weights_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t penalty_ = 0;
  std::int64_t outputs_ = 0;  ///< network outputs inside
};

/// A span with its closure, for a report. It need not be feasible.
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
