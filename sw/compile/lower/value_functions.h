// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Tensors whose values are functions of single values of another one, however many operators lie between: x * sigmoid(x) is
// one table.
#ifndef KAITEN_COMPILE_LOWER_VALUE_FUNCTIONS_H
#define KAITEN_COMPILE_LOWER_VALUE_FUNCTIONS_H

#include <optional>
#include <vector>

#include "graph/graph.h"
#include "graph/quantize.h"

namespace kaiten {

// A Quantize between uint8 and int8 of one scale: stored values, less 128, are the same.
bool keeps_values(const Graph& graph, const Op& op);

struct ValueFunction {
  int source = kNoTensor;
  ValueTable table{};
  int operators = 0;  // from the source on, along the longest way
};

class ValueFunctions {
 public:
  // Must outlive this object. Knows tables, requantisations, and sums, differences and products of such tensors and of single
  // numbers.
  explicit ValueFunctions(const Graph& graph);

  // nullptr where the tensor is none.
  const ValueFunction* of(int tensor) const {
    const auto& f = of_[std::size_t(tensor)];
    return f ? &*f : nullptr;
  }
  // Whether something else than functions of the same source reads the tensor, or nothing at all: else nobody misses it.
  bool is_needed(int tensor) const;
  // The function that is all that is needed of a tensor; kNoTensor where it is needed itself, or several are.
  int stands_for(int source) const;

 private:
  std::optional<ValueFunction> function_of(const Op& op) const;

  const Graph& graph_;
  std::vector<std::optional<ValueFunction>> of_;
};

}  // namespace kaiten

#endif  // KAITEN_COMPILE_LOWER_VALUE_FUNCTIONS_H
