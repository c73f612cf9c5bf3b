// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "codec/zvc_map.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/arithmetic.h"

namespace kaiten::codec {

namespace {

void require_sizes(const ZvcGeometry& g, std::size_t raw, std::size_t memory, std::size_t surface) {
  const auto check = [](const char* what, std::size_t found, std::size_t needed) {
    if (found < needed) {
      throw InputError(std::string("ZVC map: the ") + what + " has " + std::to_string(found) +
                       " bytes, needed are " + std::to_string(needed));
    }
  };
  check("raw map", raw, g.memory_bytes());
  check("memory", memory, g.memory_bytes());
  check("size surface", surface, g.surface_bytes());
}

// Calls visit(index in the surface, row, segment, offset in memory, bytes).
template <typename Visit>
void for_each_segment(const ZvcGeometry& g, const Visit& visit) {
  std::size_t index = 0;
  for (std::size_t row = 0; row < g.rows; row++) {
    for (std::size_t s = 0; s < g.segment_bytes.size(); s++)
      visit(index++, row, s, row * g.row_pitch + s * g.segment_pitch, g.segment_bytes[s]);
  }
}

}  // namespace

std::size_t ZvcGeometry::raw_bytes() const {
  return rows * std::accumulate(segment_bytes.begin(), segment_bytes.end(), std::size_t(0));
}

std::size_t ZvcGeometry::memory_bytes() const {
  std::size_t end = 0;
  for_each_segment(*this, [&](std::size_t, std::size_t, std::size_t, std::size_t at, std::size_t bytes) {
    end = std::max(end, at + bytes);
  });
  return end;
}

ZvcCount zvc_store_map(const ZvcFormat& format, const ZvcGeometry& geometry,
                       std::span<const std::uint8_t> raw, std::span<std::uint8_t> memory,
                       std::span<std::uint8_t> surface) {
  require_valid(format);
  require_sizes(geometry, raw.size(), memory.size(), surface.size());
  const std::size_t unit = std::size_t(format.unit_bytes);
  ZvcCount count;
  count.packed_bytes = count.bus_bytes = geometry.surface_bytes();
  for_each_segment(
      geometry, [&](std::size_t index, std::size_t, std::size_t, std::size_t at, std::size_t bytes) {
        const std::span<const std::uint8_t> segment = raw.subspan(at, bytes);
        const std::uint8_t units = surface[index] = zvc_store(format, segment, memory.subspan(at, bytes));
        count.raw_bytes += bytes;
        count.packed_bytes += units == 0 ? bytes : zvc_packed_bytes(format, segment);
        count.bus_bytes += unit * (units == 0 ? ceil_div(bytes, unit) : units);
        count.raw_segments += units == 0;
      });
  return count;
}

void zvc_load_map(const ZvcFormat& format, const ZvcGeometry& geometry, std::span<const std::uint8_t> memory,
                  std::span<const std::uint8_t> surface, std::span<std::uint8_t> raw) {
  require_valid(format);
  require_sizes(geometry, raw.size(), memory.size(), surface.size());
  for_each_segment(geometry, [&](std::size_t index, std::size_t row, std::size_t s, std::size_t at,
                                 std::size_t bytes) {
    try {
      zvc_load(format, memory.subspan(at, bytes), surface[index], raw.subspan(at, bytes));
    } catch (const CorruptStream& e) {
      throw CorruptStream("row " + std::to_string(row) + ", segment " + std::to_string(s) + ": " + e.what());
    }
  });
}

}  // namespace kaiten::codec
