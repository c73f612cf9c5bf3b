// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// PRELU as operators that the accelerator has: what is not negative, and the products of the rest with the slopes. One of
// the two is 0 everywhere, so that each rounds as PRELU does, and their sum, of one scale, does not round.
#include <string>
#include <utility>

#include "graph/quantize.h"
#include "import/tflite/layer.h"
#include "import/tflite/operators.h"
#include "import/tflite/tensors.h"

namespace kaiten::importing::from_tflite {

namespace {

// A product of two values of nine bits shifted so far left is no more int32.
constexpr int kMostShift = 14;

// Maps of one image, and slopes that the engines can read as an operand.
bool has_parts(const State& s, const Op& op) {
  const Tensor& x = s.graph.input_of(op, 0);
  const bool map = x.shape.size() <= 4 && x.nhwc().n == 1 && x.shape == s.graph.output_of(op).shape;
  return map && s.graph.input_of(op, 1).is_constant() &&
         prelu_params(s.graph, op).negative.shift <= kMostShift;
}

bool in_parts(State& s, Op& op) {
  const int x = op.inputs[0], slopes = op.inputs[1];
  const Shape shape = s.graph.output_of(op).shape;
  Op limit = op;
  limit.kind = OpKind::Table;
  limit.function = Function::Clamp;
  limit.inputs = {x};
  Op product = op;
  product.kind = OpKind::Mul;
  Op positive = limit;
  positive.activation = Activation::Relu;
  limit.hi = 0.0F;
  const int rest = append_step(s, std::move(limit), x, shape);
  if (rest == kNoTensor) return false;
  product.inputs = {rest, slopes};
  op.kind = OpKind::Add;
  op.inputs = {append_step(s, std::move(positive), op.output, shape),
               append_step(s, std::move(product), op.output, shape)};
  return op.inputs[0] != kNoTensor && op.inputs[1] != kNoTensor && check_arithmetic(s, op);
}

}  // namespace

bool import_prelu(State& s, const Node& node, Op& op) {
  const bool first = use_input(s, node, op);
  if (!use_input(s, node, op, 1) || !first) return false;
  expect_output(s, op, s.graph.input_of(op).shape);
  expect_stretched(s, op);
  return check_arithmetic(s, op) && (!has_parts(s, op) || in_parts(s, op));
}

}  // namespace kaiten::importing::from_tflite
