// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/ends.h"

#include <algorithm>
#include <utility>

namespace kaiten {

std::vector<bool> computed_tensors(const Graph& graph) {
  std::vector<bool> computed(graph.tensors.size(), false);
  for (const int t : graph.inputs) computed[std::size_t(t)] = true;
  for (const Op& op : graph.ops) {
    const bool all = std::all_of(op.inputs.begin(), op.inputs.end(), [&](int t) {
      return computed[std::size_t(t)] || graph.tensors[std::size_t(t)].is_constant();
    });
    if (all) computed[std::size_t(op.output)] = true;
  }
  return computed;
}

void end_at(Graph& graph, std::vector<int> outputs) {
  std::vector<bool> needed(graph.tensors.size(), false);
  for (const int t : outputs) needed[std::size_t(t)] = true;
  std::vector<Op> ops;
  for (auto op = graph.ops.rbegin(); op != graph.ops.rend(); ++op) {
    if (!needed[std::size_t(op->output)]) continue;
    for (const int t : op->inputs) needed[std::size_t(t)] = true;
    ops.push_back(std::move(*op));
  }
  std::reverse(ops.begin(), ops.end());
  graph.ops = std::move(ops);
  graph.outputs = std::move(outputs);
}

}  // namespace kaiten
