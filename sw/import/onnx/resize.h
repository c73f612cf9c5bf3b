// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Resize: nearest neighbours by repeated or gathered cells, linear ones in float32 on the host.
#ifndef KAITEN_IMPORT_ONNX_RESIZE_H
#define KAITEN_IMPORT_ONNX_RESIZE_H

#include "import/onnx/operators.h"

namespace kaiten::importing::from_onnx {

Shape shape_of_resize(State& s, const Node& node, const Operands& x, int part);

// The resized quantised tensor. `in`: the input's shape in the model's order.
int resize(State& s, const Node& node, const Shape& in, int in_tensor, const Scales& scales);
// A dequantised value resized in float32.
int host_resize(State& s, const Expression& e);

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_RESIZE_H
