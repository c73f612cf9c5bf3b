// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What a network takes on an accelerator that does not exist yet, by the compiler's cycle model, and what it takes at least,
// which is known without compiling:
//  - an engine is never faster than its slots: those of every operator on it follow from KP, CP and the shape alone, and a
//    command takes as many, however operators are cut into commands (lower/lowered.h, emit/cycle_model.h);
//  - weights that PB does not hold cross the bus once at least, and no faster than bus and memory allow.
// The largest of the three times is at most the modelled one. Cycles are those of one image.
#ifndef KAITEN_EXPLORE_COST_H
#define KAITEN_EXPLORE_COST_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compile/resident.h"
#include "explore/space.h"
#include "graph/graph.h"

namespace kaiten::explore {

struct CostOptions {
  double bytes_per_cycle = 0;  // of the memory; 0: as much as the bus
  std::function<void()> cancellation_check = {};
};

struct Cost {
  std::int64_t cycles = 0;
  std::string refusal;  // why the network does not run there whole; the rest is nothing then
};

// What PB holds of a network: layers with the fewest output pixels first, each as a whole, as many as `rows` rows of WB take.
ResidentWeights resident_of(const Graph& graph, const Config& config, int rows);

// At most what modelled() says, and refused only where that refuses. Operators that an engine has must not be on the host.
Cost least(const Graph& graph, const Candidate& candidate, const CostOptions& options);
// `resident`: of the candidate, null where PB is empty.
Cost modelled(const Graph& graph, const Candidate& candidate, const ResidentWeights* resident,
              const CostOptions& options);

}  // namespace kaiten::explore

#endif  // KAITEN_EXPLORE_COST_H
