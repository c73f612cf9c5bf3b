// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Shapes of results, in the model's order: one function per operator of the table, and what they share. Files
// whose operands do not fit throw InputError.
#ifndef KAITEN_IMPORT_ONNX_SHAPES_H
#define KAITEN_IMPORT_ONNX_SHAPES_H

#include <vector>

#include "import/onnx/operators.h"

namespace kaiten::importing::from_onnx {

// Attribute "axis" as a dimension of a tensor of this rank.
int axis_of(const State& s, const Node& node, int otherwise, int rank);
int concat_axis(const State& s, const Node& node, const Shape& shape);
Shape concat_shape(const State& s, const Node& node, const Operands& operands);
// Of two operands, by numpy's rules.
Shape broadcast(const State& s, const Shape& a, const Shape& b);
// The axes a ReduceMean averages over, ascending.
std::vector<int> mean_axes(State& s, const Node& node, int rank);
// The order of a Transpose: dimension d of the result is dimension order[d] of the input.
std::vector<int> permutation(const State& s, const Node& node, int rank);

Shape same_shape(State& s, const Node& node, const Operands& x, int part);
Shape shape_of_arg_max(State& s, const Node& node, const Operands& x, int part);
Shape shape_of_binary(State& s, const Node& node, const Operands& x, int part);
Shape shape_of_concat(State& s, const Node& node, const Operands& x, int part);
Shape shape_of_dropout(State& s, const Node& node, const Operands& x, int part);
Shape shape_of_flatten(State& s, const Node& node, const Operands& x, int part);
Shape shape_of_gemm(State& s, const Node& node, const Operands& x, int part);
Shape shape_of_global_pool(State& s, const Node& node, const Operands& x, int part);
Shape shape_of_matmul(State& s, const Node& node, const Operands& x, int part);
Shape shape_of_mean(State& s, const Node& node, const Operands& x, int part);
Shape shape_of_reshape(State& s, const Node& node, const Operands& x, int part);
Shape shape_of_squeeze(State& s, const Node& node, const Operands& x, int part);
Shape shape_of_sum(State& s, const Node& node, const Operands& x, int part);
Shape shape_of_transpose(State& s, const Node& node, const Operands& x, int part);
Shape shape_of_unsqueeze(State& s, const Node& node, const Operands& x, int part);

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_SHAPES_H
