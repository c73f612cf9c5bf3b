// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Convolutions and fully connected layers of quantised tensors.
#ifndef KAITEN_IMPORT_ONNX_WEIGHTED_H
#define KAITEN_IMPORT_ONNX_WEIGHTED_H

#include "import/onnx/state.h"

namespace kaiten::importing::from_onnx {

// The quantised tensor that a layer reads, with its scales as the layer states them.
struct ScaledInput {
  int tensor = kNoTensor;
  Scales scales;
};

// What a layer with weights reads, and the scales of what it gives.
struct WeightedOperands {
  ScaledInput in;
  Weights weights;
  Bias bias;
  Scales out;
};

// Each gives the output tensor of an operator with the limits that `op` has.
int conv(State& s, const Node& node, Op op, const WeightedOperands& x);
// Gives `shape`. weights: [in, out], or [out, in] if transposed.
int fully_connected(State& s, Op op, const WeightedOperands& x, bool transposed, const Shape& shape);

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_WEIGHTED_H
