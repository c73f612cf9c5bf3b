// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// How what a device computed compares with what was expected, tensor by tensor.
#ifndef KAITEN_OBSERVE_COMPARISON_H
#define KAITEN_OBSERVE_COMPARISON_H

#include <cstdint>
#include <string>

#include "graph/graph.h"

namespace kaiten {

/// One element that differs.
struct Mismatch {
  int tensor = kNoTensor;  ///< of the graph
  int op = -1;             ///< of the graph, that makes the tensor
  int row = 0;             ///< counted from 0, as are column and channel
  int column = 0;          ///< of the map
  int channel = 0;         ///< of the map
  double expected = 0;     ///< stored values; of float32 tensors real ones
  double found = 0;        ///< likewise
  int image = 0;           ///< of the batch
};

/// How one tensor compares with what was expected.
struct TensorComparison {
  int tensor = kNoTensor;       ///< of the graph
  int op = -1;                  ///< of the graph, that makes the tensor
  std::uint64_t seen = 0;       ///< elements shown
  std::uint64_t different = 0;  ///< of them
  std::uint64_t close = 0;      ///< float32 that differ, but by no more than a tolerance: not in `different`
  double largest = 0;           ///< difference, absolute
  Mismatch first = {};          ///< by image, row, column, channel; where different > 0

  /// Counts one more difference. `seen` is the caller's to count.
  void add(const Mismatch& m);
};

/// "layer 'x' (conv), tensor 'y', row 3, column 4, channel 5: 17 instead of 18"; after the tensor the image,
/// but the first.
std::string to_text(const Mismatch& m, const Graph& graph);

}  // namespace kaiten

#endif  // KAITEN_OBSERVE_COMPARISON_H
