// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// How operators enter the graph: constants fold here, whatever their type and rank.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "import/tflite/layer.h"
#include "import/tflite/operators.h"
#include "import/tflite/tensors.h"
#include "reference/reference.h"

namespace kaiten::importing::from_tflite {

namespace {

bool is_constant(const State& s, int index) { return s.tensor(index).is_constant(); }

// Kinds whose operands may be constants beside activations.
bool takes_constants(OpKind kind) {
  static const std::set<OpKind> kKinds = {OpKind::Add,
                                          OpKind::Sub,
                                          OpKind::Mul,
                                          OpKind::Minimum,
                                          OpKind::Maximum,
                                          OpKind::PRelu,
                                          OpKind::SquaredDifference,
                                          OpKind::BatchMatMul};
  return kKinds.contains(kind);
}

void fold(State& s, const Op& op) {
  std::vector<Int8Values> values(s.graph.tensors.size());
  for (const int t : op.inputs) {
    const std::vector<std::uint8_t>& data = s.tensor(t).data;
    values[std::size_t(t)].assign(data.begin(), data.end());
  }
  run_operator(s.graph, op, RoundingStyle::LiteRt, values);
  const Int8Values& result = values[std::size_t(op.output)];
  s.tensor(op.output).data.assign(result.begin(), result.end());
}

}  // namespace

void append(State& s, Op op) {
  if (s.open.contains(op.output)) {
    refuse(s, {"stated shapes", "'" + s.tensor_name(op.output) + "' without one",
               "convert with a fixed input shape"});
    return;
  }
  if (const auto limit = rank_limit(s.graph, op)) return refuse(s, *limit);
  if (std::all_of(op.inputs.begin(), op.inputs.end(), [&](int t) { return is_constant(s, t); }))
    return fold(s, op);
  if (!takes_constants(op.kind)) {
    for (int& t : op.inputs) t = is_constant(s, t) ? activation_of(s, t) : t;
  }
  s.graph.ops.push_back(std::move(op));
}

int append_step(State& s, Op step, int like, const Shape& shape) {
  step.name = s.layer_names.unique(step.name);
  step.output = similar(s, like, shape);
  if (!check_arithmetic(s, step)) return kNoTensor;
  const int made = step.output;
  append(s, std::move(step));
  return made;
}

bool step_before(State& s, Op& op, Op step, const Shape& shape) {
  step.name = op.name;
  const int made = append_step(s, std::move(step), op.output, shape);
  op.inputs = {made};
  return made != kNoTensor;
}

int activation_of(State& s, int index) {
  if (const auto at = s.activations.find(index); at != s.activations.end()) return at->second;
  return s.activations[index] = activation_of_constant(s, index);
}

int similar(State& s, int index, const Shape& shape) {
  Tensor tensor = s.tensor(index);
  tensor.data.clear();
  tensor.shape = shape;
  charge_activation(s, check_shape(s, index, shape));
  s.graph.tensors.push_back(std::move(tensor));
  return int(s.graph.tensors.size()) - 1;
}

int reshaped(State& s, int index, const Shape& shape) {
  Op op;
  op.name = s.layer_names.unique(s.tensor_name(index));
  op.kind = OpKind::Reshape;
  op.inputs = {index};
  op.output = similar(s, index, shape);
  const int made = op.output;
  append(s, std::move(op));
  return made;
}

}  // namespace kaiten::importing::from_tflite
