// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/lower/value_functions.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/error.h"
#include "graph/float_pairs.h"

namespace kaiten {

namespace {

bool is_number(const Tensor& t) {
  return t.is_constant() && t.type == ElementType::Int8 && t.elements() == 1;
}

bool is_pair(const Op& op) {
  return (op.kind == OpKind::Add || op.kind == OpKind::Sub || op.kind == OpKind::Mul) &&
         op.inputs.size() == 2;
}

// A sum, a difference or a product, value by value: by the formulas of quantize.h, not by the reference executor, which
// results are compared with.
ValueTable pair_table(const Graph& graph, const Op& op, const std::array<ValueTable, 2>& operands) {
  ValueTable table;
  if (op.kind == OpKind::Mul) {
    const MulParams p = mul_params(graph, op);
    if (p.output.rule == Rounding::Float) {
      float_multiply(p, operands[0], operands[1], table);
      return table;
    }
    for (std::size_t i = 0; i < table.size(); i++) {
      const int product = (operands[0][i] - p.zp_in[0]) * (operands[1][i] - p.zp_in[1]);
      table[i] = p.output.stored(requantize_double(product, p.multiplier));
    }
    return table;
  }
  const AddParams p = add_params(graph, op);
  if (p.output.rule == Rounding::Float) {
    const std::array<std::span<const std::int8_t>, 2> both{operands[0], operands[1]};
    float_add(p, both, table);
    return table;
  }
  for (std::size_t i = 0; i < table.size(); i++) {
    std::array<int, 2> scaled{};
    for (std::size_t k = 0; k < 2; k++)
      scaled[k] = requantize_double((operands[k][i] - p.zp_in[k]) * (1 << p.left_shift), p.in[k]);
    table[i] =
        p.output.stored(requantize_double(p.subtract ? scaled[0] - scaled[1] : scaled[0] + scaled[1], p.out));
  }
  return table;
}

// Of every stored value: what a table or a requantisation makes of it.
ValueTable single_table(const Graph& graph, const Op& op, const ValueTable& operand) {
  ValueTable table;
  if (op.kind == OpKind::Quantize && graph.framework == Framework::TfLite) {
    const QuantizeParams p = quantize_params(graph, op);
    for (std::size_t i = 0; i < table.size(); i++)
      table[i] = p.output.stored(requantize_double(operand[i] - p.zp_in, p.multiplier));
    return table;
  }
  const ValueTable next = table_params(graph, op).table;
  for (std::size_t i = 0; i < table.size(); i++) table[i] = next[std::size_t(operand[i] + 128)];
  return table;
}

}  // namespace

bool keeps_values(const Graph& graph, const Op& op) {
  if (op.kind != OpKind::Quantize) return false;
  const Tensor& from = graph.input_of(op);
  const Tensor& to = graph.output_of(op);
  return from.quantization.scale == to.quantization.scale && from.zero_point() == to.zero_point();
}

ValueFunctions::ValueFunctions(const Graph& graph) : graph_(graph), of_(graph.tensors.size()) {
  for (const Op& op : graph.ops) {
    try {
      of_[std::size_t(op.output)] = function_of(op);
    } catch (const InputError&) {  // scales without a factor: whoever lowers the operator says so
    }
  }
}

std::optional<ValueFunction> ValueFunctions::function_of(const Op& op) const {
  const bool pair = is_pair(op);
  if (op.on_host || (!pair && op.kind != OpKind::Table && op.kind != OpKind::Quantize)) return std::nullopt;
  const Tensor& output = graph_.output_of(op);
  if (keeps_values(graph_, op)) return std::nullopt;
  if (output.type != ElementType::Int8 || output.shape.size() > 4 || output.nhwc().n != 1)
    return std::nullopt;
  ValueFunction f;
  std::array<ValueTable, 2> operands{};
  for (std::size_t i = 0; i < op.inputs.size(); i++) {
    const int t = op.inputs[i];
    const Tensor& tensor = graph_.tensors[std::size_t(t)];
    if (pair && is_number(tensor)) {
      operands[i].fill(std::int8_t(tensor.data[0]));
      continue;
    }
    if (tensor.is_constant() || tensor.type != ElementType::Int8 || tensor.nhwc() != output.nhwc())
      return std::nullopt;
    const ValueFunction* before = of(t);
    const int source = before != nullptr ? before->source : t;
    if (f.source != kNoTensor && f.source != source) return std::nullopt;
    f.source = source;
    f.operators = std::max(f.operators, before != nullptr ? before->operators + 1 : 1);
    operands[i] = before != nullptr ? before->table : identity_table();
  }
  if (f.source == kNoTensor) return std::nullopt;
  f.table = pair ? pair_table(graph_, op, operands) : single_table(graph_, op, operands[0]);
  return f;
}

bool ValueFunctions::is_needed(int tensor) const {
  if (std::find(graph_.outputs.begin(), graph_.outputs.end(), tensor) != graph_.outputs.end()) return true;
  const ValueFunction* f = of(tensor);
  const int source = f != nullptr ? f->source : tensor;
  bool is_read = false;
  for (const Op& op : graph_.ops) {
    if (std::find(op.inputs.begin(), op.inputs.end(), tensor) == op.inputs.end()) continue;
    const ValueFunction* made = of(op.output);
    if (made == nullptr || made->source != source) return true;
    is_read = true;
  }
  return !is_read;
}

int ValueFunctions::stands_for(int source) const {
  if (is_needed(source)) return kNoTensor;
  int only = kNoTensor;
  for (const Op& op : graph_.ops) {
    const ValueFunction* f = of(op.output);
    if (f == nullptr || f->source != source || !is_needed(op.output)) continue;
    if (only != kNoTensor) return kNoTensor;
    only = op.output;
  }
  return only;
}

}  // namespace kaiten
