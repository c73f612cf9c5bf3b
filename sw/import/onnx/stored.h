// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Operators that work on stored values as they are, without QuantizeLinear and DequantizeLinear around them:
// one function per operator of the table. Input 0 is quantised.
#ifndef KAITEN_IMPORT_ONNX_STORED_H
#define KAITEN_IMPORT_ONNX_STORED_H

#include "import/onnx/state.h"

namespace kaiten::importing::from_onnx {

Value stored_arg_max(State& s, const Node& node, int part);
Value stored_max_pool(State& s, const Node& node, int part);
Value stored_move(State& s, const Node& node, int part);
Value stored_reshape(State& s, const Node& node, int part);
Value stored_resize(State& s, const Node& node, int part);
Value stored_concat(State& s, const Node& node, int part);
Value stored_slice(State& s, const Node& node, int part);
Value stored_transpose(State& s, const Node& node, int part);

// Unsupported: every other operator.
[[noreturn]] void refuse_stored(const State& s, const Node& node);

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_STORED_H
