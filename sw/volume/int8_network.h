// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A network of 3-D convolutions in int8, made from a float one. The rules are those of Conv2D of TensorFlow Lite
// (docs/compiler/numerics.md): maps have a scale and a zero point, kernels a scale for each output and zero point 0, biases
// are int32, sums are requantised by rule `double`. ReLU clamps at the zero point. Pooling keeps scale and zero point.
#ifndef KAITEN_VOLUME_INT8_NETWORK_H
#define KAITEN_VOLUME_INT8_NETWORK_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fft/workers.h"
#include "graph/quantize.h"
#include "volume/network.h"
#include "volume/source.h"
#include "volume/weights.h"

namespace kaiten::volume {

// Of maps: real = scale * (stored - zero_point).
struct Int8Scale {
  float scale = 1;
  int zero_point = 0;

  // The nearest, halves away from zero; values beyond the ends become these.
  std::int8_t stored(float real) const;
  float real(std::int8_t stored) const { return scale * float(stored - zero_point); }
  bool operator==(const Int8Scale&) const = default;
};

// Of a convolution; all empty for pooling.
struct Int8Layer {
  std::vector<std::int8_t> kernels;  // [output][channel][tap]
  std::vector<float> scales;         // of each output's kernel
  std::vector<std::int32_t> bias;    // of each output, in units of the product of both scales
  std::vector<Multiplier> multipliers;
  OutputQuant output;

  std::int8_t result(std::size_t output_map, std::int32_t sum) const {
    return output.stored(requantize_double(bias[output_map] + sum, multipliers[output_map]));
  }
};

struct Int8Network {
  Network network;
  std::vector<Int8Scale> maps;  // what enters each layer, and the results: layers + 1
  std::vector<Int8Layer> layers;
};

// Least and largest real values of maps.
struct Range {
  float least = 0, most = 0;
};

// Scales from ranges (layers + 1), which are made to hold 0. Throws InputError naming the layer whose sums could leave int32.
Int8Network quantized(const Network& network, std::span<const LayerWeights> weights,
                      std::span<const Range> ranges);

// What the float network's maps hold at some positions in the middle of the volume, at least kPositions along each axis
// where it has so many. Scales that come of it have eight significant bits, so that float sums of another order, on another
// machine, give the same ones but for rare cases.
constexpr int kPositions = 8;
std::vector<Range> ranges_of(const Network& network, std::span<const LayerWeights> weights, Source& source,
                             fft::Workers& workers);

// Layers [begin, end).
Int8Network some_layers(const Int8Network& network, std::size_t begin, std::size_t end);
// The same network with maps [first, first + count) of its last convolution's results; all other convolutions stay as they
// are, and pooling alone may follow.
Int8Network some_outputs(const Int8Network& network, int first, int count);

}  // namespace kaiten::volume

#endif  // KAITEN_VOLUME_INT8_NETWORK_H
