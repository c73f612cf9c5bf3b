// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A graph as pruning leaves it: some of its weights are zero.
#ifndef KAITEN_TESTS_SUPPORT_PRUNE_H
#define KAITEN_TESTS_SUPPORT_PRUNE_H

#include <random>
#include <set>

#include "graph/graph.h"

namespace kaiten::test {

// Each weight with the probability percent / 100.
inline Graph pruned(Graph graph, unsigned percent, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::set<int> tensors;
  for (const Op& op : graph.ops) {
    if (op.weights != kNoTensor) tensors.insert(op.weights);
  }
  for (const int t : tensors) {
    Tensor& tensor = graph.tensors[std::size_t(t)];
    if (tensor.type != ElementType::Int8) continue;
    for (std::uint8_t& w : tensor.data) {
      if (random() % 100 < percent) w = std::uint8_t(tensor.zero_point());
    }
  }
  return graph;
}

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SUPPORT_PRUNE_H
