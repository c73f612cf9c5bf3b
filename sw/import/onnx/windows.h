// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Kernels, strides and padding of ONNX's convolutions and poolings.
#ifndef KAITEN_IMPORT_ONNX_WINDOWS_H
#define KAITEN_IMPORT_ONNX_WINDOWS_H

#include "import/onnx/operators.h"

namespace kaiten::importing::from_onnx {

// The window of these kernel sides that a node states for an input of this shape, which it fits.
Window window_of(const State& s, const Node& node, const Shape& in, int kernel_h, int kernel_w);
Shape conv_shape(const State& s, const Node& node, const Shape& in, const Shape& weights);
// Window and divisor of a pooling node into `op`; the shape of its result.
Shape take_pool_window(const State& s, const Node& node, const Shape& in, Op& op);

Shape shape_of_conv_transpose(State& s, const Node& node, const Operands& x, int part);
// Window and groups of a ConvTranspose into `op`; the shape of its result.
Shape take_transposed_window(const State& s, const Node& node, const Shape& in, const Shape& kernel, Op& op);
Shape shape_of_conv(State& s, const Node& node, const Operands& x, int part);
Shape shape_of_pool(State& s, const Node& node, const Operands& x, int part);

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_WINDOWS_H
