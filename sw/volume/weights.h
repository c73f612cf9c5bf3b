// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Weights of a network: per layer kernels [output][channel][tap] and one bias an output; none for pooling.
#ifndef KAITEN_VOLUME_WEIGHTS_H
#define KAITEN_VOLUME_WEIGHTS_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "volume/network.h"

namespace kaiten::volume {

struct LayerWeights {
  std::vector<float> kernels;
  std::vector<float> bias;
};

// Uniform, of variance 2 / fan-in, so that values keep their size from layer to layer; the same for a seed on every machine.
std::vector<LayerWeights> seeded_weights(const Network& network, std::uint64_t seed);
// Raw float32, little-endian: of every convolution its kernels, then its biases. Throws InputError naming the file where
// the length is another or a value is not finite.
std::vector<LayerWeights> weights_from(const Network& network, std::span<const std::uint8_t> bytes,
                                       const std::string& file);
// The same in the interval [-1, 1): element `index` of the volume with this seed.
float seeded_voxel(std::uint64_t seed, std::uint64_t index);

}  // namespace kaiten::volume

#endif  // KAITEN_VOLUME_WEIGHTS_H
