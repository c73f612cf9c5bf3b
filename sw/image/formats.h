// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The formats behind decode_image().
#ifndef KAITEN_IMAGE_FORMATS_H
#define KAITEN_IMAGE_FORMATS_H

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "image/image.h"

namespace kaiten {

// Why a file is no image: what() lacks the file's name.
struct BadImage : std::runtime_error {
  using std::runtime_error::runtime_error;
  // Of an image whose header has been read.
  BadImage(const std::string& why, std::uint64_t width, std::uint64_t height);
};

using ImageFile = std::span<const std::uint8_t>;

// All throw BadImage.
DecodedImage decode_png(ImageFile file);
DecodedImage decode_jpeg(ImageFile file);
DecodedImage decode_bmp(ImageFile file);
DecodedImage decode_netpbm(ImageFile file);

// Throws BadImage for sides beyond the limits of image.h.
void check_sides(std::uint64_t width, std::uint64_t height);
// An image of these sides without its pixels' values; BadImage beyond the limits of image.h, before memory is taken.
Image make_image(std::uint64_t width, std::uint64_t height, int channels);

// Orientation of an EXIF block (TIFF header and after it), 1 to 8; 1 where it says nothing sound.
int exif_orientation(ImageFile tiff);
// The image as its EXIF orientation shows it: 2 to 4 mirror and turn, 5 to 8 exchange rows and columns too.
Image oriented(Image image, int orientation);

}  // namespace kaiten

#endif  // KAITEN_IMAGE_FORMATS_H
