// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Operators of TensorFlow Lite that move values and compute none: reshapes, concatenations, boxes, resizing.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "import/tflite/constants.h"
#include "import/tflite/layer.h"
#include "import/tflite/operators.h"
#include "import/tflite/tensors.h"

namespace kaiten::importing::from_tflite {

namespace {

// A box of `size` cells from `begin` of each dimension.
bool complete_slice(State& s, Op& op, const std::vector<int>& begin, const Shape& size) {
  const Shape& in = s.graph.input_of(op).shape;
  for (std::size_t d = 0; d < in.size(); d++) {
    if (begin[d] < 0 || size[d] < 1 || std::int64_t(begin[d]) + size[d] > in[d])
      fail_layer(s, "slice leaves its input " + shape_text(in));
  }
  op.dims = begin;
  expect_output(s, op, size);
  return expect_same_quantization(s, op);
}

// Where a slice begins, and where it ends or how large it is: `role`.
struct Bounds {
  std::vector<int> begin;
  std::vector<int> other;
};

// Nothing after a refusal.
std::optional<Bounds> import_bounds(State& s, const Node& node, const Op& op, const char* role) {
  const Shape& in = s.graph.input_of(op).shape;
  Bounds b;
  b.begin = import_numbers(s, node.inputs()->Get(1), "begin");
  b.other = import_numbers(s, node.inputs()->Get(2), role);
  if (b.begin.empty() || b.other.empty()) return std::nullopt;
  if (b.begin.size() != in.size() || b.other.size() != in.size())
    fail_layer(s, "begin and size do not fit " + shape_text(in));
  return b;
}

template <typename Options>
bool import_resize(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  if (!require_map(s, op)) return false;
  const auto& settings = options<Options>(s, node);
  op.align_corners = settings.align_corners();
  op.half_pixel = settings.half_pixel_centers();
  const std::vector<int> size = import_numbers(s, node.inputs()->Get(1), "size");
  if (size.empty()) return false;
  if (size.size() != 2) fail_layer(s, "size has " + std::to_string(size.size()) + " values");
  expect_output(s, op, {1, size[0], size[1], s.graph.input_of(op).shape[3]});
  return expect_same_quantization(s, op);
}

}  // namespace

bool import_reshape(State& s, const Node& node, Op& op) {
  if (const auto r = s.regrouped.find(node.inputs()->Get(0)); r != s.regrouped.end())
    return s.status_of(op.output) == Status::Ready && import_shuffle(s, op, r->second);
  if (!use_input(s, node, op)) return false;
  const Tensor& in = s.graph.input_of(op);
  const Tensor& out = s.graph.output_of(op);
  if (in.elements() != out.elements())
    fail_layer(s, "cannot turn shape " + shape_text(in.shape) + " into " + shape_text(out.shape));
  return expect_same_quantization(s, op);
}

bool import_concat(State& s, const Node& node, Op& op) {
  bool good = true;
  for (fb::uoffset_t i = 0; i < node.inputs()->size(); i++) good = use_input(s, node, op, i) && good;
  if (!good) return false;
  const auto& settings = options<tflite::ConcatenationOptions>(s, node);
  Shape expected = s.graph.input_of(op).shape;
  op.axis = checked_axis(s, settings.axis(), int(expected.size()));
  const auto axis = std::size_t(op.axis);
  for (std::size_t i = 1; i < op.inputs.size(); i++) {
    Shape shape = s.graph.input_of(op, i).shape;
    if (shape.size() != expected.size()) fail_layer(s, "operands of different rank");
    const std::int64_t sum = std::int64_t(expected[axis]) + shape[axis];
    if (sum > std::numeric_limits<int>::max()) fail_layer(s, "too large");
    expected[axis] = int(sum);
    shape[axis] = expected[axis];
    if (shape != expected)
      fail_layer(s, "operand " + shape_text(shape) + " does not fit " + shape_text(expected));
  }
  expect_output(s, op, expected);
  return import_activation(s, op, settings.activation());
}

bool import_pad(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  const Shape& in = s.graph.input_of(op).shape;
  op.dims = import_numbers(s, node.inputs()->Get(1), "paddings");
  if (op.dims.empty()) return false;
  Shape expected = in;
  if (op.dims.size() != 2 * expected.size()) fail_layer(s, "paddings do not fit " + shape_text(in));
  for (std::size_t d = 0; d < op.dims.size(); d++) {
    if (op.dims[d] < 0 || op.dims[d] > kMaxWindow) fail_layer(s, "padding of " + std::to_string(op.dims[d]));
    expected[d / 2] += op.dims[d];
  }
  expect_output(s, op, expected);
  return expect_same_quantization(s, op);
}

bool import_slice(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  const Shape& in = s.graph.input_of(op).shape;
  const auto bounds = import_bounds(s, node, op, "size");
  if (!bounds) return false;
  Shape size = bounds->other;
  for (std::size_t d = 0; d < in.size(); d++) {
    if (size[d] == -1 && bounds->begin[d] >= 0) size[d] = in[d] - bounds->begin[d];
  }
  return complete_slice(s, op, bounds->begin, size);
}

bool import_strided_slice(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  const Shape& in = s.graph.input_of(op).shape;
  const auto bounds = import_bounds(s, node, op, "end");
  if (!bounds) return false;
  if (node.inputs()->size() != 4) fail_layer(s, "has no strides");
  const std::vector<int> strides = import_numbers(s, node.inputs()->Get(3), "strides");
  const auto& settings = options<tflite::StridedSliceOptions>(s, node);
  if (settings.ellipsis_mask() != 0 || settings.new_axis_mask() != 0 || settings.shrink_axis_mask() != 0 ||
      strides != std::vector<int>(in.size(), 1)) {
    refuse(s, {"slices of stride 1 that keep all dimensions", "strides or masks of another kind"});
    return false;
  }
  auto [begin, size] = *bounds;
  for (std::size_t d = 0; d < in.size(); d++) {
    const auto position = [&](int value) { return std::clamp(value < 0 ? value + in[d] : value, 0, in[d]); };
    begin[d] = (settings.begin_mask() >> d & 1) != 0 ? 0 : position(bounds->begin[d]);
    const int end = (settings.end_mask() >> d & 1) != 0 ? in[d] : position(bounds->other[d]);
    size[d] = end - begin[d];
  }
  return complete_slice(s, op, begin, size);
}

bool import_resize_nearest(State& s, const Node& node, Op& op) {
  return import_resize<tflite::ResizeNearestNeighborOptions>(s, node, op);
}

bool import_resize_bilinear(State& s, const Node& node, Op& op) {
  op.bilinear = true;
  return import_resize<tflite::ResizeBilinearOptions>(s, node, op);
}

void import_split(State& s, const Node& node) {
  const std::size_t refusals_before = s.result.refusals.size();
  const std::vector<int> axes = import_numbers(s, node.inputs()->Get(0), "axis");
  int begin = 0;
  for (const int index : *node.outputs()) {
    Op op;
    op.kind = OpKind::Slice;
    op.output = index;
    produce_output(s, op);
    op.name = begin == 0 ? s.layer.name : s.layer_names.unique(s.tensor_name(index));
    if (!use_input(s, node, op, 1) || axes.empty()) continue;
    const Shape& in = s.graph.input_of(op).shape;
    const auto axis = std::size_t(checked_axis(s, axes.front(), int(in.size())));
    const int parts = int(node.outputs()->size());
    if (in[axis] % parts != 0)
      fail_layer(s, "cannot split " + shape_text(in) + " into " + std::to_string(parts));
    op.dims.assign(in.size(), 0);
    op.dims[axis] = begin;
    Shape expected = in;
    expected[axis] /= parts;
    begin += expected[axis];
    expect_output(s, op, expected);
    if (!expect_same_quantization(s, op)) continue;
    check_types(s, op);
    if (s.result.refusals.size() == refusals_before) append(s, std::move(op));
  }
}

}  // namespace kaiten::importing::from_tflite
