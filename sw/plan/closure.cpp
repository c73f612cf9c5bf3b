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

// The least and the most rows of a map that one row of another is apart, over all ways between; none: least > most.
struct Jumps {
  std::int64_t least = kMaxLag;
  std::int64_t most = 0;
};

// From `map` to `to`, walking back over all edges.
Jumps jumps(const Network& n, const std::vector<std::vector<Consumer>>& consumers, int map, int to) {
  std::vector<Jumps> all(std::size_t(to - map) + 1);
  all.back() = {1, 1};
  for (int m = to - 1; m >= map; m--) {
    Jumps& j = all[std::size_t(m - map)];
    for (const Consumer& c : consumers[std::size_t(m)]) {
      if (c.layer + 1 > to) break;
      const Jumps& onwards = all[std::size_t(c.layer + 1 - map)];
      if (onwards.most == 0) continue;
      const std::int64_t stride = n.stride_over(c.layer, m);
      j.least = std::min(j.least, stride * onwards.least);
      j.most = std::min(kMaxLag, std::max(j.most, stride * onwards.most));
    }
  }
  return all.front();
}

// The slowest way over a layer and onwards.
Way over(const Network& n, int layer, int map, const Way& onwards) {
  if (onwards.lag == kNone) return onwards;
  const std::int64_t stride = n.stride_over(layer, map);
  const std::int64_t step = n.extent_over(layer, map) - 1 - n.pad_over(layer, map);
  return {std::min(kMaxLag, step + onwards.lag * stride), std::min(kMaxLag, onwards.jump * stride)};
}

// Every map and window is, so that transposing changes nothing.
bool is_square(const Network& n) {
  return std::all_of(n.maps.begin(), n.maps.end(), [](const Map& m) { return m.height == m.width; }) &&
         std::all_of(n.layers.begin(), n.layers.end(), [](const Layer& l) {
           return l.kernel_h == l.kernel_w && l.stride_h == l.stride_w && l.dilation_h == l.dilation_w &&
                  l.pad_top == l.pad_left && l.pad_bottom == l.pad_right;
         });
}

}  // namespace

std::string_view name_of(Closure closure) { return closure == Closure::kRolling ? "rolling" : "paper"; }

Dataflow::Dataflow(const Network& network) : Dataflow(network, Sides::kBoth) {}

Dataflow::Dataflow(const Network& network, Sides sides)
    : network_(network), consumers_(plan::consumers(network)), residuals_(network.maps.size()) {
  for (int m = 0; m < network.layer_count(); m++)
    chain_ = chain_ && network.layers[std::size_t(m)].inputs == std::vector<int>{m};
  for (std::size_t a = 0; a < consumers_.size(); a++) {
    for (const Consumer& c : consumers_[a]) {
      if (c.residual) residuals_[a].push_back(residual(int(a), c.layer));
    }
  }
  if (sides == Sides::kOne || is_square(network)) return;
  transposed_ = std::make_unique<const Network>(transposed(network));
  across_ = std::unique_ptr<const Dataflow>(new Dataflow(*transposed_, Sides::kOne));
}

// Ways from `map` over main inputs to the output of the adding layer, walking back from there.
Dataflow::Residual Dataflow::residual(int map, int layer) const {
  const int end = layer + 1;
  std::vector<Way> way(std::size_t(end - map) + 1);
  way.back() = {0, 1};
  for (int m = end - 1; m >= map; m--) {
    Way& slowest = way[std::size_t(m - map)];
    for (const Consumer& q : consumers_[std::size_t(m)]) {
      if (q.residual || q.layer + 1 > end) continue;
      const Way w = over(network_, q.layer, m, way[std::size_t(q.layer + 1 - map)]);
      if (w.lag != kNone && w.lag > slowest.lag) slowest = w;
    }
  }
  const Jumps j = jumps(network_, consumers_, map, end);
  Residual r{layer, 0, j.least != j.most};
  const std::int64_t lag = r.drifts ? network_.maps[std::size_t(map)].height - 1 : way.front().lag;
  r.lag = int(std::clamp<std::int64_t>(lag, 0, kMaxSide));
  return r;
}

const Dataflow::Residual* Dataflow::find_residual(int map, int layer) const {
  const auto& all = residuals_[std::size_t(map)];
  const auto it = std::find_if(all.begin(), all.end(), [&](const Residual& r) { return r.layer == layer; });
  return it == all.end() ? nullptr : &*it;
}

int Dataflow::residual_lag(int map, int layer) const {
  const Residual* r = find_residual(map, layer);
  return r == nullptr ? 0 : r->lag;
}

bool Dataflow::drifts(int map, int layer) const {
  const Residual* r = find_residual(map, layer);
  return r != nullptr && r->drifts;
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
    if (c.residual && dataflow_.drifts(map, c.layer)) {
      first_[std::size_t(map)] = 0;
      return int(height);
    }
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
  int readers = 0;
  int dominator = -1;
  for (const Consumer& c : dataflow_.consumers(map)) {
    if (c.layer >= end_) break;
    const int to = c.layer + 1;
    // In a chain a residual edge waits for what is between and for nothing else.
    if (!c.residual || !dataflow_.is_chain()) readers++;
    rows = std::max(
        rows, c.residual ? dataflow_.residual_lag(map, c.layer) + 1 : network_.extent_over(c.layer, map));
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
  return readers > 1 ? std::max(rows, branch_rows(map)) : rows;
}

// Several layers read the map. When the slowest of them has made what the next row of the dominator needs, a
// faster one still needs the rows of its own next window: the difference of their lags, the window, and what
// lies between a row of the dominator and a step of that consumer. At the beginning the faster one has made
// nothing yet and needs every row from the first on.
int ClosureRows::branch_rows(int map) {
  const int to = dominator_[std::size_t(map)];
  // Ways that step over other rows drift apart: the whole map waits.
  const Jumps j = jumps(network_, dataflow_.consumers(), map, to);
  if (j.least != j.most) return network_.maps[std::size_t(map)].height;
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
