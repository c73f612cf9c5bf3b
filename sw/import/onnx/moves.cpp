// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/moves.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic.h"
#include "import/onnx/layers.h"
#include "import/onnx/operands.h"
#include "import/onnx/picks.h"
#include "import/onnx/rearrange.h"
#include "import/onnx/tensors.h"

namespace kaiten::importing::from_onnx {

namespace {

Box whole(const Shape& in) { return {std::vector<std::int64_t>(in.size(), 0), {in.begin(), in.end()}}; }

std::size_t dimension(const State& s, std::int64_t axis, const Shape& in) {
  return std::size_t(checked_axis(s, axis, int(in.size())));
}

// Input 3, or the first `count` axes.
std::vector<std::int64_t> listed_axes(const State& s, const Node& node, std::size_t count) {
  std::vector<std::int64_t> axes = numbers_of(s, node, 3, "axes");
  if (axes.empty()) {
    for (std::size_t d = 0; d < count; d++) axes.push_back(std::int64_t(d));
  }
  if (axes.size() != count) fail_layer(s, "axes has " + std::to_string(axes.size()) + " values");
  return axes;
}

Box pad_box(const State& s, const Node& node, const Shape& in) {
  const std::vector<std::int64_t> pads = numbers_of(s, node, 1, "pads");
  const auto fail_pads = [&] { fail_layer(s, "pads has " + std::to_string(pads.size()) + " values"); };
  if (pads.size() % 2 != 0) fail_pads();
  const std::vector<std::int64_t> axes = listed_axes(s, node, pads.size() / 2);
  if (axes.size() > in.size()) fail_pads();
  Box box = whole(in);
  for (std::size_t i = 0; i < axes.size(); i++) {
    const std::size_t d = dimension(s, axes[i], in);
    const std::int64_t before = pads[i];
    const std::int64_t after = pads[i + axes.size()];
    if (before < 0 || after < 0) throw Unsupported{"padding of 0 or more", "less"};
    if (std::max(before, after) > kMaxTensorElements) fail_layer(s, "pads too much");
    box.begin[d] = -before;
    box.size[d] = in[d] + before + after;
  }
  return box;
}

Box slice_box(const State& s, const Node& node, const Shape& in) {
  const std::vector<std::int64_t> starts = numbers_of(s, node, 1, "starts");
  const std::vector<std::int64_t> ends = numbers_of(s, node, 2, "ends");
  if (starts.size() != ends.size() || starts.size() > in.size()) {
    fail_layer(s,
               "has " + std::to_string(starts.size()) + " starts, " + std::to_string(ends.size()) + " ends");
  }
  const std::vector<std::int64_t> axes = listed_axes(s, node, starts.size());
  for (const std::int64_t step : numbers_of(s, node, 4, "steps")) {
    if (step != 1) throw Unsupported{"slices of step 1", "step " + std::to_string(step)};
  }
  Box box = whole(in);
  for (std::size_t i = 0; i < axes.size(); i++) {
    const std::size_t d = dimension(s, axes[i], in);
    const auto place = [&](std::int64_t at) {
      return std::clamp<std::int64_t>(at < 0 ? at + in[d] : at, 0, in[d]);
    };
    box.begin[d] = place(starts[i]);
    box.size[d] = place(ends[i]) - box.begin[d];
  }
  return box;
}

// Sizes of the parts of a Split along a dimension.
std::vector<std::int64_t> split_parts(const State& s, const Node& node, std::int64_t size) {
  std::vector<std::int64_t> parts = numbers_of(s, node, 1, "split");
  if (!parts.empty()) return parts;
  const std::int64_t count = integer(node, "num_outputs", node.output_size());
  if (count < 1 || count > size) fail_layer(s, "splits into " + std::to_string(count));
  const std::int64_t each = ceil_div(size, count);
  for (std::int64_t at = 0; at < size; at += each) parts.push_back(std::min(each, size - at));
  return parts;
}

Box split_box(const State& s, const Node& node, const Shape& in, std::size_t part) {
  const std::size_t d = dimension(s, integer(node, "axis", 0), in);
  const std::vector<std::int64_t> parts = split_parts(s, node, in[d]);
  if (part >= parts.size())
    fail_layer(s, "splits into " + std::to_string(parts.size()) + ", has more outputs");
  Box box = whole(in);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < parts.size(); i++) {
    if (parts[i] < 0 || parts[i] > in[d]) fail_layer(s, "a part has " + std::to_string(parts[i]));
    if (i == part) box.begin[d] = sum;
    sum += parts[i];
  }
  if (sum != in[d]) fail_layer(s, "its parts add up to " + std::to_string(sum));
  box.size[d] = parts[part];
  return box;
}

// Whether what a Pad adds stands for 0: on stored values that is the zero point.
bool pads_with_zero(State& s, const Node& node, const Scales& scales) {
  const bool stored = s.at(input(s, node, 0)).form == Form::Quantised;
  if (!has_input(node, 2)) return real(node, "value", 0.0F) == 0.0F && (!stored || scales.zero_point[0] == 0);
  const int value = input(s, node, 2);
  const Value& v = s.at(value);
  if (v.form == Form::Dequantised && is_constant_value(s, value))
    return dequantised(s, v) == std::vector<float>{0.0F};
  const Constant& c = constant(s, value, "value");
  if (c.size() != 1) return false;
  return stored ? c.type == scales.type && c.integer(0) == scales.zero_point[0]
                : c.type == kFloat && c.real(0) == 0.0F;
}

// The cell of a dimension of so many cells that stands at this place around it.
int cell_at(const State& s, const std::string& mode, std::int64_t at, std::int64_t size) {
  if (mode == "edge") return int(std::clamp<std::int64_t>(at, 0, size - 1));
  if (mode == "wrap") return int((at % size + size) % size);
  if (mode != "reflect") fail_layer(s, "mode is " + clean_name(mode));
  const std::int64_t reflected = at < 0 ? -at : at < size ? at : 2 * (size - 1) - at;
  if (reflected < 0 || reflected >= size)
    throw Unsupported{"reflected padding narrower than the map", "wider"};
  return int(reflected);
}

// Before lists of cells are made.
void check_size(const State& s, const Box& box) {
  std::int64_t elements = 1;
  for (const std::int64_t size : box.size) {
    elements *= size;
    if (elements > kMaxTensorElements) fail_layer(s, "makes too many elements");
  }
}

// One gather a dimension that grows.
int padded_with_cells(State& s, const std::string& mode, const Box& box, Shape shape, int tensor,
                      const Scales& scales) {
  check_size(s, box);
  for (std::size_t d = 0; d < shape.size(); d++) {
    if (box.size[d] == shape[d]) continue;
    std::vector<int> cells;
    for (std::int64_t i = 0; i < box.size[d]; i++)
      cells.push_back(cell_at(s, mode, box.begin[d] + i, shape[d]));
    tensor = gathered(s, tensor, shape, int(d), cells, scales);
    shape[d] = int(box.size[d]);
  }
  return tensor;
}

// Op::dims, in the order of the stored tensor.
std::vector<int> stored_dims(const Box& box, const Shape& in, bool pad) {
  std::vector<int> dims(in.size() * (pad ? 2 : 1));
  for (std::size_t d = 0; d < in.size(); d++) {
    const auto to = std::size_t(nhwc_axis(int(d), in.size()));
    if (pad) {
      dims[2 * to] = int(-box.begin[d]);
      dims[2 * to + 1] = int(box.size[d] - in[d] + box.begin[d]);
    } else {
      dims[to] = int(box.begin[d]);
    }
  }
  return dims;
}

}  // namespace

