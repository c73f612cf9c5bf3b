// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A layer table as a model, so that the compiler can plan it for a configuration: the same layers with weights of
// zero and any scales. Additions and implied projections become layers; a pool is a maximum, a global pool a
// mean.
#ifndef KAITEN_PLAN_TO_GRAPH_H
#define KAITEN_PLAN_TO_GRAPH_H

#include "graph/graph.h"
#include "plan/network.h"

namespace kaiten::plan {

// Every layer of the result is an operator of its own, in the same order. Throws InputError where weights or
// maps exceed what a model may hold.
Graph graph_of(const Network& network);

}  // namespace kaiten::plan

#endif  // KAITEN_PLAN_TO_GRAPH_H
