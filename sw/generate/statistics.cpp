// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "generate/statistics.h"

#include <algorithm>
#include <cstdio>

#include "generate/random_network.h"

namespace kaiten::generate {

std::vector<LayerStatistics> statistics(const Graph& graph, const std::vector<Int8Values>& values) {
  std::vector<LayerStatistics> layers;
  for (const Op& op : graph.ops) {
    const Tensor& t = graph.output_of(op);
    const Int8Values& v = values[size_t(op.output)];
    LayerStatistics s;
    s.name = op.name;
    s.shape = t.nhwc();
    s.relu = op.activation == Activation::Relu;
    const int zero = t.zero_point();
    const auto channels = size_t(s.shape.c);
    std::vector<bool> varies(channels);
    for (size_t i = 0; i < v.size(); i++) {
      s.zeros += v[i] == zero;
      s.saturated += v[i] != zero && (v[i] == -128 || v[i] == 127);
      if (v[i] != v[i % channels]) varies[i % channels] = true;
    }
    s.zeros /= double(v.size());
    s.saturated /= double(v.size());
    if (size_t(s.shape.h) * size_t(s.shape.w) >= kFewPixels)
      s.dead_channels = double(std::count(varies.begin(), varies.end(), false)) / double(channels);
    layers.push_back(s);
  }
  return layers;
}

std::string to_text(const std::vector<LayerStatistics>& layers) {
  std::string text = "layer          shape            zeros  saturated  dead channels\n";
  for (const LayerStatistics& l : layers) {
    const std::string shape =
        std::to_string(l.shape.h) + "x" + std::to_string(l.shape.w) + "x" + std::to_string(l.shape.c);
    char line[128];
    std::snprintf(line, sizeof line, "%-14s %-14s %5.1f %%    %5.2f %%        %5.1f %%\n", l.name.c_str(),
                  shape.c_str(), 100 * l.zeros, 100 * l.saturated, 100 * l.dead_channels);
    text += line;
  }
  return text;
}

}  // namespace kaiten::generate
