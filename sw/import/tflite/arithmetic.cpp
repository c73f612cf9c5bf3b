// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Operators of TensorFlow Lite that compute with what they read alone: sums, products, averages, softmax.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "import/tflite/constants.h"
#include "import/tflite/layer.h"
#include "import/tflite/operators.h"
#include "import/tflite/tensors.h"

namespace kaiten::importing::from_tflite {

namespace {

// Dimension d of `shape`, counted from the last one; 1 where there is none.
int dimension(const Shape& shape, std::size_t d) {
  return d < shape.size() ? shape[shape.size() - 1 - d] : 1;
}

}  // namespace

void expect_stretched(State& s, const Op& op) {
  const Shape& a = s.graph.input_of(op, 0).shape;
  const Shape& b = s.graph.input_of(op, 1).shape;
  Shape stretched(std::max(a.size(), b.size()));
  for (std::size_t d = 0; d < stretched.size(); d++)
    stretched[stretched.size() - 1 - d] = std::max(dimension(a, d), dimension(b, d));
  takes_shape(s, op.output, stretched);  // or one of more dimensions of one cell
  const Shape& out = s.graph.output_of(op).shape;
  bool made = out.size() >= std::max(a.size(), b.size());
  for (std::size_t d = 0; d < out.size(); d++) {
    const int x = dimension(a, d), y = dimension(b, d), to = dimension(out, d);
    made = made && (x == to || x == 1) && (y == to || y == 1) && to == std::max(x, y);
  }
  if (made) return;
  fail_layer(
      s, "operands of shape " + shape_text(a) + " and " + shape_text(b) + " do not make " + shape_text(out));
}

namespace {

// Where neither operand has the output's shape the host stretches both.
bool stretches_both(const State& s, const Op& op) {
  const std::size_t out = s.graph.output_of(op).elements();
  return s.graph.input_of(op, 0).elements() != out && s.graph.input_of(op, 1).elements() != out;
}

template <typename Options>
bool import_binary(State& s, const Node& node, Op& op) {
  const bool first = use_input(s, node, op, 0);
  if (!use_input(s, node, op, 1) || !first) return false;
  const tflite::FusedActivation activation = options<Options>(s, node).activation();
  expect_stretched(s, op);
  op.on_host = stretches_both(s, op);
  return import_activation(s, op, activation) && check_arithmetic(s, op);
}

// The axes that a MEAN states, as it states them. Empty after a refusal.
std::vector<int> mean_axes(State& s, const Node& node) {
  const int index = node.inputs()->Get(1);
  check_index(s, index, "axes");
  const Shape shape = stated_shape(s, index).value_or(Shape{});
  if (shape.size() > 1) fail_layer(s, "axes must be a list");
  const int count = shape.empty() ? 1 : shape.front();
  if (count < 1 || count > kMaxHostRank) fail_layer(s, "has " + std::to_string(count) + " axes");
  return import_numbers(s, index, "axes");
}

}  // namespace

bool import_add(State& s, const Node& node, Op& op) { return import_binary<tflite::AddOptions>(s, node, op); }

bool import_sub(State& s, const Node& node, Op& op) { return import_binary<tflite::SubOptions>(s, node, op); }

bool import_mul(State& s, const Node& node, Op& op) { return import_binary<tflite::MulOptions>(s, node, op); }

bool import_quantize(State& s, const Node& node, Op& op) {
  if (s.reals.contains(node.inputs()->Get(0))) return import_function_of_real(s, node, op);
  if (!use_activation(s, node, op)) return false;
  const Tensor& in = s.graph.input_of(op);
  expect_output(s, op, in.shape);
  if (in.type == ElementType::Float32) op.kind = OpKind::ToInt8;
  return op.kind == OpKind::ToInt8 || (require_int8(s, op) && check_arithmetic(s, op));
}

bool import_dequantize(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  expect_output(s, op, s.graph.input_of(op).shape);
  if (s.graph.output_of(op).type == ElementType::Float32) dequantises(s, op);
  return true;
}

bool import_pool(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  const auto& settings = options<tflite::Pool2DOptions>(s, node);
  if (!require_map(s, op)) return false;
  op.window = {settings.filter_h(), settings.filter_w(), settings.stride_h(), settings.stride_w(), 1, 1, {}};
  const bool activation = import_activation(s, op, settings.activation());
  return import_window(s, op, settings.padding(), s.graph.input_of(op).nhwc().c) &&
         expect_same_quantization(s, op) && activation && check_arithmetic(s, op);
}

// The axes of a reduction, ascending, and the output's shape, which is checked. Empty after a refusal.
std::vector<int> import_axes(State& s, const Node& node, const Op& op) {
  const Shape& in = s.graph.input_of(op).shape;
  std::set<int> axes;
  for (const int axis : mean_axes(s, node)) axes.insert(checked_axis(s, axis, int(in.size())));
  if (axes.empty()) return {};
  const bool keeps = options<tflite::ReducerOptions>(s, node).keep_dims();
  Shape expected;
  for (std::size_t d = 0; d < in.size(); d++) {
    if (!axes.contains(int(d))) {
      expected.push_back(in[d]);
    } else if (keeps) {
      expected.push_back(1);
    }
  }
  expect_output(s, op, expected);
  return {axes.begin(), axes.end()};
}

bool import_mean(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  const std::vector<int> axes = import_axes(s, node, op);
  if (axes.empty()) return false;
  const bool map = s.graph.input_of(op).shape.size() == 4 && axes == std::vector<int>{1, 2};
  if (!map) op.dims = axes;
  return check_arithmetic(s, op);
}

namespace {

// A maximum over rows, columns or both is a window of pooling, which the accelerator has.
void as_max_pool(State& s, Op& op) {
  const Tensor& input = s.graph.input_of(op);
  if (input.shape.size() != 4 ||
      !std::all_of(op.dims.begin(), op.dims.end(), [](int d) { return d == 1 || d == 2; }))
    return;
  const Nhwc in = input.nhwc(), out = s.graph.output_of(op).nhwc();
  const bool rows = op.dims.front() == 1, columns = op.dims.back() == 2;
  const bool map =
      out.n == in.n && out.h == (rows ? 1 : in.h) && out.w == (columns ? 1 : in.w) && out.c == in.c;
  if (!map) return;
  op.kind = OpKind::MaxPool;
  op.window.kernel_h = rows ? in.h : 1;
  op.window.kernel_w = columns ? in.w : 1;
  op.dims.clear();
}

}  // namespace

bool import_reduction(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  op.dims = import_axes(s, node, op);
  if (op.dims.empty()) return false;
  if (op.kind == OpKind::ReduceMax) as_max_pool(s, op);
  if (op.kind != OpKind::ReduceSum) return expect_same_quantization(s, op);
  const Tensor& in = s.graph.input_of(op);
  const Tensor& out = s.graph.output_of(op);
  if (in.model_type == ElementType::Int8) {
    refuse(s, {"sums of uint8 values", "int8, whose bytes LiteRT 2.3.0 sums as unsigned ones",
               "express the sum as a mean and a multiplication"});
    return false;
  }
  if (!same_quantization(in.quantization, out.quantization)) return true;
  refuse(s, {"sums of another scale or zero point than their operands'", "the same of both", ""});
  return false;
}

namespace {

// The extreme of each value and one number is a function of the value.
void as_table(State& s, Op& op) {
  const std::size_t number = s.graph.input_of(op, 0).is_constant() ? 0 : 1;
  const Tensor& constant = s.graph.input_of(op, number);
  const Tensor& values = s.graph.input_of(op, 1 - number);
  if (!constant.is_constant() || constant.elements() != 1 || values.is_constant() ||
      values.shape.size() > 4 || values.shape != s.graph.output_of(op).shape)
    return;
  const std::int8_t bound = std::int8_t(constant.data[0]);
  for (int value = -128; value <= 127; value++)
    op.dims.push_back(op.kind == OpKind::Minimum ? std::min<int>(value, bound) : std::max<int>(value, bound));
  op.kind = OpKind::Table;
  op.function = Function::Values;
  op.inputs = {op.inputs[1 - number]};
}

}  // namespace

bool import_extreme(State& s, const Node& node, Op& op) {
  const bool first = use_input(s, node, op, 0);
  if (!use_input(s, node, op, 1) || !first) return false;
  expect_stretched(s, op);
  if (!expect_same_quantization(s, op, 0) || !expect_same_quantization(s, op, 1)) return false;
  as_table(s, op);
  return true;
}

bool import_squared_difference(State& s, const Node& node, Op& op) {
  const bool first = use_input(s, node, op);
  if (!use_input(s, node, op, 1) || !first) return false;
  expect_stretched(s, op);
  return check_arithmetic(s, op);
}

bool import_batch_matmul(State& s, const Node& node, Op& op) {
  const bool first = use_input(s, node, op);
  if (!use_input(s, node, op, 1) || !first) return false;
  if (const auto* settings = node.options_as_BatchMatMulOptions()) {
    op.transpose_a = settings->adj_x();
    op.transpose_b = settings->adj_y();
  }
  const Shape& a = s.graph.input_of(op, 0).shape;
  const Shape& b = s.graph.input_of(op, 1).shape;
  if (a.size() < 2 || b.size() < 2) fail_layer(s, "matrices need two dimensions");
  const int depth_a = dimension(a, op.transpose_a ? 1 : 0), depth_b = dimension(b, op.transpose_b ? 0 : 1);
  Shape expected;
  for (std::size_t d = std::max(a.size(), b.size()); d-- > 2;) {
    const int x = dimension(a, d), y = dimension(b, d);
    if (x != y && x != 1 && y != 1) fail_layer(s, "matrices " + shape_text(a) + " and " + shape_text(b));
    expected.push_back(std::max(x, y));
  }
  expected.push_back(dimension(a, op.transpose_a ? 0 : 1));
  expected.push_back(dimension(b, op.transpose_b ? 1 : 0));
  if (depth_a != depth_b) fail_layer(s, "matrices " + shape_text(a) + " and " + shape_text(b));
  expect_output(s, op, expected);
  return check_arithmetic(s, op);
}

bool import_l2_norm(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  expect_output(s, op, s.graph.input_of(op).shape);
  const Tensor& out = s.graph.output_of(op);
  if (out.quantization.scale.front() == 1.0F / 128.0F && out.zero_point() == 0) return true;
  refuse(s, {"outputs of scale 1/128 and zero point 0", number(double(out.quantization.scale.front()))});
  return false;
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

bool import_log_softmax(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  op.logarithm = true;
  const Shape& shape = s.graph.input_of(op).shape;
  expect_output(s, op, shape);
  // LiteRT's sum of exponentials has 12 bits before the point; what it does beyond them is undefined.
  constexpr int kMostSummands = 1 << 12;
  if (!shape.empty() && shape.back() > kMostSummands) {
    refuse(s, {"logarithms of at most " + std::to_string(kMostSummands) + " summands",
               std::to_string(shape.back())});
    return false;
  }
  const Tensor& out = s.graph.output_of(op);
  if (out.quantization.scale.front() == 1.0F / 16.0F && out.zero_point() == 127) return true;
  refuse(s, {"outputs of scale 1/16 and zero point 127",
             number(double(out.quantization.scale.front())) + " and " + std::to_string(out.zero_point())});
  return false;
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

bool import_arg_min(State& s, const Node& node, Op& op) {
  op.smallest = true;
  return import_arg_max(s, node, op);
}

}  // namespace kaiten::importing::from_tflite
