// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// image_pixels WIDTH HEIGHT FIT FILE...: the images in these sides (0: as they are), one after the other on standard output:
// a line "height width channels" and the values. FIT is crop, stretch or pad.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <string_view>

#include "image/image.h"
#include "image/resize.h"

int main(int count, char** arguments) {
  if (count < 5) return 2;
  const int width = std::atoi(arguments[1]), height = std::atoi(arguments[2]);
  const std::string_view name = arguments[3];
  const kaiten::Fit fit = name == "crop"      ? kaiten::Fit::Crop
                          : name == "stretch" ? kaiten::Fit::Stretch
                                              : kaiten::Fit::Pad;
  try {
    for (int i = 4; i < count; i++) {
      std::ifstream stream(arguments[i], std::ios::binary);
      const std::vector<char> bytes(std::istreambuf_iterator<char>(stream), {});
      kaiten::Image image =
          kaiten::decode_image({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
                               arguments[i])
              .image;
      if (width > 0) {
        image = kaiten::fitted(image, width, height,
                               kaiten::placement(image.width, image.height, width, height, fit));
      }
      std::printf("%d %d %d\n", image.height, image.width, image.channels);
      std::fwrite(image.data.data(), 1, image.data.size(), stdout);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
  return 0;
}
