// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Weights, biases and quantised operands: constants of the model as tensors of the graph, in its order.
#ifndef KAITEN_IMPORT_ONNX_WEIGHTS_H
#define KAITEN_IMPORT_ONNX_WEIGHTS_H

#include <cstddef>
#include <functional>
#include <vector>

#include "import/onnx/state.h"

namespace kaiten::importing::from_onnx {

// The dequantised constant that a value is.
Weights weights_of(const State& s, int value);
// Takes a factor for each output channel, the first dimension, into the scales; returns the values, whose signs change
// where it is negative.
Constant scale_channels(const State& s, Weights& w, const std::vector<float>& factors);
// Operand i; none where it is absent.
Bias bias_of(const State& s, const std::vector<int>& operands, std::size_t i);

// Where stored element i comes from.
struct Order {
  std::function<std::size_t(std::size_t)> element;  // the model's element
  std::function<std::size_t(std::size_t)> channel;  // the output channel it belongs to
};

// Checks scales and zero points for `channels` output channels, which dimension `axis` of `shape` counts, and
// makes int8 values.
int weight_tensor(State& s, const Weights& w, const Shape& shape, int channels, int axis, const Order& order);
// The bias of a layer whose input has scale `in_scale`; kNoTensor where there is none.
int bias_tensor(State& s, const Bias& bias, int channels, float in_scale, const Scales& weights);
// A per-tensor quantised constant as an operand of Add, Sub or Mul, in the order of the output.
int quantised_operand(State& s, int value, int rank);

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_WEIGHTS_H
