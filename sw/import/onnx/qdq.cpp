// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/qdq.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "import/onnx/functions.h"
#include "import/onnx/fuse.h"
#include "import/onnx/host.h"
#include "import/onnx/operands.h"
#include "import/onnx/shuffle.h"
#include "import/onnx/tensors.h"

namespace kaiten::importing::from_onnx {

namespace {

void refuse_blocks(const Node& node) {
  if (integer(node, "block_size", 0) != 0)
    throw Unsupported{"scales per tensor or per channel", "blocked scales"};
}

// The dimension that scales of channels belong to.
int axis_of_scales(const State& s, const Node& node, const Shape& shape, const Scales& scales) {
  const auto rank = std::int64_t(shape.size());
  const std::int64_t stated = integer(node, "axis", 1);
  const std::int64_t axis = stated < 0 ? stated + rank : stated;
  if (scales.scale.size() > 1 &&
      (axis < 0 || axis >= rank || std::size_t(shape[std::size_t(axis)]) != scales.scale.size())) {
    fail_layer(s, "has " + std::to_string(scales.scale.size()) + " scales along axis " +
                      std::to_string(stated) + " of " + shape_text(shape));
  }
  return int(axis);
}

bool is_clamp(const Value& v) {
  return v.form == Form::Expression && (v.node->op_type() == "Relu" || v.node->op_type() == "Clip");
}

// Clamps after an expression become limits of its operator. The expression; its limits into `op`.
int skip_clamps(State& s, int value, Op& op) {
  while (is_clamp(s.at(value))) {
    const auto [low, high] = clip_limits(s, *s.at(value).node);
    op.lo = std::max(op.lo, low);
    op.hi = std::min(op.hi, high);
    value = s.at(value).operands.front();
  }
  if (op.lo == 0.0F && op.hi == 6.0F) {
    op.activation = Activation::Relu6;
  } else if (op.lo == 0.0F && std::isinf(op.hi)) {
    op.activation = Activation::Relu;
  }
  return value;
}

int quantise_on_host(State& s, int source, const Scales& out) {
  Op op;
  op.kind = OpKind::ToInt8;
  op.inputs = {as_float(s, source)};
  return emit_quantised(s, std::move(op), s.layer.name, s.at(source).shape, out);
}

// The operator that the expression stands for; else a table, else float arithmetic on the host, which can do most of what an
// engine cannot.
int quantised_as(State& s, int source, int base, const Op& op, const Scales& out) {
  move_operands_before_dequantising(s, base);
  const std::size_t ops = s.graph.ops.size();
  try {
    if (const int tensor = fuse(s, base, op, out); tensor != kNoTensor) return tensor;
  } catch (const Unsupported&) {
    if (!can_be_float(s, source)) throw;
    s.graph.ops.resize(ops);
  }
  if (const int tensor = as_table(s, source, out); tensor != kNoTensor) return tensor;
  return quantise_on_host(s, source, out);
}

// As exporters leave weights behind that training has quantised: float32, QuantizeLinear, DequantizeLinear.
Value quantised_constant(State& s, const Node& node, int source, const Scales& out) {
  const Constant& real = constant(s, source, "values");
  if (real.type != kFloat) throw Unsupported{"float32 to be quantised", type_name(real.type)};
  if (out.type != kInt8 && out.type != kUint8)
    throw Unsupported{"constants of int8 or uint8", type_name(out.type)};
  std::size_t inner = 1;
  for (auto d = std::size_t(axis_of_scales(s, node, real.shape, out)) + 1; d < real.shape.size(); d++)
    inner *= std::size_t(real.shape[d]);
  const int low = out.type == kUint8 ? 0 : -128;
  Value value;
  value.form = Form::Constant;
  value.shape = real.shape;
  value.constant = {out.type, real.shape, {}};
  charge_constant(s, std::int64_t(real.size()));
  for (std::size_t i = 0; i < real.size(); i++) {
    const std::size_t k = out.scale.size() == 1 ? 0 : i / inner % out.scale.size();
    const float steps = std::nearbyint(real.real(i) / out.scale[k]) + float(out.zero_point[k]);
    // Not a number becomes the lowest value, as in onnxruntime.
    const float stored = steps > float(low) ? std::min(steps, float(low + 255)) : float(low);
    value.constant.bytes.push_back(std::uint8_t(int(stored)));
  }
  return value;
}

}  // namespace

Value dequantize_linear(State& s, const Node& node) {
  const int source = input(s, node, 0);
  const Value& from = s.at(source);
  Value value;
  value.form = Form::Dequantised;
  value.source = source;
  value.shape = from.shape;
  const bool is_constant = from.form == Form::Constant;
  if (!is_constant && from.form != Form::Quantised && from.form != Form::Regrouped)
    throw Unsupported{"int8, uint8 or int32 values", "a float value dequantised"};
  const int type = is_constant ? from.constant.type : from.type;
  if (type != kInt8 && type != kUint8 && type != kInt32)
    throw Unsupported{"int8, uint8 or int32 values", type_name(type) + " dequantised"};
  Scales& scales = value.scales;
  scales = scales_of(s, node, 1, 2, type);
  refuse_blocks(node);
  scales.axis = axis_of_scales(s, node, value.shape, scales);
  if (scales.type != type)
    fail_layer(s, "zero point of " + type_name(scales.type) + " for values of " + type_name(type));
  return value;
}

Value quantize_linear(State& s, const Node& node) {
  const int source = input(s, node, 0);
  const Scales out = scales_of(s, node, 1, 2, kUint8);
  refuse_blocks(node);
  if (s.at(source).form == Form::Constant) return quantised_constant(s, node, source, out);
  if (s.at(source).form == Form::Quantised)
    throw Unsupported{"float values", "QuantizeLinear of quantised values"};

  Op op;
  const int base = skip_clamps(s, source, op);
  if (const Value& v = s.at(base); v.form == Form::Expression) {
    if (const auto regrouping = regroup(s, *v.node, v.operands[0], v.shape))
      return regrouped(s, *regrouping, v.shape, op, out);
  }
  const int tensor = quantised_as(s, source, base, op, out);
  s.quantised_as.try_emplace(source, tensor);
  return quantised_value(tensor, s.at(source).shape, out.type);
}

}  // namespace kaiten::importing::from_onnx
