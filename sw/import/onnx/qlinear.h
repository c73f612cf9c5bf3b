// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// QLinear operators, which state the scales and zero points of their inputs and outputs as inputs.
#ifndef KAITEN_IMPORT_ONNX_QLINEAR_H
#define KAITEN_IMPORT_ONNX_QLINEAR_H

#include "import/onnx/state.h"

namespace kaiten::importing::from_onnx {

Value qlinear_average_pool(State& s, const Node& node);
Value qlinear_binary(State& s, const Node& node);  // QLinearAdd, QLinearMul
Value qlinear_concat(State& s, const Node& node);
Value qlinear_conv(State& s, const Node& node);
Value qlinear_global_pool(State& s, const Node& node);
Value qlinear_matmul(State& s, const Node& node);  // QGemm too
Value qlinear_softmax(State& s, const Node& node);
Value qlinear_table(State& s, const Node& node);  // QLinearLeakyRelu, QLinearSigmoid

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_QLINEAR_H
