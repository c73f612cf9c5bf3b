// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Correlations of integers by Fourier transform, rounded to the exact sums: an oracle for convolutions that
/// shares nothing with loops over multiply-accumulates. docs/software/fft.md derives the bound on the error; where it
/// does not hold, nothing is computed.
#ifndef KAITEN_FFT_EXACT_H
#define KAITEN_FFT_EXACT_H

#include <cstdint>
#include <functional>
#include <span>

#include "fft/memory.h"
#include "fft/size.h"
#include "fft/workers.h"

namespace kaiten::fft {

/// Images [channel][element], kernels [output][channel][element], both dense. Output o is the sum over
/// channels of the correlations of image and kernel as networks define it: sum over t of kernel[t] * image[x +
/// t], where the kernel stays inside the image.
struct Correlation {
  int channels = 1;  ///< of the image and of every kernel
  int outputs = 1;   ///< and kernels
  Size image;        ///< elements of a channel
  Size kernel;       ///< not larger than the image
};

/// What the bound on the error depends on besides the sizes.
struct Norms {
  double image = 0;   ///< Euclidean, of all channels together
  double kernel = 0;  ///< Euclidean, of all channels of an output, the largest
  double spread = 0;  ///< sum over channels of |image of the channel| * sum of |kernel values|, the largest
};
/// Of these values; the spans hold what the correlation's sizes say.
Norms norms_of(const Correlation& c, std::span<const std::int16_t> image,
               std::span<const std::int16_t> kernels);

/// No sum computed in T is further than this from the exact one. T: float or double.
template <typename T>
double error_bound(const Correlation& c, const Norms& norms);

/// Whether sums were computed, and how far they are from being wrong.
struct ExactResult {
  bool exact = false;   ///< the bound is below 1/2: sums were computed and rounded
  double bound = 0;     ///< error_bound()
  double distance = 0;  ///< the largest between a computed value and the integer it was rounded to
};

/// take(output, sums): all sums of an output, row by row; called from any worker, outputs in any order.
/// Must be thread-safe for different outputs.
using TakeSums = std::function<void(int output, std::span<const std::int64_t> sums)>;
/// Computes all sums exactly, or none where the bound on the error is not below 1/2: then `take` is never called.
/// T: float or double. Throws OutOfMemory before the first sum, and what `take` throws.
template <typename T>
ExactResult correlate_exactly(const Correlation& c, std::span<const std::int16_t> image,
                              std::span<const std::int16_t> kernels, Workers& workers, Memory& memory,
                              const TakeSums& take);

/// The most bytes that correlate_exactly() takes at a time, exactly, image and kernels not counted.
template <typename T>
std::uint64_t exact_bytes(const Correlation& c, const Workers& workers);

}  // namespace kaiten::fft

#endif  // KAITEN_FFT_EXACT_H
