// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Operators that go over a map window by window, or value by value: which engine they run on.
#include <utility>

#include "compile/lower/limits.h"
#include "compile/lower/lower_operators.h"

namespace kaiten {

namespace {

// What a fully connected layer reads: pixels one by one, or a whole map, under one kernel or as one long pixel.
ViewId flat_map(LoweringBuilder& b, const Op& op) {
  const ViewId v = b.view_of(op.inputs[0]);
  const Nhwc have = b.maps().shape(v);
  const Nhwc out = b.nhwc(op.output);
  const int channels = b.graph().weights_of(op).nhwc().c;
  if (channels == have.c && out.h == have.h && out.w == have.w) {
    require_shape(b.context(), have);
    return v;
  }
  require(std::size_t(channels) == have.elements() && out.h == 1 && out.w == 1,
          "fully connected layers over the last dimension or a whole map",
          std::to_string(channels) + " inputs of a map of " + size_text(have.h, have.w) + "x" +
              std::to_string(have.c));
  const bool kernel = have.h <= kMaxMapKernel && have.w <= kMaxMapKernel;
  const Storage& s = b.maps().storage(v);
  const bool dense = s.is_input && s.shape == have;
  if (kernel && !dense) return v;
  require(channels <= kMaxFlatBytes, at_most("flattened inputs", kMaxFlatBytes), std::to_string(channels));
  return b.reshaped(v, {1, 1, 1, channels});
}

// Whether an operator reads a whole map that the host writes.
bool is_image(LoweringBuilder& b, const LoweredOp& l) {
  const Storage& s = b.maps().storage(l.inputs[0]);
  return s.is_input && s.shape == l.in && l.channel_of.empty();
}

// The same bytes as the windows of one operator.
ViewId windows_of(LoweringBuilder& b, const LoweredOp& l) {
  const Storage& s = b.maps().storage(l.inputs[0]);
  const ViewId v = b.maps().add_input(s.parts[0].tensor, l.in, s.origin);
  b.maps().storage(v).windows = l.windows;
  return v;
}

// The shuffle of channels that is the only reader of what a convolution makes: it makes its order.
const Op* shuffle_behind(const LoweringBuilder& b, const Op& op) {
  const Op* consumer = op.kind == OpKind::Conv2D ? b.only_consumer(op.output) : nullptr;
  return consumer != nullptr && consumer->kind == OpKind::Shuffle ? consumer : nullptr;
}

// The function that is all that is needed of an operator's values, where its engine looks functions up; kNoTensor: none.
int function_behind(const LoweringBuilder& b, const Op& op) {
  const Config& config = b.config();
  const bool array = has_array_windows(op) || op.kind == OpKind::FullyConnected;
  const bool looks_up = (array && config.conv_table) || (has_vector_windows(op) && config.table);
  return looks_up ? b.functions().stands_for(op.output) : kNoTensor;
}

void shuffle_outputs(const std::vector<int>& from, LoweredOp& l) {
  const std::vector<RequantParams> params = l.params;
  for (std::size_t o = 0; o < from.size(); o++) l.params[o] = params[std::size_t(from[o])];
  l.kernels.kernel_of = from;
}

// The operator with the border that a Pad left to it.
Op bordered(const LoweringBuilder& b, const Op& op) {
  Op with = op;
  const Padding border = b.border_of(op.inputs[0]);
  Padding& pad = with.window.pad;
  pad.top += border.top;
  pad.bottom += border.bottom;
  pad.left += border.left;
  pad.right += border.right;
  return with;
}

}  // namespace

bool has_array_windows(const Op& op) {
  return op.kind == OpKind::Conv2D || (op.kind == OpKind::DepthwiseConv2D && op.depth_multiplier != 1);
}

bool has_vector_windows(const Op& op) {
  return op.kind == OpKind::AveragePool || op.kind == OpKind::MaxPool || op.kind == OpKind::Mean ||
         (op.kind == OpKind::DepthwiseConv2D && op.depth_multiplier == 1);
}

void lower_on_engine(LoweringBuilder& b, const Op& op, LoweredOp& l) {
  const LowerContext c = b.context();
  switch (op.kind) {
    case OpKind::Conv2D:
      lower_conv(c, op, is_image(b, l), l);
      if (l.windows) l.inputs[0] = windows_of(b, l);
      return;
    case OpKind::FullyConnected:
      return lower_fully_connected(c, op, l);
    case OpKind::DepthwiseConv2D:
      return lower_depthwise(c, op, l);
    case OpKind::AveragePool:
      return lower_average(c, op, l);
    case OpKind::MaxPool:
      return lower_maximum(c, op, l);
    case OpKind::Mean:
      return lower_mean(c, op, l);
    case OpKind::Quantize:
      if (b.graph().framework == Framework::Onnx) return lower_table(c, op, l);
      return lower_quantize(c, op, l);
    case OpKind::Table:
      return lower_table(c, op, l);
    default:
      return;
  }
}

void lower_window(LoweringBuilder& b, const Op& op) {
  b.require_on_device(op.inputs[0]);
  const bool flat = op.kind == OpKind::FullyConnected;
  const ViewId v = flat ? flat_map(b, op) : b.map_of(op.inputs[0]);
  if (const int ranges = channel_ranges(b, op, v); ranges > 1) return lower_by_ranges(b, op, v, ranges);
  const Op* shuffle = shuffle_behind(b, op);
  const int function = function_behind(b, op);
  LoweredOp l = b.begin({v}, op.output);
  if (!flat) require_shape(b.context(), l.in);
  lower_on_engine(b, bordered(b, op), l);
  if (shuffle != nullptr) {
    shuffle_outputs(shuffle->dims, l);
    l.tensor = shuffle->output;
  }
  if (function != kNoTensor) {
    l.table = table_words(b.functions().of(function)->table);
    if (has_room_for_table(b.config(), l)) {
      l.tensor = function;
    } else {
      l.table.clear();
    }
  }
  const int output = l.tensor;
  b.set_view(op.output, b.end(std::move(l)));
  b.set_view(output, b.view_of(op.output));
}

bool lower_function(LoweringBuilder& b, const Op& op) {
  const ValueFunction* f = b.functions().of(op.output);
  if (f == nullptr || !b.config().table || b.storage_of(f->source).on_host) return false;
  if (!b.functions().is_needed(op.output)) {
    b.set_view(op.output, b.view_of(f->source));
    b.add_without_commands(op, Engine::kNone);
    return true;
  }
  // Requantisations and sums with a number take a cycle, or two where a table takes three.
  const bool slow_table = b.config().table_slots() > 1;
  if (f->operators == 1 && (op.kind == OpKind::Quantize || (op.kind != OpKind::Table && slow_table)))
    return false;
  b.set_view(op.output, b.copy(b.map_of(f->source), op.output, 0, &f->table));
  return true;
}

}  // namespace kaiten
