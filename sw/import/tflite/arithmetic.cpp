// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Operators of TensorFlow Lite that compute with what they read alone: sums, products, averages, softmax.
#include <cmath>
#include <optional>
#include <set>
#include <string>

#include "import/tflite/constants.h"
#include "import/tflite/layer.h"
#include "import/tflite/operators.h"
#include "import/tflite/tensors.h"

namespace kaiten::importing::from_tflite {

namespace {

// Whether numpy's rules stretch `from` to `to`.
bool stretches(const Nhwc& from, const Nhwc& to) {
  return from.n == 1 && (from.h == 1 || from.h == to.h) && (from.w == 1 || from.w == to.w) &&
         (from.c == 1 || from.c == to.c);
}

template <typename Options>
bool import_binary(State& s, const Node& node, Op& op) {
  const bool first = use_operand(s, node, op, 0);
  if (!use_operand(s, node, op, 1) || !first) return false;
  const tflite::FusedActivation activation = options<Options>(s, node).activation();
  const Tensor& a = s.graph.input_of(op, 0);
  const Tensor& b = s.graph.input_of(op, 1);
  const Tensor& out = s.graph.output_of(op);
  if (a.is_constant() && b.is_constant()) fail_layer(s, "both operands are constants");
  if (!stretches(a.nhwc(), out.nhwc()) || !stretches(b.nhwc(), out.nhwc()) ||
      (a.elements() != out.elements() && b.elements() != out.elements())) {
    fail_layer(s, "operands of shape " + shape_text(a.shape) + " and " + shape_text(b.shape) +
                      " do not make " + shape_text(out.shape));
  }
  return import_activation(s, op, activation) && check_arithmetic(s, op);
}

// The axes that a MEAN states, as it states them. Empty after a refusal.
std::vector<int> mean_axes(State& s, const Node& node) {
  const int index = node.inputs()->Get(1);
  check_index(s, index, "axes");
  const Shape shape = stated_shape(s, index).value_or(Shape{});
  if (shape.size() > 1) fail_layer(s, "axes must be a list");
  const int count = shape.empty() ? 1 : shape.front();
  if (count < 1 || count > kMaxRank) fail_layer(s, "has " + std::to_string(count) + " axes");
  return import_numbers(s, index, "axes");
}

}  // namespace

bool import_add(State& s, const Node& node, Op& op) { return import_binary<tflite::AddOptions>(s, node, op); }

bool import_sub(State& s, const Node& node, Op& op) { return import_binary<tflite::SubOptions>(s, node, op); }

bool import_mul(State& s, const Node& node, Op& op) { return import_binary<tflite::MulOptions>(s, node, op); }

bool import_quantize(State& s, const Node& node, Op& op) {
  if (!use_activation(s, node, op)) return false;
  const Tensor& in = s.graph.input_of(op);
  expect_output(s, op, in.shape);
  if (in.type == ElementType::Float32) op.kind = OpKind::ToInt8;
  return op.kind == OpKind::ToInt8 || (require_int8(s, op) && check_arithmetic(s, op));
}

bool import_dequantize(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  expect_output(s, op, s.graph.input_of(op).shape);
  return true;
}

bool import_pool(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  const auto& settings = options<tflite::Pool2DOptions>(s, node);
  expect_rank4(s, op);
  op.window = {settings.filter_h(), settings.filter_w(), settings.stride_h(), settings.stride_w(), 1, 1, {}};
  const bool activation = import_activation(s, op, settings.activation());
  return import_window(s, op, settings.padding(), s.graph.input_of(op).nhwc().c) &&
         expect_same_quantization(s, op) && activation && check_arithmetic(s, op);
}

bool import_mean(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  const auto& settings = options<tflite::ReducerOptions>(s, node);
  const Shape& in = s.graph.input_of(op).shape;
  const std::vector<int> stated = mean_axes(s, node);
  if (stated.empty()) return false;
  std::set<int> axes;
  std::string listed;
  for (const int axis : stated) {
    axes.insert(checked_axis(s, axis, int(in.size())));
    listed += (listed.empty() ? "" : ", ") + std::to_string(axis);
  }
  if (in.size() != 4 || axes != std::set<int>{1, 2}) {
    refuse(s, {"means over rows and columns of a map", "axes " + listed + " of " + shape_text(in)});
    return false;
  }
  expect_output(s, op, settings.keep_dims() ? Shape{1, 1, 1, in[3]} : Shape{1, in[3]});
  return check_arithmetic(s, op);
}

bool import_softmax(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  op.beta = options<tflite::SoftmaxOptions>(s, node).beta();
  if (!(op.beta > 0.0F) || !std::isfinite(op.beta)) fail_layer(s, "beta is " + number(double(op.beta)));
  const Tensor& out = s.graph.output_of(op);
  expect_output(s, op, s.graph.input_of(op).shape);
  const float scale = out.quantization.scale.front();
  if (scale != 1.0F / 256.0F || out.zero_point() != -128) {
    refuse(s, {"outputs of scale 1/256 and zero point -128",
               number(double(scale)) + " and " + std::to_string(out.zero_point())});
    return false;
  }
  return true;
}

bool import_arg_max(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  const std::vector<int> axes = import_numbers(s, node.inputs()->Get(1), "axis");
  if (axes.empty()) return false;
  Shape expected = s.graph.input_of(op).shape;
  const int rank = int(expected.size());
  if (axes.size() != 1) fail_layer(s, "axis " + std::to_string(axes.front()) + " out of range");
  op.axis = checked_axis(s, axes.front(), rank);
  expected.erase(expected.begin() + op.axis);
  expect_output(s, op, expected);
  return true;
}

}  // namespace kaiten::importing::from_tflite
