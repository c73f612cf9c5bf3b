// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/partition.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"

namespace kaiten::plan {

std::string_view name_of(Boundary boundary) {
  constexpr std::string_view kNames[] = {"spilled", "held", "output"};
  return kNames[std::size_t(boundary)];
}

SpanWalk::SpanWalk(const Dataflow& dataflow, const PaperOptions& options, int end)
    : dataflow_(dataflow),
      network_(dataflow.network()),
      options_(options),
      closure_(dataflow, options.closure, end),
      end_(end),
      begin_(end) {
  if (dataflow.across() != nullptr) columns_.emplace(*dataflow.across(), options.closure, end);
}

bool SpanWalk::next() {
  if (begin_ == 0) return false;
  const auto& outputs = network_.outputs;
  if (begin_ < end_ && std::find(outputs.begin(), outputs.end(), begin_) != outputs.end()) {
    outputs_ += network_.maps[std::size_t(begin_)].elements() * options_.batch;
  }
  begin_--;
  rows_of_begin_ = closure_.rows(begin_);
  const Map& map = network_.maps[std::size_t(begin_)];
  weights_ += network_.weight_elements(begin_);
  rows_bytes_ += std::int64_t(rows_of_begin_) * map.width * map.channels * options_.batch;
  if (columns_) {
    columns_of_begin_ = columns_->rows(begin_);
    columns_bytes_ += std::int64_t(columns_of_begin_) * map.height * map.channels * options_.batch;
  }
  // Edges from this map over the end: each residual edge by itself, all others as one tensor that crosses.
  bool crosses = false;
  for (const Consumer& c : dataflow_.consumers(begin_)) {
    if (c.layer < end_) continue;
    if (c.residual) {
      penalty_ += 2 * map.elements() * options_.batch;
    } else {
      crosses = true;
    }
  }
  if (crosses) penalty_ += 2 * map.elements() * options_.batch;
  return true;
}

std::int64_t SpanWalk::traffic_bytes() const {
  return options_.batch *
             (network_.maps[std::size_t(begin_)].elements() + network_.maps[std::size_t(end_)].elements()) +
         outputs_;
}

Span describe(const Dataflow& dataflow, const PaperOptions& options, int begin, int end) {
  SpanWalk walk(dataflow, options, end);
  Span s;
  std::vector<KeptRows> columns;
  while (walk.begin() > begin) {
    walk.next();
    const Map& map = dataflow.network().maps[std::size_t(walk.begin())];
    const std::int64_t cells = std::int64_t(map.channels) * options.batch;
    s.kept.push_back({walk.begin(), walk.rows_of_begin(), walk.rows_of_begin() * map.width * cells, ""});
    columns.push_back(
        {walk.begin(), walk.columns_of_begin(), walk.columns_of_begin() * map.height * cells, ""});
  }
  s.columns = walk.along_columns();
  if (s.columns) s.kept = std::move(columns);
  std::reverse(s.kept.begin(), s.kept.end());
  s.first = begin;
  s.last = end - 1;
  s.weights_bytes = walk.weights_bytes();
  s.rows_bytes = walk.rows_bytes();
  s.traffic_bytes = walk.traffic_bytes();
  s.boundary = end == dataflow.network().layer_count() ? Boundary::kOutput : Boundary::kSpilled;
  return s;
}

Method of_cuts(const Dataflow& dataflow, const PaperOptions& options, const std::vector<int>& cuts) {
  Method m;
  m.closure = name_of(options.closure);
  m.macs = dataflow.network().macs() * options.batch;
  for (std::size_t c = 0; c + 1 < cuts.size(); c++) {
    m.spans.push_back(describe(dataflow, options, cuts[c], cuts[c + 1]));
    m.traffic_bytes += m.spans.back().traffic_bytes;
    SpanWalk walk(dataflow, options, cuts[c + 1]);
    while (walk.begin() > cuts[c]) walk.next();
    m.penalty_bytes += walk.penalty_bytes();
    if (c + 2 < cuts.size()) {
      const Span longer = describe(dataflow, options, cuts[c], cuts[c + 1] + 1);
      const std::int64_t footprint = longer.weights_bytes + longer.rows_bytes;
      m.spans.back().short_bytes = std::max<std::int64_t>(0, footprint + 1 - options.capacity_bytes);
    }
  }
  m.traffic_bytes += m.penalty_bytes;
  return m;
}

void require_layers_fit(const Dataflow& dataflow, const PaperOptions& options) {
  const Network& n = dataflow.network();
  for (int m = 0; m < n.layer_count(); m++) {
    SpanWalk walk(dataflow, options, m + 1);
    walk.next();
    if (walk.feasible()) continue;
    const Layer& l = n.layers[std::size_t(m)];
    throw InputError(
        "layer '" + l.name + "' (" + std::string(name_of(l.op)) + ", number " + std::to_string(l.number) +
        "): limit: weights and rows of less than " + std::to_string(options.capacity_bytes) +
        " bytes, found: " + std::to_string(walk.weights_bytes()) + " + " + std::to_string(walk.rows_bytes()) +
        ", " + std::to_string(walk.footprint() + 1 - options.capacity_bytes) + " bytes short");
  }
}

std::optional<std::vector<int>> best_cuts(const Dataflow& dataflow, const PaperOptions& options,
                                          const std::vector<bool>& allowed) {
  constexpr std::int64_t kInfinite = std::numeric_limits<std::int64_t>::max();
  const int n = dataflow.network().layer_count();
  std::vector<std::int64_t> best(std::size_t(n) + 1, kInfinite);
  std::vector<int> from(std::size_t(n) + 1, -1);
  best[0] = 0;
  for (int end = 1; end <= n; end++) {
    if (end < n && !allowed.empty() && !allowed[std::size_t(end)]) continue;
    SpanWalk walk(dataflow, options, end);
    // A longer span keeps all that a shorter one with the same end does: the first infeasible one is the
    // last.
    while (walk.next() && walk.feasible()) {
      const std::int64_t before = best[std::size_t(walk.begin())];
      if (before == kInfinite) continue;
      const std::int64_t traffic = before + walk.traffic_bytes() + walk.penalty_bytes();
      if (traffic >= best[std::size_t(end)]) continue;
      best[std::size_t(end)] = traffic;
      from[std::size_t(end)] = walk.begin();
    }
  }
  if (from[std::size_t(n)] < 0) return std::nullopt;
  std::vector<int> cuts{n};
  while (cuts.back() > 0) cuts.push_back(from[std::size_t(cuts.back())]);
  std::reverse(cuts.begin(), cuts.end());
  return cuts;
}

}  // namespace kaiten::plan
