// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "import/onnx/importer.h"

namespace kaiten::onnx_import {

int Importer::requantise(int tensor, const Shape& shape, Op& op, const Scales& out) {
  const Quantization wanted = stored(out);
  const Tensor& t = graph_.tensors[size_t(tensor)];
  const bool same_type = (t.model_type == ElementType::UInt8) == (out.type == kUint8);
  if (same_type && t.quantization.scale == wanted.scale && t.quantization.zero_point == wanted.zero_point &&
      std::isinf(op.lo) && std::isinf(op.hi)) {
    return alias(tensor, shape, out);
  }
  op.kind = std::isinf(op.lo) && std::isinf(op.hi) ? OpKind::Quantize : OpKind::Table;
  op.function = Function::Clamp;
  op.inputs = {tensor};
  op.output = new_quantised_tensor(layer_, shape, out);
  const int output = op.output;
  if (flattened_.contains(tensor)) flattened_[output] = flattened_[tensor];
  emit(std::move(op));
  return output;
}

int Importer::alias(int tensor, const Shape& shape, const Scales& scales) {
  Op op;
  op.kind = OpKind::Reshape;
  op.inputs = {tensor};
  op.output = new_quantised_tensor(layer_, shape, scales);
  const int output = op.output;
  if (flattened_.contains(tensor)) flattened_[output] = flattened_[tensor];
  emit(std::move(op));
  return output;
}

bool Importer::keeps_order(const Shape& from, const Shape& to) {
  const auto ordered = [](const Shape& s) { return s.size() != 4 || s[1] == 1 || s[2] * s[3] == 1; };
  return from == to || (ordered(from) && ordered(to));
}

bool Importer::flattens(const Shape& from, const Shape& to) {
  return from.size() == 4 && to.size() == 2 && to[0] == 1;
}

int Importer::reshape(int tensor, const Shape& from, const Shape& to, const Scales& scales) {
  Op op;
  op.kind = OpKind::Reshape;
  op.inputs = {tensor};
  op.output = new_quantised_tensor(layer_ + (is_output_of_quantize() ? "/reshaped" : ""), to, scales);
  const int output = op.output;
  if (flattened_.contains(tensor)) {
    if (to.size() > 2) plain(tensor);
    flattened_[output] = flattened_[tensor];
  } else if (!keeps_order(from, to)) {
    if (!flattens(from, to)) {
      throw Refused{"reshapes that keep channels last or flatten a map",
                    shape_text(from) + " to " + shape_text(to), ""};
    }
    flattened_[output] = {from[1], from[2], from[3]};
  }
  emit(std::move(op));
  return output;
}

bool Importer::is_output_of_quantize() const { return layer_op_ == "QuantizeLinear"; }

bool Importer::table_function(const Node& node, Op& op) const {
  const std::string& kind = node.op_type();
  op.kind = OpKind::Table;
  if (kind == "LeakyRelu") {
    op.function = Function::LeakyRelu;
    op.alpha = real(node, "alpha", 0.01F);
  } else if (kind == "HardSigmoid") {
    op.function = Function::HardSigmoid;
    op.alpha = real(node, "alpha", 0.2F);
    op.beta = real(node, "beta", 0.5F);
  } else if (kind == "Sigmoid") {
    op.function = Function::Sigmoid;
  } else if (kind == "Tanh") {
    op.function = Function::Tanh;
  } else if (kind == "HardSwish") {
    op.function = Function::HardSwish;
  } else {
    return false;
  }
  return true;
}

int Importer::pool(const Node& node, Op op, int in_tensor, const Shape& shape, const Scales& out) {
  const Nhwc map = graph_.tensors[size_t(in_tensor)].nhwc();
  op.kind = node.op_type().ends_with("MaxPool") ? OpKind::MaxPool : OpKind::AveragePool;
  take_pool_window(node, {map.n, map.c, map.h, map.w}, op);
  // One window over everything is a mean.
  const Window whole{map.h, map.w, op.window.stride_h, op.window.stride_w, 1, 1, {}};
  if (op.kind == OpKind::AveragePool && op.window == whole) op.kind = OpKind::Mean;
  op.inputs = {in_tensor};
  op.output = new_quantised_tensor(layer_, shape, out);
  const int tensor = op.output;
  emit(std::move(op));
  return tensor;
}

}  // namespace kaiten::onnx_import
