// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// BMP: Microsoft's BITMAPFILEHEADER and one of BITMAPCOREHEADER (12 bytes), BITMAPINFOHEADER (40) and its successors, which
// begin alike. Rows are padded to four bytes and stand bottom up unless the height is negative.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>

#include "image/formats.h"

namespace kaiten {

namespace {

constexpr std::size_t kFileHeader = 14, kCoreHeader = 12, kInfoHeader = 40;
constexpr std::uint32_t kPlain = 0, kRle8 = 1, kRle4 = 2, kBitFields = 3, kAlphaBitFields = 6;

struct Bitmap {
  ImageFile file;
  std::size_t header = 0;  // bytes of the second header
  std::int64_t width = 0;
  std::int64_t height = 0;  // negative: from the top down
  unsigned bits = 0;        // a pixel
  std::array<std::uint32_t, 3> masks{};
  std::size_t colours = 0;  // of the palette

  std::uint32_t number(std::size_t at, std::size_t bytes) const {
    if (at > file.size() || file.size() - at < bytes) throw BadImage("it ends early");
    std::uint32_t n = 0;
    for (std::size_t i = bytes; i-- > 0;) n = n << 8 | file[at + i];
    return n;
  }
};

void read_masks(Bitmap& b, std::uint32_t compression) {
  if (compression == kPlain) {
    b.masks = b.bits == 16 ? std::array{0x7c00U, 0x03e0U, 0x001fU} : std::array{0xff0000U, 0xff00U, 0xffU};
    return;
  }
  for (std::size_t c = 0; c < 3; c++) {
    b.masks[c] = b.number(kFileHeader + kInfoHeader + 4 * c, 4);
    const std::uint32_t ones = b.masks[c] >> (b.masks[c] == 0 ? 0 : std::countr_zero(b.masks[c]));
    if (ones == 0 || ones > 255 || (ones & (ones + 1)) != 0)
      throw BadImage("limit: 1 to 8 adjacent bits a colour, found: mask " + fmt::format("{:#x}", b.masks[c]));
  }
}

Bitmap read_header(ImageFile file) {
  Bitmap b{.file = file};
  b.header = b.number(kFileHeader, 4);
  if (b.header == kCoreHeader) {
    b.width = b.number(18, 2);
    b.height = b.number(20, 2);
    b.bits = b.number(24, 2);
    b.colours = b.bits <= 8 ? std::size_t(1) << b.bits : 0;
    return b;
  }
  if (b.header < kInfoHeader || b.header > 1024)
    throw BadImage(fmt::format("limit: headers of 12 or 40 to 1024 bytes, found: {}", b.header));
  b.width = std::int32_t(b.number(18, 4));
  b.height = std::int32_t(b.number(22, 4));
  b.bits = b.number(28, 2);
  const std::uint32_t compression = b.number(30, 4);
  b.colours = b.number(46, 4);
  if (b.colours == 0 && b.bits <= 8) b.colours = std::size_t(1) << b.bits;
  if (b.bits <= 8 && b.colours > 256) throw BadImage(fmt::format("limit: 256 colours, found: {}", b.colours));
  const bool masks =
      (b.bits == 16 || b.bits == 32) && (compression == kBitFields || compression == kAlphaBitFields);
  if (compression != kPlain && !masks) {
    const char* name = compression == kRle8 || compression == kRle4 ? "run lengths" : "another compression";
    throw BadImage(fmt::format("limit: uncompressed BMP, found: {} ({})", name, compression));
  }
  read_masks(b, compression);
  return b;
}

// Where the pixel of `bits` <= 8 at column x of a row stands in the palette.
unsigned index_at(const Bitmap& b, const std::uint8_t* row, std::size_t x) {
  const std::size_t bit = x * b.bits;
  return row[bit / 8] >> (8 - b.bits - bit % 8) & ((1U << b.bits) - 1);
}

std::uint8_t field(std::uint32_t pixel, std::uint32_t mask) {
  const int shift = std::countr_zero(mask);
  return std::uint8_t(((pixel & mask) >> shift) * 255 / (mask >> shift));
}

}  // namespace

DecodedImage decode_bmp(ImageFile file) {
  const Bitmap b = read_header(file);
  if (b.bits != 1 && b.bits != 4 && b.bits != 8 && b.bits != 16 && b.bits != 24 && b.bits != 32)
    throw BadImage(fmt::format("limit: 1, 4, 8, 16, 24 or 32 bits a pixel, found: {}", b.bits));
  if (b.header == kCoreHeader && (b.bits == 16 || b.bits == 32))
    throw BadImage(fmt::format("limit: 1, 4, 8 or 24 bits with this header, found: {}", b.bits));
  if (b.width < 0) throw BadImage("its width is negative");
  const auto width = std::size_t(b.width), height = std::size_t(std::abs(b.height));
  check_sides(width, height);
  const std::size_t row_bytes = (width * b.bits + 31) / 32 * 4;
  const std::size_t pixels = b.number(10, 4), palette = kFileHeader + b.header;
  const std::size_t entry = b.header == kCoreHeader ? 3 : 4;
  if (pixels > file.size() || (file.size() - pixels) / std::max<std::size_t>(row_bytes, 1) < height ||
      (b.bits <= 8 && palette + b.colours * entry > file.size()))
    throw BadImage("it ends early", width, height);
  Image image = make_image(width, height, 3);
  for (std::size_t y = 0; y < height; y++) {
    const std::uint8_t* row = &file[pixels + (b.height < 0 ? y : height - 1 - y) * row_bytes];
    std::uint8_t* out = &image.data[y * width * 3];
    for (std::size_t x = 0; x < width; x++, out += 3) {
      if (b.bits == 24 || b.bits <= 8) {
        const std::uint8_t* bgr = row + 3 * x;
        if (b.bits <= 8) {
          const unsigned index = index_at(b, row, x);
          if (index >= b.colours)
            throw BadImage(fmt::format("limit: {} colours, found: number {}", b.colours, index), width,
                           height);
          bgr = &file[palette + index * entry];
        }
        for (std::size_t c = 0; c < 3; c++) out[c] = bgr[2 - c];
        continue;
      }
      std::uint32_t pixel = 0;
      for (std::size_t i = b.bits / 8; i-- > 0;) pixel = pixel << 8 | row[x * (b.bits / 8) + i];
      for (std::size_t c = 0; c < 3; c++) out[c] = field(pixel, b.masks[c]);
    }
  }
  std::vector<std::string> notes;
  if (b.bits <= 8) notes.emplace_back("palette looked up");
  if (b.bits == 32) notes.emplace_back("fourth channel left out");
  return {std::move(image), "BMP", std::move(notes)};
}

}  // namespace kaiten
