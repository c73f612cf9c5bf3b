// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "swap/fair.h"

#include <algorithm>
#include <limits>

namespace kaiten::swap {

std::vector<double> fair_shares(const std::vector<double>& capacity,
                                const std::vector<std::vector<int>>& flows) {
  std::vector<double> left = capacity, share(flows.size(), 0);
  std::vector<int> crossing(capacity.size(), 0);
  std::vector<char> open(flows.size(), 1);
  for (const auto& links : flows) {
    for (int l : links) crossing[std::size_t(l)]++;
  }
  for (std::size_t settled = 0; settled < flows.size();) {
    std::size_t full = 0;
    double level = std::numeric_limits<double>::infinity();
    for (std::size_t l = 0; l < left.size(); l++) {
      if (crossing[l] > 0 && left[l] / crossing[l] < level) {
        level = left[l] / crossing[l];
        full = l;
      }
    }
    for (std::size_t f = 0; f < flows.size(); f++) {
      if (open[f] == 0 || std::find(flows[f].begin(), flows[f].end(), int(full)) == flows[f].end()) continue;
      open[f] = 0;
      share[f] = level;
      settled++;
      for (int l : flows[f]) {
        left[std::size_t(l)] = std::max(0.0, left[std::size_t(l)] - level);
        crossing[std::size_t(l)]--;
      }
    }
  }
  return share;
}

}  // namespace kaiten::swap
