// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/shuffle.h"

#include <cmath>
#include <string>
#include <utility>

#include "import/common/channel_shuffle.h"
#include "import/onnx/layers.h"
#include "import/onnx/lines.h"
#include "import/onnx/operands.h"
#include "import/onnx/rearrange.h"
#include "import/onnx/shapes.h"
#include "import/onnx/tensors.h"

namespace kaiten::importing::from_onnx {

namespace {

// What a value is, as a step of a channel shuffle.
std::optional<MapRegrouping> regrouping_of(State& s, int value) {
  const Value& v = s.at(value);
  if (v.form == Form::Regrouped) return v.regrouping;
  if (v.form == Form::Dequantised && s.at(v.source).form == Form::Regrouped) {
    if (!(v.scales == s.at(v.source).scales)) return std::nullopt;
    return s.at(v.source).regrouping;
  }
  if (v.form == Form::Expression) return regroup(s, *v.node, v.operands[0], v.shape);
  return std::nullopt;
}

// The first step: a map reshaped in a way that is more than a reshape of its bytes.
std::optional<MapRegrouping> first_step(State& s, int operand, const Shape& shape) {
  const Value& v = s.at(operand);
  const bool quantised = v.form == Form::Quantised;
  const bool map = v.shape.size() == 4 && (quantised || is_dequantised_activation(s, operand));
  const bool plain_reshape =
      shape.size() <= kMaxRank && (keeps_order(v.shape, shape) || flattens(v.shape, shape));
  if (!map || plain_reshape || is_row_of(v.shape, shape)) return std::nullopt;
  const int tensor = plain(s, quantised ? v.tensor : activation_of(s, operand));
  return MapRegrouping{
      {tensor, shape, {}}, quantised ? scales_of_tensor(s, operand) : v.scales, v.shape, false};
}

// What the steps so far make of the map.
int made(State& s, const MapRegrouping& g, const Shape& shape) {
  std::vector<Stride> strides = strides_of(g.dims);
  if (!g.order.empty()) {
    const std::vector<Stride> from = strides;
    for (std::size_t d = 0; d < from.size(); d++) strides[d] = from[std::size_t(g.order[d])];
  }
  return rearranged(s, g.map, g.shape, 0, strides, shape, g.scales);
}

}  // namespace

std::optional<MapRegrouping> regroup(State& s, const Node& node, int operand, const Shape& shape) {
  const bool transpose = node.op_type() == "Transpose";
  if (operand < 0 || (!transpose && !is_reshape(node.op_type()))) return std::nullopt;
  std::optional<MapRegrouping> g = regrouping_of(s, operand);
  if (!g) return transpose ? std::nullopt : first_step(s, operand, shape);
  if (g->finished || (transpose && !g->order.empty())) return std::nullopt;
  if (transpose) {
    g->order = permutation(s, node, int(g->dims.size()));
  } else if (g->order.empty()) {
    g->dims = shape;
  } else {
    g->finished = true;
  }
  return g;
}

void settle(State& s, int value) {
  if (s.at(value).form != Form::Regrouped) return;
  const Value v = s.at(value);
  const Layer asked = std::exchange(s.layer, {v.name, s.layer.op});
  const int tensor = made(s, v.regrouping, v.shape);
  s.layer = asked;
  s.at(value).form = Form::Quantised;
  s.at(value).tensor = tensor;
}

Value regrouped(State& s, const MapRegrouping& regrouping, const Shape& shape, const Op& op,
                const Scales& out) {
  const Scales& scales = regrouping.scales;
  const bool same = out == scales && std::isinf(op.lo) && std::isinf(op.hi);
  if (!regrouping.finished) {
    if (!same)
      return quantised_value(requantise(s, made(s, regrouping, shape), shape, op, out), shape, out.type);
    Value value;
    value.form = Form::Regrouped;
    value.shape = shape;
    value.type = out.type;
    value.scales = scales;
    value.regrouping = regrouping;
    return value;
  }
  const auto from = shuffled_channels(regrouping.dims, regrouping.order, regrouping.shape[1], false);
  if (shape != regrouping.shape || !from)
    return quantised_value(requantise(s, made(s, regrouping, shape), shape, op, out), shape, out.type);
  Op shuffle;
  shuffle.kind = OpKind::Shuffle;
  shuffle.dims = *from;
  shuffle.inputs = {regrouping.map};
  const std::string name = s.layer.name + (same ? "" : "/shuffled");
  const int shuffled = emit_quantised(s, std::move(shuffle), name, shape, scales);
  return quantised_value(same ? shuffled : requantise(s, shuffled, shape, op, out), shape, out.type);
}

}  // namespace kaiten::importing::from_onnx
