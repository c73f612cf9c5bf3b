// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Operators that compute nothing: views of maps that exist where words allow, else copies and moves.
#include <array>
#include <numeric>
#include <utility>

#include "compile/lower/limits.h"
#include "compile/lower/lower_operators.h"

namespace kaiten {

namespace {

// Numbers of the model's dimensions, `stride` of them apart, as those of NHWC.
std::array<int, 4> nhwc_of(const Tensor& tensor, const std::vector<int>& dims, std::size_t stride) {
  std::array<int, 4> of{};
  const std::size_t rank = tensor.shape.size();
  for (std::size_t d = 0; d < rank; d++) of[4 - rank + d] = dims[stride * d];
  return of;
}

// A view with a border of the zero point on all sides, `first` channels of it in front.
ViewId move_inside(LoweringBuilder& b, ViewId v, int t, const Padding& pad, int first) {
  LoweredOp l = b.begin({v}, t);
  l.pad_top = pad.top;
  l.pad_left = pad.left;
  l.pad_value = b.tensor(t).zero_point();
  std::vector<int> from(std::size_t(l.out.c), -1);
  std::iota(from.begin() + first, from.begin() + first + l.in.c, 0);
  lower_move(b.context(), from, l);
  return b.end(std::move(l));
}

bool belongs_to_window(const LoweringBuilder& b, int t, const Padding& pad) {
  const Op* consumer = b.only_consumer(t);
  if (consumer == nullptr) return false;
  const Window& w = consumer->window;
  if (has_array_windows(*consumer)) return w.pad.left + pad.left <= kMaxArrayPadLeft;
  // Windows of the vector engine must touch the map.
  return consumer->kind == OpKind::DepthwiseConv2D && w.pad.left + pad.left <= kMaxWindowPadLeft &&
         w.pad.top + pad.top < w.extent_h() && w.pad.bottom + pad.bottom < w.extent_h() &&
         w.pad.left + pad.left < w.extent_w() && w.pad.right + pad.right < w.extent_w();
}

}  // namespace

int concat_axis(const Graph& graph, const Op& op) {
  return 4 - int(graph.output_of(op).shape.size()) + op.axis;
}

void lower_reshape(LoweringBuilder& b, const Op& op) {
  const ViewId from = b.view_of(op.inputs[0]);
  const Storage& source = b.maps().storage(from);
  const bool input = source.is_input && source.shape == b.maps().shape(from);
  b.set_view(op.output, input ? b.maps().reshaped(from, b.nhwc(op.output), 0) : from);
  const Storage& made = b.storage_of(op.output);
  b.add_without_commands(op, made.is_input || made.on_host ? Engine::kHost : Engine::kNone);
}

void lower_concat(LoweringBuilder& b, const Op& op) {
  Maps& maps = b.maps();
  std::vector<ViewId> inputs;
  for (int t : op.inputs) inputs.push_back(b.device_map_of(t));
  require(concat_axis(b.graph(), op) == 3, "concatenation of rows, columns or channels", "of batches");
  const ConcatParams params = concat_params(b.graph(), op);
  ViewId map;
  int first_channel = 0;
  ChannelMap channels;
  for (std::size_t i = 0; i < inputs.size(); i++) {
    ViewId v = inputs[i];
    const int n = maps.shape(v).c;
    const bool joined = map.exists() && maps.view(v).storage == maps.view(map).storage;
    const bool same = params.tables[i] == identity_table();
    if (joined || !same || !maps.may_join(v)) {
      v = b.copy(v, op.output, first_channel, same ? nullptr : &params.tables[i]);
    }
    first_channel += n;
    if (!map.exists()) {
      map = v;
    } else {
      require_groups("concatenated words of channels", maps.storage(map).groups + maps.storage(v).groups);
      maps.join(map, v);
    }
    channels.append(b.channels(v), 0, b.config().cp);
  }
  b.set_view(op.output, maps.add_view({maps.view(map).storage, channels}));
  b.add_without_commands(op, Engine::kNone);
}

void lower_slice(LoweringBuilder& b, const Op& op) {
  const ViewId v = b.device_map_of(op.inputs[0]);
  const Nhwc in = b.maps().shape(v);
  const Nhwc out = b.nhwc(op.output);
  const std::array<int, 4> begin = nhwc_of(b.tensor(op.output), op.dims, 1);
  const int channel = begin[3];
  const bool window = out.h != in.h || out.w != in.w;
  const ViewId channels = b.maps().slice(v, channel, channel + out.c);
  if (!channels.exists()) {
    require(!window, "slices of channels, or of rows and columns",
            "both, from channel " + std::to_string(channel));
    return b.set_view(op.output, b.move(v, op.output, channel));
  }
  if (!window) return b.add_view(op, channels);
  LoweredOp l = b.begin({channels}, op.output);
  lower_pad(b.context(), {-begin[1], 0, -begin[2], 0}, 0, l);
  b.set_view(op.output, b.end(std::move(l)));
}

void lower_shuffle(LoweringBuilder& b, const Op& op) {
  b.set_view(op.output, b.move(b.device_map_of(op.inputs[0]), op.output, op.dims));
}

void lower_border(LoweringBuilder& b, const Op& op) {
  const ViewId v = b.device_map_of(op.inputs[0]);
  const Nhwc in = b.maps().shape(v);
  const Nhwc out = b.nhwc(op.output);
  const std::array<int, 4> before = nhwc_of(b.tensor(op.output), op.dims, 2);
  require(in.n == out.n, "borders of rows, columns and channels", "of batches");
  const Padding pad{before[1], out.h - in.h - before[1], before[2], out.w - in.w - before[2]};
  if (in.c != out.c) return b.set_view(op.output, move_inside(b, v, op.output, pad, before[3]));
  if (belongs_to_window(b, op.output, pad)) {
    b.set_border(op.output, pad);
    return b.add_view(op, v);
  }
  LoweredOp l = b.begin({v}, op.output);
  lower_pad(b.context(), pad, b.tensor(op.output).zero_point(), l);
  b.set_view(op.output, b.end(std::move(l)));
}

}  // namespace kaiten
