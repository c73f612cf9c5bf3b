// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Searches for the triggers of a plan whose maps are given: the paper's (Kim et al., section III-C, steps 2 and 3) and ours.
#ifndef KAITEN_SWAP_SEARCH_H
#define KAITEN_SWAP_SEARCH_H

#include "swap/simulate.h"

namespace kaiten::swap {

// `plan` has every trigger just in time and fits. Step 2: maps in order of need, device by device: one trigger after the
// other goes earlier, layer by layer, until memory does not suffice. Step 3: in the same order each goes later again as long
// as the step takes no longer than after step 2. Over more than 32 layers it goes by halves. Adds to `simulations`.
Plan paper_triggers(const Scenario& scenario, Plan plan, int* simulations = nullptr);

struct SearchOptions {
  int budget = 4000;       // simulations of the descent
  int exhaustive = 20000;  // where there are no more plans than so, all are tried
};

struct Found {
  Plan plan;
  double seconds = 0;  // infinite where nothing fits
  int simulations = 0;
  bool exact = false;  // no plan of the space is faster
};

// The seconds a device may start late: not, after the first layer of the first device, or after its second.
std::vector<double> start_offsets(const Scenario& scenario);
// No plan takes less: computation, the sum of gradients, the way back of the weights alone.
double least_seconds(const Scenario& scenario);

// Every trigger at every layer from the one that needs the map to the last, every device but the first with every start
// offset: descent, one trigger or offset at a time, from just in time, one layer ahead and the paper's triggers; then all
// plans where there are few enough. Ends where least_seconds() is met.
Found search_triggers(const Scenario& scenario, const Plan& plan, const SearchOptions& options);

}  // namespace kaiten::swap

#endif  // KAITEN_SWAP_SEARCH_H
