// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "import/channel_shuffle.h"
#include "import/onnx/importer.h"

namespace kaiten::onnx_import {

std::optional<Regrouping> Importer::regroup(const Node& node, int operand, const Shape& shape) {
  const bool transpose = node.op_type() == "Transpose";
  if (operand < 0 || (!transpose && !is_reshape(node.op_type()))) return std::nullopt;
  std::optional<Regrouping> g = regrouping_of(operand);
  if (!g) {
    const Value& v = at(operand);
    const bool map = v.shape.size() == 4 && (v.form == Form::Quantised || is_dequantised_activation(operand));
    const bool plain_reshape =
        shape.size() <= kMaxRank && (keeps_order(v.shape, shape) || flattens(v.shape, shape));
    if (transpose || !map || plain_reshape) return std::nullopt;
    const bool quantised = v.form == Form::Quantised;
    const int tensor = plain(quantised ? v.tensor : activation_of(operand));
    return Regrouping{tensor, quantised ? scales_of_tensor(operand) : v.scales, at(operand).shape, shape, {},
                      false};
  }
  if (g->finished || (transpose && !g->order.empty())) throw Refused{kShuffleLimit, "a longer chain", ""};
  if (transpose) {
    g->order = permutation(node, int(g->dims.size()));
  } else if (g->order.empty()) {
    g->dims = shape;
  } else {
    g->finished = true;
  }
  return g;
}

std::optional<Regrouping> Importer::regrouping_of(int value) {
  const Value& v = at(value);
  if (v.form == Form::Regrouped) return v.regrouping;
  if (v.form == Form::Dequantised && at(v.source).form == Form::Regrouped) {
    if (!(v.scales == at(v.source).scales)) throw Refused{kShuffleLimit, "another scale in between", ""};
    return at(v.source).regrouping;
  }
  if (v.form == Form::Expression) return regroup(*v.node, v.operands[0], v.shape);
  return std::nullopt;
}

void Importer::require_not_regrouped(int value) {
  const Value& v = at(value);
  if (v.form == Form::Regrouped)
    throw Refused{kShuffleLimit, "'" + v.name + "' of shape " + shape_text(v.shape) + " for another operator",
                  ""};
}

Value Importer::regrouped(const Regrouping& regrouping, const Shape& shape, Op& op, const Scales& out) {
  const auto& [tensor, scales, map, dims, order, finished] = regrouping;
  if (!finished) {
    if (!(out == scales) || !std::isinf(op.lo) || !std::isinf(op.hi))
      throw Refused{kShuffleLimit, "another scale or limits in between", ""};
    Value value;
    value.form = Form::Regrouped;
    value.shape = shape;
    value.type = out.type;
    value.scales = scales;
    value.regrouping = regrouping;
    return value;
  }
  const auto from = shuffled_channels(dims, order, map[1], false);
  if (shape != map || !from) {
    throw Refused{kShuffleLimit,
                  shape_text(map) + " to " + shape_text(dims) + ", transposed, to " + shape_text(shape), ""};
  }
  const bool same = out == scales && std::isinf(op.lo) && std::isinf(op.hi);
  Op shuffle;
  shuffle.kind = OpKind::Shuffle;
  shuffle.dims = *from;
  shuffle.inputs = {tensor};
  shuffle.output = new_quantised_tensor(layer_ + (same ? "" : "/shuffled"), shape, scales);
  const int shuffled = shuffle.output;
  emit(std::move(shuffle));
  return quantised_value(same ? shuffled : requantise(shuffled, shape, op, out), shape, out.type);
}

}  // namespace kaiten::onnx_import
