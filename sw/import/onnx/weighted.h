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

// Each gives the output tensor of an operator with the limits that `op` has.
int conv(State& s, const Node& node, Op op, const ScaledInput& in, const Weights& weights, const Bias& bias,
         const Scales& out);
// weights: [in, out], or [out, in] if transposed.
int fully_connected(State& s, Op op, const ScaledInput& in, const Weights& weights, bool transposed,
                    const Bias& bias, const Shape& shape, const Scales& out);

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_WEIGHTED_H
