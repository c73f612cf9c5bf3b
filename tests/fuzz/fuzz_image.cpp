// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// PNG, JPEG, BMP, PGM and PPM files: an image of the size it says, or InputError. Each is fitted to inputs of sides that the
// file's last bytes choose, in every way.
#include <cstdint>

#include "base/error.h"
#include "image/image.h"
#include "image/resize.h"

// Larger images take too long to be resized thousands of times a second.
constexpr std::size_t kMaxBytes = std::size_t(1) << 16;
constexpr int kMaxSide = 64;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    if (!kaiten::is_image({data, size})) return 0;
    const kaiten::Image image = kaiten::decode_image({data, size}, "image").image;
    if (image.data.size() !=
        std::size_t(image.height) * std::size_t(image.width) * std::size_t(image.channels))
      __builtin_trap();
    if (image.data.size() > kMaxBytes) return 0;
    const int width = 1 + data[size - 1] % kMaxSide, height = 1 + data[size - 2] % kMaxSide;
    for (const kaiten::Fit fit : {kaiten::Fit::Crop, kaiten::Fit::Stretch, kaiten::Fit::Pad}) {
      const kaiten::Image made = kaiten::fitted(
          image, width, height, kaiten::placement(image.width, image.height, width, height, fit));
      if (made.width != width || made.height != height || made.channels != image.channels ||
          made.data.size() != std::size_t(width) * std::size_t(height) * std::size_t(image.channels))
        __builtin_trap();
      if (kaiten::to_grey(made).channels != 1) __builtin_trap();
    }
  } catch (const kaiten::InputError&) {
  }
  return 0;
}
