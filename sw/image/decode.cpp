// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/error.h"
#include "image/formats.h"

namespace kaiten {

namespace {

bool starts(ImageFile file, std::string_view magic, std::size_t at = 0) {
  return file.size() >= at + magic.size() &&
         std::equal(magic.begin(), magic.end(), file.begin() + std::ptrdiff_t(at),
                    [](char a, std::uint8_t b) { return std::uint8_t(a) == b; });
}

using Decoder = DecodedImage (*)(ImageFile);

Decoder decoder_of(ImageFile file) {
  if (starts(file, "\x89PNG\r\n\x1a\n")) return decode_png;
  if (starts(file, "\xff\xd8\xff")) return decode_jpeg;
  if (starts(file, "BM") && file.size() >= 26) return decode_bmp;
  const bool netpbm = starts(file, "P5") || starts(file, "P6");
  return netpbm && file.size() >= 3 && std::isspace(file[2]) != 0 ? decode_netpbm : nullptr;
}

}  // namespace

BadImage::BadImage(const std::string& why, std::uint64_t width, std::uint64_t height)
    : BadImage(fmt::format("{} ({}x{})", why, width, height)) {}

void check_sides(std::uint64_t width, std::uint64_t height) {
  if (width < 1 || height < 1) throw BadImage("it has no pixels", width, height);
  if (width > kMaxImageSide || height > kMaxImageSide) {
    throw BadImage(fmt::format("limit: sides of {} pixels, found: {}x{}", kMaxImageSide, width, height));
  }
  if (width * height > kMaxImagePixels)
    throw BadImage(fmt::format("limit: {} pixels, found: {}x{}", kMaxImagePixels, width, height));
}

Image make_image(std::uint64_t width, std::uint64_t height, int channels) {
  check_sides(width, height);
  Image image{int(height), int(width), channels, {}};
  image.data.resize(width * height * std::size_t(channels));
  return image;
}

bool is_image(ImageFile file) { return decoder_of(file) != nullptr; }

const char* foreign_image(ImageFile file) {
  return starts(file, "GIF8")                                        ? "GIF"
         : starts(file, "RIFF") && starts(file, "WEBP", 8)           ? "WebP"
         : starts(file, "II*") || starts(file, "MM\0*")              ? "TIFF"
         : starts(file, "ftyphei", 4) || starts(file, "ftypmif1", 4) ? "HEIF"
         : starts(file, "ftypavif", 4)                               ? "AVIF"
                                                                     : nullptr;
}

DecodedImage decode_image(ImageFile file, const std::string& name) {
  const Decoder decode = decoder_of(file);
  try {
    if (decode == nullptr) {
      const std::string known = "neither PNG, JPEG, BMP nor PPM";
      const char* format = foreign_image(file);
      throw BadImage(format == nullptr ? known : known + ", but " + format);
    }
    return decode(file);
  } catch (const BadImage& e) {
    throw InputError("bad image '" + name + "': " + e.what());
  }
}

}  // namespace kaiten
