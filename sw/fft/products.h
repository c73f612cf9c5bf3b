// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Products of spectra: inner products over channels, bin by bin, as complex numbers image * conj(kernel),
// which is the spectrum of the correlation. T: float or double.
#ifndef KAITEN_FFT_PRODUCTS_H
#define KAITEN_FFT_PRODUCTS_H

#include <complex>
#include <cstdint>

namespace kaiten::fft {

// A run of bins in several channels, some distance apart.
template <typename T>
struct Channels {
  const std::complex<T>* first;
  std::int64_t distance;
};

// sum[b] (+)= sum over channels of image[c][b] * conj(kernel[c][b]); `first` overwrites.
template <typename T>
void inner_product(int channels, std::int64_t bins, Channels<T> images, Channels<T> kernels,
                   std::complex<T>* sum, bool first);

// Bins of a cell: 64 bytes.
template <typename T>
constexpr int kCell = 64 / int(sizeof(std::complex<T>));

// The matrix product of a cell: sums[s * image_step + o * output_step] = sum over channels of images[s][c] *
// conj(kernels[c][o]), every element a cell; steps in complex numbers.
template <typename T>
void multiply_cell(int images, int channels, int outputs, const std::complex<T>* image,
                   const std::complex<T>* kernels, std::complex<T>* sums, std::int64_t image_step,
                   std::int64_t output_step);

}  // namespace kaiten::fft

#endif  // KAITEN_FFT_PRODUCTS_H
