// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Float32 arithmetic that a model keeps around its quantised part, run on the host: ONNX's operators of the
// same names, on tensors in the model's own order, in float32 with double sums. No framework's bits are
// promised here: onnxruntime's order of additions is its own.
#ifndef KAITEN_REFERENCE_HOST_FLOAT_H
#define KAITEN_REFERENCE_HOST_FLOAT_H

#include <vector>

#include "graph/graph.h"

namespace kaiten::reference {

// operands hold the values of op.inputs; the shapes are those of the graph, which must fit (graph.h).
std::vector<float> host_float(const Graph& graph, const Op& op,
                              const std::vector<std::vector<float>>& operands);

}  // namespace kaiten::reference

#endif  // KAITEN_REFERENCE_HOST_FLOAT_H
