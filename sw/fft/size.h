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
  int depth = 1;
  int height = 1;
  int width = 1;

  bool operator==(const Size&) const = default;
  std::uint64_t elements() const;
  bool inside(const Size& other) const;  ///< in all three
  std::string text() const;              ///< "5x64x64"
};

/// What a correlation leaves where the kernel stays inside the image: image - kernel + 1.
Size valid(const Size& image, const Size& kernel);

/// 2^a 3^b 5^c 7^d 11^e 13^f with e + f <= 1: FFTW has straight-line code for all of these factors.
bool is_good_length(int n);
/// Time of a transform of such a length by element, relative to others; and of the length in all, with what
/// longer images cost elsewhere.
double element_cost(int n);
double length_cost(int n);
/// The cheapest of these lengths that is at least n.
int good_length(int n);
/// Per axis; an axis of length 1 stays.
Size good_size(const Size& least);

}  // namespace kaiten::fft

#endif  // KAITEN_FFT_SIZE_H
