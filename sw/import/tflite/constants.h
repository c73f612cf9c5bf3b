// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Constants of a TensorFlow Lite file as the operands of layers: weights, biases, quantised operands, lists of
// numbers. Several layers may share one. The functions that fill a tensor of the graph give false after a
// refusal.
#ifndef KAITEN_IMPORT_TFLITE_CONSTANTS_H
#define KAITEN_IMPORT_TFLITE_CONSTANTS_H

#include <cstdint>
#include <vector>

#include "import/tflite/state.h"

namespace kaiten::importing::from_tflite {

// The values of an int32 constant: axes, sizes, paddings; `role` names it in messages. Empty after a refusal.
std::vector<int> import_numbers(State& s, int index, const char* role);

// A constant as the operand of a layer: int8 and uint8 with one scale, or float32. The graph folds what constants alone make.
bool import_constant_operand(State& s, int index);

// The shape of operand 1, which must have this many dimensions: "two", "four".
Shape weights_shape(const State& s, const Node& node, std::size_t rank, const char* rank_text);

// Operands 1 and, perhaps, `bias` of a layer with weights, into op.weights and op.bias. `axis`: the dimension of
// `weights`, the expected shape, that counts the output channels.
bool import_weights_and_bias(State& s, const Node& node, Op& op, const Shape& weights, int axis,
                             fb::uoffset_t bias = 2);

}  // namespace kaiten::importing::from_tflite

#endif  // KAITEN_IMPORT_TFLITE_CONSTANTS_H
