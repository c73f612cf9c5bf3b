// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Operators that only move values: Pad, Slice, Split.
#ifndef KAITEN_IMPORT_ONNX_MOVES_H
#define KAITEN_IMPORT_ONNX_MOVES_H

#include "import/onnx/operators.h"

namespace kaiten::importing::from_onnx {

Shape shape_of_move(State& s, const Node& node, const Operands& x, int part);

// The quantised tensor that output `part` of the node is. `in`: the input's shape in the model's order.
int move(State& s, const Node& node, const Shape& in, int part, int in_tensor, const Scales& scales);

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_MOVES_H
