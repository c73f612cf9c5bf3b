// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Functions of single values. Whatever a model computes in float32 from each value of one quantised tensor alone becomes a
// table of 256 entries: x * sigmoid(x), the steps of GELU, a division by a constant.
#ifndef KAITEN_IMPORT_ONNX_FUNCTIONS_H
#define KAITEN_IMPORT_ONNX_FUNCTIONS_H

#include <optional>

#include "import/onnx/operators.h"

namespace kaiten::importing::from_onnx {

// A node that is a function of one value as a HostFloat without inputs; nothing where it is none.
std::optional<Op> function_of(State& s, const Node& node);

// The float value, quantised as `out`, by a table; kNoTensor where it is no function of a dequantised activation alone.
int as_table(State& s, int value, const Scales& out);

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_FUNCTIONS_H
