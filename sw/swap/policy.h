// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Which maps a device swaps and when they come back. Sources: vDNN (Rhu et al., MICRO 2016); the staggering and the trigger
// search of Kim et al., Efficient Multi-GPU Memory Management for Deep Learning Acceleration, 2018; the rule of TensorFlow's
// graph optimiser Grappler (memory_optimizer.cc).
//
// none: all maps stay. vdnn-all: every map that waits for the backward pass is swapped; vdnn-conv: those that convolutions
// read; vdnn-dynamic: the fastest of the three. A map comes back at the gradient of the layer after the one that needs it.
//
// staggered: device i of the n of its switch swaps the layers i mod x + j x, 0 <= j < b, of the network's a layers; x = a / b
// rounded down, at least 1, so that no layer beyond the last is named (i mod x + (b - 1) x < b x <= a). b is the fastest of
// the eight smallest for which the batch fits; of large networks fewer are searched.
// Triggers by the paper's search: just in time; then each in turn as early as memory allows; then each
// as late as costs no time.
//
// grappler: at the moment of the greatest use of memory, the maps that are needed again last, until enough is saved; they
// come back when bytes / 16 GB/s are left before their use, by the computation alone.
//
// best: this project's: the fastest over several sets of maps of the trigger search of search.h.
#ifndef KAITEN_SWAP_POLICY_H
#define KAITEN_SWAP_POLICY_H

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "swap/simulate.h"

namespace kaiten::swap {

enum class Policy { kNone, kVdnnAll, kVdnnConv, kVdnnDynamic, kGrappler, kStaggered, kBest };

// By the names above.
const std::vector<std::pair<std::string, Policy>>& policies();

struct Choice {
  Plan plan;
  Result result;
  std::string note;  // how it came about
};

// A map that is worth sending away: its gradient does not come first.
bool can_swap(const Training& training, int map);
// A gradient reads it; just in time for it.
Swap just_in_time(const Training& training, int map);
// The layers that the staggering gives device `device` for b, by the rule above.
std::vector<int> staggered_layers(const Machine& machine, int device, int layers, int b);
Plan grappler_plan(const Scenario& scenario);  // grappler.cpp

// The policy's plan and what comes of it; result.failure where nothing fits. `search`: without, triggers that a search would
// set stay just in time.
Choice choose(const Scenario& scenario, Policy policy, bool search = true);

// The paper's first step: batches grow by `growth` until one does not fit, swapped just in time; the largest that does, 0 if
// none. `scenario` makes that of a batch.
int largest_batch(const std::function<Scenario(int)>& scenario, Policy policy, int growth, int most);

}  // namespace kaiten::swap

#endif  // KAITEN_SWAP_POLICY_H
