// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/float_average.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace kaiten {
namespace {

constexpr double kUnit = 0x1p-24;       // the largest relative error of an operation in float32
constexpr double kHigherOrders = 1.01;  // errors of errors
constexpr double kMostOfCell = 255;
constexpr int kMostCells = 1024;  // whose sums are all tried

constexpr std::size_t kLanes = 4;
using Packet = std::array<float, kLanes>;

void add(Packet& sums, std::span<const float> values) {
  for (std::size_t lane = 0; lane < kLanes; lane++) sums[lane] += values[lane];
}

float total(const Packet& p) { return (p[0] + p[2]) + (p[1] + p[3]); }

float with_each(float sum, std::span<const float> values) {
  for (const float value : values) sum += value;
  return sum;
}

// How many taps of a window lie inside the map, along rows or columns, at each of its places.
std::set<int> taps_inside(int places, int stride, int before, int kernel, int dilation, int size) {
  std::set<int> counts;
  for (int place = 0; place < places; place++) {
    int inside = 0;
    for (int i = 0; i < kernel; i++) {
      const int at = place * stride - before + i * dilation;
      inside += at >= 0 && at < size ? 1 : 0;
    }
    counts.insert(inside);
  }
  return counts;
}

// For windows of so many cells inside the map.
bool agree(const PoolParams& p, int cells, int divisor) {
  if (cells > kMostCells) return false;
  const double ratio = double(p.in_scale) / double(p.out_scale) / divisor;
  // Of the products, then of the partial sums, which are at most 2, 3, ... cells.
  const double of_sum = kMostOfCell * kUnit * (cells + cells * (cells + 1.0) / 2) * ratio;
  const Multiplier factor = pool_factor(p, divisor);
  for (int sum = cells * (-128 - p.zp_in); sum <= cells * (127 - p.zp_in); sum++) {
    const double exact = sum * ratio;
    // Two divisions and the zero point.
    const double error = kHigherOrders * (of_sum + (3 * std::abs(exact) + 256) * kUnit);
    const auto least = std::int32_t(std::ceil(exact - error - 0.5)),
               most = std::int32_t(std::floor(exact + error + 0.5));
    const std::int8_t result = p.output.stored(requantize_float(sum, factor));
    if (p.output.stored(least) != result || p.output.stored(most) != result) return false;
  }
  return true;
}

}  // namespace

Additions additions_of(std::int64_t opset, const Window& w, const Nhwc& map) {
  constexpr std::int64_t kFirstByRows = 19;
  constexpr int kBufferColumns = 2048;
  if (opset >= kFirstByRows) return Additions::ByRows;
  if (w == Window{map.h, map.w, 1, 1, 1, 1, {}}) return Additions::InLanes;
  const bool fits = map.w + w.pad.left + w.pad.right <= kBufferColumns;
  return w.stride_w <= 2 && fits ? Additions::ByColumns : Additions::ByRows;
}

float sum_in_lanes(std::span<const float> values) {
  Packet sums{};
  const std::size_t whole = values.size() / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) add(sums, values.subspan(i));
  return with_each(total(sums), values.subspan(whole));
}

float sum_in_packets(std::span<const float> values, std::size_t place) {
  const std::size_t before = std::min((kLanes - place % kLanes) % kLanes, values.size());
  const std::span<const float> aligned = values.subspan(before);
  const std::size_t packets = aligned.size() / kLanes;
  if (packets == 0) return with_each(0, values);
  std::array<Packet, 2> sums{};
  const std::size_t pairs = packets / 2 * 2;
  for (std::size_t i = 0; i < pairs; i++) add(sums[i % 2], aligned.subspan(i * kLanes));
  add(sums[0], sums[1]);
  if (packets > pairs) add(sums[0], aligned.subspan(pairs * kLanes));
  return with_each(with_each(total(sums[0]), values.first(before)), aligned.subspan(packets * kLanes));
}

std::int32_t float_mean(const PoolParams& p, float sum, int count) {
  const float steps = sum / float(count) / p.out_scale;
  if (!p.qlinear) return std::int32_t(std::nearbyint(steps));
  const int zero_point = p.output.zero_point + p.model_offset;
  return std::int32_t(std::nearbyint(steps + float(zero_point))) - zero_point;
}

bool averages_agree(const PoolParams& p, const Window& w, const Nhwc& in, const Nhwc& out) {
  const std::set<int> rows = taps_inside(out.h, w.stride_h, w.pad.top, w.kernel_h, w.dilation_h, in.h);
  const std::set<int> columns = taps_inside(out.w, w.stride_w, w.pad.left, w.kernel_w, w.dilation_w, in.w);
  std::set<int> tried;
  for (const int r : rows) {
    for (const int c : columns) {
      const int divisor = p.count_pad ? w.kernel_h * w.kernel_w : r * c;
      if (tried.insert(r * c).second && divisor > 0 && !agree(p, r * c, divisor)) return false;
    }
  }
  return true;
}

}  // namespace kaiten
