// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What somebody else's interpreter makes of a model and its inputs, and how it compares with the reference.
#ifndef KAITEN_OBSERVE_INTERPRETATION_H
#define KAITEN_OBSERVE_INTERPRETATION_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/values.h"
#include "observe/comparison.h"

namespace kaiten {

/// The tensors of an interpreter.
struct Interpretation {
  std::string name;     ///< "LiteRT"
  std::string version;  ///< "2.3.0"
  /// Stored values, indexed like graph.tensors, one image after the other; empty where it does not show the tensor.
  std::vector<Int8Values> tensors;
};

/// Compares what `found` and `expected` hold of an operator's output, element by element, and adds that to `c`. Float32
/// values are equal bit for bit.
void compare_values(const Graph& graph, int op, int image, const Int8Values& found,
                    const Int8Values& expected, TensorComparison& c);

/// The outputs of all operators that the interpretation shows, in the order of the operators; `found` like its tensors.
/// Float32 results of HostFloat operators, whose order of additions no framework promises, may differ by 1e-5 of the
/// tensor's largest magnitude: TensorComparison::close counts them.
std::vector<TensorComparison> compare_all(const Graph& graph, int images, std::span<const Int8Values> found,
                                          const Interpretation& expected);

}  // namespace kaiten

#endif  // KAITEN_OBSERVE_INTERPRETATION_H
