// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Images to the size a model wants. The rule is bilinear with antialiasing: a triangle as wide as the larger of an input
/// and an output pixel, columns before rows, weights of 22 bits, eight bits between the two: the values of Pillow's
/// resize(size, Image.BILINEAR), bit for bit (tests/sw/image/pillow_test.py). That is Pillow up to 12: 13 takes rows before
/// columns where that is less work, which differs by 1 here and there.
#ifndef KAITEN_IMAGE_RESIZE_H
#define KAITEN_IMAGE_RESIZE_H

#include <optional>
#include <string_view>

#include "image/image.h"

namespace kaiten {

/// How an image of other proportions than the model's fills the model's input.
enum class Fit {
  Crop,     ///< the largest part of the model's proportions around the centre
  Stretch,  ///< all of it, distorted
  Pad,      ///< all of it, at the centre, the rest black (letterbox)
};

/// By its name: "crop", "stretch" or "pad"; nothing for another.
std::optional<Fit> fit_of(std::string_view name);

/// A rectangle in pixels, left and top inclusive.
struct Box {
  int left = 0;    ///< first column
  int top = 0;     ///< first row
  int width = 0;   ///< columns
  int height = 0;  ///< rows
  /// Of all four.
  bool operator==(const Box&) const = default;
};

/// Which part of the image stands where in the input.
struct ImagePlacement {
  Box from;  ///< of the image
  Box to;    ///< of the input
};

/// Odd remainders: the box lies half a pixel further left and up.
ImagePlacement placement(int image_width, int image_height, int width, int height, Fit fit);

/// height, width >= 1.
Image resized(const Image& image, int width, int height);

/// The image as an input of these sides.
Image fitted(const Image& image, int width, int height, const ImagePlacement& place);

/// The luma of ITU-R BT.601 in 16 bits, rounded, as Pillow's convert("L") has it; grey ones as they are.
Image to_grey(Image image);

}  // namespace kaiten

#endif  // KAITEN_IMAGE_RESIZE_H
