// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/host.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "import/onnx/functions.h"
#include "import/onnx/layers.h"
#include "import/onnx/moves.h"
#include "import/onnx/operands.h"
#include "import/onnx/shapes.h"
#include "import/onnx/shuffle.h"
#include "import/onnx/tensors.h"
#include "import/onnx/windows.h"

namespace kaiten::importing::from_onnx {

namespace {

constexpr int kMaxDepth = 500;  // of float expressions: they are walked recursively

const Shape& input_shape(const State& s, const Expression& e) { return s.at(e.operands[0]).shape; }

int host_constant(State& s, int value) {
  const Constant& c = constant(s, value, "operand");
  if (c.type != kFloat) throw Unsupported{"operands of float32", type_name(c.type)};
  std::vector<float> values;
  for (std::size_t i = 0; i < c.size(); i++) values.push_back(c.real(i));
  return float_constant(s, s.at(value).name, c.shape, values);
}

int host_dequantised(State& s, int value) {
  const Value& v = s.at(value);
  if (s.at(v.source).form == Form::Constant) {
    return float_constant(s, v.name, v.shape, dequantised(s, v));
  }
  Op op;
  op.kind = OpKind::ToFloat;
  op.inputs = {plain(s, activation_of(s, value))};
  return emit_float(s, std::move(op), v.name, v.shape);
}

int host_expression(State& s, int value) {
  const Expression e = expression_of(s, value);
  const std::string kind = clean_name(e.node.op_type());
  // Messages name the operator itself, not who asked for it.
  const Layer asked = std::exchange(s.layer, {e.name, kind});
  const Operator& known = operator_of(e.node);
  if (known.on_host == nullptr) {
    throw Unsupported{"quantised inputs and outputs for this operator",
                      "float32: " + kind + " is not host arithmetic",
                      known.name == "Conv" ? kStaticQuantisation : "quantise its input and output"};
  }
  const int tensor = known.on_host(s, e);
  s.layer = asked;
  return tensor;
}

int tensor_on_host(State& s, int value) {
  switch (s.at(value).form) {
    case Form::Unsupported:
    case Form::FloatInput:
    case Form::Quantised:
    case Form::Regrouped:
      break;
    case Form::Constant:
      return host_constant(s, value);
    case Form::Dequantised:
      return host_dequantised(s, value);
    case Form::Expression:
      return host_expression(s, value);
  }
  throw Unsupported{"float values", "'" + s.at(value).name + "' is quantised"};
}

}  // namespace

Value expression(State& s, const Node& node, int part) {
  Value value;
  value.part = part;
  value.form = Form::Expression;
  value.node = &node;
  for (int i = 0; i < node.input_size(); i++)
    value.operands.push_back(has_input(node, i) ? input(s, node, i) : -1);
  if (value.operands.empty() || value.operands[0] < 0) fail_layer(s, "has no input");
  for (const int operand : value.operands) {
    if (operand >= 0) value.depth = std::max(value.depth, s.at(operand).depth + 1);
  }
  if (value.depth > kMaxDepth)
    throw Unsupported{"chains of float operators up to " + std::to_string(kMaxDepth), "a longer one"};
  value.shape = infer(s, node, value.operands, part);
  std::int64_t elements = 1;
  for (const int dim : value.shape) {
    if (dim < 1) fail_layer(s, "shape " + shape_text(value.shape));
    elements *= dim;
    if (elements > kMaxTensorElements) fail_layer(s, "shape " + shape_text(value.shape) + " is too large");
  }
  return value;
}

int on_host(State& s, int value) {
  if (s.at(value).tensor >= 0 && s.at(value).form != Form::Quantised) return s.at(value).tensor;
  settle(s, value);
  const int tensor = tensor_on_host(s, value);
  s.at(value).tensor = tensor;
  return tensor;
}

bool can_be_float(const State& s, int value) {
  const Value& v = s.at(value);
  if (v.form == Form::Dequantised) return s.at(v.source).form != Form::Regrouped;
  if (v.form != Form::Expression || v.tensor >= 0) return v.form != Form::Unsupported;
  if (operator_of(*v.node).on_host == nullptr) return false;
  return std::all_of(v.operands.begin(), v.operands.end(),
                     [&](int operand) { return operand < 0 || can_be_float(s, operand); });
}

int as_float(State& s, int value) {
  const int tensor = on_host(s, value);
  if (s.tensor(tensor).type != ElementType::Float32) {
    throw Unsupported{"argmax at the end of the network",
                      "'" + s.at(value).name + "' feeds '" + s.layer.name + "'"};
  }
  return tensor;
}

int emit_host(State& s, const Expression& e, HostKind kind, Op op, std::size_t used) {
  op.kind = OpKind::HostFloat;
  op.host_kind = kind;
  for (std::size_t i = 0; i < used; i++) op.inputs.push_back(as_float(s, e.operands[i]));
  return emit_float(s, std::move(op), e.name, e.shape);
}

int emit_chain(State& s, const Expression& e, HostKind kind) {
  int tensor = as_float(s, e.operands[0]);
  for (std::size_t i = 1; i < e.operands.size(); i++) {
    Op op;
    op.kind = OpKind::HostFloat;
    op.host_kind = kind;
    op.inputs = {tensor, as_float(s, e.operands[i])};
    const bool last = i + 1 == e.operands.size();
    const Shape shape = broadcast(s, s.tensor(op.inputs[0]).shape, s.tensor(op.inputs[1]).shape);
    tensor = emit_float(s, std::move(op), e.name + (last ? "" : "/" + std::to_string(i)), shape);
  }
  return tensor;
}

int emit_reduction(State& s, const Expression& e, HostKind kind) {
  Op op;
  op.dims = mean_axes(s, e.node, int(input_shape(s, e).size()));
  return emit_host(s, e, kind, std::move(op), 1);
}

int host_arg_max(State& s, const Expression& e) {
  return arg_max(s, e.node, input_shape(s, e), as_float(s, e.operands[0]), e.name, e.shape);
}

BatchNormalisation batch_normalisation_of(State& s, const Expression& e) {
  if (integer(e.node, "training_mode", 0) != 0)
    throw Unsupported{"batch normalisation by stored means", "training mode",
                      "export the model for inference"};
  if (e.operands.size() != 5) fail_layer(s, "five operands expected");
  const Shape& in = input_shape(s, e);
  if (in.size() < 2) fail_layer(s, "input of shape " + shape_text(in));
  std::vector<std::vector<float>> c;
  for (std::size_t i = 1; i < 5; i++) {
    c.push_back(real_values(s, e.operands[i]));
    if (c.back().size() != std::size_t(in[1]))
      throw Unsupported{"a number for every channel", std::to_string(c.back().size())};
  }
  const float epsilon = real(e.node, "epsilon", 1.0e-5F);
  BatchNormalisation normal;
  for (std::size_t i = 0; i < std::size_t(in[1]); i++) {
    normal.factor.push_back(c[0][i] * (1.0F / std::sqrt(c[3][i] + epsilon)));
    normal.offset.push_back(c[1][i] - c[2][i] * normal.factor.back());
  }
  return normal;
}

int host_batch_normalisation(State& s, const Expression& e) {
  const BatchNormalisation normal = batch_normalisation_of(s, e);
  const Shape in = input_shape(s, e);
  Shape shape(in.size() - 1, 1);
  shape[0] = in[1];
  Op product;
  product.kind = OpKind::HostFloat;
  product.host_kind = HostKind::Mul;
  product.inputs = {as_float(s, e.operands[0]), float_constant(s, e.name + "/factor", shape, normal.factor)};
  Op sum;
  sum.kind = OpKind::HostFloat;
  sum.host_kind = HostKind::Add;
  sum.inputs = {emit_float(s, std::move(product), e.name + "/product", in),
                float_constant(s, e.name + "/offset", shape, normal.offset)};
  return emit_float(s, std::move(sum), e.name, in);
}

int host_function(State& s, const Expression& e) {
  return emit_host(s, e, function_of(s, e.node)->host_kind, *function_of(s, e.node), 1);
}

int host_conv_transpose(State& s, const Expression& e) {
  Op op;
  take_transposed_window(s, e.node, input_shape(s, e), s.at(e.operands[1]).shape, op);
  const bool bias = e.operands.size() > 2 && e.operands[2] >= 0;
  return emit_host(s, e, HostKind::ConvTranspose, std::move(op), bias ? 3 : 2);
}

int host_concat(State& s, const Expression& e) {
  Op op;
  op.axis = concat_axis(s, e.node, e.shape);
  return emit_host(s, e, HostKind::Concat, std::move(op), e.operands.size());
}

int host_gemm(State& s, const Expression& e) {
  Op op;
  op.alpha = real(e.node, "alpha", 1.0F);
  op.beta = real(e.node, "beta", 1.0F);
  op.transpose_a = integer(e.node, "transA", 0) != 0;
  op.transpose_b = integer(e.node, "transB", 0) != 0;
  const bool third = e.operands.size() > 2 && e.operands[2] >= 0;
  return emit_host(s, e, HostKind::Gemm, std::move(op), third ? 3 : 2);
}

namespace {

// Factors and, perhaps, offsets, one for each of `count` cells or channels.
int emit_normalisation(State& s, const Expression& e, HostKind kind, Op op, std::int64_t count) {
  const std::size_t operands = e.operands.size() > 2 && e.operands[2] >= 0 ? 3 : 2;
  if (e.operands.size() < operands || e.operands[1] < 0) fail_layer(s, "has no factors");
  for (std::size_t i = 1; i < operands; i++) {
    if (elements_of(s.at(e.operands[i]).shape) != count)
      throw Unsupported{"factors and offsets of what is normalised",
                        shape_text(s.at(e.operands[i]).shape) + " for " + std::to_string(count)};
  }
  op.alpha = real(e.node, "epsilon", 1.0e-5F);
  return emit_host(s, e, kind, std::move(op), operands);
}

}  // namespace

int host_instance_norm(State& s, const Expression& e) {
  const Shape& in = input_shape(s, e);
  if (in.size() < 3) fail_layer(s, "input of shape " + shape_text(in));
  return emit_normalisation(s, e, HostKind::InstanceNorm, {}, in[1]);
}

int host_layer_norm(State& s, const Expression& e) {
  const Shape& in = input_shape(s, e);
  Op op;
  op.axis = axis_of(s, e.node, -1, int(in.size()));
  const std::int64_t cells = elements_of({in.begin() + op.axis, in.end()});
  return emit_normalisation(s, e, HostKind::LayerNorm, std::move(op), cells);
}

int host_lrn(State& s, const Expression& e) {
  const Shape& in = input_shape(s, e);
  if (in.size() < 3 || in[0] != 1) throw Unsupported{"local response of one map", shape_text(in)};
  const std::int64_t size = integer(e.node, "size", 0);
  if (size < 1 || size > kMaxWindow || size % 2 == 0) fail_layer(s, "size " + std::to_string(size));
  Op op;
  op.groups = int(size);
  op.alpha = real(e.node, "alpha", 1.0e-4F);
  op.beta = real(e.node, "beta", 0.75F);
  op.lo = real(e.node, "bias", 1.0F);
  return emit_host(s, e, HostKind::Lrn, std::move(op), 1);
}

int host_pad(State& s, const Expression& e) {
  if (const std::string mode = text(e.node, "mode", "constant"); mode != "constant")
    throw Unsupported{"float32 padded by a constant", "mode " + clean_name(mode),
                      "quantise its input and output"};
  const Box box = moved_box(s, e.node, input_shape(s, e), 0);
  Op op;
  for (std::size_t d = 0; d < box.begin.size(); d++) {
    op.dims.push_back(int(-box.begin[d]));
    op.dims.push_back(int(box.size[d] - input_shape(s, e)[d] + box.begin[d]));
  }
  op.lo = real(e.node, "value", 0.0F);
  if (e.operands.size() > 2 && e.operands[2] >= 0) {
    const Value& v = s.at(e.operands[2]);
    const std::vector<float> value = v.form == Form::Dequantised && is_constant_value(s, e.operands[2])
                                         ? dequantised(s, v)
                                         : std::vector<float>{constant(s, e.operands[2], "value").real(0)};
    op.lo = value.front();
  }
  return emit_host(s, e, HostKind::Pad, std::move(op), 1);
}

int host_pool(State& s, const Expression& e) {
  Op op;
  take_pool_window(s, e.node, input_shape(s, e), op);
  const bool max = e.node.op_type() == "MaxPool";
  return emit_host(s, e, max ? HostKind::MaxPool : HostKind::AveragePool, std::move(op), 1);
}

int host_softmax(State& s, const Expression& e) {
  const auto rank = std::int64_t(input_shape(s, e).size());
  const std::int64_t axis = integer(e.node, "axis", s.opset < 13 ? 1 : -1);
  Op op;
  op.axis = int(axis < 0 ? axis + rank : axis);
  if (op.axis < 0 || op.axis >= rank) fail_layer(s, "axis out of range");
  // Before opset 13 all dimensions from the axis on were one.
  const Shape& in = input_shape(s, e);
  const bool alone = std::all_of(in.begin() + op.axis + 1, in.end(), [](int n) { return n == 1; });
  if (s.opset < 13 && !alone)
    throw Unsupported{"softmax over the last dimension below opset 13", "axis " + std::to_string(axis)};
  return emit_host(s, e, e.node.op_type() == "Softmax" ? HostKind::Softmax : HostKind::LogSoftmax,
                   std::move(op), 1);
}

int output_tensor(State& s, int value) {
  if (s.at(value).form == Form::Constant) throw Unsupported{"outputs that are computed", "a constant"};
  settle(s, value);
  if (s.at(value).form == Form::Quantised) return plain(s, s.at(value).tensor);
  return on_host(s, value);
}

}  // namespace kaiten::importing::from_onnx
