// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Functions of one value, which run as a table.
#include <cmath>

#include "graph/tables.h"
#include "import/tflite/layer.h"
#include "import/tflite/operators.h"

namespace kaiten::importing::from_tflite {

namespace {

bool import_function(State& s, const Node& node, Op& op, Function function) {
  if (!use_input(s, node, op)) return false;
  expect_output(s, op, s.graph.input_of(op).shape);
  op.function = function;
  return check_arithmetic(s, op);
}

bool import_clamp(State& s, const Node& node, Op& op, Activation activation) {
  op.activation = activation;
  return import_function(s, node, op, Function::Clamp);
}

}  // namespace

bool import_leaky_relu(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  expect_output(s, op, s.graph.input_of(op).shape);
  op.function = Function::LeakyRelu;
  op.alpha = options<tflite::LeakyReluOptions>(s, node).alpha();
  if (!std::isfinite(op.alpha)) fail_layer(s, "alpha is " + number(double(op.alpha)));
  return check_arithmetic(s, op);
}

bool import_hard_swish(State& s, const Node& node, Op& op) {
  return import_function(s, node, op, Function::HardSwish);
}

bool import_logistic(State& s, const Node& node, Op& op) {
  return import_function(s, node, op, Function::Sigmoid);
}

bool import_tanh(State& s, const Node& node, Op& op) { return import_function(s, node, op, Function::Tanh); }

bool import_relu(State& s, const Node& node, Op& op) { return import_clamp(s, node, op, Activation::Relu); }

bool import_relu_n1_to_1(State& s, const Node& node, Op& op) {
  return import_clamp(s, node, op, Activation::ReluN1To1);
}

bool import_exp(State& s, const Node& node, Op& op) { return import_function(s, node, op, Function::Exp); }

bool import_log(State& s, const Node& node, Op& op) { return import_function(s, node, op, Function::Log); }

bool import_sqrt(State& s, const Node& node, Op& op) { return import_function(s, node, op, Function::Sqrt); }

bool import_rsqrt(State& s, const Node& node, Op& op) {
  if (!import_function(s, node, op, Function::Rsqrt)) return false;
  const double factor = rsqrt_factor(s.graph, op);
  if (factor >= kLeastRsqrtFactor) return true;
  refuse(s, {"1 / (root of the input scale * output scale) of 2^-12 and more", number(factor), ""});
  return false;
}

bool import_abs(State& s, const Node& node, Op& op) { return import_function(s, node, op, Function::Abs); }

bool import_neg(State& s, const Node& node, Op& op) { return import_function(s, node, op, Function::Neg); }

bool import_elu(State& s, const Node& node, Op& op) { return import_function(s, node, op, Function::Elu); }

bool import_gelu(State& s, const Node& node, Op& op) {
  const auto* settings = node.options_as_GeluOptions();
  const bool approximate = settings != nullptr && settings->approximate();
  return import_function(s, node, op, approximate ? Function::GeluTanh : Function::Gelu);
}

bool import_relu6(State& s, const Node& node, Op& op) { return import_clamp(s, node, op, Activation::Relu6); }

}  // namespace kaiten::importing::from_tflite