Box moved_box(const State& s, const Node& node, const Shape& in, int part) {
  const std::string& kind = node.op_type();
  Box box = kind == "Pad"     ? pad_box(s, node, in)
            : kind == "Slice" ? slice_box(s, node, in)
                              : split_box(s, node, in, std::size_t(part));
  for (const std::int64_t size : box.size) {
    if (size < 1 || size > kMaxTensorElements)
      fail_layer(s, "makes a dimension of " + std::to_string(size) + " of " + shape_text(in));
  }
  return box;
}

Shape shape_of_move(State& s, const Node& node, const Operands& x, int part) {
  const Box box = moved_box(s, node, s.at(x[0]).shape, part);
  return {box.size.begin(), box.size.end()};
}

int move(State& s, const Node& node, const Shape& in, int part, int in_tensor, const Scales& scales) {
  const Box box = moved_box(s, node, in, part);
  if (const std::string mode = text(node, "mode", "constant"); node.op_type() == "Pad" && mode != "constant")
    return padded_with_cells(s, mode, box, in, plain(s, in_tensor), scales);
  if (in.size() > kMaxRank && node.op_type() != "Pad") {
    const Pick pick = pick_of(s, node, in, part);
    return rearranged(s, plain(s, in_tensor), in, pick.begin, pick.strides, pick.shape, scales);
  }
  Op op;
  op.kind = node.op_type() == "Pad" ? OpKind::Pad : OpKind::Slice;
  if (op.kind == OpKind::Pad && !pads_with_zero(s, node, scales))
    throw Unsupported{"padding with 0", "another constant"};
  op.dims = stored_dims(box, in, op.kind == OpKind::Pad);
  op.inputs = {plain(s, in_tensor)};
  return emit_quantised(s, std::move(op), inner_name(s, "/moved"), {box.size.begin(), box.size.end()},
                        scales);
}

}  // namespace kaiten::importing::from_onnx
