// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "image/formats.h"

namespace kaiten {

DecodedImage decode_netpbm(ImageFile file) {
  std::size_t at = 2;
  const auto number = [&] {
    while (at < file.size() && (std::isspace(file[at]) != 0 || file[at] == '#')) {
      if (file[at] == '#') {
        while (at < file.size() && file[at] != '\n') at++;
      } else {
        at++;
      }
    }
    unsigned n = 0;
    bool any = false;
    for (; at < file.size() && std::isdigit(file[at]) != 0; at++) {
      n = std::min(n * 10 + unsigned(file[at] - '0'), 1U << 24);
      any = true;
    }
    if (!any) throw BadImage("a number is missing in its header");
    return n;
  };
  const unsigned width = number();
  const unsigned height = number();
  if (const unsigned most = number(); most != 255)
    throw BadImage("limit: largest value 255, found: " + std::to_string(most));
  at++;
  const bool colour = file[1] == '6';
  const std::size_t bytes = std::size_t(width) * height * (colour ? 3 : 1);
  Image image = make_image(width, height, colour ? 3 : 1);
  if (file.size() < at + bytes) throw BadImage("it ends early", width, height);
  std::copy_n(file.begin() + std::ptrdiff_t(at), bytes, image.data.begin());
  return {std::move(image), colour ? "PPM" : "PGM", {}};
}

}  // namespace kaiten
