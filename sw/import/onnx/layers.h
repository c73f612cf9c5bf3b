// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Operators on quantised tensors that both ways of writing them share: between QuantizeLinear and
// DequantizeLinear (fuse.h), with scales of their own (qlinear.h), on stored values (stored.h). Each gives the
// output tensor; `op` has limits of the values it gives.
#ifndef KAITEN_IMPORT_ONNX_LAYERS_H
#define KAITEN_IMPORT_ONNX_LAYERS_H

#include <string>

#include "import/onnx/state.h"

namespace kaiten::importing::from_onnx {

// The tensor itself under the name of this layer's output where nothing changes, else a table.
int requantise(State& s, int tensor, const Shape& shape, Op op, const Scales& out);

// Whether a reshape leaves NHWC bytes in order, or flattens a map of channels and pixels.
bool keeps_order(const Shape& from, const Shape& to);
bool flattens(const Shape& from, const Shape& to);
// Reads the bytes of `tensor` under another shape. Between NCHW shapes the order of NHWC bytes stays only where
// one side of channels and pixels is 1; a flattened map is remembered, for the weights after it.
int reshape(State& s, int tensor, const Shape& from, const Shape& to, const Scales& scales);

// MaxPool and AveragePool.
int pool(State& s, const Node& node, Op op, int in_tensor, const Shape& shape, const Scales& out);

// Positions of the largest values of a tensor, whose shape is `in` in the model's order.
int arg_max(State& s, const Node& node, const Shape& in, int tensor, const std::string& name,
            const Shape& shape);

// The name of what a layer does before it requantises: a QuantizeLinear names its own result.
std::string inner_name(const State& s, const std::string& suffix);

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_LAYERS_H
