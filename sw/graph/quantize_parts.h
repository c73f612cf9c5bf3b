// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What the functions of quantize.h have in common.
#ifndef KAITEN_GRAPH_QUANTIZE_PARTS_H
#define KAITEN_GRAPH_QUANTIZE_PARTS_H

#include "graph/graph.h"
#include "graph/quantize.h"

namespace kaiten {

// Same as quantize_multiplier(), but a refusal names the layer.
Multiplier multiplier_for(const Op& op, double real);
// Zero point and limits of the operator's output.
void set_output_range(const Graph& graph, const Op& op, OutputQuant& out);

}  // namespace kaiten

#endif  // KAITEN_GRAPH_QUANTIZE_PARTS_H
