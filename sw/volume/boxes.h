// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Boxes of maps [map][z][y][x]: a part of every map, dense, and its place in the whole.
#ifndef KAITEN_VOLUME_BOXES_H
#define KAITEN_VOLUME_BOXES_H

#include <algorithm>
#include <cstddef>

#include "fft/size.h"

namespace kaiten::volume {

// Calls `row(at in the whole, at in the box)` with the first elements of every row of the box, in order.
template <typename Row>
void each_row(int maps, const fft::Size& whole, const fft::Size& from, const fft::Size& box, const Row& row) {
  std::size_t in_box = 0;
  for (int m = 0; m < maps; m++) {
    for (int z = 0; z < box.depth; z++) {
      for (int y = 0; y < box.height; y++, in_box += std::size_t(box.width)) {
        const std::size_t plane = std::size_t(m) * std::size_t(whole.depth) + std::size_t(from.depth + z);
        row((plane * std::size_t(whole.height) + std::size_t(from.height + y)) * std::size_t(whole.width) +
                std::size_t(from.width),
            in_box);
      }
    }
  }
}

// The box that begins at `from`, out of the whole maps.
template <typename T>
void take_box(int maps, const T* whole, const fft::Size& whole_size, const fft::Size& from, T* to,
              const fft::Size& box) {
  each_row(maps, whole_size, from, box,
           [&](std::size_t at, std::size_t in_box) { std::copy_n(whole + at, box.width, to + in_box); });
}

// And back into them.
template <typename T>
void put_box(int maps, const T* from_box, const fft::Size& box, T* whole, const fft::Size& whole_size,
             const fft::Size& to) {
  each_row(maps, whole_size, to, box, [&](std::size_t at, std::size_t in_box) {
    std::copy_n(from_box + in_box, box.width, whole + at);
  });
}

}  // namespace kaiten::volume

#endif  // KAITEN_VOLUME_BOXES_H
