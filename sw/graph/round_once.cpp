// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/round_once.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace kaiten {
namespace {

__extension__ using Wide = __int128;
constexpr double kLargestSum = 0x1p31;

// The smallest sum whose product with `real` is rounded to more than n.
std::int64_t first_above(double real, int n) {
  const auto above = [=](std::int64_t sum) { return std::round(double(sum) * real) > n; };
  auto sum = std::int64_t((n + 0.5) / real);
  while (above(sum - 1)) sum--;
  while (!above(sum)) sum++;
  return sum;
}

// Multipliers with which result n + 1 begins at this sum: sum * M >= tie > (sum - 1) * M.
struct Step {
  Wide tie;
  std::int64_t sum;
  Wide least() const { return (tie + sum - 1) / sum; }
  Wide most() const {
    return sum > 1 ? (tie + sum - 2) / (sum - 1) - 1 : Wide(std::numeric_limits<std::int32_t>::max());
  }
  bool holds(Wide m) const { return m * sum >= tie && m * (sum - 1) < tie; }
};

// The steps of results 1 to `reach` that sums of 32 bits come to.
std::vector<Step> steps_of(double real, int shift, int reach) {
  std::vector<Step> steps;
  for (int n = 0; n < reach && (n + 0.5) / real < kLargestSum; n++)
    steps.push_back({Wide(2 * n + 1) << (30 - shift), first_above(real, n)});
  return steps;
}

}  // namespace

Multiplier round_once(double real, int reach) {
  const Multiplier nearest = quantize_multiplier(real);
  if (nearest.m == 0) return nearest;
  const std::vector<Step> steps = steps_of(real, nearest.shift, reach);
  const bool fits =
      std::all_of(steps.begin(), steps.end(), [&](const Step& s) { return s.holds(nearest.m); });
  if (fits) return nearest;  // nearly always: saves the divisions
  Wide least = std::int64_t(1) << 30;
  Wide most = std::numeric_limits<std::int32_t>::max();
  for (const Step& s : steps) {
    least = std::max(least, s.least());
    most = std::min(most, s.most());
  }
  if (least > most) return nearest;
  return {std::int32_t(std::clamp<Wide>(nearest.m, least, most)), nearest.shift};
}

}  // namespace kaiten
