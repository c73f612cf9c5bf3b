// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "codec/map_layout.h"

#include <cstring>

namespace kaiten::codec {

namespace {

// Distance in elements between neighbours in n, c, h, w.
std::array<std::size_t, 4> strides(const MapShape& s, MapLayout layout) {
  switch (layout) {
    case MapLayout::kNchw:
      return {s.c * s.h * s.w, s.h * s.w, s.w, 1};
    case MapLayout::kNhwc:
      return {s.h * s.w * s.c, 1, s.w * s.c, s.c};
    default:
      return {1, s.h * s.w * s.n, s.w * s.n, s.n};
  }
}

}  // namespace

std::string_view name_of(MapLayout layout) {
  return layout == MapLayout::kNchw ? "nchw" : layout == MapLayout::kNhwc ? "nhwc" : "chwn";
}

std::vector<std::uint8_t> in_layout(std::span<const std::uint8_t> map, int element_bytes,
                                    const MapShape& shape, MapLayout from, MapLayout to) {
  std::vector<std::uint8_t> out(map.begin(), map.end());
  if (from == to) return out;
  const auto a = strides(shape, from), b = strides(shape, to);
  const std::size_t size = std::size_t(element_bytes);
  for (std::size_t n = 0; n < shape.n; n++) {
    for (std::size_t c = 0; c < shape.c; c++) {
      for (std::size_t h = 0; h < shape.h; h++) {
        const std::size_t row_a = n * a[0] + c * a[1] + h * a[2], row_b = n * b[0] + c * b[1] + h * b[2];
        for (std::size_t w = 0; w < shape.w; w++)
          std::memcpy(&out[(row_b + w * b[3]) * size], &map[(row_a + w * a[3]) * size], size);
      }
    }
  }
  return out;
}

}  // namespace kaiten::codec
