// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What the operators of TensorFlow Lite have in common: options, operands, activations, windows and the checks
// of their results. Functions that refuse give false then; damaged files throw InputError.
#ifndef KAITEN_IMPORT_TFLITE_LAYER_H
#define KAITEN_IMPORT_TFLITE_LAYER_H

#include <optional>

#include "import/tflite/state.h"

namespace kaiten::importing::from_tflite {

// The node's table of options, which must be a T.
template <typename T>
const T& options(const State& s, const Node& node) {
  if (node.options_type() != tflite::OptionsTraits<T>::enum_value || node.options() == nullptr)
    fail_layer(s, "its options are missing or of another operator");
  return *static_cast<const T*>(node.options());
}

// Takes operand i, an activation or a constant, of any type. False if it, or the output, was refused.
bool use_activation(State& s, const Node& node, Op& op, fb::uoffset_t i = 0);
// Why the layer in hand cannot read this tensor, which is not quantised.
Unsupported not_quantised(const State& s, int index);
// Refuses operands of `op` that are not quantised.
bool require_int8(State& s, const Op& op);
// Takes operand i, which must be quantised. False if it, or the output, was refused.
bool use_input(State& s, const Node& node, Op& op, fb::uoffset_t i = 0);

// Whether an ADD, SUB, MUL or DIV has a fused activation.
bool is_clamped(const Node& node);
// A fused activation into op.activation.
bool import_activation(State& s, Op& op, tflite::FusedActivation activation);
// Completes op.window (kernel, stride, dilation are set) by this kind of padding, or by `pad`, and checks the output's shape
// against it.
bool import_window(State& s, Op& op, tflite::PaddingKind padding, int out_channels,
                   const std::optional<Padding>& pad = std::nullopt);

// InputError where the file states another shape than its operands make; where it states none, this one is taken.
void expect_output(State& s, const Op& op, const Shape& expected);
// InputError where the input has other than four dimensions; false after the refusal of a batch.
bool require_map(State& s, const Op& op);
// Of operand i and the output; refused where they differ.
bool expect_same_quantization(State& s, const Op& op, std::size_t i = 0);
// arithmetic_limit(): the last check of an operator that computes.
bool check_arithmetic(State& s, const Op& op);

}  // namespace kaiten::importing::from_tflite

#endif  // KAITEN_IMPORT_TFLITE_LAYER_H
