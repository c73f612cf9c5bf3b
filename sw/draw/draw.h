// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Findings drawn into the image that the network saw.
#ifndef KAITEN_DRAW_DRAW_H
#define KAITEN_DRAW_DRAW_H

#include <array>
#include <string>

#include "draw/findings.h"
#include "image/image.h"
#include "image/resize.h"

namespace kaiten::draw {

using Colour = std::array<std::uint8_t, 3>;

// Neighbouring classes differ; class 0 of a mask, the background, is left as it is.
Colour colour_of(int category);

// Points and boxes in pixels of the image, whose part `place.from` is `place.to` of an input of these sides; the mask with a
// class for each pixel of the image, 0 outside that part.
Findings in_pixels(Findings findings, const Image& image, const ImagePlacement& place, const Nhwc& input);

// The image in colour with these findings, which are in its pixels. A picture that was found is returned alone.
Image drawn(const Image& image, const Findings& findings);

// For the report: "2 boxes", "classes 0 15".
std::string summary(const Findings& findings);

}  // namespace kaiten::draw

#endif  // KAITEN_DRAW_DRAW_H
