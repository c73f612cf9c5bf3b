// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Images as people have them: PNG, JPEG, BMP, PGM (P5) and PPM (P6) to eight bits a channel, grey or red, green, blue.
/// What other programs do with the same file is the measure: the pixels are those of Pillow's convert("RGB") after
/// exif_transpose (tests/sw/image/pillow_test.py). Palettes are looked up, 16 bits lose the lower eight, alpha is left out,
/// a JPEG is turned as its EXIF orientation says; `notes` tell. Memory is bounded by the limits below, whatever a file says.
#ifndef KAITEN_IMAGE_IMAGE_H
#define KAITEN_IMAGE_IMAGE_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kaiten {

constexpr unsigned kMaxImageSide = 1U << 15;                   ///< pixels
constexpr std::size_t kMaxImagePixels = std::size_t(1) << 26;  ///< 64 Mi: 192 MiB of memory

/// An image in memory.
struct Image {
  int height = 0;                  ///< pixels
  int width = 0;                   ///< pixels
  int channels = 0;                ///< 1 or 3
  std::vector<std::uint8_t> data;  ///< rows of pixels, channels together

  /// Of sides and pixels.
  bool operator==(const Image&) const = default;
};

/// An image from a file.
struct DecodedImage {
  Image image;                     ///< its pixels
  std::string format;              ///< "PNG"
  std::vector<std::string> notes;  ///< what was changed: "alpha left out"
};

/// By the first bytes; the rest may be anything.
bool is_image(std::span<const std::uint8_t> file);
/// Name of a format that people try and that is not read ("GIF"), or nullptr.
const char* foreign_image(std::span<const std::uint8_t> file);
/// Throws InputError naming the file for anything that is not a sound image within the limits.
DecodedImage decode_image(std::span<const std::uint8_t> file, const std::string& name);

/// A PNG file, eight bits a channel, no interlace.
std::vector<std::uint8_t> encode_png(const Image& image);

}  // namespace kaiten

#endif  // KAITEN_IMAGE_IMAGE_H
