// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Float32 values between DEQUANTIZE and QUANTIZE: converters compute there what LiteRT has no int8 kernel for. Where they are
// a function of one quantised value, the operators from one to the other are a table.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "import/tflite/constants.h"
#include "import/tflite/layer.h"
#include "import/tflite/operators.h"
#include "import/tflite/tensors.h"
#include "reference/reference.h"

namespace kaiten::importing::from_tflite {

namespace {

constexpr int kStored = 256;  // int8 values

// The four operators that may hold an activation end at the largest numbers, without one, too; NaN stays.
float bounded(float x) {
  constexpr float kMost = std::numeric_limits<float>::max();
  return std::min(std::max(x, -kMost), kMost);
}

// As LiteRT's kernels for float32: where an operand is NaN, or both are zeros, MAXIMUM and MINIMUM are the second one.
constexpr struct {
  Code code;
  float (*of_one)(float x);
  float (*of_two)(float a, float b);
} kFunctions[] = {
    {Code::ABS, [](float x) { return std::abs(x); }, nullptr},
    {Code::ADD, nullptr, [](float a, float b) { return bounded(a + b); }},
    {Code::CEIL, [](float x) { return std::ceil(x); }, nullptr},
    {Code::COS, [](float x) { return std::cos(x); }, nullptr},
    {Code::DIV, nullptr, [](float a, float b) { return bounded(a / b); }},
    {Code::ELU, [](float x) { return x < 0 ? std::expm1(x) : x; }, nullptr},
    {Code::EXP, [](float x) { return std::exp(x); }, nullptr},
    {Code::FLOOR, [](float x) { return std::floor(x); }, nullptr},
    {Code::LOG, [](float x) { return std::log(x); }, nullptr},
    {Code::MAXIMUM, nullptr, [](float a, float b) { return a > b ? a : b; }},
    {Code::MINIMUM, nullptr, [](float a, float b) { return a < b ? a : b; }},
    {Code::MUL, nullptr, [](float a, float b) { return bounded(a * b); }},
    {Code::NEG, [](float x) { return -x; }, nullptr},
    {Code::POW, nullptr, [](float a, float b) { return std::pow(a, b); }},
    {Code::ROUND, [](float x) { return std::nearbyint(x); }, nullptr},
    {Code::RSQRT, [](float x) { return 1.0F / std::sqrt(x); }, nullptr},
    {Code::SIN, [](float x) { return std::sin(x); }, nullptr},
    {Code::SQRT, [](float x) { return std::sqrt(x); }, nullptr},
    {Code::SQUARE, [](float x) { return x * x; }, nullptr},
    {Code::SQUARED_DIFFERENCE, nullptr, [](float a, float b) { return (a - b) * (a - b); }},
    {Code::SUB, nullptr, [](float a, float b) { return bounded(a - b); }},
};

// What the reference makes of `values`, tensor `from`, in tensor `to`.
Int8Values converted(OpKind kind, Framework framework, Tensor from, Tensor to, Int8Values values) {
  Graph graph;
  graph.framework = framework;
  from.data.clear();
  from.shape = to.shape = {kStored};
  graph.tensors = {std::move(from), std::move(to)};
  Op op;
  op.kind = kind;
  op.inputs = {0};
  op.output = 1;
  std::vector<Int8Values> tensors = {std::move(values), {}};
  run_operator(graph, op, RoundingStyle::LiteRt, tensors);
  return std::move(tensors[1]);
}

// A single number of the file; nothing where it is none.
std::optional<float> number_of(State& s, int index) {
  if (s.status_of(index) != Status::Untouched || !has_data(s, index) ||
      s.file_tensor(index).type() != tflite::TensorType::FLOAT32)
    return std::nullopt;
  const std::optional<Shape> shape = stated_shape(s, index);
  if ((shape && check_shape(s, index, *shape) != 1) || !import_constant_operand(s, index))
    return std::nullopt;
  return fb::ReadScalar<float>(s.tensor(index).data.data());
}

// The node's operands, each a number or a value for every stored one; `of`: one of the latter, of which all of these are
// functions alike. Empty where they are not.
std::vector<std::vector<float>> operands_of(State& s, const Node& node, int& of) {
  std::vector<std::vector<float>> operands;
  of = kNoTensor;
  for (const int index : *node.inputs()) {
    if (index == kNoTensor) return {};
    if (const auto at = s.reals.find(index); at != s.reals.end()) {
      if (of != kNoTensor &&
          (s.reals.at(of).source != at->second.source || s.tensor(of).shape != s.tensor(index).shape))
        return {};
      of = index;
      operands.push_back(at->second.values);
    } else if (const auto number = number_of(s, index)) {
      operands.emplace_back(kStored, *number);
    } else {
      return {};
    }
  }
  return of == kNoTensor ? std::vector<std::vector<float>>{} : operands;
}

}  // namespace

std::vector<std::string> functions_of_reals() {
  std::vector<std::string> all;
  for (const auto& f : kFunctions) all.emplace_back(tflite::EnumNameOperator(f.code));
  return all;
}

void dequantises(State& s, const Op& op) {
  Int8Values stored(kStored);
  for (int i = 0; i < kStored; i++) stored[std::size_t(i)] = std::int8_t(i - 128);
  const Int8Values bytes = converted(OpKind::ToFloat, s.graph.framework, s.graph.input_of(op),
                                     s.graph.output_of(op), std::move(stored));
  Real real{op.inputs.front(), op.output, {}};
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(float))
    real.values.push_back(fb::ReadScalar<float>(bytes.data() + i));
  s.reals[op.output] = std::move(real);
}

