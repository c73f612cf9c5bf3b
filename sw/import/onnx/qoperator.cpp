// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/importer.h"

namespace kaiten::onnx_import {

Value Importer::qlinear_conv(const Node& node) {
  const int source = input(node, 0);
  if (at(source).form != Form::Quantised) throw Refused{"a quantised input", "a float one", ""};
  const Scales in = scales_of(node, 1, 2, at(source).type);
  Weights weights{&constant(input(node, 3), "weights"), scales_of(node, 4, 5, kInt8),
                  at(input(node, 3)).name};
  const Scales out = scales_of(node, 6, 7, kUint8);
  Bias bias;
  if (has_input(node, 8)) bias.value = input(node, 8);
  if (bias.value >= 0 && constant(bias.value, "bias").type != kInt32) fail(here() + "bias is not int32");
  Op op;
  const int tensor = conv(node, op, read_as(source, in), in, weights, bias, out);
  return quantised_value(tensor, model_shape(tensor), out.type);
}

Value Importer::qlinear_binary(const Node& node) {
  Op op;
  op.kind = node.op_type() == "QLinearAdd" ? OpKind::Add : OpKind::Mul;
  const Scales out = scales_of(node, 6, 7, kUint8);
  Shape shape;
  for (int i = 0; i < 2; i++) {
    const int source = input(node, 3 * i);
    shape = i == 0 ? at(source).shape : broadcast(shape, at(source).shape);
  }
  for (int i = 0; i < 2; i++) {
    const int source = input(node, 3 * i);
    const bool is_constant = at(source).form == Form::Constant;
    const Scales scales =
        scales_of(node, 3 * i + 1, 3 * i + 2, is_constant ? at(source).constant.type : at(source).type);
    if (at(source).form == Form::Quantised) {
      op.inputs.push_back(plain(read_as(source, scales)));
    } else if (is_constant) {
      Value operand;
      operand.form = Form::Dequantised;
      operand.source = source;
      operand.scales = scales;
      values_.push_back(std::move(operand));
      op.inputs.push_back(quantised_operand(int(values_.size()) - 1, int(shape.size())));
    } else {
      throw Refused{"quantised operands", "a float one", ""};
    }
  }
  op.output = new_quantised_tensor(layer_, shape, out);
  const int tensor = op.output;
  emit(std::move(op));
  return quantised_value(tensor, shape, out.type);
}

Value Importer::qlinear_global_pool(const Node& node) {
  const int source = input(node, 0);
  if (at(source).form != Form::Quantised) throw Refused{"a quantised input", "a float one", ""};
  if (integer(node, "channels_last", 0) != 0) throw Refused{"maps in NCHW order", "channels_last", ""};
  const Shape in = at(source).shape;
  if (in.size() != 4) throw Refused{"averages over whole maps", shape_text(in), ""};
  const Scales out = scales_of(node, 3, 4, at(source).type);
  Op op;
  op.kind = OpKind::Mean;
  op.inputs = {plain(read_as(source, scales_of(node, 1, 2, at(source).type)))};
  const Shape shape = {in[0], in[1], 1, 1};
  op.output = new_quantised_tensor(layer_, shape, out);
  const int tensor = op.output;
  emit(std::move(op));
  return quantised_value(tensor, shape, out.type);
}

Value Importer::qlinear_matmul(const Node& node) {
  const bool gemm = node.op_type() == "QGemm";
  const int source = input(node, 0);
  if (at(source).form != Form::Quantised) throw Refused{"a quantised input", "a float one", ""};
  const Scales in = scales_of(node, 1, 2, at(source).type);
  Weights weights{&constant(input(node, 3), "weights"), scales_of(node, 4, 5, kInt8),
                  at(input(node, 3)).name};
  const int after = gemm ? 7 : 6;
  if (!has_input(node, after)) throw Refused{"quantised results", "a float one", ""};
  const Scales out = scales_of(node, after, after + 1, kUint8);
  Bias bias;
  if (gemm && has_input(node, 6)) bias.value = input(node, 6);
  if (gemm && (real(node, "alpha", 1.0F) != 1.0F || integer(node, "transA", 0) != 0)) {
    throw Refused{"alpha of 1 and transA of 0", "others", ""};
  }
  const bool transposed = gemm && integer(node, "transB", 0) != 0;
  if (weights.values->shape.size() != 2)
    throw Refused{"weights of rank 2", "rank " + std::to_string(weights.values->shape.size()), ""};
  Shape shape = at(source).shape;
  if (shape.empty()) fail(here() + "input is a scalar");
  shape.back() = weights.values->shape[transposed ? 0 : 1];
  Op op;
  const int tensor = fully_connected(op, read_as(source, in), in, weights, transposed, bias, shape, out);
  return quantised_value(tensor, shape, out.type);
}

Value Importer::qlinear_table(const Node& node) {
  const int source = input(node, 0);
  if (at(source).form != Form::Quantised) throw Refused{"a quantised input", "a float one", ""};
  const Scales out = scales_of(node, 3, 4, at(source).type);
  Op op;
  op.kind = OpKind::Table;
  op.function = node.op_type() == "QLinearSigmoid" ? Function::Sigmoid : Function::LeakyRelu;
  op.alpha = real(node, "alpha", 0.01F);
  op.inputs = {plain(read_as(source, scales_of(node, 1, 2, at(source).type)))};
  op.output = new_quantised_tensor(layer_, at(source).shape, out);
  const int tensor = op.output;
  emit(std::move(op));
  return quantised_value(tensor, at(source).shape, out.type);
}

Value Importer::qlinear_average_pool(const Node& node) {
  const int source = input(node, 0);
  if (at(source).form != Form::Quantised) throw Refused{"a quantised input", "a float one", ""};
  if (integer(node, "channels_last", 0) != 0) throw Refused{"maps in NCHW order", "channels_last", ""};
  const Scales out = scales_of(node, 3, 4, at(source).type);
  Op ignored;
  const Shape shape = take_pool_window(node, at(source).shape, ignored);
  const int in = plain(read_as(source, scales_of(node, 1, 2, at(source).type)));
  return quantised_value(pool(node, {}, in, shape, out), shape, out.type);
}

// Scale and zero point of the result, then value, scale and zero point of each operand.
Value Importer::qlinear_concat(const Node& node) {
  const Scales out = scales_of(node, 0, 1, kUint8);
  if (node.input_size() < 5 || node.input_size() % 3 != 2)
    fail(here() + "operands, scales and zero points expected");
  Op op;
  op.kind = OpKind::Concat;
  std::vector<int> operands;
  for (int i = 2; i < node.input_size(); i += 3) {
    const int source = input(node, i);
    if (at(source).form != Form::Quantised) throw Refused{"quantised operands", "another one", ""};
    operands.push_back(source);
    op.inputs.push_back(plain(read_as(source, scales_of(node, i + 1, i + 2, at(source).type))));
  }
  const Shape shape = concat_shape(node, operands);
  op.axis = nhwc_axis(concat_axis(node, shape), shape.size());
  op.output = new_quantised_tensor(layer_, shape, out);
  const int tensor = op.output;
  emit(std::move(op));
  return quantised_value(tensor, shape, out.type);
}

Value Importer::on_quantised(const Node& node, int part) {
  const std::string& kind = node.op_type();
  const int source = input(node, 0);
  if (is_reshape(kind) || kind == "Transpose") {
    const Shape shape = infer(node, {source});
    Op none;
    if (const auto regrouping = regroup(node, source, shape))
      return regrouped(*regrouping, shape, none, regrouping->scales);
  }
  const Scales scales = scales_of_tensor(source);
  const int tensor = at(source).tensor;
  if (kind == "MaxPool") {
    const Shape shape = infer(node, {source});
    return quantised_value(pool(node, {}, plain(tensor), shape, scales), shape, scales.type);
  }
  if (is_reshape(kind)) {
    const Shape shape = infer(node, {source});
    return quantised_value(reshape(tensor, at(source).shape, shape, scales), shape, scales.type);
  }
  if (kind == "ArgMax") {
    const Shape shape = infer(node, {source});
    Value value;
    value.form = Form::FloatInput;  // a tensor of the host
    value.shape = shape;
    value.tensor = arg_max(node, at(source).shape, plain(tensor), layer_, shape);
    return value;
  }
  if (kind == "Resize") {
    const Shape in = at(source).shape;
    const int resized = resize(node, in, tensor, scales);
    return quantised_value(resized, model_shape(resized), scales.type);
  }
  if (is_move(kind)) {
    const Shape in = at(source).shape;
    const int moved = move(node, in, part, tensor, scales);
    return quantised_value(moved, model_shape(moved), scales.type);
  }
  throw Refused{
      "ArgMax, MaxPool, Pad, Resize, Slice, Split, Flatten, Reshape, Squeeze, Unsqueeze, Identity on "
      "quantised values",
      kind + " on " + type_name(at(source).type), ""};
}

}  // namespace kaiten::onnx_import
