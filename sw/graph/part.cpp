// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/part.h"

#include <algorithm>
#include <set>

namespace kaiten {

namespace {

Tensor without_values(const Tensor& tensor) {
  return {.name = tensor.name,
          .type = tensor.type,
          .shape = tensor.shape,
          .model_type = tensor.model_type,
          .model_layout = tensor.model_layout,
          .quantization = tensor.quantization,
          .data = {}};
}

}  // namespace

Graph part_of(const Graph& graph, std::span<const int> ops) {
  Graph part;
  part.name = graph.name;
  part.framework = graph.framework;
  std::set<int> made, read, wanted(graph.outputs.begin(), graph.outputs.end());
  for (std::size_t i = 0, next = 0; i < graph.ops.size(); i++) {
    const Op& op = graph.ops[i];
    if (next < ops.size() && ops[next] == int(i)) {
      next++;
      part.ops.push_back(op);
      made.insert(op.output);
      read.insert(op.inputs.begin(), op.inputs.end());
    } else {
      wanted.insert(op.inputs.begin(), op.inputs.end());
    }
  }
  std::set<int> used = read;
  for (const Op& op : part.ops) used.insert({op.weights, op.bias});
  for (std::size_t t = 0; t < graph.tensors.size(); t++)
    part.tensors.push_back(used.contains(int(t)) ? graph.tensors[t] : without_values(graph.tensors[t]));
  if (part.ops.size() == graph.ops.size()) {
    part.inputs = graph.inputs;
    part.outputs = graph.outputs;
    return part;
  }
  std::copy_if(read.begin(), read.end(), std::back_inserter(part.inputs),
               [&](int t) { return !made.contains(t) && !graph.tensors[std::size_t(t)].is_constant(); });
  for (const Op& op : part.ops) {
    if (wanted.contains(op.output)) part.outputs.push_back(op.output);
  }
  return part;
}

}  // namespace kaiten
