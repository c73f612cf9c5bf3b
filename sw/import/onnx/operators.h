// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The operators of ONNX that Kaiten runs. To add one: a line in the tables of operators.cpp, and the functions
// that it names.
#ifndef KAITEN_IMPORT_ONNX_OPERATORS_H
#define KAITEN_IMPORT_ONNX_OPERATORS_H

#include <string>
#include <string_view>
#include <vector>

#include "import/onnx/state.h"

namespace kaiten::importing::from_onnx {

using Operands = std::vector<int>;  // values, -1 for an absent one

// Names of all, in two sorted runs: of float values, and those that quantise.
std::vector<std::string> imported_operators();

// A float operator that is not computed yet.
struct Expression {
  int value;
  const Node& node;
  Operands operands;
  Shape shape;  // of the result
  int part;     // which output of the node
  std::string name;
};
Expression expression_of(const State& s, int value);

// An operator on float values, which may be dequantised ones, or on quantised values as they are stored. Null:
// it does not exist in this form.
struct Operator {
  std::string_view name;
  // The shape of output `part` of a node.
  Shape (*shape)(State& s, const Node& node, const Operands& operands, int part);
  // The quantised operator that an expression between DequantizeLinear and QuantizeLinear stands for: its
  // output tensor of scales `out`, or kNoTensor where the operands do not allow it. `op` has the limits that
  // a Relu or Clip after the expression sets.
  int (*fuse)(State& s, const Expression& e, Op op, const Scales& out) = nullptr;
  // The expression as float arithmetic on the host: its tensor.
  int (*on_host)(State& s, const Expression& e) = nullptr;
  // Output `part` of a node whose first input is quantised.
  Value (*on_stored)(State& s, const Node& node, int part) = nullptr;
};

// The table's line. Unsupported where the name is unknown.
const Operator& operator_of(const Node& node);

// The shape of a node's output.
Shape infer(State& s, const Node& node, const Operands& operands, int part = 0);

// Operators that state scales and zero points themselves: QuantizeLinear, DequantizeLinear, QLinearConv; and
// Constant. Null for others.
using Quantising = Value (*)(State& s, const Node& node);
Quantising find_quantising(std::string_view name);

// Output `part` of a node whose first input is quantised. Unsupported where the operator works on floats only.
Value on_stored(State& s, const Node& node, int part);

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_OPERATORS_H
