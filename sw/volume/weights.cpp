// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "volume/weights.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "base/error.h"

namespace kaiten::volume {

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers");

namespace {

// SplitMix64's finaliser (Steele, Lea, Flood 2014): any element without those before it.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

// Arrays of the right sizes.
std::vector<LayerWeights> empty_weights(const Network& network) {
  std::vector<LayerWeights> weights(network.layers.size());
  int channels = network.inputs;
  for (std::size_t i = 0; i < weights.size(); i++) {
    const Layer& l = network.layers[i];
    if (!l.convolution) continue;
    weights[i].kernels.resize(std::size_t(channels) * std::size_t(l.maps) * l.window.elements());
    weights[i].bias.resize(std::size_t(l.maps));
    channels = l.maps;
  }
  return weights;
}

}  // namespace

float seeded_voxel(std::uint64_t seed, std::uint64_t index) {
  const std::uint64_t bits = mixed(mixed(seed + 0x9e3779b97f4a7c15U) + index * 0x9e3779b97f4a7c15U);
  return float(std::int64_t(bits >> 40U) - (1 << 23)) / float(1 << 23);
}

std::vector<LayerWeights> seeded_weights(const Network& network, std::uint64_t seed) {
  std::vector<LayerWeights> weights = empty_weights(network);
  for (std::size_t i = 0; i < weights.size(); i++) {
    LayerWeights& w = weights[i];
    if (w.bias.empty()) continue;
    const std::uint64_t own = mixed(seed) + i + 1;
    const auto bound = float(std::sqrt(6.0 * double(w.bias.size()) / double(w.kernels.size())));
    for (std::size_t k = 0; k < w.kernels.size(); k++) w.kernels[k] = bound * seeded_voxel(own, k);
    for (std::size_t b = 0; b < w.bias.size(); b++) w.bias[b] = 0.1F * seeded_voxel(~own, b);
  }
  return weights;
}

std::vector<LayerWeights> weights_from(const Network& network, std::span<const std::uint8_t> bytes,
                                       const std::string& file) {
  std::vector<LayerWeights> weights = empty_weights(network);
  std::size_t needed = 0;
  for (const LayerWeights& w : weights) needed += (w.kernels.size() + w.bias.size()) * sizeof(float);
  if (bytes.size() != needed)
    throw InputError(fmt::format("'{}' has {} bytes, the network's weights and biases in float32 take {}",
                                 file, bytes.size(), needed));
  std::size_t at = 0;
  const auto take = [&](std::vector<float>& to) {
    if (to.empty()) return;
    std::memcpy(to.data(), bytes.data() + at, to.size() * sizeof(float));
    for (std::size_t i = 0; i < to.size(); i++) {
      if (!std::isfinite(to[i]))
        throw InputError(
            fmt::format("'{}': float {} is {}, weights are finite", file, at / sizeof(float) + i, to[i]));
    }
    at += to.size() * sizeof(float);
  };
  for (LayerWeights& w : weights) {
    take(w.kernels);
    take(w.bias);
  }
  return weights;
}

}  // namespace kaiten::volume
