// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Tensors and operators of the graph that the ONNX importer makes.
#ifndef KAITEN_IMPORT_ONNX_TENSORS_H
#define KAITEN_IMPORT_ONNX_TENSORS_H

#include <string>
#include <vector>

#include "import/onnx/state.h"

namespace kaiten::importing::from_onnx {

// Unsupported where a map has a batch other than 1.
void check_batch(const State& s, const Shape& shape);

// New activations; shapes are the model's. Each gives the index in the graph.
int new_host_tensor(State& s, const std::string& name, ElementType type, const Shape& shape);
int new_float_tensor(State& s, const std::string& name, const Shape& shape);
int new_quantised_tensor(State& s, const std::string& name, const Shape& shape, const Scales& scales);
// A float32 constant.
int float_constant(State& s, const std::string& name, const Shape& shape, const std::vector<float>& values);

// Appends an operator whose output is set, and which is named by it. Its output.
int emit(State& s, Op op);
// Likewise with a new output: quantised as `out`, or of float32, of this name.
int emit_quantised(State& s, Op op, const std::string& name, const Shape& shape, const Scales& out);
int emit_float(State& s, Op op, const std::string& name, const Shape& shape);

// The quantisation of stored values: uint8 ones stand less 128.
Quantization stored(const Scales& scales);
// Scale and zero point of a quantised value, as the model has them.
Scales scales_of_tensor(const State& s, int value);
// Shape of a graph tensor in the model's order.
Shape model_shape(const State& s, int tensor);

// A tensor whose bytes stand in NHWC order as its shape says; flattened maps do not, and get another order.
int plain(State& s, int tensor);
// `to` holds the bytes of `from`, flattened or not.
void keep_flattening(State& s, int from, int to);
// The quantised tensor with the scales its reader states: another tensor of the same bytes where they differ.
int read_as(State& s, int value, const Scales& scales);
// The tensor that a dequantised activation was.
int activation_of(State& s, int value);
Value quantised_value(int tensor, const Shape& shape, int type);

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_TENSORS_H
