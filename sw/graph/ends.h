// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Where a graph ends: the operators that some tensors need, without those after them.
#ifndef KAITEN_GRAPH_ENDS_H
#define KAITEN_GRAPH_ENDS_H

#include <vector>

#include "graph/graph.h"

namespace kaiten {

// By tensor: an input of the graph, or the output of an operator whose inputs are all computed or constants.
std::vector<bool> computed_tensors(const Graph& graph);

// Makes these tensors the outputs and drops the operators that none of them needs; inputs stay. Indices of tensors stay. Each must be computed
// by an operator (not checked).
void end_at(Graph& graph, std::vector<int> outputs);

}  // namespace kaiten

#endif  // KAITEN_GRAPH_ENDS_H
