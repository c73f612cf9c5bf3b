// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/rearrange.h"

#include <utility>

#include "import/onnx/layers.h"
#include "import/onnx/lines.h"
#include "import/onnx/tensors.h"

namespace kaiten::importing::from_onnx {

namespace {

int emit_rearrange(State& s, int tensor, int begin, const std::vector<Stride>& strides,
                   const std::string& name, const Shape& to, const Scales& scales) {
  Op op;
  op.kind = OpKind::Rearrange;
  op.dims = {begin};
  for (const Stride& d : strides) {
    op.dims.push_back(d.size);
    op.dims.push_back(d.step);
  }
  op.inputs = {tensor};
  return emit_quantised(s, std::move(op), name, to, scales);
}

int emit_reshape(State& s, int tensor, const std::string& name, const Shape& to, const Scales& scales) {
  Op op;
  op.kind = OpKind::Reshape;
  op.inputs = {tensor};
  return emit_quantised(s, std::move(op), name, to, scales);
}

Shape flat(const Shape& shape) { return {int(elements_of(shape))}; }

// In the model's order, of rank 1.
int in_model_order(State& s, int tensor, const Shape& shape, const Scales& scales) {
  if (keeps_order(shape, flat(shape))) return tensor;
  const int c = shape[1], h = shape[2], w = shape[3];
  return emit_rearrange(s, tensor, 0, {{shape[0], c * h * w}, {c, 1}, {h, w * c}, {w, c}},
                        inner_name(s, "/flat"), flat(shape), scales);
}

// The reverse.
int in_stored_order(State& s, int tensor, const Shape& shape, const Scales& scales) {
  if (keeps_order(flat(shape), shape)) return emit_reshape(s, tensor, inner_name(s, "/moved"), shape, scales);
  const int c = shape[1], h = shape[2], w = shape[3];
  return emit_rearrange(s, tensor, 0, {{shape[0], c * h * w}, {h, w}, {w, 1}, {c, h * w}},
                        inner_name(s, "/moved"), shape, scales);
}

}  // namespace

std::vector<Stride> strides_of(const Shape& shape) {
  std::vector<Stride> strides(shape.size());
  int step = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = {shape[d], step};
    step *= shape[d];
  }
  return strides;
}

int rearranged(State& s, int tensor, const Shape& from, int begin, const std::vector<Stride>& strides,
               const Shape& to, const Scales& scales) {
  const int in = in_model_order(s, tensor, from, scales);
  const int moved = emit_rearrange(s, in, begin, strides, inner_name(s, "/picked"), flat(to), scales);
  return in_stored_order(s, moved, to, scales);
}

int gathered(State& s, int tensor, const Shape& from, int axis, const std::vector<int>& positions,
             const Scales& scales) {
  Op op;
  op.kind = OpKind::Gather;
  op.axis = nhwc_axis(axis, from.size());
  op.dims = positions;
  op.inputs = {tensor};
  Shape to = from;
  to[std::size_t(axis)] = int(positions.size());
  return emit_quantised(s, std::move(op), inner_name(s, "/gathered"), to, scales);
}

int of_rank(State& s, int tensor, const Shape& shape, int rank, const Scales& scales) {
  if (rank != 4 || shape.size() == 4) return tensor;
  Shape to = shape;
  to.insert(to.begin(), 4 - to.size(), 1);
  return reshaped(s, tensor, shape, to, scales);
}

int unflattened(State& s, int tensor) {
  const auto [c, h, w] = s.flattened.at(tensor);
  const Tensor& t = s.tensor(tensor);
  const bool is_uint8 = t.model_type == ElementType::UInt8;
  const Scales scales{
      t.quantization.scale, {t.zero_point() + (is_uint8 ? 128 : 0)}, is_uint8 ? kUint8 : kInt8, 0};
  const Shape shape = model_shape(s, tensor);
  return emit_rearrange(s, tensor, 0, {{c, 1}, {h, w * c}, {w, c}}, inner_name(s, "/flat"), shape, scales);
}

int reshaped(State& s, int tensor, const Shape& from, const Shape& to, const Scales& scales) {
  if (const auto map = s.maps_of_lines.find(tensor); map != s.maps_of_lines.end() && is_row_of(to, from))
    return map->second;
  const bool kept = keeps_order(from, to);
  const int made = kept ? emit_reshape(s, tensor, inner_name(s, "/reshaped"), to, scales)
                        : in_stored_order(s, in_model_order(s, tensor, from, scales), to, scales);
  if (is_row_of(from, to)) s.maps_of_lines[made] = tensor;
  return made;
}

}  // namespace kaiten::importing::from_onnx
