// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A part of a network as a network of its own: what a program of several runs, or a chip of several.
#ifndef KAITEN_GRAPH_PART_H
#define KAITEN_GRAPH_PART_H

#include <span>

#include "graph/graph.h"

namespace kaiten {

// These operators of the graph, ascending. All tensors keep their indices; those that the part does not use lose their
// values. Its inputs are what it reads and does not make, by index; its outputs what others read or the network's user
// wants. The whole graph keeps the order of its inputs and outputs.
Graph part_of(const Graph& graph, std::span<const int> ops);

}  // namespace kaiten

#endif  // KAITEN_GRAPH_PART_H
