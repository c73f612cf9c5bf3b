// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Operators that only move values: Pad, Slice, Split.
#ifndef KAITEN_IMPORT_ONNX_MOVES_H
#define KAITEN_IMPORT_ONNX_MOVES_H

#include <cstdint>
#include <vector>

#include "import/onnx/operators.h"

namespace kaiten::importing::from_onnx {

// What an output of Pad, Slice or Split takes of the input: cells [begin, begin + size) of each dimension;
// begin is negative before the map.
struct Box {
  std::vector<std::int64_t> begin;
  std::vector<std::int64_t> size;
};

Box moved_box(const State& s, const Node& node, const Shape& in, int part);

Shape shape_of_move(State& s, const Node& node, const Operands& x, int part);

// The quantised tensor that output `part` of the node is. `in`: the input's shape in the model's order.
int move(State& s, const Node& node, const Shape& in, int part, int in_tensor, const Scales& scales);

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_MOVES_H
