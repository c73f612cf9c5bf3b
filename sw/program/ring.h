// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Rows of a map in the streaming buffer (SB) and the vector buffer (VB): words of CP bytes in nine banks, rows in the
// slots of a ring. Every rule is explained in docs/formats/tensors.md, "Tensors in SB and VB".
#ifndef KAITEN_PROGRAM_RING_H
#define KAITEN_PROGRAM_RING_H

#include <cstdint>

#include "base/arithmetic.h"

namespace kaiten {

enum class Buffer : std::uint8_t { kSb, kVb };
constexpr int kBuffers = 2;

// Rows of one shape in a streaming buffer, whatever ring they are in.
struct RowLayout {
  int groups = 0;     // G, words of a pixel that exist
  int pixel = 0;      // P, words from one pixel to the next
  int width = 0;      // columns
  int slot_size = 0;  // addresses of a row

  RowLayout() = default;
  // `pixel`: 0 for the least that suits all readers.
  RowLayout(int groups, int width, int pixel = 0);
  bool operator==(const RowLayout&) const = default;
};

// Consecutive rows of a map, kept circularly in `slots` slots of a buffer.
struct Ring {
  static constexpr int kRowsApart = -1;
  int first = 0;  // address of slot 0
  int slots = 0;
  int slot_size = 0;
  int row0 = 0;  // slot of row 0; counted over all images, it may lie beyond the last
  int map =
      0;  // whose rows these are, apart from those of other times; kRowsApart: parts of several rows share a slot

  // Number of the slot of a row; rows outside the map have one too.
  int index(int row) const { return positive_mod(row0 + row, slots); }
  // Its address.
  int slot(int row) const { return first + index(row) * slot_size; }
  int last() const { return first + (slots - 1) * slot_size; }
  int end() const { return first + slots * slot_size; }
};

// Bank of a word of an absolute row, and its address beyond the row's slot.
constexpr int bank_of(int row, int word) { return positive_mod(word + 3 * row, 9); }
constexpr int address_of(int word) { return word / 9; }

}  // namespace kaiten

#endif  // KAITEN_PROGRAM_RING_H
