// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Where the bytes of a tensor lie in memory, dense or as the device stores it. Every rule is explained in
// docs/formats/tensors.md, "Tensors in memory"; docs/formats/zvc.md for compressed maps. Units: bytes, from a base register.
#ifndef KAITEN_PROGRAM_MEMORY_LAYOUT_H
#define KAITEN_PROGRAM_MEMORY_LAYOUT_H

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace kaiten {

// What the segments of a map take, as values it is known to have pack.
struct SegmentSizes {
  std::vector<std::uint8_t> units;  // [image][row][segment]: what its size surface will be
  bool exact = true;  // false: lanes after the channels may hold something else than was counted
};

// A map in memory whose segments are compressed where that is shorter (docs/formats/zvc.md).
struct Packing {
  std::int64_t surface = 0;  // of row 0, from the same base register: a byte a segment, [row][segment]
  int zero = 0;              // the value that is left out
  int image = 0;
  std::shared_ptr<const SegmentSizes> sizes = {};  // none: nothing is known
};

// A tensor in memory: [row][segment][column][bytes of the segment's channels]. Offsets count from a base
// register.
struct MemoryLayout {
  int base = 0;
  std::int64_t offset = 0;
  int height = 0;
  int width = 0;
  int channels = 0;
  int segments = 1;
  int segment_groups = 0;  // words of CP bytes in every segment but the last
  int pixel_bytes = 0;     // of every segment but the last
  int last_pixel_bytes = 0;
  std::int64_t segment_pitch = 0;
  std::int64_t row_pitch = 0;
  std::int64_t image_pitch = 0;  // from an image of a batch to the next; 0: all have the same bytes
  std::optional<Packing> packing = {};

  std::int64_t bytes() const { return row_pitch * height; }  // of an image
  std::int64_t surface_bytes() const { return std::int64_t(height) * segments; }
  MemoryLayout of_image(int image) const {
    MemoryLayout m = *this;
    m.offset += image * image_pitch;
    if (!packing) return m;
    m.packing->image = image;
    if (image_pitch != 0) m.packing->surface += image * surface_bytes();
    return m;
  }
  // Place of a row's size surface.
  std::int64_t surface(int row) const { return packing->surface + std::int64_t(row) * segments; }
  // Bytes of a segment of a row.
  std::int64_t segment_bytes(int segment) const {
    return std::int64_t(width) * (segment + 1 == segments ? last_pixel_bytes : pixel_bytes);
  }
  // Byte of a channel, counted from the base register.
  std::int64_t at(int row, int column, int channel) const;
};

// Dense NHWC bytes, as tensors of the host are.
MemoryLayout dense_layout(int height, int width, int channels, int cp);
// As a producer with segments of `segment_groups` words stores it; segments start at multiples of `align`
// bytes.
MemoryLayout spilled_layout(int height, int width, int channels, int segment_groups, int cp, int align);

// Bytes of a ZSB word in memory.
constexpr int kRequantBytes = 9;

// Pixels of a segment that LOAD writes in one cycle, with P = `pixel` words from one to the next: the words,
// as many as a request has, must lie in different banks, and only pixels of one word may end inside it.
int pixels_together(const MemoryLayout& m, int pixel, int cp, int load_words);

}  // namespace kaiten

#endif  // KAITEN_PROGRAM_MEMORY_LAYOUT_H
