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

}  // namespace kaiten::importing::from_tflite
