// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/fusion.h"

#include <algorithm>

namespace kaiten::plan {

namespace {

// Rows or columns of every map of a span under the interval [low, high) of its last map.
struct Interval {
  int low = 0;
  int high = 0;
  int length() const { return high - low; }
};

struct Axis {
  bool down;
  int side(const Map& m) const { return down ? m.height : m.width; }
  int stride(const Network& n, int layer, int map) const {
    const Layer& l = n.layers[std::size_t(layer)];
    if (down) return n.stride_over(layer, map);
    const bool window = l.op == Op::kConv || l.op == Op::kDepthwise || l.op == Op::kPool;
    const bool main = std::find(l.inputs.begin(), l.inputs.end(), map) != l.inputs.end();
    if (main) return window ? l.stride_w : 1;
    return projection_stride(n.maps[std::size_t(map)].width, n.out(layer).width);
  }
  int extent(const Network& n, int layer, int map) const {
    const Layer& l = n.layers[std::size_t(layer)];
    if (down) return n.extent_over(layer, map);
    if (std::find(l.inputs.begin(), l.inputs.end(), map) == l.inputs.end()) return 1;
    const int width = n.maps[std::size_t(map)].width;
    if (l.op == Op::kGlobalPool || l.op == Op::kFc || (l.op == Op::kMove && n.out(layer).width != width))
      return width;
    return (l.kernel_w - 1) * l.dilation_w + 1;
  }
  int pad(const Network& n, int layer, int map) const {
    const Layer& l = n.layers[std::size_t(layer)];
    if (down) return n.pad_over(layer, map);
    const bool main = std::find(l.inputs.begin(), l.inputs.end(), map) != l.inputs.end();
    return main && l.op != Op::kMove ? l.pad_left : 0;
  }
};

// By map, from begin on. A map that no layer of the span reads is computed whole, a share of it in each tile.
std::vector<Interval> intervals(const Dataflow& dataflow, int begin, int end, const Interval& last,
                                const Axis& axis) {
  const Network& n = dataflow.network();
  std::vector<Interval> all(std::size_t(end - begin) + 1);
  all.back() = last;
  for (int map = end - 1; map >= begin; map--) {
    Interval& i = all[std::size_t(map - begin)];
    const int side = axis.side(n.maps[std::size_t(map)]);
    bool any = false;
    for (const Consumer& c : dataflow.consumers(map)) {
      if (c.layer >= end) break;
      const Interval& out = all[std::size_t(c.layer + 1 - begin)];
      const std::int64_t stride = axis.stride(n, c.layer, map);
      const std::int64_t low = out.low * stride - axis.pad(n, c.layer, map);
      const std::int64_t high =
          (out.high - 1) * stride - axis.pad(n, c.layer, map) + axis.extent(n, c.layer, map);
      const Interval need{int(std::clamp<std::int64_t>(low, 0, side)),
                          int(std::clamp<std::int64_t>(high, 0, side))};
      i.low = any ? std::min(i.low, need.low) : need.low;
      i.high = any ? std::max(i.high, need.high) : need.high;
      any = true;
    }
    if (!any) {
      const int of = axis.side(n.maps[std::size_t(end)]);
      i = {int(std::int64_t(side) * last.low / of), int(std::int64_t(side) * last.high / of)};
    }
  }
  return all;
}

// Lengths of all intervals of an axis, summed over the tiles.
std::vector<std::int64_t> sums(const Dataflow& dataflow, int begin, int end, int tile, const Axis& axis) {
  const int side = axis.side(dataflow.network().maps[std::size_t(end)]);
  std::vector<std::int64_t> sum(std::size_t(end - begin) + 1);
  for (int low = 0; low < side; low += tile) {
    const auto all = intervals(dataflow, begin, end, {low, std::min(side, low + tile)}, axis);
    for (std::size_t m = 0; m < sum.size(); m++) sum[m] += all[m].length();
  }
  return sum;
}

// Bytes of the pyramid under a tile in the middle of a large map: the arithmetic sequence of the paper
// closure, in both directions.
std::int64_t pyramid_bytes(const Dataflow& dataflow, const PaperOptions& options, int begin, int end,
                           int tile) {
  const Network& n = dataflow.network();
  std::vector<std::int64_t> height(std::size_t(end - begin) + 1, 0);
  std::vector<std::int64_t> width(height);
  height.back() = std::min(tile, n.maps[std::size_t(end)].height);
  width.back() = std::min(tile, n.maps[std::size_t(end)].width);
  std::int64_t bytes = 0;
  for (int map = end - 1; map >= begin; map--) {
    std::int64_t h = 1;
    std::int64_t w = 1;
    for (const Consumer& c : dataflow.consumers(map)) {
      if (c.layer >= end) break;
      const std::size_t out = std::size_t(c.layer + 1 - begin);
      h = std::max(
          h, (height[out] - 1) * Axis{true}.stride(n, c.layer, map) + Axis{true}.extent(n, c.layer, map));
      w = std::max(
          w, (width[out] - 1) * Axis{false}.stride(n, c.layer, map) + Axis{false}.extent(n, c.layer, map));
    }
    const Map& m = n.maps[std::size_t(map)];
    h = std::min<std::int64_t>(h, m.height);
    w = std::min<std::int64_t>(w, m.width);
    height[std::size_t(map - begin)] = h;
    width[std::size_t(map - begin)] = w;
    bytes += h * w * m.channels * options.batch;
  }
  return bytes;
}

}  // namespace

int largest_tile(const Dataflow& dataflow, const PaperOptions& options, int begin, int end) {
  const Network& n = dataflow.network();
  std::int64_t weights = 0;
  for (int layer = begin; layer < end; layer++) weights += n.weight_elements(layer);
  const auto fits = [&](int tile) {
    return weights + pyramid_bytes(dataflow, options, begin, end, tile) < options.capacity_bytes;
  };
  int low = 0;
  int high = std::max(n.maps[std::size_t(end)].height, n.maps[std::size_t(end)].width);
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

Pyramids pyramids(const Dataflow& dataflow, int begin, int end, int tile) {
  const Network& n = dataflow.network();
  const auto rows = sums(dataflow, begin, end, tile, {true});
  const auto columns = sums(dataflow, begin, end, tile, {false});
  Pyramids p;
  p.input_bytes = rows.front() * columns.front() * n.maps[std::size_t(begin)].channels;
  for (int layer = begin; layer < end; layer++) {
    const Map& out = n.out(layer);
    const std::size_t m = std::size_t(layer + 1 - begin);
    p.macs += n.macs(layer) / (std::int64_t(out.height) * out.width) * rows[m] * columns[m];
  }
  return p;
}

}  // namespace kaiten::plan
