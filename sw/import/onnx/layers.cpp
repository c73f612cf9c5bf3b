// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/layers.h"

#include <cmath>
#include <utility>

#include "graph/float_average.h"
#include "import/onnx/rearrange.h"
#include "import/onnx/shapes.h"
#include "import/onnx/tensors.h"
#include "import/onnx/windows.h"

namespace kaiten::importing::from_onnx {

int requantise(State& s, int tensor, const Shape& shape, Op op, const Scales& out) {
  const Tensor& t = s.tensor(tensor);
  const bool same_type = (t.model_type == ElementType::UInt8) == (out.type == kUint8);
  const bool limited = !std::isinf(op.lo) || !std::isinf(op.hi);
  if (same_type && same_quantization(t.quantization, stored(out)) && !limited) {
    op = {};
    op.kind = OpKind::Reshape;
  } else {
    op.kind = limited ? OpKind::Table : OpKind::Quantize;
    op.function = Function::Clamp;
  }
  op.inputs = {tensor};
  op.output = new_quantised_tensor(s, s.layer.name, shape, out);
  keep_flattening(s, tensor, op.output);
  return emit(s, std::move(op));
}

bool keeps_order(const Shape& from, const Shape& to) {
  const auto ordered = [](const Shape& s) { return s.size() != 4 || s[1] == 1 || s[2] * s[3] == 1; };
  return from == to || (ordered(from) && ordered(to));
}

bool flattens(const Shape& from, const Shape& to) { return from.size() == 4 && to.size() == 2 && to[0] == 1; }

int reshape(State& s, int tensor, const Shape& from, const Shape& to, const Scales& scales) {
  const bool flattened = s.flattened.contains(tensor) && to.size() <= 2;
  if (!flattened && !flattens(from, to)) return reshaped(s, plain(s, tensor), from, to, scales);
  Op op;
  op.kind = OpKind::Reshape;
  op.inputs = {tensor};
  op.output = new_quantised_tensor(s, inner_name(s, "/reshaped"), to, scales);
  keep_flattening(s, tensor, op.output);
  if (!flattened && !keeps_order(from, to)) s.flattened[op.output] = {from[1], from[2], from[3]};
  return emit(s, std::move(op));
}

int pool(State& s, const Node& node, Op op, int in_tensor, const Shape& shape, const Scales& out) {
  const Nhwc map = s.tensor(in_tensor).nhwc();
  op.kind = node.op_type().ends_with("MaxPool") ? OpKind::MaxPool : OpKind::AveragePool;
  take_pool_window(s, node, {map.n, map.c, map.h, map.w}, op);
  // One window over everything is QLinearGlobalAveragePool's mean.
  const Window whole{map.h, map.w, op.window.stride_h, op.window.stride_w, 1, 1, {}};
  if (op.kind == OpKind::AveragePool && op.qlinear && op.window == whole) op.kind = OpKind::Mean;
  if (op.kind == OpKind::AveragePool && !op.qlinear) op.additions = additions_of(s.opset, op.window, map);
  op.inputs = {in_tensor};
  return emit_quantised(s, std::move(op), s.layer.name, shape, out);
}

int arg_max(State& s, const Node& node, const Shape& in, int tensor, const std::string& name,
            const Shape& shape) {
  Op op;
  op.kind = OpKind::ArgMax;
  op.axis = axis_of(s, node, 0, int(in.size()));
  op.last_of_equals = integer(node, "select_last_index", 0) != 0;
  op.inputs = {tensor};
  op.output = new_host_tensor(s, name, ElementType::Int64, shape);
  return emit(s, std::move(op));
}

std::string inner_name(const State& s, const std::string& suffix) {
  return s.layer.name + (s.layer.op == "QuantizeLinear" ? suffix : "");
}

}  // namespace kaiten::importing::from_onnx
