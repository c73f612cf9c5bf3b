// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>

#include "import/onnx/importer.h"

namespace kaiten::onnx_import {

int Importer::axis_of(const Node& node, int otherwise, int rank) const {
  const int64_t axis = integer(node, "axis", otherwise);
  const int64_t positive = axis < 0 ? axis + rank : axis;
  if (positive < 0 || positive >= rank) fail(here() + "axis " + std::to_string(axis) + " out of range");
  return int(positive);
}

int Importer::concat_axis(const Node& node, const Shape& shape) const {
  return axis_of(node, 1, int(shape.size()));
}

Shape Importer::broadcast(const Shape& a, const Shape& b) const {
  Shape shape(std::max(a.size(), b.size()), 1);
  for (size_t d = 0; d < shape.size(); d++) {
    const int x = d < a.size() ? a[a.size() - 1 - d] : 1;
    const int y = d < b.size() ? b[b.size() - 1 - d] : 1;
    if (x != y && x != 1 && y != 1)
      fail(here() + "operands of shape " + shape_text(a) + " and " + shape_text(b) + " do not fit");
    shape[shape.size() - 1 - d] = std::max(x, y);
  }
  return shape;
}

std::vector<int> Importer::axes_of(const Node& node, int input_index, int rank) {
  std::vector<int64_t> values = integers(node, "axes");
  if (has_input(node, input_index)) values = numbers(input(node, input_index), "axes");
  std::set<int> axes;
  for (const int64_t axis : values) {
    const int64_t positive = axis < 0 ? axis + rank : axis;
    if (positive < 0 || positive >= rank) fail(here() + "axis " + std::to_string(axis) + " out of range");
    if (!axes.insert(int(positive)).second) fail(here() + "axis " + std::to_string(axis) + " twice");
  }
  return {axes.begin(), axes.end()};
}

Shape Importer::concat_shape(const Node& node, const std::vector<int>& operands) {
  const Shape in = at(operands[0]).shape;
  Shape out = in;
  const int axis = concat_axis(node, in);
  for (size_t i = 1; i < operands.size(); i++) {
    if (operands[i] < 0) fail(here() + "an operand is absent");
    Shape other = at(operands[i]).shape;
    if (other.size() != in.size()) fail(here() + "operands of different rank");
    const int64_t sum = int64_t(out[size_t(axis)]) + other[size_t(axis)];
    if (sum > kMaxTensorElements) fail(here() + "too large");
    out[size_t(axis)] = int(sum);
    other[size_t(axis)] = int(sum);
    if (other != out) fail(here() + "operands of shapes that do not fit");
  }
  return out;
}

Shape Importer::infer(const Node& node, const std::vector<int>& operands, int part) {
  const std::string& kind = node.op_type();
  Shape in = at(operands[0]).shape;
  const int rank = int(in.size());
  static const std::set<std::string> kSame = {"Relu", "Clip",        "Softmax",   "LeakyRelu", "Sigmoid",
                                              "Tanh", "HardSigmoid", "HardSwish", "Identity",  "Dropout"};
  if (kind == "Dropout" && has_input(node, 2)) {
    const Constant& training = constant(input(node, 2), "training mode");
    if (training.size() != 1 || training.integer(0) != 0)
      throw Refused{"dropout that does nothing", "training mode", "export the model for inference"};
  }
  if (kSame.contains(kind)) return in;
  if (kind == "Add" || kind == "Sub" || kind == "Mul" || kind == "Div") {
    if (operands.size() != 2 || operands[1] < 0) fail(here() + "two operands expected");
    return broadcast(in, at(operands[1]).shape);
  }
  if (kind == "Sum") {
    Shape shape = in;
    for (size_t i = 1; i < operands.size(); i++) shape = broadcast(shape, at(operands[i]).shape);
    return shape;
  }
  if (kind == "Conv") {
    if (operands.size() < 2 || operands[1] < 0) fail(here() + "has no weights");
    return conv_shape(node, in, at(operands[1]).shape);
  }
  if (kind == "MaxPool" || kind == "AveragePool") {
    Op ignored;
    return take_pool_window(node, in, ignored);
  }
  if (kind == "Resize") return resized_shape(node, in);
  if (is_move(kind)) {
    const Box box = moved_box(node, in, part);
    return {box.size.begin(), box.size.end()};
  }
  if (kind == "GlobalAveragePool" || kind == "GlobalMaxPool") {
    if (rank < 3) fail(here() + "input of shape " + shape_text(in));
    Shape out = in;
    std::fill(out.begin() + 2, out.end(), 1);
    return out;
  }
  if (kind == "ReduceMean") {
    const std::vector<int> axes = mean_axes(node, rank);
    Shape out;
    for (int d = 0; d < rank; d++) {
      const bool reduced = std::find(axes.begin(), axes.end(), d) != axes.end();
      if (!reduced) out.push_back(in[size_t(d)]);
      if (reduced && integer(node, "keepdims", 1) != 0) out.push_back(1);
    }
    return out;
  }
  if (kind == "ArgMax") {
    const int axis = axis_of(node, 0, rank);
    Shape out = in;
    if (integer(node, "keepdims", 1) != 0) {
      out[size_t(axis)] = 1;
    } else {
      out.erase(out.begin() + axis);
    }
    return out;
  }
  if (kind == "Gemm") {
    if (operands.size() < 2 || operands[1] < 0) fail(here() + "two operands expected");
    const Shape& b = at(operands[1]).shape;
    if (rank != 2 || b.size() != 2) fail(here() + "operands of rank 2 expected");
    const bool ta = integer(node, "transA", 0) != 0;
    const bool tb = integer(node, "transB", 0) != 0;
    if (in[ta ? 0 : 1] != b[tb ? 1 : 0])
      fail(here() + "shapes " + shape_text(in) + " and " + shape_text(b) + " do not fit");
    Shape out = {in[ta ? 1 : 0], b[tb ? 0 : 1]};
    if (operands.size() > 2 && operands[2] >= 0 && broadcast(out, at(operands[2]).shape) != out)
      fail(here() + "third operand does not fit");
    return out;
  }
  if (kind == "MatMul") {
    if (operands.size() != 2 || operands[1] < 0) fail(here() + "two operands expected");
    const Shape& b = at(operands[1]).shape;
    if (b.size() != 2 || rank < 1)
      throw Refused{"products with a matrix of rank 2", shape_text(in) + " and " + shape_text(b), ""};
    if (in.back() != b[0])
      fail(here() + "shapes " + shape_text(in) + " and " + shape_text(b) + " do not fit");
    Shape out = in;
    out.back() = b[1];
    return out;
  }
  if (kind == "Flatten") {
    int64_t axis = integer(node, "axis", 1);
    if (axis < 0) axis += rank;
    if (axis < 0 || axis > rank) fail(here() + "axis out of range");
    const Shape head(in.begin(), in.begin() + axis);
    const Shape tail(in.begin() + axis, in.end());
    return {int(elements_of(head)), int(elements_of(tail))};
  }
  if (kind == "Reshape") return reshape_shape(node, in);
  if (kind == "Squeeze") {
    std::vector<int> axes = axes_of(node, 1, rank);
    Shape out;
    for (int d = 0; d < rank; d++) {
      const bool listed =
          axes.empty() ? in[size_t(d)] == 1 : std::find(axes.begin(), axes.end(), d) != axes.end();
      if (listed && in[size_t(d)] != 1)
        fail(here() + "squeezes a dimension of " + std::to_string(in[size_t(d)]));
      if (!listed) out.push_back(in[size_t(d)]);
    }
    return out;
  }
  if (kind == "Unsqueeze") {
    std::vector<int64_t> listed = integers(node, "axes");
    if (has_input(node, 1)) listed = numbers(input(node, 1), "axes");
    const std::vector<int> axes = axes_of(node, 1, rank + int(listed.size()));
    Shape out = in;
    for (const int axis : axes) out.insert(out.begin() + axis, 1);
    return out;
  }
  if (kind == "Transpose") {
    Shape out;
    for (const int d : permutation(node, rank)) out.push_back(in[size_t(d)]);
    return out;
  }
  if (kind == "Concat") return concat_shape(node, operands);
  throw Refused{
      "the operators Add, ArgMax, AveragePool, Clip, Concat, Conv, Flatten, Gemm, GlobalAveragePool, "
      "HardSigmoid, "
      "HardSwish, Identity, LeakyRelu, MatMul, MaxPool, Mul, Pad, ReduceMean, Relu, Reshape, Resize, "
      "Sigmoid, "
      "Slice, Softmax, Split, Squeeze, Sub, Tanh, Transpose, Unsqueeze, QLinear forms of them, "
      "QuantizeLinear and "
      "DequantizeLinear",
      clean_name(kind),
      kind == "BatchNormalization" ? "fold batch normalisation into the convolution before quantising" : ""};
}

std::vector<int> Importer::mean_axes(const Node& node, int rank) {
  std::vector<int> axes = axes_of(node, 1, rank);
  if (axes.empty() && integer(node, "noop_with_empty_axes", 0) == 0) {
    for (int d = 0; d < rank; d++) axes.push_back(d);
  }
  return axes;
}

std::vector<int> Importer::permutation(const Node& node, int rank) const {
  const std::vector<int64_t> stated = integers(node, "perm");
  std::vector<int> order(std::size_t(rank), 0);
  std::iota(order.rbegin(), order.rend(), 0);
  if (stated.empty()) return order;
  const std::set<int64_t> distinct(stated.begin(), stated.end());
  if (int(stated.size()) != rank || int(distinct.size()) != rank || *distinct.begin() != 0 ||
      *distinct.rbegin() != rank - 1)
    fail(here() + "perm is not a permutation");
  return {stated.begin(), stated.end()};
}

Shape Importer::reshape_shape(const Node& node, const Shape& in) {
  std::vector<int64_t> wanted = integers(node, "shape");
  if (has_input(node, 1)) wanted = numbers(input(node, 1), "shape");
  Shape out;
  int64_t product = 1;
  int open = -1;
  for (size_t d = 0; d < wanted.size(); d++) {
    int64_t dim = wanted[d];
    if (dim == 0 && integer(node, "allowzero", 0) == 0) {
      if (d >= in.size()) fail(here() + "shape keeps a dimension that is not there");
      dim = in[d];
    }
    if (dim == -1 && open < 0) {
      open = int(d);
      dim = 1;
    }
    if (dim < 1 || dim > kMaxTensorElements) fail(here() + "shape has a dimension of " + std::to_string(dim));
    product *= dim;
    if (product > kMaxTensorElements) fail(here() + "shape is too large");
    out.push_back(int(dim));
  }
  const int64_t elements = elements_of(in);
  if (open >= 0 && elements % product == 0) out[size_t(open)] = int(elements / product);
  if (elements_of(out) != elements)
    fail(here() + "cannot turn shape " + shape_text(in) + " into " + shape_text(out));
  return out;
}

}  // namespace kaiten::onnx_import
