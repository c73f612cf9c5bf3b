// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Operators of TensorFlow Lite that give the values of one tensor another order, or repeat them.
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "import/tflite/constants.h"
#include "import/tflite/layer.h"
#include "import/tflite/operators.h"
#include "import/tflite/tensors.h"

namespace kaiten::importing::from_tflite {

namespace {

// A dimension of what is read: so many cells, so far apart.
struct Dimension {
  int size = 1;
  int step = 1;
};

std::vector<int> steps_of(const Shape& shape) {
  std::vector<int> steps(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) steps[d - 1] = steps[d] * shape[d];
  return steps;
}

// Of a tensor of this shape, with its dimensions in another order.
std::vector<Dimension> reordered(const Shape& shape, const std::vector<int>& order) {
  const std::vector<int> steps = steps_of(shape);
  std::vector<Dimension> dimensions;
  dimensions.reserve(order.size());
  for (const int d : order) dimensions.push_back({shape[std::size_t(d)], steps[std::size_t(d)]});
  return dimensions;
}

bool complete(State& s, Op& op, const std::vector<Dimension>& dimensions, const Shape& expected) {
  op.kind = OpKind::Rearrange;
  op.dims = {0};
  for (const Dimension& d : dimensions) {
    op.dims.push_back(d.size);
    op.dims.push_back(d.step);
  }
  expect_output(s, op, expected);
  return expect_same_quantization(s, op);
}

int block_of(const State& s, const Node& node, bool to_space) {
  const int block = to_space ? options<tflite::DepthToSpaceOptions>(s, node).block_size()
                             : options<tflite::SpaceToDepthOptions>(s, node).block_size();
  if (block < 1 || block > kMaxWindow) fail_layer(s, "block of " + std::to_string(block));
  return block;
}

}  // namespace

bool import_transpose(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  if (node.inputs()->size() != 2) fail_layer(s, "has " + std::to_string(node.inputs()->size()) + " inputs");
  const Shape& in = s.graph.input_of(op).shape;
  const std::vector<int> order = import_numbers(s, node.inputs()->Get(1), "order");
  if (order.empty()) return false;
  if (!is_permutation({order.begin(), order.end()}, int(in.size())))
    fail_layer(s, "its order is no permutation");
  Shape out;
  for (const int d : order) out.push_back(in[std::size_t(d)]);
  return complete(s, op, reordered(in, order), out);
}

bool import_regrouped(State& s, Op& op, const Regrouping& regrouping) {
  const auto& [map, dims, order] = regrouping;
  const Shape& out = s.graph.output_of(op).shape;
  if (order.empty() || check_shape(s, op.output, out) != std::int64_t(s.tensor(map).elements()))
    fail_layer(s, "cannot turn shape " + shape_text(dims) + " into " + shape_text(out));
  return complete(s, op, reordered(dims, order), out);
}

void complete_regrouping(State& s, int index) {
  const Regrouping regrouping = s.regrouped[index];
  const Layer asked = std::exchange(s.layer, {s.layer_names.unique(s.tensor_name(index)),
                                              regrouping.order.empty() ? "RESHAPE" : "TRANSPOSE"});
  s.status_of(index) = Status::Untouched;
  produce(s, index);
  Op op;
  op.name = s.layer.name;
  op.kind = OpKind::Reshape;
  op.inputs = {regrouping.map};
  op.output = index;
  if (s.status_of(index) == Status::Ready &&
      (regrouping.order.empty() ? expect_same_quantization(s, op) : import_regrouped(s, op, regrouping)))
    append(s, std::move(op));
  s.layer = asked;
}

bool import_depth_to_space(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  if (!require_map(s, op)) return false;
  const Nhwc in = s.graph.input_of(op).nhwc();
  const int b = block_of(s, node, true);
  if (in.c % (b * b) != 0)
    fail_layer(s, std::to_string(in.c) + " channels for blocks of " + std::to_string(b));
  const int depth = in.c / (b * b);
  return complete(s, op, {{in.h, in.w * in.c}, {b, b * depth}, {in.w, in.c}, {b, depth}, {depth, 1}},
                  {in.n, in.h * b, in.w * b, depth});
}

bool import_space_to_depth(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  if (!require_map(s, op)) return false;
  const Nhwc in = s.graph.input_of(op).nhwc();
  const int b = block_of(s, node, false);
  if (in.h % b != 0 || in.w % b != 0)
    fail_layer(s, "its map does not consist of blocks of " + std::to_string(b));
  return complete(s, op,
                  {{in.h / b, b * in.w * in.c}, {in.w / b, b * in.c}, {b, in.w * in.c}, {b, in.c}, {in.c, 1}},
                  {in.n, in.h / b, in.w / b, in.c * b * b});
}

bool import_tile(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  const Shape& in = s.graph.input_of(op).shape;
  const std::vector<int> times = import_numbers(s, node.inputs()->Get(1), "multiples");
  if (times.empty()) return false;
  if (times.size() != in.size()) fail_layer(s, "multiples do not fit " + shape_text(in));
  const std::vector<int> steps = steps_of(in);
  std::vector<Dimension> dimensions;
  Shape out;
  for (std::size_t d = 0; d < in.size(); d++) {
    if (times[d] < 1 || times[d] > kMaxWindow) fail_layer(s, "a multiple of " + std::to_string(times[d]));
    if (std::int64_t(in[d]) * times[d] > std::numeric_limits<int>::max())
      fail_layer(s, "a multiple of " + std::to_string(times[d]));
    dimensions.push_back({times[d], 0});
    dimensions.push_back({in[d], steps[d]});
    out.push_back(in[d] * times[d]);
  }
  return complete(s, op, dimensions, out);
}

std::vector<Range> whole(const Shape& shape) {
  std::vector<Range> ranges;
  for (const int size : shape) ranges.push_back({0, size, 1, false});
  return ranges;
}

bool import_ranges(State& s, Op& op, const std::vector<Range>& ranges) {
  const Shape& in = s.graph.input_of(op).shape;
  const std::vector<int> steps = steps_of(in);
  std::vector<Dimension> dimensions;
  Shape out;
  int first = 0;
  bool box = in.size() <= kMaxRank;
  for (std::size_t d = 0; d < in.size(); d++) {
    const Range& r = ranges[d];
    first += r.begin * steps[d];
    dimensions.push_back({r.size, r.stride * steps[d]});
    if (!r.drops) out.push_back(r.size);
    box = box && (r.stride == 1 || r.size == 1) && !r.drops;
  }
  if (!box) {
    if (!complete(s, op, dimensions, out)) return false;
    op.dims[0] = first;
    return true;
  }
  op.kind = OpKind::Slice;
  for (const Range& r : ranges) op.dims.push_back(r.begin);
  expect_output(s, op, out);
  return expect_same_quantization(s, op);
}

bool import_reverse(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  const Shape& in = s.graph.input_of(op).shape;
  const std::vector<int> axes = import_numbers(s, node.inputs()->Get(1), "axes");
  if (axes.empty()) return false;
  std::vector<Range> ranges = whole(in);
  for (const int axis : axes) {
    Range& r = ranges[std::size_t(checked_axis(s, axis, int(in.size())))];
    r = {r.size - 1, r.size, -1, false};
  }
  return import_ranges(s, op, ranges);
}

bool import_broadcast(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  const Shape& in = s.graph.input_of(op).shape;
  const std::vector<int> steps = steps_of(in);
  const Shape out = import_numbers(s, node.inputs()->Get(1), "shape");
  if (out.empty()) return false;
  if (out.size() < in.size()) fail_layer(s, "its shape does not fit " + shape_text(in));
  std::vector<Dimension> dimensions;
  for (std::size_t d = 0; d < out.size(); d++) {
    const std::size_t before = out.size() - in.size();
    const int size = d < before ? 1 : in[d - before];
    if (size != 1 && size != out[d]) fail_layer(s, "its shape does not fit " + shape_text(in));
    dimensions.push_back({out[d], size == 1 ? 0 : steps[d - before]});
  }
  return complete(s, op, dimensions, out);
}

// A constant repeated; append() computes it.
bool import_filled(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op, 1)) return false;
  const Shape out = import_numbers(s, node.inputs()->Get(0), "shape");
  if (out.empty()) return false;
  if (s.graph.input_of(op).elements() != 1) fail_layer(s, "its value is no single one");
  const std::int64_t count = check_shape(s, op.output, out);
  return complete(s, op, {{int(count), 0}}, out);
}

