// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <limits>

#include "import/onnx/importer.h"

namespace kaiten::onnx_import {

Value Importer::dequantize_linear(const Node& node) {
  const int source = input(node, 0);
  Value value;
  value.form = Form::Dequantised;
  value.source = source;
  value.shape = at(source).shape;
  const bool is_constant = at(source).form == Form::Constant;
  if (!is_constant && at(source).form != Form::Quantised && at(source).form != Form::Regrouped)
    throw Refused{"int8, uint8 or int32 values", "a float value dequantised", ""};
  const int type = is_constant ? at(source).constant.type : at(source).type;
  value.scales = scales_of(node, 1, 2, type);
  if (integer(node, "block_size", 0) != 0)
    throw Refused{"scales per tensor or per channel", "blocked scales", ""};
  const int64_t axis = integer(node, "axis", 1);
  value.scales.axis = int(axis < 0 ? axis + int64_t(value.shape.size()) : axis);
  if (value.scales.scale.size() > 1 &&
      (value.scales.axis < 0 || size_t(value.scales.axis) >= value.shape.size() ||
       size_t(value.shape[size_t(value.scales.axis)]) != value.scales.scale.size())) {
    fail(here() + "has " + std::to_string(value.scales.scale.size()) + " scales along axis " +
         std::to_string(axis) + " of " + shape_text(value.shape));
  }
  if (value.scales.type != type)
    fail(here() + "zero point of " + type_name(value.scales.type) + " for values of " + type_name(type));
  return value;
}

Value Importer::quantize_linear(const Node& node) {
  const int source = input(node, 0);
  const Scales out = scales_of(node, 1, 2, kUint8);
  if (integer(node, "block_size", 0) != 0)
    throw Refused{"scales per tensor or per channel", "blocked scales", ""};
  if (at(source).form == Form::Constant)
    throw Refused{"weights stored quantised", "QuantizeLinear of a constant",
                  "fold constants when exporting"};
  if (at(source).form == Form::Quantised)
    throw Refused{"float values", "QuantizeLinear of quantised values", ""};

  // Clamps in between become limits of the operator in front.
  float lo = -std::numeric_limits<float>::infinity();
  float hi = std::numeric_limits<float>::infinity();
  int base = source;
  while (at(base).form == Form::Expression &&
         (at(base).node->op_type() == "Relu" || at(base).node->op_type() == "Clip")) {
    const auto [low, high] = clip_limits(*at(base).node);
    lo = std::max(lo, low);
    hi = std::min(hi, high);
    base = at(base).operands.front();
  }
  Op op;
  op.lo = lo;
  op.hi = hi;
  if (lo == 0.0F && hi == 6.0F) {
    op.activation = Activation::Relu6;
  } else if (lo == 0.0F && std::isinf(hi)) {
    op.activation = Activation::Relu;
  }
  if (at(base).form == Form::Expression) {
    if (const auto regrouping = regroup(*at(base).node, at(base).operands[0], at(base).shape))
      return regrouped(*regrouping, at(base).shape, op, out);
  }
  int tensor = fuse(base, op, out);
  if (tensor < 0) {
    op = {};
    op.kind = OpKind::ToInt8;
    op.inputs = {as_float(source)};
    op.output = tensor = new_quantised_tensor(layer_, at(source).shape, out);
    emit(std::move(op));
  }
  quantised_as_.try_emplace(source, tensor);
  return quantised_value(tensor, at(source).shape, out.type);
}

std::vector<int> Importer::addends_of(int value) {
  const Value& v = at(value);
  if (v.form != Form::Expression || v.node->op_type() != "Add") return {};
  for (size_t i = 0; i < 2; i++) {
    const int sum = v.operands[i];
    const int last = v.operands[1 - i];
    if (!is_dequantised_activation(last) || at(last).shape != v.shape) continue;
    std::vector<int> addends = is_dequantised_activation(sum) ? std::vector<int>{sum} : addends_of(sum);
    if (addends.empty() || at(sum).shape != v.shape) continue;
    addends.push_back(last);
    return addends;
  }
  return {};
}

int Importer::fuse(int base, Op& op, const Scales& out) {
  const Value& v = at(base);
  if (v.form == Form::Dequantised)
    return is_dequantised_activation(base) ? requantise(activation_of(base), v.shape, op, out) : -1;
  if (v.form != Form::Expression) return -1;
  const std::string& kind = v.node->op_type();
  const std::vector<int> x = v.operands;
  const Shape shape = v.shape;
  const Node& node = *v.node;
  if (kind == "Conv") {
    if (!is_dequantised_activation(x[0]))
      throw Refused{"convolutions of quantised values", "a float convolution", kStaticQuantisation};
    return conv(node, op, activation_of(x[0]), at(x[0]).scales, weights_of(x[1]), bias_of(x, 2), out);
  }
  if (kind == "Gemm" || kind == "MatMul") {
    if (!is_dequantised_activation(x[0]) || !is_constant_value(x[1]) || at(x[1]).form != Form::Dequantised)
      return -1;
    if (real(node, "alpha", 1.0F) != 1.0F || real(node, "beta", 1.0F) != 1.0F ||
        integer(node, "transA", 0) != 0)
      return -1;
    return fully_connected(op, activation_of(x[0]), at(x[0]).scales, weights_of(x[1]),
                           integer(node, "transB", 0) != 0, bias_of(x, 2), shape, out);
  }
  if (kind == "Add" || kind == "Sub" || kind == "Mul") {
    // A product and a constant: a fully connected layer with a bias.
    for (size_t i = 0; i < 2 && kind == "Add"; i++) {
      const Value& product = at(x[i]);
      if (product.form != Form::Expression || product.node->op_type() != "MatMul" ||
          !is_constant_value(x[1 - i]))
        continue;
      const std::vector<int> y = product.operands;
      if (!is_dequantised_activation(y[0]) || at(y[1]).form != Form::Dequantised || !is_constant_value(y[1]))
        continue;
      return fully_connected(op, activation_of(y[0]), at(y[0]).scales, weights_of(y[1]), false,
                             bias_of({x[1 - i]}, 0), shape, out);
    }
    op.kind = kind == "Add" ? OpKind::Add : kind == "Sub" ? OpKind::Sub : OpKind::Mul;
    std::vector<int> addends = addends_of(base);
    if (addends.size() < 2 || addends.size() > kMaxAddends) addends = x;
    std::vector<std::string> notes;
    for (const int operand : addends) {
      if (is_dequantised_activation(operand)) {
        op.inputs.push_back(plain(activation_of(operand)));
      } else if (at(operand).form == Form::Dequantised && is_constant_value(operand)) {
        op.inputs.push_back(quantised_operand(operand, int(shape.size())));
      } else if (const auto found = quantised_as_.find(operand); found != quantised_as_.end()) {
        op.inputs.push_back(plain(found->second));
        notes.push_back("layer '" + layer_ + "' reads '" + at(operand).name + "' as quantised in '" +
                        graph_.tensors[size_t(found->second)].name + "', where the model adds in float32");
      } else {
        return -1;
      }
    }
    graph_.notes.insert(graph_.notes.end(), notes.begin(), notes.end());
    op.output = new_quantised_tensor(layer_, shape, out);
    const int tensor = op.output;
    emit(std::move(op));
    return tensor;
  }
  if (x.empty() || !is_dequantised_activation(x[0])) return -1;
  if (kind == "GlobalAveragePool" || kind == "ReduceMean") {
    const Shape& in = at(x[0]).shape;
    if (in.size() != 4 || shape[1] != in[1] || elements_of(shape) != in[1]) {
      throw Refused{"averages over whole maps", kind + " of " + shape_text(in) + " to " + shape_text(shape),
                    ""};
    }
    op.kind = OpKind::Mean;
    op.inputs = {plain(activation_of(x[0]))};
    op.output = new_quantised_tensor(layer_, shape, out);
    const int tensor = op.output;
    emit(std::move(op));
    return tensor;
  }
  if (kind == "AveragePool") return pool(node, op, plain(activation_of(x[0])), shape, out);
  if (kind == "MaxPool") {
    const int in = plain(activation_of(x[0]));
    const bool same = at(x[0]).scales == out;
    const int pooled = pool(node, same ? op : Op{}, in, shape, at(x[0]).scales);
    return same ? pooled : requantise(pooled, shape, op, out);
  }
  if (kind == "Resize") {
    const int resized = resize(node, at(x[0]).shape, activation_of(x[0]), at(x[0]).scales);
    return requantise(resized, shape, op, out);
  }
  if (is_move(kind)) {
    const int moved = move(node, at(x[0]).shape, v.part, activation_of(x[0]), at(x[0]).scales);
    return requantise(moved, shape, op, out);
  }
  if (is_reshape(kind)) {
    const int in = activation_of(x[0]);
    const int reshaped = reshape(in, at(x[0]).shape, shape, at(x[0]).scales);
    return requantise(reshaped, shape, op, out);
  }
  if (kind == "Concat") {
    op.kind = OpKind::Concat;
    op.axis = nhwc_axis(concat_axis(node, shape), shape.size());
    for (const int operand : x) {
      if (!is_dequantised_activation(operand)) return -1;
      op.inputs.push_back(plain(activation_of(operand)));
    }
    op.output = new_quantised_tensor(layer_, shape, out);
    const int tensor = op.output;
    emit(std::move(op));
    return tensor;
  }
  if (table_function(node, op)) {
    op.inputs = {plain(activation_of(x[0]))};
    op.output = new_quantised_tensor(layer_, shape, out);
    const int tensor = op.output;
    emit(std::move(op));
    return tensor;
  }
  return -1;
}

}  // namespace kaiten::onnx_import
