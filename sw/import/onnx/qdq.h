// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// QuantizeLinear and DequantizeLinear.
#ifndef KAITEN_IMPORT_ONNX_QDQ_H
#define KAITEN_IMPORT_ONNX_QDQ_H

#include "import/onnx/state.h"

namespace kaiten::importing::from_onnx {

Value dequantize_linear(State& s, const Node& node);
// The quantised operator that the expression in front stands for, with the limits of the clamps in between;
// otherwise the expression on the host, quantised there.
Value quantize_linear(State& s, const Node& node);

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_QDQ_H
