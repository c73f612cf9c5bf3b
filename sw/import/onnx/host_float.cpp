// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <tuple>

#include "import/onnx/importer.h"

namespace kaiten::onnx_import {

namespace {

constexpr int kMaxDepth = 500;  // of float expressions: they are walked recursively

}  // namespace

Value Importer::expression(const Node& node, int part) {
  Value value;
  value.part = part;
  value.form = Form::Expression;
  value.node = &node;
  for (int i = 0; i < node.input_size(); i++)
    value.operands.push_back(has_input(node, i) ? input(node, i) : -1);
  if (value.operands.empty() || value.operands[0] < 0) fail(here() + "has no input");
  for (const int operand : value.operands) {
    if (operand >= 0) value.depth = std::max(value.depth, at(operand).depth + 1);
  }
  if (value.depth > kMaxDepth)
    throw Refused{"chains of float operators up to " + std::to_string(kMaxDepth), "a longer one", ""};
  value.shape = infer(node, value.operands, part);
  int64_t elements = 1;
  for (const int dim : value.shape) {
    if (dim < 1) fail(here() + "shape " + shape_text(value.shape));
    elements *= dim;
    if (elements > kMaxTensorElements) fail(here() + "shape " + shape_text(value.shape) + " is too large");
  }
  return value;
}

int Importer::as_float(int index) {
  const int tensor = on_host(index);
  if (graph_.tensors[size_t(tensor)].type != ElementType::Float32) {
    throw Refused{"argmax at the end of the network", "'" + at(index).name + "' feeds '" + layer_ + "'", ""};
  }
  return tensor;
}

int Importer::arg_max(const Node& node, const Shape& in, int tensor, const std::string& name,
                      const Shape& shape) {
  Op op;
  op.kind = OpKind::ArgMax;
  op.axis = axis_of(node, 0, int(in.size()));
  op.last_of_equals = integer(node, "select_last_index", 0) != 0;
  op.inputs = {tensor};
  const int output = op.output = new_host_tensor(name, ElementType::Int64, shape);
  emit(std::move(op));
  return output;
}

int Importer::on_host(int index) {
  if (at(index).tensor >= 0 && at(index).form != Form::Quantised) return at(index).tensor;
  const std::string name = at(index).name;
  require_not_regrouped(index);
  int tensor = -1;
  switch (at(index).form) {
    case Form::Refused:
    case Form::FloatInput:
    case Form::Quantised:
    case Form::Regrouped:
      throw Refused{"float values", "'" + name + "' is quantised", ""};
    case Form::Constant: {
      const Constant& c = constant(index, "operand");
      if (c.type != kFloat) throw Refused{"operands of float32", type_name(c.type), ""};
      std::vector<float> values;
      for (size_t i = 0; i < c.size(); i++) values.push_back(c.real(i));
      tensor = float_constant(name, c.shape, values);
      break;
    }
    case Form::Dequantised: {
      const Value& v = at(index);
      if (at(v.source).form == Form::Constant) {
        const Constant& c = constant(v.source, "operand");
        if (c.type == kFloat) fail(here() + "dequantises float values");
        tensor = float_constant(name, v.shape, dequantised(v));
        break;
      }
      Op op;
      op.kind = OpKind::ToFloat;
      op.inputs = {plain(activation_of(index))};
      tensor = op.output = new_float_tensor(name, at(index).shape);
      emit(std::move(op));
      break;
    }
    case Form::Expression:
      tensor = host_operator(index);
      break;
  }
  at(index).tensor = tensor;
  return tensor;
}

int Importer::host_operator(int index) {
  const Node& node = *at(index).node;
  const std::vector<int> operands = at(index).operands;
  const Shape in = at(operands[0]).shape;
  const Shape shape = at(index).shape;
  const std::string& kind = node.op_type();
  // Messages name the operator itself, not who asked for it.
  const std::string asked = std::exchange(layer_, at(index).name);
  const std::string asked_op = std::exchange(layer_op_, clean_name(kind));
  if (kind == "ArgMax") {
    const int tensor = arg_max(node, in, as_float(operands[0]), at(index).name, shape);
    layer_ = asked;
    layer_op_ = asked_op;
    return tensor;
  }
  Op op;
  op.kind = OpKind::HostFloat;
  size_t used = 1;
  static const std::map<std::string, HostKind> kKinds = {{"Add", HostKind::Add},
                                                         {"Sub", HostKind::Sub},
                                                         {"Mul", HostKind::Mul},
                                                         {"Div", HostKind::Div},
                                                         {"Gemm", HostKind::Gemm},
                                                         {"MatMul", HostKind::Gemm},
                                                         {"Softmax", HostKind::Softmax},
                                                         {"GlobalAveragePool", HostKind::GlobalAveragePool},
                                                         {"GlobalMaxPool", HostKind::GlobalMaxPool},
                                                         {"AveragePool", HostKind::AveragePool},
                                                         {"MaxPool", HostKind::MaxPool},
                                                         {"ReduceMean", HostKind::ReduceMean},
                                                         {"Relu", HostKind::Clip},
                                                         {"Clip", HostKind::Clip},
                                                         {"LeakyRelu", HostKind::LeakyRelu},
                                                         {"Sigmoid", HostKind::Sigmoid},
                                                         {"Tanh", HostKind::Tanh},
                                                         {"HardSigmoid", HostKind::HardSigmoid},
                                                         {"HardSwish", HostKind::HardSwish},
                                                         {"Concat", HostKind::Concat},
                                                         {"Transpose", HostKind::Transpose},
                                                         {"Sum", HostKind::Add}};
  const auto found = kKinds.find(kind);
  if (is_reshape(kind)) {
    op.host_kind = HostKind::Reshape;
  } else if (found != kKinds.end()) {
    op.host_kind = found->second;
  } else {
    throw Refused{"quantised inputs and outputs for this operator",
                  "float32: " + clean_name(kind) + " is not host arithmetic",
                  kind == "Conv" ? kStaticQuantisation : "quantise its input and output"};
  }
  switch (op.host_kind) {
    case HostKind::Add:
      if (kind == "Sum") {
        if (operands.size() != 2)
          throw Refused{"sums of two operands", std::to_string(operands.size()) + " operands", ""};
      }
      [[fallthrough]];
    case HostKind::Sub:
    case HostKind::Mul:
    case HostKind::Div:
      used = 2;
      break;
    case HostKind::Gemm:
      used = operands.size() > 2 && operands[2] >= 0 ? 3 : 2;
      op.alpha = real(node, "alpha", 1.0F);
      op.beta = real(node, "beta", 1.0F);
      op.transpose_a = integer(node, "transA", 0) != 0;
      op.transpose_b = integer(node, "transB", 0) != 0;
      break;
    case HostKind::Softmax: {
      const int64_t axis = integer(node, "axis", opset_ < 13 ? 1 : -1);
      op.axis = int(axis < 0 ? axis + int64_t(in.size()) : axis);
      if (op.axis < 0 || size_t(op.axis) >= in.size()) fail(here() + "axis out of range");
      if (opset_ < 13 && size_t(op.axis) + 1 != in.size())
        throw Refused{"softmax over the last dimension below opset 13", "axis " + std::to_string(axis), ""};
      break;
    }
    case HostKind::AveragePool:
    case HostKind::MaxPool:
      take_pool_window(node, in, op);
      break;
    case HostKind::ReduceMean:
      op.dims = mean_axes(node, int(in.size()));
      break;
    case HostKind::Clip:
      std::tie(op.lo, op.hi) = clip_limits(node);
      break;
    case HostKind::LeakyRelu:
      op.alpha = real(node, "alpha", 0.01F);
      break;
    case HostKind::HardSigmoid:
      op.alpha = real(node, "alpha", 0.2F);
      op.beta = real(node, "beta", 0.5F);
      break;
    case HostKind::Concat:
      op.axis = concat_axis(node, shape);
      used = operands.size();
      break;
    case HostKind::Transpose:
      op.dims = permutation(node, int(in.size()));
      break;
    default:
      break;
  }
  for (size_t i = 0; i < used; i++) op.inputs.push_back(as_float(operands[i]));
  const int tensor = op.output = new_float_tensor(at(index).name, shape);
  emit(std::move(op));
  layer_ = asked;
  layer_op_ = asked_op;
  return tensor;
}

}  // namespace kaiten::onnx_import
