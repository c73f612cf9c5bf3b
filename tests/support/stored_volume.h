// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A small int8 network with random weights and a random volume for it.
#ifndef KAITEN_TESTS_SUPPORT_STORED_VOLUME_H
#define KAITEN_TESTS_SUPPORT_STORED_VOLUME_H

#include <algorithm>
#include <memory>
#include <vector>

#include "volume/int8_reference.h"
#include "volume/source.h"

namespace kaiten::test {

struct StoredVolume {
  volume::Int8Network network;
  std::unique_ptr<volume::Source> source;
};

inline StoredVolume stored_volume(const char* text, const fft::Size& size) {
  const volume::Network network = volume::parse_network(text, "n");
  fft::Workers workers(1);
  auto source = volume::seeded_source(network.inputs, size, 3);
  const auto weights = volume::seeded_weights(network, 3);
  volume::Int8Network q =
      volume::quantized(network, weights, volume::ranges_of(network, weights, *source, workers));
  return {std::move(q), std::move(source)};
}

// The volume as the network reads it.
inline volume::Int8Maps stored_voxels(const StoredVolume& s) {
  volume::Int8Maps stored(s.network.network.inputs, s.source->size());
  std::vector<float> voxels(stored.values.size());
  s.source->read({0, 0, 0}, stored.size, voxels);
  std::transform(voxels.begin(), voxels.end(), stored.values.begin(),
                 [&](float v) { return s.network.maps.front().stored(v); });
  return stored;
}

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SUPPORT_STORED_VOLUME_H
