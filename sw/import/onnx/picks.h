// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Operators whose results are values of their first input in another order, perhaps not all, perhaps repeated: Transpose,
// DepthToSpace, SpaceToDepth, Tile, Expand, Gather of regular indices, Slice with steps, Split.
#ifndef KAITEN_IMPORT_ONNX_PICKS_H
#define KAITEN_IMPORT_ONNX_PICKS_H

#include <vector>

#include "import/onnx/operators.h"
#include "import/onnx/rearrange.h"

namespace kaiten::importing::from_onnx {

// What is read, in the model's order (rearranged()).
struct Pick {
  int begin = 0;
  std::vector<Stride> strides;
  Shape shape;  // of the result
};

// Whether pick_of() knows the operator.
bool is_pick(const std::string& op_type);
// Whether a Slice takes not every cell.
bool has_steps(const State& s, const Node& node);
Pick pick_of(State& s, const Node& node, const Shape& in, int part);

Shape shape_of_pick(State& s, const Node& node, const Operands& x, int part);
int fuse_pick(State& s, const Expression& e, Op op, const Scales& out);
int host_pick(State& s, const Expression& e);
Value stored_pick(State& s, const Node& node, int part);

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_PICKS_H
