// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A whole map in memory, compressed row segment by row segment: every segment keeps the place it has raw, and
/// a surface of one byte per segment, [row][segment], says how many units each occupies (0: raw). So any row
/// can be read alone, and what is saved is bandwidth, not memory.
#ifndef KAITEN_CODEC_ZVC_MAP_H
#define KAITEN_CODEC_ZVC_MAP_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/zvc.h"

namespace kaiten::codec {

/// Where the segments of a map stand: segment s of row r at r * row_pitch + s * segment_pitch. Bytes.
struct ZvcGeometry {
  std::size_t rows = 0;                    ///< of the map
  std::vector<std::size_t> segment_bytes;  ///< of each segment of a row; the last may be shorter
  std::size_t segment_pitch = 0;           ///< from segment to segment of a row
  std::size_t row_pitch = 0;               ///< from row to row

  /// Bytes of the size surface: one a segment.
  std::size_t surface_bytes() const { return rows * segment_bytes.size(); }
  std::size_t raw_bytes() const;  ///< of all segments, without what lies between them
  /// From the first byte to after the last one.
  std::size_t memory_bytes() const;
};

/// As the accelerator's counters count: packed bytes are masks and elements of packed segments, raw segments, and
/// the surface; bus bytes are whole units of both, and the surface.
struct ZvcCount {
  std::size_t raw_bytes = 0;     ///< of all segments
  std::size_t packed_bytes = 0;  ///< surface included
  std::size_t bus_bytes = 0;     ///< surface included
  std::size_t raw_segments = 0;  ///< segments that are not packed
};

/// Compresses a map from `raw` to `memory` and `surface`. Both memories hold geometry.memory_bytes(), the surface
/// geometry.surface_bytes(): else InputError, as for an invalid format. Bytes between and after segments are left
/// alone.
ZvcCount zvc_store_map(const ZvcFormat& format, const ZvcGeometry& geometry,
                       std::span<const std::uint8_t> raw, std::span<std::uint8_t> memory,
                       std::span<std::uint8_t> surface);

/// Expands it again, with the same requirements. Throws CorruptStream "row R, segment S: ..." for the first
/// segment that is not what zvc_store_map leaves.
void zvc_load_map(const ZvcFormat& format, const ZvcGeometry& geometry, std::span<const std::uint8_t> memory,
                  std::span<const std::uint8_t> surface, std::span<std::uint8_t> raw);

}  // namespace kaiten::codec

#endif  // KAITEN_CODEC_ZVC_MAP_H
