// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Functions of one value that TensorFlow Lite computes in a way of its own, as tables (kernels/elementwise.cc, gelu).
#ifndef KAITEN_GRAPH_TABLES_H
#define KAITEN_GRAPH_TABLES_H

#include "graph/graph.h"
#include "graph/quantize.h"

namespace kaiten {

// 1 / sqrt(x) for x >= 1 in fixed point: m * 2^(shift - 31). For x = 1 and below the largest m.
Multiplier inverse_root(int32_t x);

// Of the operator's input and output. Values below the zero point, for which LiteRT reports an error, count as the zero point.
ValueTable rsqrt_table(const Graph& graph, const Op& op);
// 1 / (sqrt(input scale) * output scale), what a root of stored values is multiplied by. Below the least LiteRT shifts by more than
// 31 bits, which is undefined.
constexpr double kLeastRsqrtFactor = 0x1p-12;
double rsqrt_factor(const Graph& graph, const Op& op);
ValueTable sqrt_table(const Graph& graph, const Op& op);  // rounded down
ValueTable abs_table(const Graph& graph, const Op& op);
// The stored value alone, whatever the zero points.
ValueTable neg_table();

// In float32: x * P(X <= x) by the error function, and its approximation by the hyperbolic tangent.
float gelu(float x);
float gelu_tanh(float x);

}  // namespace kaiten

#endif  // KAITEN_GRAPH_TABLES_H
