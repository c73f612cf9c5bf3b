// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A model as the planner sees it: the layers of a graph without what costs nothing there (reshapes) or does
/// not run on the device (float arithmetic at the ends).
#ifndef KAITEN_PLAN_FROM_GRAPH_H
#define KAITEN_PLAN_FROM_GRAPH_H

#include "graph/graph.h"
#include "plan/network.h"

namespace kaiten::plan {

/// How many inputs a graph may have.
enum class Inputs {
  kOne,  ///< one
  kAny,  ///< any number, all of which count as map 0
};

/// Additions are layers of their own. Layer numbers are operator numbers of the graph. A batch counts as the rows of
/// all its images. Throws InputError for too many layers; with Inputs::kOne also for several inputs and for no layer.
Network network_of(const Graph& graph, Inputs inputs = Inputs::kOne);

/// Additions right after the layer they add to become residual edges, as the tables write them: fewer maps.
Network with_residual_edges(const Network& network);

/// The reverse, and each implied projection becomes a convolution: what an accelerator has to run.
Network with_addition_layers(const Network& network);

}  // namespace kaiten::plan

#endif  // KAITEN_PLAN_FROM_GRAPH_H