bool import_gather(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  const Shape& in = s.graph.input_of(op).shape;
  const auto& settings = options<tflite::GatherOptions>(s, node);
  if (settings.batch_dims() != 0) {
    refuse(s, {"gathers of one list", std::to_string(settings.batch_dims()) + " dimensions of lists", ""});
    return false;
  }
  op.axis = checked_axis(s, settings.axis(), int(in.size()));
  const int index = node.inputs()->Get(1);
  op.dims = import_numbers(s, index, "positions");
  if (op.dims.empty()) return false;
  for (const int position : op.dims) {
    if (position < 0 || position >= in[std::size_t(op.axis)]) fail_layer(s, "gathers beyond its input");
  }
  const Folded* folded = folded_integers(s, index);
  const Shape list = folded != nullptr ? folded->shape : stated_shape(s, index).value_or(Shape{});
  Shape out = in;
  out.erase(out.begin() + op.axis);
  out.insert(out.begin() + op.axis, list.begin(), list.end());
  expect_output(s, op, out);
  return expect_same_quantization(s, op);
}

// One gather a dimension that grows.
bool import_mirror_pad(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  Shape shape = s.graph.input_of(op).shape;
  const auto& settings = options<tflite::MirrorPadOptions>(s, node);
  const int again = settings.mode() == 1 ? 1 : 0;  // the edge is repeated
  const std::vector<int> pads = import_numbers(s, node.inputs()->Get(1), "paddings");
  if (pads.empty()) return false;
  if (pads.size() != 2 * shape.size()) fail_layer(s, "paddings do not fit " + shape_text(shape));
  if (!expect_same_quantization(s, op)) return false;
  op.kind = OpKind::Gather;
  std::vector<Op> steps;
  for (std::size_t d = 0; d < shape.size(); d++) {
    const int size = shape[d], before = pads[2 * d], after = pads[2 * d + 1];
    if (before < 0 || after < 0 || before > size - 1 + again || after > size - 1 + again)
      fail_layer(s, "paddings do not fit " + shape_text(shape));
    if (before + after == 0) continue;
    Op step = op;
    step.axis = int(d);
    for (int i = -before; i < size + after; i++) {
      const int mirrored = i < 0 ? -i - again : i >= size ? 2 * size - 2 - i + again : i;
      step.dims.push_back(mirrored);
    }
    shape[d] += before + after;
    steps.push_back(std::move(step));
  }
  expect_output(s, op, shape);
  if (steps.empty()) op.kind = OpKind::Reshape;
  for (std::size_t i = 0; i < steps.size(); i++) {
    steps[i].inputs = op.inputs;
    if (i + 1 == steps.size()) {
      op = std::move(steps[i]);
      break;
    }
    Shape made = s.graph.input_of(steps[i]).shape;
    made[std::size_t(steps[i].axis)] = int(steps[i].dims.size());
    steps[i].output = similar(s, op.inputs[0], made);
    steps[i].name = s.layer_names.unique(op.name);
    op.inputs = {steps[i].output};
    append(s, std::move(steps[i]));
  }
  return true;
}

}  // namespace kaiten::importing::from_tflite
