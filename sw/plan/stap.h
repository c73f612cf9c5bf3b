// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Staggered asynchronous pipelines (Occam, section III-E): spans are stages on chips of their own; a slow
/// stage is replicated, and image i goes to replica i mod r of it. Times are in any unit, all in the same.
#ifndef KAITEN_PLAN_STAP_H
#define KAITEN_PLAN_STAP_H

#include <cstdint>
#include <vector>

namespace kaiten::plan {

/// Stages with their replicas.
struct Pipeline {
  std::vector<double> times;  ///< by stage
  std::vector<int> replicas;  ///< chips of each stage, at least 1
  double latency = 0;         ///< of one image through all stages
  double period = 0;          ///< between two results: throughput is its inverse
  int chips = 0;              ///< of all stages
};

/// As few replicas as give a period of at most `target`. Throws InputError for a target that is not positive
/// or asks for more than a million chips.
Pipeline replicate_for_period(std::vector<double> times, double target);
/// The least period on at most `chips` chips: the slowest stage gets the next one. Throws InputError when
/// there are fewer chips than stages, or more than a million.
Pipeline replicate_for_chips(std::vector<double> times, int chips);

}  // namespace kaiten::plan

#endif  // KAITEN_PLAN_STAP_H