bool is_real(State& s, const Node& node, Code code) {
  const auto* const known = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                         [&](const auto& f) { return f.code == code; });
  if (known == std::end(kFunctions) || node.inputs() == nullptr || node.outputs() == nullptr ||
      node.outputs()->size() != 1 || is_clamped(node))
    return false;
  int of = kNoTensor;
  const auto operands = operands_of(s, node, of);
  const int out = node.outputs()->Get(0);
  if (operands.size() != (known->of_one != nullptr ? 1U : 2U) ||
      s.file_tensor(out).type() != tflite::TensorType::FLOAT32)
    return false;
  produce_float(s, out);
  if (s.status_of(out) != Status::Ready) return true;
  if (!takes_shape(s, out, s.tensor(of).shape))
    fail_layer(s, "output has shape " + shape_text(s.tensor(out).shape));
  Real real{s.reals.at(of).source, s.reals.at(of).dequantised, {}};
  for (std::size_t i = 0; i < kStored; i++) {
    real.values.push_back(known->of_one != nullptr ? known->of_one(operands[0][i])
                                                   : known->of_two(operands[0][i], operands[1][i]));
  }
  s.reals[out] = std::move(real);
  s.status_of(out) = Status::Real;
  return true;
}

bool import_function_of_real(State& s, const Node& node, Op& op) {
  if (s.status_of(op.output) != Status::Ready) return false;
  const Real& real = s.reals.at(node.inputs()->Get(0));
  expect_output(s, op, s.tensor(node.inputs()->Get(0)).shape);
  op.kind = OpKind::Table;
  op.function = Function::Values;
  op.inputs = {real.source};
  Int8Values bytes(real.values.size() * sizeof(float));
  for (std::size_t i = 0; i < real.values.size(); i++)
    fb::WriteScalar(bytes.data() + i * sizeof(float), real.values[i]);
  Tensor from = s.tensor(node.inputs()->Get(0));
  const Int8Values stored =
      converted(OpKind::ToInt8, s.graph.framework, std::move(from), s.graph.output_of(op), std::move(bytes));
  op.dims.assign(stored.begin(), stored.end());
  return true;
}

}  // namespace kaiten::importing::from_tflite
