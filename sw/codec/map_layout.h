// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The three orders of a four-dimensional map in memory that frameworks use (cDMA paper, section II-C): N
// images, C channels, H rows, W columns, the last letter being what lies side by side.
#ifndef KAITEN_CODEC_MAP_LAYOUT_H
#define KAITEN_CODEC_MAP_LAYOUT_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kaiten::codec {

enum class MapLayout { kNchw, kNhwc, kChwn };

constexpr std::array<MapLayout, 3> kMapLayouts{MapLayout::kNchw, MapLayout::kNhwc, MapLayout::kChwn};

// "nchw", "nhwc", "chwn".
std::string_view name_of(MapLayout layout);

struct MapShape {
  std::size_t n = 1, c = 1, h = 1, w = 1;

  std::size_t elements() const { return n * c * h * w; }
  bool operator==(const MapShape&) const = default;
};

// The map in another order. `map` holds shape.elements() elements of so many bytes.
std::vector<std::uint8_t> in_layout(std::span<const std::uint8_t> map, int element_bytes,
                                    const MapShape& shape, MapLayout from, MapLayout to);

}  // namespace kaiten::codec

#endif  // KAITEN_CODEC_MAP_LAYOUT_H
