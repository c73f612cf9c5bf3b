// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/qlinear.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "import/onnx/layers.h"
#include "import/onnx/operands.h"
#include "import/onnx/operators.h"
#include "import/onnx/rearrange.h"
#include "import/onnx/shapes.h"
#include "import/onnx/tensors.h"
#include "import/onnx/weighted.h"
#include "import/onnx/weights.h"
#include "import/onnx/windows.h"

namespace kaiten::importing::from_onnx {

namespace {

// Input i, which must be quantised.
int quantised_input(const State& s, const Node& node, int i = 0) {
  const int source = input(s, node, i);
  if (s.at(source).form != Form::Quantised) throw Unsupported{"a quantised input", "a float one"};
  return source;
}

void require_nchw(const Node& node) {
  if (integer(node, "channels_last", 0) != 0) throw Unsupported{"maps in NCHW order", "channels_last"};
}

// The tensor of a quantised value with the scales that inputs `scale` and `scale` + 1 state.
int read_input(State& s, const Node& node, int source, int scale) {
  return plain(s, read_as(s, source, scales_of(s, node, scale, scale + 1, s.at(source).type)));
}

// Inputs 3, 4 and 5.
Weights stated_weights(const State& s, const Node& node) {
  const int value = input(s, node, 3);
  const Constant& values = constant(s, value, "weights");
  return {&values, scales_of(s, node, 4, 5, kInt8), s.at(value).name};
}

Value emit_value(State& s, Op op, const Shape& shape, const Scales& out) {
  return quantised_value(emit_quantised(s, std::move(op), s.layer.name, shape, out), shape, out.type);
}

// An operand of Add or Mul, inputs i to i + 2: an activation or a constant.
int read_operand(State& s, const Node& node, int i, int rank) {
  const int source = input(s, node, i);
  const bool is_constant = s.at(source).form == Form::Constant;
  const Scales scales =
      scales_of(s, node, i + 1, i + 2, is_constant ? s.at(source).constant.type : s.at(source).type);
  if (s.at(source).form == Form::Quantised)
    return of_rank(s, plain(s, read_as(s, source, scales)), s.at(source).shape, rank, scales);
  if (!is_constant) throw Unsupported{"quantised operands", "a float one"};
  Value operand;
  operand.form = Form::Dequantised;
  operand.source = source;
  operand.scales = scales;
  s.values.push_back(std::move(operand));
  return quantised_operand(s, int(s.values.size()) - 1, rank);
}

// The strides of a tensor with this dimension and the last one exchanged.
std::vector<Stride> exchanged(const Shape& shape, int axis) {
  std::vector<Stride> strides = strides_of(shape);
  std::swap(strides[std::size_t(axis)], strides.back());
  return strides;
}

// The same values under a dimension of 1 more, which keeps maps in the model's order.
Shape one_deeper(Shape shape) {
  shape.insert(shape.begin(), 1);
  return shape;
}

// An operand of a product of matrices, inputs i to i + 2, in the model's order.
int read_matrices(State& s, const Node& node, int i) {
  const int source = quantised_input(s, node, i);
  const Shape shape = s.at(source).shape;
  const Scales scales = scales_of(s, node, i + 1, i + 2, s.at(source).type);
  const int tensor = plain(s, read_as(s, source, scales));
  return shape.size() == 4 ? reshaped(s, tensor, shape, one_deeper(shape), scales) : tensor;
}

// QLinearMatMul of two activations.
Value product_of_activations(State& s, const Node& node) {
  const Shape shape = shape_of_matmul(s, node, {input(s, node, 0), input(s, node, 3)}, 0);
  const Scales out = scales_of(s, node, 6, 7, kUint8);
  Op op;
  op.kind = OpKind::BatchMatMul;
  op.inputs = {read_matrices(s, node, 0), read_matrices(s, node, 3)};
  if (shape.size() != 4) return emit_value(s, std::move(op), shape, out);
  const Shape deeper = one_deeper(shape);
  const int made = emit_quantised(s, std::move(op), inner_name(s, "/matrices"), deeper, out);
  return quantised_value(reshaped(s, made, deeper, shape, out), shape, out.type);
}

}  // namespace

Value qlinear_average_pool(State& s, const Node& node) {
  const int source = quantised_input(s, node);
  require_nchw(node);
  const Scales out = scales_of(s, node, 3, 4, s.at(source).type);
  Op ignored;
  const Shape shape = take_pool_window(s, node, s.at(source).shape, ignored);
  const int in = read_input(s, node, source, 1);
  Op op;
  op.qlinear = true;
  return quantised_value(pool(s, node, op, in, shape, out), shape, out.type);
}

Value qlinear_binary(State& s, const Node& node) {
  Op op;
  op.kind = node.op_type() == "QLinearAdd" ? OpKind::Add : OpKind::Mul;
  op.qlinear = true;
  const Scales out = scales_of(s, node, 6, 7, kUint8);
  const Shape first = s.at(input(s, node, 0)).shape;
  const Shape shape = broadcast(s, first, s.at(input(s, node, 3)).shape);
  for (const int i : {0, 3}) op.inputs.push_back(read_operand(s, node, i, int(shape.size())));
  return emit_value(s, std::move(op), shape, out);
}

// Scale and zero point of the result, then value, scale and zero point of each operand.
Value qlinear_concat(State& s, const Node& node) {
  const Scales out = scales_of(s, node, 0, 1, kUint8);
  if (node.input_size() < 5 || node.input_size() % 3 != 2)
    fail_layer(s, "operands, scales and zero points expected");
  Op op;
  op.kind = OpKind::Concat;
  Operands operands;
  for (int i = 2; i < node.input_size(); i += 3) {
    const int source = input(s, node, i);
    operands.push_back(source);
    if (s.at(source).form == Form::Constant) {
      const int values = read_operand(s, node, i, int(s.at(source).shape.size()));
      op.inputs.push_back(activation_of_constant(s, values));
    } else {
      if (s.at(source).form != Form::Quantised) throw Unsupported{"quantised operands", "another one"};
      op.inputs.push_back(read_input(s, node, source, i + 1));
    }
  }
  const Shape shape = concat_shape(s, node, operands);
  op.axis = nhwc_axis(concat_axis(s, node, shape), shape.size());
  return emit_value(s, std::move(op), shape, out);
}

Value qlinear_conv(State& s, const Node& node) {
  const int source = quantised_input(s, node);
  const Scales in = scales_of(s, node, 1, 2, s.at(source).type);
  const Weights weights = stated_weights(s, node);
  const Scales out = scales_of(s, node, 6, 7, kUint8);
  Bias bias;
  if (has_input(node, 8)) bias.value = input(s, node, 8);
  if (bias.value >= 0 && constant(s, bias.value, "bias").type != kInt32) fail_layer(s, "bias is not int32");
  const int tensor = conv(s, node, {}, {{read_as(s, source, in), in}, weights, bias, out});
  return quantised_value(tensor, model_shape(s, tensor), out.type);
}

Value qlinear_global_pool(State& s, const Node& node) {
  const int source = quantised_input(s, node);
  require_nchw(node);
  const Shape in = s.at(source).shape;
  if (in.size() != 4) throw Unsupported{"averages over whole maps", shape_text(in)};
  const Scales out = scales_of(s, node, 3, 4, s.at(source).type);
  Op op;
  op.kind = OpKind::Mean;
  op.inputs = {read_input(s, node, source, 1)};
  return emit_value(s, std::move(op), {in[0], in[1], 1, 1}, out);
}

Value qlinear_matmul(State& s, const Node& node) {
  const bool gemm = node.op_type() == "QGemm";
  if (!gemm && s.at(input(s, node, 3)).form == Form::Quantised) return product_of_activations(s, node);
  const int source = quantised_input(s, node);
  const Scales in = scales_of(s, node, 1, 2, s.at(source).type);
  const Weights weights = stated_weights(s, node);
  const int after = gemm ? 7 : 6;
  if (!has_input(node, after)) throw Unsupported{"quantised results", "a float one"};
  const Scales out = scales_of(s, node, after, after + 1, kUint8);
  Bias bias;
  if (gemm && has_input(node, 6)) bias.value = input(s, node, 6);
  if (gemm && (real(node, "alpha", 1.0F) != 1.0F || integer(node, "transA", 0) != 0))
    throw Unsupported{"alpha of 1 and transA of 0", "others"};
  const bool transposed = gemm && integer(node, "transB", 0) != 0;
  const Shape& kernel = weights.values->shape;
  if (kernel.size() != 2) throw Unsupported{"weights of rank 2", "rank " + std::to_string(kernel.size())};
  Shape shape = s.at(source).shape;
  if (shape.empty()) fail_layer(s, "input is a scalar");
  shape.back() = kernel[transposed ? 0 : 1];
  const int tensor =
      fully_connected(s, {}, {{read_as(s, source, in), in}, weights, bias, out}, transposed, shape);
  return quantised_value(tensor, shape, out.type);
}

Value qlinear_softmax(State& s, const Node& node) {
  const int source = quantised_input(s, node);
  const Shape shape = s.at(source).shape;
  const auto rank = std::int64_t(shape.size());
  const std::int64_t opset = integer(node, "opset", 13);
  const std::int64_t stated = integer(node, "axis", opset < 13 ? 1 : -1);
  const std::int64_t axis = stated < 0 ? stated + rank : stated;
  if (axis < 0 || axis >= rank) fail_layer(s, "axis " + std::to_string(stated));
  const bool alone = std::all_of(shape.begin() + axis + 1, shape.end(), [](int n) { return n == 1; });
  if (opset < 13 && !alone)
    throw Unsupported{"softmax over one dimension", "axis " + std::to_string(stated) + " of opset " +
                                                        std::to_string(opset) + ": it and those behind it"};
  const Scales in = scales_of(s, node, 1, 2, s.at(source).type);
  const Scales out = scales_of(s, node, 3, 4, s.at(source).type);
  Op op;
  op.kind = OpKind::Softmax;
  op.inputs = {plain(s, read_as(s, source, in))};
  if (nhwc_axis(int(axis), shape.size()) + 1 == rank) return emit_value(s, std::move(op), shape, out);
  // The dimension becomes the last one, and goes back.
  Shape turned = shape;
  std::swap(turned[std::size_t(axis)], turned.back());
  const Shape lines = {int(elements_of(shape)) / turned.back(), turned.back()};
  op.inputs = {rearranged(s, op.inputs.front(), shape, 0, exchanged(shape, int(axis)), lines, in)};
  const int made = emit_quantised(s, std::move(op), inner_name(s, "/lines"), lines, out);
  return quantised_value(rearranged(s, made, lines, 0, exchanged(turned, int(axis)), shape, out), shape,
                         out.type);
}

Value qlinear_table(State& s, const Node& node) {
  const int source = quantised_input(s, node);
  const Scales out = scales_of(s, node, 3, 4, s.at(source).type);
  Op op;
  op.kind = OpKind::Table;
  op.function = node.op_type() == "QLinearSigmoid" ? Function::Sigmoid : Function::LeakyRelu;
  op.alpha = real(node, "alpha", 0.01F);
  op.inputs = {read_input(s, node, source, 1)};
  return emit_value(s, std::move(op), s.at(source).shape, out);
}

}  // namespace kaiten::importing::from_onnx
