// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// PNG, JPEG, BMP, PGM and PPM files: an image of the size it says, or InputError.
#include <cstdint>

#include "base/error.h"
#include "image/image.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    if (!kaiten::is_image({data, size})) return 0;
    const kaiten::Image image = kaiten::decode_image({data, size}, "image").image;
    if (image.data.size() !=
        std::size_t(image.height) * std::size_t(image.width) * std::size_t(image.channels))
      __builtin_trap();
  } catch (const kaiten::InputError&) {
  }
  return 0;
}
