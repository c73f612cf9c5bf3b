// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "program/memory_layout.h"

#include <algorithm>
#include <array>

#include "base/arithmetic.h"
#include "program/ring.h"

namespace kaiten {

std::int64_t MemoryLayout::at(int row, int column, int channel) const {
  const int segment = segments == 1 ? 0 : channel / pixel_bytes;
  const int bytes = segment + 1 == segments ? last_pixel_bytes : pixel_bytes;
  return offset + row * row_pitch + segment * segment_pitch + std::int64_t(column) * bytes + channel -
         std::int64_t(segment) * pixel_bytes;
}

MemoryLayout dense_layout(int height, int width, int channels, int cp) {
  MemoryLayout m;
  m.height = height;
  m.width = width;
  m.channels = channels;
  m.segment_groups = ceil_div(channels, cp);
  m.pixel_bytes = m.last_pixel_bytes = channels;
  m.row_pitch = m.segment_pitch = std::int64_t(width) * channels;
  return m;
}

MemoryLayout spilled_layout(int height, int width, int channels, int segment_groups, int cp, int align) {
  MemoryLayout m;
  const int groups = ceil_div(channels, cp);
  m.height = height;
  m.width = width;
  m.channels = channels;
  m.segments = ceil_div(groups, segment_groups);
  m.segment_groups = segment_groups;
  m.pixel_bytes = segment_groups * cp;
  m.last_pixel_bytes = (groups - (m.segments - 1) * segment_groups) * cp;
  m.segment_pitch = align_up(std::int64_t(width) * m.pixel_bytes, std::int64_t(align));
  m.row_pitch = (m.segments - 1) * m.segment_pitch +
                align_up(std::int64_t(width) * m.last_pixel_bytes, std::int64_t(align));
  if (m.segments == 1) m.pixel_bytes = m.last_pixel_bytes;
  return m;
}

int pixels_together(const MemoryLayout& m, int pixel, int cp, int load_words) {
  constexpr int kMost = 8;
  const int words = ceil_div(m.pixel_bytes, cp);
  if (words > 1 && (m.pixel_bytes % cp != 0 || m.last_pixel_bytes % cp != 0)) return 1;
  std::array<bool, 9> taken{};
  for (int n = 0; n < kMost; n++) {
    if ((n + 1) * words > load_words) return std::max(n, 1);
    for (int w = 0; w < words; w++) {
      bool& bank = taken[std::size_t(bank_of(0, n * pixel + w))];
      if (bank) return n;
      bank = true;
    }
  }
  return kMost;
}

}  // namespace kaiten
