// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/shapes.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include "import/onnx/operands.h"

namespace kaiten::importing::from_onnx {

namespace {

const Shape& first_shape(const State& s, const Operands& x) { return s.at(x[0]).shape; }

// `axes`, an attribute of older operator sets and an input of newer ones, ascending.
std::vector<int> axes_of(State& s, const Node& node, int rank) {
  std::set<int> axes;
  for (const std::int64_t axis : numbers_of(s, node, 1, "axes")) {
    if (!axes.insert(checked_axis(s, axis, rank)).second)
      fail_layer(s, "axis " + std::to_string(axis) + " twice");
  }
  return {axes.begin(), axes.end()};
}

bool contains(const std::vector<int>& axes, int d) {
  return std::find(axes.begin(), axes.end(), d) != axes.end();
}

// The shape of the second of at least two operands.
const Shape& second_shape(const State& s, const Operands& x) {
  if (x.size() < 2 || x[1] < 0) fail_layer(s, "two operands expected");
  return s.at(x[1]).shape;
}

[[noreturn]] void fail_fit(const State& s, const Shape& a, const Shape& b) {
  fail_layer(s, "shapes " + shape_text(a) + " and " + shape_text(b) + " do not fit");
}

}  // namespace

int axis_of(const State& s, const Node& node, int otherwise, int rank) {
  return checked_axis(s, integer(node, "axis", otherwise), rank);
}

int concat_axis(const State& s, const Node& node, const Shape& shape) {
  return axis_of(s, node, 1, int(shape.size()));
}

Shape concat_shape(const State& s, const Node& node, const Operands& operands) {
  const Shape& in = first_shape(s, operands);
  Shape out = in;
  const auto axis = std::size_t(concat_axis(s, node, in));
  for (std::size_t i = 1; i < operands.size(); i++) {
    if (operands[i] < 0) fail_layer(s, "an operand is absent");
    Shape other = s.at(operands[i]).shape;
    if (other.size() != in.size()) fail_layer(s, "operands of different rank");
    const std::int64_t sum = std::int64_t(out[axis]) + other[axis];
    if (sum > kMaxTensorElements) fail_layer(s, "too large");
    out[axis] = int(sum);
    other[axis] = int(sum);
    if (other != out) fail_layer(s, "operands of shapes that do not fit");
  }
  return out;
}

Shape broadcast(const State& s, const Shape& a, const Shape& b) {
  Shape shape(std::max(a.size(), b.size()), 1);
  for (std::size_t d = 0; d < shape.size(); d++) {
    const int x = d < a.size() ? a[a.size() - 1 - d] : 1;
    const int y = d < b.size() ? b[b.size() - 1 - d] : 1;
    if (x != y && x != 1 && y != 1)
      fail_layer(s, "operands of shape " + shape_text(a) + " and " + shape_text(b) + " do not fit");
    shape[shape.size() - 1 - d] = std::max(x, y);
  }
  return shape;
}

std::vector<int> mean_axes(State& s, const Node& node, int rank) {
  std::vector<int> axes = axes_of(s, node, rank);
  if (axes.empty() && integer(node, "noop_with_empty_axes", 0) == 0) {
    axes.resize(std::size_t(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  return axes;
}

std::vector<int> permutation(const State& s, const Node& node, int rank) {
  const std::vector<std::int64_t> stated = integers(node, "perm");
  std::vector<int> order(std::size_t(rank), 0);
  std::iota(order.rbegin(), order.rend(), 0);
  if (stated.empty()) return order;
  if (!is_permutation(stated, rank)) fail_layer(s, "perm is not a permutation");
  return {stated.begin(), stated.end()};
}

Shape same_shape(State& s, const Node&, const Operands& x, int) { return first_shape(s, x); }

Shape shape_of_arg_max(State& s, const Node& node, const Operands& x, int) {
  Shape out = first_shape(s, x);
  const int axis = axis_of(s, node, 0, int(out.size()));
  if (integer(node, "keepdims", 1) != 0) {
    out[std::size_t(axis)] = 1;
  } else {
    out.erase(out.begin() + axis);
  }
  return out;
}

Shape shape_of_binary(State& s, const Node&, const Operands& x, int) {
  if (x.size() != 2) fail_layer(s, "two operands expected");
  return broadcast(s, first_shape(s, x), second_shape(s, x));
}

Shape shape_of_concat(State& s, const Node& node, const Operands& x, int) { return concat_shape(s, node, x); }

Shape shape_of_dropout(State& s, const Node& node, const Operands& x, int) {
  if (has_input(node, 2)) {
    const Constant& training = constant(s, input(s, node, 2), "training mode");
    if (training.size() != 1 || training.integer(0) != 0)
      throw Unsupported{"dropout that does nothing", "training mode", "export the model for inference"};
  }
  return first_shape(s, x);
}

Shape shape_of_flatten(State& s, const Node& node, const Operands& x, int) {
  const Shape& in = first_shape(s, x);
  const auto rank = std::int64_t(in.size());
  std::int64_t axis = integer(node, "axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) fail_layer(s, "axis out of range");
  const Shape head(in.begin(), in.begin() + axis);
  const Shape tail(in.begin() + axis, in.end());
  return {int(elements_of(head)), int(elements_of(tail))};
}

Shape shape_of_gemm(State& s, const Node& node, const Operands& x, int) {
  const Shape& a = first_shape(s, x);
  const Shape& b = second_shape(s, x);
  if (a.size() != 2 || b.size() != 2) fail_layer(s, "operands of rank 2 expected");
  const bool ta = integer(node, "transA", 0) != 0;
  const bool tb = integer(node, "transB", 0) != 0;
  if (a[ta ? 0 : 1] != b[tb ? 1 : 0]) fail_fit(s, a, b);
  Shape out = {a[ta ? 1 : 0], b[tb ? 0 : 1]};
  if (x.size() > 2 && x[2] >= 0 && broadcast(s, out, s.at(x[2]).shape) != out)
    fail_layer(s, "third operand does not fit");
  return out;
}

Shape shape_of_global_pool(State& s, const Node&, const Operands& x, int) {
  Shape out = first_shape(s, x);
  if (out.size() < 3) fail_layer(s, "input of shape " + shape_text(out));
  std::fill(out.begin() + 2, out.end(), 1);
  return out;
}

// Of matrices in the last two dimensions; those before are broadcast.
Shape shape_of_matmul(State& s, const Node&, const Operands& x, int) {
  if (x.size() != 2) fail_layer(s, "two operands expected");
  const Shape& a = first_shape(s, x);
  const Shape& b = second_shape(s, x);
  if (a.size() < 2 || b.size() < 2)
    throw Unsupported{"products of matrices", shape_text(a) + " and " + shape_text(b)};
  if (a.back() != b[b.size() - 2]) fail_fit(s, a, b);
  Shape out = broadcast(s, {a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
  out.push_back(a[a.size() - 2]);
  out.push_back(b.back());
  return out;
}

Shape shape_of_mean(State& s, const Node& node, const Operands& x, int) {
  const Shape& in = first_shape(s, x);
  const int rank = int(in.size());
  const std::vector<int> axes = mean_axes(s, node, rank);
  Shape out;
  for (int d = 0; d < rank; d++) {
    const bool reduced = contains(axes, d);
    if (!reduced) out.push_back(in[std::size_t(d)]);
    if (reduced && integer(node, "keepdims", 1) != 0) out.push_back(1);
  }
  return out;
}

Shape shape_of_reshape(State& s, const Node& node, const Operands& x, int) {
  const Shape& in = first_shape(s, x);
  const std::vector<std::int64_t> wanted = numbers_of(s, node, 1, "shape");
  Shape out;
  std::int64_t product = 1;
  int open = -1;
  for (std::size_t d = 0; d < wanted.size(); d++) {
    std::int64_t dim = wanted[d];
    if (dim == 0 && integer(node, "allowzero", 0) == 0) {
      if (d >= in.size()) fail_layer(s, "shape keeps a dimension that is not there");
      dim = in[d];
    }
    if (dim == -1 && open < 0) {
      open = int(d);
      dim = 1;
    }
    if (dim < 1 || dim > kMaxTensorElements) fail_layer(s, "shape has a dimension of " + std::to_string(dim));
    product *= dim;
    if (product > kMaxTensorElements) fail_layer(s, "shape is too large");
    out.push_back(int(dim));
  }
  const std::int64_t elements = elements_of(in);
  if (open >= 0 && elements % product == 0) out[std::size_t(open)] = int(elements / product);
  if (elements_of(out) != elements)
    fail_layer(s, "cannot turn shape " + shape_text(in) + " into " + shape_text(out));
  return out;
}

Shape shape_of_squeeze(State& s, const Node& node, const Operands& x, int) {
  const Shape& in = first_shape(s, x);
  const int rank = int(in.size());
  const std::vector<int> axes = axes_of(s, node, rank);
  Shape out;
  for (int d = 0; d < rank; d++) {
    const int dim = in[std::size_t(d)];
    const bool listed = axes.empty() ? dim == 1 : contains(axes, d);
    if (listed && dim != 1) fail_layer(s, "squeezes a dimension of " + std::to_string(dim));
    if (!listed) out.push_back(dim);
  }
  return out;
}

Shape shape_of_sum(State& s, const Node&, const Operands& x, int) {
  Shape shape = first_shape(s, x);
  for (std::size_t i = 1; i < x.size(); i++) {
    if (x[i] < 0) fail_layer(s, "an operand is absent");
    shape = broadcast(s, shape, s.at(x[i]).shape);
  }
  return shape;
}

Shape shape_of_transpose(State& s, const Node& node, const Operands& x, int) {
  const Shape& in = first_shape(s, x);
  Shape out;
  for (const int d : permutation(s, node, int(in.size()))) out.push_back(in[std::size_t(d)]);
  return out;
}

Shape shape_of_unsqueeze(State& s, const Node& node, const Operands& x, int) {
  Shape out = first_shape(s, x);
  const std::size_t rank = out.size() + numbers_of(s, node, 1, "axes").size();
  for (const int axis : axes_of(s, node, int(rank))) out.insert(out.begin() + axis, 1);
  return out;
}

}  // namespace kaiten::importing::from_onnx
