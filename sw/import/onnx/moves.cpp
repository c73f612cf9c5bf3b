// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "import/onnx/importer.h"

namespace kaiten::onnx_import {

bool Importer::is_move(const std::string& kind) {
  return kind == "Pad" || kind == "Slice" || kind == "Split";
}

std::vector<int64_t> Importer::numbers_of(const Node& node, int input_index, const char* name) {
  return has_input(node, input_index) ? numbers(input(node, input_index), name) : integers(node, name);
}

Box Importer::moved_box(const Node& node, const Shape& in, int part) {
  const std::string& kind = node.op_type();
  const auto rank = int64_t(in.size());
  Box box{std::vector<int64_t>(in.size(), 0), {in.begin(), in.end()}};
  const auto axis_at = [&](int64_t axis) {
    const int64_t positive = axis < 0 ? axis + rank : axis;
    if (positive < 0 || positive >= rank) fail(here() + "axis " + std::to_string(axis) + " out of range");
    return size_t(positive);
  };
  const auto axes = [&](int input_index, size_t count) {
    std::vector<int64_t> listed = numbers_of(node, input_index, "axes");
    if (listed.empty()) {
      for (size_t d = 0; d < count; d++) listed.push_back(int64_t(d));
    }
    if (listed.size() != count) fail(here() + "axes has " + std::to_string(listed.size()) + " values");
    return listed;
  };
  if (kind == "Pad") {
    const auto* mode = attribute(node, "mode");
    if (mode != nullptr && mode->s() != "constant")
      throw Refused{"padding by a constant", "mode " + clean_name(mode->s()), ""};
    const std::vector<int64_t> pads = numbers_of(node, 1, "pads");
    if (pads.size() % 2 != 0) fail(here() + "pads has " + std::to_string(pads.size()) + " values");
    const std::vector<int64_t> listed = axes(3, pads.size() / 2);
    if (listed.size() > in.size()) fail(here() + "pads has " + std::to_string(pads.size()) + " values");
    for (size_t i = 0; i < listed.size(); i++) {
      const size_t d = axis_at(listed[i]);
      const int64_t before = pads[i];
      const int64_t after = pads[i + listed.size()];
      if (before < 0 || after < 0) throw Refused{"padding of 0 or more", "less", ""};
      if (std::max(before, after) > kMaxTensorElements) fail(here() + "pads too much");
      box.begin[d] = -before;
      box.size[d] = in[d] + before + after;
    }
  } else if (kind == "Slice") {
    const std::vector<int64_t> starts = numbers_of(node, 1, "starts");
    const std::vector<int64_t> ends = numbers_of(node, 2, "ends");
    if (starts.size() != ends.size() || starts.size() > in.size())
      fail(here() + "has " + std::to_string(starts.size()) + " starts, " + std::to_string(ends.size()) +
           " ends");
    const std::vector<int64_t> listed = axes(3, starts.size());
    for (const int64_t step : numbers_of(node, 4, "steps")) {
      if (step != 1) throw Refused{"slices of step 1", "step " + std::to_string(step), ""};
    }
    for (size_t i = 0; i < listed.size(); i++) {
      const size_t d = axis_at(listed[i]);
      const auto place = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + in[d] : at, 0, in[d]); };
      box.begin[d] = place(starts[i]);
      box.size[d] = place(ends[i]) - box.begin[d];
    }
  } else {
    const size_t d = axis_at(integer(node, "axis", 0));
    std::vector<int64_t> parts = numbers_of(node, 1, "split");
    if (parts.empty()) {
      const int64_t count = integer(node, "num_outputs", node.output_size());
      if (count < 1 || count > in[d]) fail(here() + "splits into " + std::to_string(count));
      const int64_t each = (in[d] + count - 1) / count;
      for (int64_t at = 0; at < in[d]; at += each) parts.push_back(std::min<int64_t>(each, in[d] - at));
    }
    if (size_t(part) >= parts.size())
      fail(here() + "splits into " + std::to_string(parts.size()) + ", has more outputs");
    int64_t sum = 0;
    for (size_t i = 0; i < parts.size(); i++) {
      if (parts[i] < 0 || parts[i] > in[d]) fail(here() + "a part has " + std::to_string(parts[i]));
      if (i == size_t(part)) box.begin[d] = sum;
      sum += parts[i];
    }
    if (sum != in[d]) fail(here() + "its parts add up to " + std::to_string(sum));
    box.size[d] = parts[size_t(part)];
  }
  for (const int64_t size : box.size) {
    if (size < 1 || size > kMaxTensorElements)
      fail(here() + "makes a dimension of " + std::to_string(size) + " of " + shape_text(in));
  }
  return box;
}

bool Importer::pads_with_zero(const Node& node, const Scales& scales) {
  const bool stored = at(input(node, 0)).form == Form::Quantised;
  if (!has_input(node, 2)) return real(node, "value", 0.0F) == 0.0F && (!stored || scales.zero_point[0] == 0);
  const Value& v = at(input(node, 2));
  if (v.form == Form::Dequantised && is_constant_value(input(node, 2)))
    return dequantised(v) == std::vector<float>{0.0F};
  const Constant& c = constant(input(node, 2), "value");
  if (c.size() != 1) return false;
  return stored ? c.type == scales.type && c.integer(0) == scales.zero_point[0]
                : c.type == kFloat && c.real(0) == 0.0F;
}

int Importer::move(const Node& node, const Shape& in, int part, int in_tensor, const Scales& scales) {
  const Box box = moved_box(node, in, part);
  Op op;
  op.kind = node.op_type() == "Pad" ? OpKind::Pad : OpKind::Slice;
  if (op.kind == OpKind::Pad && !pads_with_zero(node, scales))
    throw Refused{"padding with 0", "another constant", ""};
  // In the order of the stored tensor.
  std::vector<int> dims(in.size() * (op.kind == OpKind::Pad ? 2 : 1));
  for (size_t d = 0; d < in.size(); d++) {
    const auto to = size_t(nhwc_axis(int(d), in.size()));
    if (op.kind == OpKind::Pad) {
      dims[2 * to] = int(-box.begin[d]);
      dims[2 * to + 1] = int(box.size[d] - in[d] + box.begin[d]);
    } else {
      dims[to] = int(box.begin[d]);
    }
  }
  op.dims = std::move(dims);
  op.inputs = {plain(in_tensor)};
  op.output = new_quantised_tensor(layer_ + (is_output_of_quantize() ? "/moved" : ""),
                                   Shape(box.size.begin(), box.size.end()), scales);
  const int tensor = op.output;
  emit(std::move(op));
  return tensor;
}

}  // namespace kaiten::onnx_import
