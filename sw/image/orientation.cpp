// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// EXIF: a TIFF structure (TIFF 6.0, section 2) in which tag 0x0112 of the first directory says how the image lies.
#include <utility>

#include "image/formats.h"

namespace kaiten {

namespace {

constexpr unsigned kOrientationTag = 0x0112, kShort = 3;
constexpr std::size_t kEntryBytes = 12;

}  // namespace

int exif_orientation(ImageFile tiff) {
  if (tiff.size() < 8 || tiff[0] != tiff[1] || (tiff[0] != 'I' && tiff[0] != 'M')) return 1;
  const bool little = tiff[0] == 'I';
  const auto number = [&](std::size_t at, std::size_t bytes) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < bytes; i++) n = n << 8 | tiff[at + (little ? bytes - 1 - i : i)];
    return n;
  };
  const std::size_t directory = number(4, 4);
  if (number(2, 2) != 42 || directory > tiff.size() - 2) return 1;
  const std::size_t entries = number(directory, 2);
  for (std::size_t i = 0; i < entries; i++) {
    const std::size_t at = directory + 2 + i * kEntryBytes;
    if (at + kEntryBytes > tiff.size()) return 1;
    if (number(at, 2) != kOrientationTag || number(at + 2, 2) != kShort || number(at + 4, 4) != 1) continue;
    const std::size_t orientation = number(at + 8, 2);
    return orientation >= 1 && orientation <= 8 ? int(orientation) : 1;
  }
  return 1;
}

Image oriented(Image image, int orientation) {
  if (orientation == 1) return image;
  const bool exchange = orientation >= 5;
  const bool right_to_left = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool upwards = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  Image turned{
      exchange ? image.width : image.height, exchange ? image.height : image.width, image.channels, {}};
  turned.data.resize(image.data.size());
  const auto channels = std::size_t(image.channels);
  std::uint8_t* out = turned.data.data();
  for (int y = 0; y < turned.height; y++) {
    for (int x = 0; x < turned.width; x++) {
      // Row and column of the file that stand here. Orientations 5 to 8 exchange them first, 6 and 7 count the file's rows
      // from below, 7 and 8 its columns from the right.
      int row = exchange ? x : y, column = exchange ? y : x;
      if (upwards) row = image.height - 1 - row;
      if (right_to_left) column = image.width - 1 - column;
      const std::uint8_t* in =
          &image.data[(std::size_t(row) * std::size_t(image.width) + std::size_t(column)) * channels];
      for (std::size_t c = 0; c < channels; c++) *out++ = in[c];
    }
  }
  return turned;
}

}  // namespace kaiten
