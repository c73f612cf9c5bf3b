// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Operators of several operands, element by element: where the operands must stand, and in which order they are read.
#include <algorithm>
#include <array>
#include <utility>

#include "compile/lower/limits.h"
#include "compile/lower/lower_operators.h"

namespace kaiten {

namespace {

// Whether a sum of more maps begins with these.
bool begins_longer_sum(const Graph& graph, const Op& op) {
  return std::any_of(graph.ops.begin(), graph.ops.end(), [&](const Op& o) {
    return o.kind == OpKind::Add && o.inputs.size() > 2 &&
           std::equal(op.inputs.begin(), op.inputs.end(), o.inputs.begin());
  });
}

// Operands become parts of one map, each as many words after the one before.
void stand_side_by_side(LoweringBuilder& b, const Op& op, std::vector<ViewId>& inputs) {
  Maps& maps = b.maps();
  const int cp = b.config().cp;
  const auto channels = [&](std::size_t i) -> const ChannelMap& { return b.channels(inputs[i]); };
  const auto storage = [&](std::size_t i) { return maps.view(inputs[i]).storage; };
  bool alike = true;
  for (std::size_t i = 1; i < inputs.size(); i++) alike = alike && channels(i).same_lanes(channels(0));
  for (std::size_t i = 0; i < inputs.size(); i++) {
    if (!alike && !channels(i).dense()) inputs[i] = b.move(inputs[i], op.inputs[i], 0);
  }
  const int groups = channels(0).end(cp) - channels(0).begin();
  const auto place = [&](std::size_t i) { return channels(0).begin() + int(i) * groups; };
  // The first ones of a shorter sum stand there already.
  std::size_t placed = 1;
  while (placed < inputs.size() && storage(placed) == storage(0) && channels(placed).begin() == place(placed))
    placed++;
  if (placed == inputs.size()) return;
  if (!maps.may_grow(inputs[0]) || maps.storage(inputs[0]).groups != place(placed)) {
    inputs[0] = b.copy(inputs[0], op.inputs[0], 0);
    placed = 1;
  }
  for (; placed < inputs.size(); placed++) {
    ViewId& v = inputs[placed];
    if (storage(placed) == storage(0) || !maps.may_join(v)) v = b.copy(v, op.inputs[placed], 0);
    require_groups("words of channels added up", place(placed + 1));
    maps.join(inputs[0], v);
  }
}

// An addition of maps that stand side by side in one.
void lower_sum(LoweringBuilder& b, const Op& op) {
  std::vector<ViewId> inputs;
  for (int t : op.inputs) inputs.push_back(b.device_map_of(t));
  stand_side_by_side(b, op, inputs);
  LoweredOp l = b.begin(inputs, op.output);
  require_shape(b.context(), l.in);
  lower_elements(b.context(), op, false, l);
  b.set_view(op.output, b.end(std::move(l)));
}

// An operand that is no activation as a map, on the lanes of the other operand: one pixel where all pixels of the output
// meet the same values, else as large as the output.
ViewId constant_map(LoweringBuilder& b, int t, ViewId other, const Nhwc& out) {
  const int cp = b.config().cp;
  const ChannelMap channels = b.channels(other);
  const Tensor& constant = b.tensor(t);
  const Nhwc have = constant.nhwc();
  const bool pixel = have.h == 1 && have.w == 1;
  const Nhwc shape{1, pixel ? 1 : out.h, pixel ? 1 : out.w, out.c};
  const ViewId v = b.maps().add(t, shape, channels);
  const std::vector<int> channel_of = channels.channel_of(cp);
  const auto at = [](int i, int n) { return n == 1 ? std::size_t(0) : std::size_t(i); };
  std::vector<std::uint8_t>& values = b.maps().storage(v).constant;
  for (int y = 0; y < shape.h; y++) {
    for (int x = 0; x < shape.w; x++) {
      const std::size_t cell = at(y, have.h) * std::size_t(have.w) + at(x, have.w);
      for (int lane = 0; lane < channels.lanes(cp); lane++) {
        const int c = channel_of.empty() ? lane : channel_of[std::size_t(lane)];
        values.push_back(c < 0 ? std::uint8_t(constant.zero_point())
                               : constant.data[cell * std::size_t(have.c) + at(c, have.c)]);
      }
    }
  }
  return v;
}

// Two operands must stand on the same words of equal pixels; none: a constant.
void align_operands(LoweringBuilder& b, const std::array<int, 2>& operands, const Nhwc& out,
                    std::vector<ViewId>& inputs) {
  Maps& maps = b.maps();
  const bool constant = !inputs[0].exists() || !inputs[1].exists();
  const bool same = constant || b.channels(inputs[0]).same_lanes(b.channels(inputs[1]));
  for (std::size_t i = 0; i < 2; i++) {
    ViewId& v = inputs[i];
    if (!v.exists()) continue;
    const Storage& s = maps.storage(v);
    const ChannelMap& channels = b.channels(v);
    const bool alone =
        channels.begin() == 0 && channels.end(b.config().cp) == s.groups && s.parts.size() == 1;
    if (!same && !channels.dense()) {
      v = b.move(v, operands[i], 0);
    } else if (!alone) {
      v = b.copy(v, operands[i], 0);
    }
    maps.pin(v);
  }
  for (std::size_t i = 0; i < 2; i++) {
    if (!inputs[i].exists()) inputs[i] = constant_map(b, operands[i], inputs[1 - i], out);
  }
}

}  // namespace

void lower_add(LoweringBuilder& b, const Op& op) {
  if (op.inputs.size() > 2 || begins_longer_sum(b.graph(), op)) return lower_sum(b, op);
  lower_two(b, op);
}

void lower_two(LoweringBuilder& b, const Op& op) {
  const Nhwc out = b.nhwc(op.output);
  std::array<int, 2> operands{op.inputs[0], op.inputs[1]};  // the one that has the shape of the output first
  const auto shape = [&](int t) {
    const Nhwc s = b.nhwc(t);
    if (!b.tensor(t).is_constant()) return s;
    return s.h == 1 && s.w == 1 ? Nhwc{1, 1, 1, out.c} : out;
  };
  const bool swapped = shape(operands[0]) != out;
  if (swapped) std::swap(operands[0], operands[1]);
  const bool broadcast = shape(operands[1]) != out;
  require(
      shape(operands[0]) == out && (!broadcast || shape(operands[1]) == Nhwc{1, 1, 1, out.c}),
      "two maps of one shape, or a map and one pixel of as many channels",
      shape_text(b.graph().input_of(op, 0).shape) + " and " + shape_text(b.graph().input_of(op, 1).shape));
  std::vector<ViewId> inputs(2);
  for (std::size_t i = 0; i < 2; i++) {
    if (!b.tensor(operands[i]).is_constant()) inputs[i] = b.device_map_of(operands[i]);
  }
  align_operands(b, operands, out, inputs);
  LoweredOp l = b.begin(inputs, op.output);
  l.broadcast = broadcast;
  require_shape(b.context(), l.in);
  lower_elements(b.context(), op, swapped, l);
  b.set_view(op.output, b.end(std::move(l)));
}

}  // namespace kaiten
