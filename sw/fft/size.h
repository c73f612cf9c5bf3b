// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Extents of images, and the lengths that FFTW transforms cheaply.
#ifndef KAITEN_FFT_SIZE_H
#define KAITEN_FFT_SIZE_H

#include <cstdint>
#include <string>

namespace kaiten::fft {

/// Of an image, a kernel or a transform, in elements; elements of a row lie beside each other. A 2-D image has
/// depth 1.
struct Size {
  int depth = 1;   ///< planes
  int height = 1;  ///< rows of a plane
  int width = 1;   ///< elements of a row

  bool operator==(const Size&) const = default;  ///< in all three
  std::uint64_t elements() const;                ///< depth * height * width; 2^64 - 1 where that is more
  bool inside(const Size& other) const;          ///< not larger, in all three
  std::string text() const;                      ///< "5x64x64"
};

/// What a correlation leaves where the kernel stays inside the image: image - kernel + 1. Where
/// the kernel is larger the result is not positive.
Size valid(const Size& image, const Size& kernel);

/// 2^a 3^b 5^c 7^d 11^e 13^f with e + f <= 1: FFTW has straight-line code for all of these factors.
bool is_good_length(int n);
/// Estimated time of a transform of such a length by element, in passes over the data; 0 for length 1.
double element_cost(int n);
/// Of all n elements, with what a longer image costs elsewhere (other axes, products), in the same unit.
double length_cost(int n);
/// The cheapest of these lengths that is at least n.
int good_length(int n);
/// Per axis; an axis of length 1 stays.
Size good_size(const Size& least);

}  // namespace kaiten::fft

#endif  // KAITEN_FFT_SIZE_H
