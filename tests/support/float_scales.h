// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The scales behind multipliers. A conformance suite publishes the integers (multiplier, shift) that its
// framework made of float32 scales; a model file holds the scales. A multiplier has 31 bits and a scale 24,
// so an arbitrary set of multipliers of one layer has no scales; one that came from scales has them, and here
// they are found: with w0 the 24 bits of the first weight scale, in / out = M0 / w0 is known well enough to
// tell whether M / (in / out) is a float32 for all the others.
#ifndef KAITEN_TESTS_SUPPORT_FLOAT_SCALES_H
#define KAITEN_TESTS_SUPPORT_FLOAT_SCALES_H

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "graph/quantize.h"

namespace kaiten::test {

// Every in / out between these, with the weight scales that follow, gives the layer's multipliers; 0.5 to 2.
struct ScaleRatio {
  double low = 0;
  double high = 0;
};

// At most `most` of them. Multipliers are normalised: 2^30 to 2^31 - 1.
std::vector<ScaleRatio> scale_ratios(std::span<const Multiplier> multipliers, std::size_t most = 4096);

// The float32 out with in / out inside the ratio, if there is one.
std::optional<float> output_scale(float in, const ScaleRatio& ratio);

// One for each multiplier.
std::vector<float> weight_scales(std::span<const Multiplier> multipliers, const ScaleRatio& ratio);

// All scales of one layer on its own, in >= 1. Throws std::runtime_error where there are none.
struct LayerScales {
  float in = 1;
  float out = 1;
  std::vector<float> weights;
};
LayerScales layer_scales(std::span<const Multiplier> multipliers);

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SUPPORT_FLOAT_SCALES_H
