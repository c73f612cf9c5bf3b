// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/stap.h"

#include <algorithm>
#include <cmath>
#include <queue>

#include "base/error.h"

namespace kaiten::plan {

namespace {

constexpr double kMaxChips = 1'000'000;

Pipeline finish(std::vector<double> times, std::vector<int> replicas) {
  Pipeline p;
  for (std::size_t i = 0; i < times.size(); i++) {
    p.latency += times[i];
    p.period = std::max(p.period, times[i] / replicas[i]);
    p.chips += replicas[i];
  }
  p.times = std::move(times);
  p.replicas = std::move(replicas);
  return p;
}

}  // namespace

Pipeline replicate_for_period(std::vector<double> times, double target) {
  if (!(target > 0)) throw InputError("limit: a positive period, found: " + std::to_string(target));
  std::vector<int> replicas;
  double chips = 0;
  for (double t : times) {
    const double r = std::max(1.0, std::ceil(t / target));
    chips += r;
    if (chips > kMaxChips)
      throw InputError("limit: " + std::to_string(int(kMaxChips)) +
                       " chips, found: a period that needs more");
    replicas.push_back(int(r));
  }
  return finish(std::move(times), std::move(replicas));
}

Pipeline replicate_for_chips(std::vector<double> times, int chips) {
  if (chips < int(times.size())) {
    throw InputError("limit: a chip for each of " + std::to_string(times.size()) +
                     " stages, found: " + std::to_string(chips));
  }
  if (chips > int(kMaxChips)) {
    throw InputError("limit: " + std::to_string(int(kMaxChips)) + " chips, found: " + std::to_string(chips));
  }
  std::vector<int> replicas(times.size(), 1);
  // The slowest stage; ties are broken by the first.
  using Entry = std::pair<double, int>;
  std::priority_queue<Entry> slowest;
  for (std::size_t i = 0; i < times.size(); i++) slowest.push({times[i], -int(i)});
  for (int left = chips - int(times.size()); left > 0; left--) {
    const std::size_t i = std::size_t(-slowest.top().second);
    slowest.pop();
    replicas[i]++;
    slowest.push({times[i] / replicas[i], -int(i)});
  }
  return finish(std::move(times), std::move(replicas));
}

}  // namespace kaiten::plan
