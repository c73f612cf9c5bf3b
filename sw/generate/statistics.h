// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// How alive the activations of a network are.
#ifndef KAITEN_MODELS_GENERATE_STATISTICS_H
#define KAITEN_MODELS_GENERATE_STATISTICS_H

#include <string>
#include <vector>

#include "graph/graph.h"
#include "reference/reference.h"

namespace kaiten::generate {

struct LayerStatistics {
  std::string name;
  Nhwc shape;
  bool relu = false;
  double zeros = 0;          // share of values that stand for 0
  double saturated = 0;      // share of values at an end of the range that does not stand for 0
  double dead_channels = 0;  // share of channels with one value only; 0 below kFewPixels
};

// One an operator of the graph; `values` are what run_reference() returned.
std::vector<LayerStatistics> statistics(const Graph& graph, const std::vector<Int8Values>& values);

// A line a layer.
std::string to_text(const std::vector<LayerStatistics>& layers);

}  // namespace kaiten::generate

#endif  // KAITEN_MODELS_GENERATE_STATISTICS_H
