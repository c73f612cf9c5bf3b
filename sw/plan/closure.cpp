// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/closure.h"

#include <algorithm>
#include <limits>

namespace kaiten::plan {

namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
// Rows never exceed a map's height; sums of lags of thousands of layers stay far below this.
constexpr std::int64_t kMaxLag = std::int64_t(1) << 40;

// A way from one map to another: rows of the first one by which the second lags, and rows of the
// first one a row of the second.
struct Way {
  std::int64_t lag = kNone;
  std::int64_t jump = 1;
};

// The slowest way over a layer and onwards.
Way over(const Network& n, int layer, int map, const Way& onwards) {
  if (onwards.lag == kNone) return onwards;
  const std::int64_t stride = n.stride_over(layer, map);
  const std::int64_t step = n.extent_over(layer, map) - 1 - n.pad_over(layer, map);
  return {std::min(kMaxLag, step + onwards.lag * stride), std::min(kMaxLag, onwards.jump * stride)};
}

}  // namespace

std::string_view name_of(Closure closure) { return closure == Closure::kRolling ? "rolling" : "paper"; }

Dataflow::Dataflow(const Network& network)
    : network_(network), consumers_(plan::consumers(network)), lags_(network.maps.size()) {
  for (int m = 0; m < network.layer_count(); m++)
    chain_ = chain_ && network.layers[std::size_t(m)].inputs == std::vector<int>{m};
  for (std::size_t a = 0; a < consumers_.size(); a++) {
    lags_[a].assign(consumers_[a].size(), 0);
    for (std::size_t r = 0; r < consumers_[a].size(); r++) {
      if (!consumers_[a][r].residual) continue;
      // Ways from `a` over main inputs to the output of the adding layer, walking back from there.
      const int b = consumers_[a][r].layer + 1;
      std::vector<Way> way(std::size_t(b) - a + 1);
      way.back() = {0, 1};
      for (int m = b - 1; m >= int(a); m--) {
        for (const Consumer& q : consumers_[std::size_t(m)]) {
          if (q.residual || q.layer + 1 > b) continue;
          const Way w = over(network, q.layer, m, way[std::size_t(q.layer) + 1 - a]);
          Way& best = way[std::size_t(m) - a];
          if (w.lag != kNone && w.lag > best.lag) best = w;
        }
      }
      lags_[a][r] =
          int(std::clamp<std::int64_t>(way.front().lag == kNone ? 0 : way.front().lag, 0, kMaxSide));
    }
  }
}

int Dataflow::residual_lag(int map, int layer) const {
  const auto& all = consumers_[std::size_t(map)];
  for (std::size_t r = 0; r < all.size(); r++) {
    if (all[r].residual && all[r].layer == layer) return lags_[std::size_t(map)][r];
  }
  return 0;
}

ClosureRows::ClosureRows(const Dataflow& dataflow, Closure closure, int end)
    : dataflow_(dataflow), network_(dataflow.network()), closure_(closure), end_(end) {
  kept_.assign(std::size_t(end) + 1, 0);
  dominator_.assign(std::size_t(end) + 1, end);
  kept_[std::size_t(end)] = 1;
  first_.assign(std::size_t(end) + 1, 0);
}

int ClosureRows::rows(int map) {
  const int height = network_.maps[std::size_t(map)].height;
  return kept_[std::size_t(map)] =
             std::min(height, closure_ == Closure::kPaper ? paper_rows(map) : rolling_rows(map));
}

// Rows [first, first + kept) under the row 0 of the span's output, as far from the borders as it takes.
int ClosureRows::paper_rows(int map) {
  const std::int64_t height = network_.maps[std::size_t(map)].height;
  std::int64_t first = 0;
  std::int64_t end = 1;
  bool any = false;
  bool several = false;
  bool whole = false;
  for (const Consumer& c : dataflow_.consumers(map)) {
    if (c.layer >= end_) break;
    // In a chain residual edges add nothing to what the main inputs need (section III-C).
    if (c.residual && any && dataflow_.is_chain()) continue;
    const std::size_t out = std::size_t(c.layer) + 1;
    const std::int64_t stride = network_.stride_over(c.layer, map);
    const std::int64_t rows = std::int64_t(kept_[out] - 1) * stride + network_.extent_over(c.layer, map);
    const std::int64_t from = first_[out] * stride - network_.pad_over(c.layer, map);
    first = any ? std::min(first, from) : from;
    end = any ? std::max(end, from + rows) : from + rows;
    // A consumer that keeps a whole map is at no place: beside others it needs all there is.
    whole = whole || kept_[out] == network_.maps[out].height;
    several = any;
    any = true;
  }
  if (whole && several) end = first + height;
  first_[std::size_t(map)] = std::clamp<std::int64_t>(first, -kMaxLag, kMaxLag);
  return int(std::min<std::int64_t>(end - first, kMaxSide));
}

int ClosureRows::rolling_rows(int map) {
  int rows = 1;
  int main_readers = 0;
  int dominator = -1;
  for (const Consumer& c : dataflow_.consumers(map)) {
    if (c.layer >= end_) break;
    const int to = c.layer + 1;
    if (c.residual) {
      rows = std::max(rows, dataflow_.residual_lag(map, c.layer) + 1);
    } else {
      main_readers++;
      rows = std::max(rows, network_.extent_over(c.layer, map));
    }
    // The nearest map both ways pass: walk the one that is less far.
    int a = dominator < 0 ? to : dominator;
    int b = to;
    while (a != b) {
      int& less = a < b ? a : b;
      less = dominator_[std::size_t(less)];
    }
    dominator = a;
  }
  dominator_[std::size_t(map)] = dominator < 0 ? end_ : dominator;
  return main_readers > 1 ? std::max(rows, branch_rows(map)) : rows;
}

// Several layers read the map. When the slowest of them has made what the next row of the dominator needs, a
// faster one still needs the rows of its own next window: the difference of their lags, the window, and what
// lies between a row of the dominator and a step of that consumer. At the beginning the faster one has made
// nothing yet and needs every row from the first on.
int ClosureRows::branch_rows(int map) {
  const int to = dominator_[std::size_t(map)];
  std::vector<Way> way(std::size_t(to - map) + 1);
  way.back() = {0, 1};
  for (int m = to - 1; m >= map; m--) {
    Way& slowest = way[std::size_t(m - map)];
    for (const Consumer& c : dataflow_.consumers(m)) {
      if (c.layer + 1 > to) break;
      const Way w = over(network_, c.layer, m, way[std::size_t(c.layer + 1 - map)]);
      if (w.lag != kNone && w.lag > slowest.lag) slowest = w;
    }
  }
  const std::int64_t slowest = std::max<std::int64_t>(way.front().lag, 0);
  std::int64_t rows = slowest + 1;
  for (const Consumer& c : dataflow_.consumers(map)) {
    if (c.layer + 1 > to) break;
    const Way w = over(network_, c.layer, map, way[std::size_t(c.layer + 1 - map)]);
    if (w.lag == kNone) continue;
    const std::int64_t stride = network_.stride_over(c.layer, map);
    rows = std::max(rows, slowest - w.lag + network_.extent_over(c.layer, map) +
                              std::max<std::int64_t>(0, w.jump - stride));
  }
  return int(std::min<std::int64_t>(rows, kMaxSide));
}

}  // namespace kaiten::plan
