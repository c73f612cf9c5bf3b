// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Operators of TensorFlow Lite that move values and compute none: reshapes, concatenations, boxes, resizing.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "import/tflite/constants.h"
#include "import/tflite/layer.h"
#include "import/tflite/operators.h"
#include "import/tflite/tensors.h"

namespace kaiten::importing::from_tflite {

namespace {

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

// The shape that a RESHAPE states as an operand or in its options, with -1 for what is left.
bool infer_reshape(State& s, const Node& node, const Op& op) {
  Shape shape;
  if (node.inputs()->size() == 2) {
    shape = import_numbers(s, node.inputs()->Get(1), "shape");
    if (shape.empty()) return false;
  } else if (const auto* settings = node.options_as_ReshapeOptions();
             settings != nullptr && settings->new_shape()) {
    shape.assign(settings->new_shape()->begin(), settings->new_shape()->end());
  }
  const auto elements = std::int64_t(s.graph.input_of(op).elements());
  std::int64_t known = 1;
  for (const int size : shape) known = size > 0 && known <= elements ? known * size : known;
  for (int& size : shape) size = size == -1 ? int(elements / known) : size;
  takes_shape(s, op.output, shape);
  return true;
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
  const auto regrouped = s.regrouped.find(node.inputs()->Get(0));
  const bool ends_shuffle = regrouped != s.regrouped.end();
  if (ends_shuffle) {
    if (s.status_of(op.output) != Status::Ready) return false;
    op.inputs = {regrouped->second.map};
  } else if (!use_input(s, node, op)) {
    return false;
  }
  const Tensor& in = s.graph.input_of(op);
  const Tensor& out = s.graph.output_of(op);
  const bool fits = !s.open.contains(op.output) && in.elements() == out.elements();
  if (!fits && code_of(s, node) == Code::RESHAPE && !infer_reshape(s, node, op)) return false;
  if (ends_shuffle) return import_shuffle(s, op, regrouped->second);
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

// The value of a PADV2 that is not the zero point.
bool import_fill(State& s, const Node& node, Op& op) {
  const int index = node.inputs()->Get(2);
  check_index(s, index, "value");
  if (s.status_of(index) != Status::Untouched || !import_constant_operand(s, index)) return false;
  const Tensor& value = s.tensor(index);
  if (value.type != ElementType::Int8 || value.elements() != 1) fail_layer(s, "its value is no single one");
  if (value.int8_at(0) == s.graph.output_of(op).zero_point()) return true;
  op.fill = value.int8_at(0);
  op.on_host = true;
  return true;
}

bool import_pad(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  if (node.inputs()->size() == 3 && !import_fill(s, node, op)) return false;
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
  std::vector<Range> ranges;
  for (std::size_t d = 0; d < in.size(); d++) {
    const int begin = bounds->begin[d];
    const int size = bounds->other[d] == -1 && begin >= 0 ? in[d] - begin : bounds->other[d];
    if (begin < 0 || size < 1 || std::int64_t(begin) + size > in[d])
      fail_layer(s, "slice leaves its input " + shape_text(in));
    ranges.push_back({begin, size, 1, false});
  }
  return import_ranges(s, op, ranges);
}

bool import_strided_slice(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  const Shape& in = s.graph.input_of(op).shape;
  const auto& settings = options<tflite::StridedSliceOptions>(s, node);
  if (settings.ellipsis_mask() != 0 || settings.new_axis_mask() != 0) {
    refuse(s, {"slices without ellipsis and new dimensions", "masks of this kind", ""});
    return false;
  }
  const auto bounds = import_bounds(s, node, op, "end");
  if (!bounds) return false;
  if (node.inputs()->size() != 4) fail_layer(s, "has no strides");
  const std::vector<int> strides = import_numbers(s, node.inputs()->Get(3), "strides");
  if (strides.size() != in.size()) fail_layer(s, "strides do not fit " + shape_text(in));
  std::vector<Range> ranges;
  for (std::size_t d = 0; d < in.size(); d++) {
    const bool one = (settings.shrink_axis_mask() >> d & 1) != 0;
    const int stride = one ? 1 : strides[d];
    if (stride == 0) fail_layer(s, "a stride of 0");
    // Backwards from the last cell at most, to before the first one.
    const int least = stride < 0 ? -1 : 0, most = stride < 0 ? in[d] - 1 : in[d];
    const auto position = [&](int value) {
      return std::clamp(value < 0 ? value + in[d] : value, least, most);
    };
    const bool begins = (settings.begin_mask() >> d & 1) == 0, ends = (settings.end_mask() >> d & 1) == 0;
    const int begin = begins || one ? position(bounds->begin[d]) : stride < 0 ? most : least;
    const int end = one ? begin + 1 : ends ? position(bounds->other[d]) : stride < 0 ? least : most;
    const std::int64_t room = stride < 0 ? std::int64_t(begin) - end : std::int64_t(end) - begin;
    const std::int64_t step = std::abs(std::int64_t(stride));
    const std::int64_t size = (room + step - 1) / step;
    if (begin < 0 || begin >= in[d] || size < 1) fail_layer(s, "slice leaves its input " + shape_text(in));
    ranges.push_back({begin, int(size), stride, one});
  }
  return import_ranges(s, op, ranges);
}

bool import_resize_nearest(State& s, const Node& node, Op& op) {
  return import_resize<tflite::ResizeNearestNeighborOptions>(s, node, op);
}

bool import_resize_bilinear(State& s, const Node& node, Op& op) {
  op.bilinear = true;
  return import_resize<tflite::ResizeBilinearOptions>(s, node, op);
}

bool import_pack(State& s, const Node& node, Op& op) {
  bool good = true;
  for (fb::uoffset_t i = 0; i < node.inputs()->size(); i++) good = use_input(s, node, op, i) && good;
  if (!good) return false;
  Shape one = s.graph.input_of(op).shape;
  const Shape single = one;
  op.axis = checked_axis(s, options<tflite::PackOptions>(s, node).axis(), int(one.size()) + 1);
  one.insert(one.begin() + op.axis, 1);
  for (int& input : op.inputs) {
    if (s.tensor(input).shape != single) fail_layer(s, "operands of different shapes");
    input = reshaped(s, input, one);
  }
  one[std::size_t(op.axis)] = int(op.inputs.size());
  expect_output(s, op, one);
  return true;
}

void import_unpack(State& s, const Node& node) {
  const std::size_t refusals_before = s.refused_layers;
  int position = 0;
  for (const int index : *node.outputs()) {
    Op op;
    op.output = index;
    produce_output(s, op);
    op.name = position == 0 ? s.layer.name : s.layer_names.unique(s.tensor_name(index));
    if (!use_input(s, node, op)) continue;
    const Shape& in = s.graph.input_of(op).shape;
    const int axis = checked_axis(s, options<tflite::UnpackOptions>(s, node).axis(), int(in.size()));
    if (in[std::size_t(axis)] != int(node.outputs()->size()))
      fail_layer(s, "cannot unpack " + shape_text(in));
    std::vector<Range> ranges = whole(in);
    ranges[std::size_t(axis)] = {position++, 1, 1, true};
    if (!import_ranges(s, op, ranges)) continue;
    check_types(s, op);
    if (s.refused_layers == refusals_before) append(s, std::move(op));
  }
}

namespace {

// How long each part of a SPLIT or SPLIT_V is. Empty after a refusal.
std::vector<int> parts_of(State& s, const Node& node, int length) {
  const int parts = int(node.outputs()->size());
  if (code_of(s, node) == Code::SPLIT) {
    if (length % parts != 0)
      fail_layer(s, "cannot split " + std::to_string(length) + " into " + std::to_string(parts));
    return std::vector<int>(std::size_t(parts), length / parts);
  }
  std::vector<int> sizes = import_numbers(s, node.inputs()->Get(1), "sizes");
  if (sizes.empty()) return {};
  const auto open = std::find(sizes.begin(), sizes.end(), -1);
  if (open != sizes.end()) *open = length - (std::accumulate(sizes.begin(), sizes.end(), 0) + 1);
  const bool sound = std::all_of(sizes.begin(), sizes.end(), [&](int n) { return n > 0 && n <= length; });
  if (int(sizes.size()) != parts || !sound || std::accumulate(sizes.begin(), sizes.end(), 0) != length)
    fail_layer(s, "its parts do not make " + std::to_string(length));
  return sizes;
}

}  // namespace

void import_split(State& s, const Node& node) {
  const std::size_t refusals_before = s.refused_layers;
  const bool by_sizes = code_of(s, node) == Code::SPLIT_V;
  const std::vector<int> axes = import_numbers(s, node.inputs()->Get(by_sizes ? 2 : 0), "axis");
  std::size_t part = 0;
  int begin = 0;
  for (const int index : *node.outputs()) {
    Op op;
    op.kind = OpKind::Slice;
    op.output = index;
    produce_output(s, op);
    op.name = begin == 0 ? s.layer.name : s.layer_names.unique(s.tensor_name(index));
    if (!use_input(s, node, op, by_sizes ? 0 : 1) || axes.empty()) continue;
    const Shape& in = s.graph.input_of(op).shape;
    const auto axis = std::size_t(checked_axis(s, axes.front(), int(in.size())));
    const std::vector<int> sizes = parts_of(s, node, in[axis]);
    if (sizes.empty()) continue;
    std::vector<Range> ranges = whole(in);
    ranges[axis] = {begin, sizes[part], 1, false};
    begin += sizes[part++];
    if (!import_ranges(s, op, ranges)) continue;
    check_types(s, op);
    if (s.refused_layers == refusals_before) append(s, std::move(op));
  }
}

}  // namespace kaiten::importing::from_tflite
