// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/support/float_scales.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace kaiten::test {

namespace {

constexpr double kLeast = 0x1p23;  // mantissas of float32
constexpr double kMost = 0x1p24;

// The nearest value of 24 bits.
double rounded(double w) {
  const double grid = w >= kMost ? 2 : w < kLeast ? 0.5 : 1;
  return std::rint(w / grid) * grid;
}

}  // namespace

std::vector<ScaleRatio> scale_ratios(std::span<const Multiplier> multipliers, std::size_t most) {
  std::vector<double> values;
  for (const Multiplier& m : multipliers) values.push_back(m.m);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::vector<ScaleRatio> found;
  for (double first = kLeast; first < kMost && found.size() < most; first++) {
    double low = (values[0] - 0.5) / first, high = (values[0] + 0.5) / first;
    for (std::size_t i = 1; i < values.size() && low < high; i++) {
      const double w = rounded(values[i] / ((low + high) / 2));
      low = std::max(low, (values[i] - 0.5) / w);
      high = std::min(high, (values[i] + 0.5) / w);
    }
    if (low < high) found.push_back({low / 0x1p7, high / 0x1p7});
  }
  return found;
}

std::optional<float> output_scale(float in, const ScaleRatio& ratio) {
  const float out = float(2 * double(in) / (ratio.low + ratio.high));
  const double is = double(in) / double(out);
  if (is <= ratio.low || is >= ratio.high) return std::nullopt;
  return out;
}

std::vector<float> weight_scales(std::span<const Multiplier> multipliers, const ScaleRatio& ratio) {
  std::vector<float> scales;
  for (const Multiplier& m : multipliers) {
    const double w = rounded(double(m.m) / (0x1p7 * (ratio.low + ratio.high) / 2));
    scales.push_back(float(std::ldexp(w, m.shift + 7 - 31)));
  }
  return scales;
}

LayerScales layer_scales(std::span<const Multiplier> multipliers) {
  const std::vector<ScaleRatio> ratios = scale_ratios(multipliers);
  for (float in = 1; in < 2; in += 0x1p-23F) {
    for (const ScaleRatio& ratio : ratios) {
      if (const auto out = output_scale(in, ratio)) return {in, *out, weight_scales(multipliers, ratio)};
    }
  }
  throw std::runtime_error("no float32 scales give these multipliers");
}

}  // namespace kaiten::test
