// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Chains of layers and machines with figures that are worked out by hand.
#ifndef KAITEN_TESTS_SW_SWAP_CHAIN_H
#define KAITEN_TESTS_SW_SWAP_CHAIN_H

#include <string>
#include <vector>

#include "swap/simulate.h"

namespace kaiten::swap::test {

struct Layer {
  double forward = 1, backward = 2, bytes = 10, weights = 0;
};

// Each layer reads the one before; its map waits for the gradient of the next layer and its own.
inline Training chain(const std::vector<Layer>& layers) {
  Training t;
  t.network = "chain";
  const int n = int(layers.size());
  for (int i = 0; i < n; i++) {
    const Layer& l = layers[std::size_t(i)];
    const double in = i == 0 ? 0 : layers[std::size_t(i) - 1].bytes;
    t.steps.push_back({std::string(1, char('a' + i)), l.forward, l.backward, l.weights,
                       in + (i + 1 == n ? l.bytes : 0), l.bytes, false});
    t.maps.push_back(
        {t.steps.back().name, l.bytes, l.bytes, i, std::min(i + 1, n - 1), std::min(i + 1, n - 1), i, true});
    t.weight_bytes += l.weights;
  }
  return t;
}

// Devices of one switch; every link 10 bytes a second, memory without end.
inline Machine machine(int devices, double memory = 1e9) {
  Machine m;
  m.name = "toy";
  m.host = {1e9, 1e9, 10};
  m.switches = {{"s", 10}};
  for (int d = 0; d < devices; d++) {
    Device one;
    one.name = "d" + std::to_string(d);
    one.link_bytes_per_second = 10;
    one.memory_bytes = memory;
    one.operations_per_second = one.memory_bytes_per_second = 10;
    m.devices.push_back(one);
  }
  return m;
}

inline Scenario setup(const Training& training, int devices, double memory = 1e9) {
  return {machine(devices, memory), std::vector<Training>(std::size_t(devices), training), Sum::kHost, false};
}

}  // namespace kaiten::swap::test

#endif  // KAITEN_TESTS_SW_SWAP_CHAIN_H
