// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Quantised values in another order. Stored values of rank 4 stand in NHWC; what follows the model's own order goes through a
// tensor of rank 1 that has it.
#ifndef KAITEN_IMPORT_ONNX_REARRANGE_H
#define KAITEN_IMPORT_ONNX_REARRANGE_H

#include <vector>

#include "import/onnx/state.h"

namespace kaiten::importing::from_onnx {

// A dimension of what is read: so many values, so far apart, counted in the model's order.
struct Stride {
  int size = 1;
  int step = 1;
};

// Of a dense tensor of this shape in the model's order.
std::vector<Stride> strides_of(const Shape& shape);

// The values of `tensor`, of shape `from` in the model, that the strides meet from position `begin` on, the last stride
// fastest, as a tensor of shape `to`.
int rearranged(State& s, int tensor, const Shape& from, int begin, const std::vector<Stride>& strides,
               const Shape& to, const Scales& scales);
// Positions of a dimension of a quantised tensor of this shape, in the model's order.
int gathered(State& s, int tensor, const Shape& from, int axis, const std::vector<int>& positions,
             const Scales& scales);
// The same tensor with dimensions of 1 before the others, as numpy sees it beside one of rank 4.
int of_rank(State& s, int tensor, const Shape& shape, int rank, const Scales& scales);
// A map that was flattened (State::flattened), in the model's order.
int unflattened(State& s, int tensor);
// All of them, in the model's order, under another shape.
int reshaped(State& s, int tensor, const Shape& from, const Shape& to, const Scales& scales);

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_REARRANGE_H
