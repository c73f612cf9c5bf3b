// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Functions of one and of two float32 values that models keep between DequantizeLinear and QuantizeLinear: ONNX's operators
// of the same names, each step rounded to float32.
#ifndef KAITEN_GRAPH_REAL_FUNCTIONS_H
#define KAITEN_GRAPH_REAL_FUNCTIONS_H

#include "graph/graph.h"

namespace kaiten {

// Whether a HostFloat of this kind computes every element from one element of its input, or of each of its two inputs.
bool is_function(HostKind kind);
bool is_function_of_two(HostKind kind);

// By op.host_kind and the parameters that it names (graph.h); is_function() of it.
float real_function(const Op& op, float x);
// is_function_of_two() of the kind.
float real_function(HostKind kind, float a, float b);

}  // namespace kaiten

#endif  // KAITEN_GRAPH_REAL_FUNCTIONS_H
