// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The int8 network by plain loops over the definition: what every other way is compared with. It shares the integer
// parameters and the requantisation with them, and nothing else.
#ifndef KAITEN_VOLUME_INT8_REFERENCE_H
#define KAITEN_VOLUME_INT8_REFERENCE_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "volume/int8_network.h"

namespace kaiten::volume {

struct Int8Maps {
  int maps = 1;
  fft::Size size;
  std::vector<std::int8_t> values;  // [map][z][y][x]

  Int8Maps(int count, const fft::Size& of)
      : maps(count), size(of), values(std::size_t(count) * of.elements()) {}
  std::size_t index(int m, int z, int y, int x) const {
    return ((std::size_t(m) * std::size_t(size.depth) + std::size_t(z)) * std::size_t(size.height) +
            std::size_t(y)) *
               std::size_t(size.width) +
           std::size_t(x);
  }
  std::int8_t at(int m, int z, int y, int x) const { return values[index(m, z, y, x)]; }
  bool operator==(const Int8Maps&) const = default;
};

// y = clamp(requantise(bias + sum of (a - zp_in) * w) + zp_out) where the kernel stays inside the maps.
Int8Maps reference_convolution(const Int8Network& network, std::size_t layer, const Int8Maps& in);
// The largest value of each window; windows lie side by side from the offset on, as many as there are whole ones.
Int8Maps reference_pooling(const Int8Maps& in, const fft::Size& window, const fft::Size& offset = {0, 0, 0});
// The whole network on one window after the other: one result a position.
Int8Maps reference_at_every_position(const Int8Network& network, const Int8Maps& volume);

}  // namespace kaiten::volume

#endif  // KAITEN_VOLUME_INT8_REFERENCE_H
