// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Inputs for those who have none.
#ifndef KAITEN_RUN_RANDOM_INPUTS_H
#define KAITEN_RUN_RANDOM_INPUTS_H

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "graph/values.h"

namespace kaiten {

// Every stored value alike, in the order of graph.inputs, image by image; for float32 the real values that they stand for.
std::vector<Int8Values> random_inputs(const Graph& graph, std::uint64_t seed, int batch = 1);

}  // namespace kaiten

#endif  // KAITEN_RUN_RANDOM_INPUTS_H
