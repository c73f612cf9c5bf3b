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
#include <span>
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

// Networks by number, in groups that share weights: those of a layer of the same name are the same bytes as far as both have
// kernels and channels, as in SubNets of one SuperNet. Every network is in one group.
using Groups = std::vector<std::vector<std::size_t>>;
Groups sharing(std::span<const Graph> networks);

// What PB holds while these networks, which share weights, are served: the kernels and channels that all of them have, layers
// with the fewest output pixels first, each as a whole, as many as `rows` rows of WB take.
ResidentWeights resident_of(std::span<const Graph* const> networks, const Config& config, int rows);

// At most what modelled() says, and refused only where that refuses. Operators that an engine has must not be on the host.
Cost least(const Graph& graph, const Candidate& candidate, const CostOptions& options);
// `resident`: of the candidate, null where PB is empty.
Cost modelled(const Graph& graph, const Candidate& candidate, const ResidentWeights* resident,
              const CostOptions& options);
// Of each network while those of its group are served: PB holds what they share, for those that are faster with it; the others
// leave all of WB to DB.
std::vector<Cost> modelled_all(std::span<const Graph> networks, const Groups& groups,
                               const Candidate& candidate, const CostOptions& options);

}  // namespace kaiten::explore

#endif  // KAITEN_EXPLORE_COST_H
