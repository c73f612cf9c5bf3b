// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "fft/products.h"

#include <algorithm>
#include <array>

#include "fft/vectors.h"

namespace kaiten::fft {
namespace {

template <typename T>
const T* parts(const std::complex<T>* p) {
  return reinterpret_cast<const T*>(p);
}
template <typename T>
T* parts(std::complex<T>* p) {
  return reinterpret_cast<T*>(p);
}

// Some registers side by side: enough sums under way to keep the multipliers busy.
template <int Registers, typename T>
void inner_product_of(int channels, const T* image, std::int64_t image_distance, const T* kernel,
                      std::int64_t kernel_distance, T* sum, bool first) {
  std::array<ConjugateSum<T>, Registers> sums;
  for (int c = 0; c < channels; c++, image += image_distance, kernel += kernel_distance) {
    for (int r = 0; r < Registers; r++) {
      const Vector<T> a = load(image + r * kLanes<T>);
      sums[std::size_t(r)].add(a, swap_parts<T>(a), load(kernel + r * kLanes<T>));
    }
  }
  for (int r = 0; r < Registers; r++) {
    const Vector<T> value = sums[std::size_t(r)].value();
    T* to = sum + r * kLanes<T>;
    store(to, first ? value : load(to) + value);
  }
}

// Images x Outputs sums in registers; every cell that is loaded serves several of them.
template <int Images, int Outputs, typename T>
void multiply_block(int channels, int outputs, const T* image, const T* kernels, T* sums,
                    std::int64_t image_step, std::int64_t output_step) {
  constexpr std::int64_t kParts = 2 * kCell<T>;  // real and imaginary
  ConjugateSum<T> sum[Images][Outputs];
  for (int c = 0; c < channels; c++) {
    Vector<T> kernel[Outputs];
    for (int o = 0; o < Outputs; o++) kernel[o] = load(kernels + (std::int64_t(c) * outputs + o) * kParts);
    for (int s = 0; s < Images; s++) {
      const Vector<T> a = load(image + (std::int64_t(s) * channels + c) * kParts);
      const Vector<T> swapped = swap_parts<T>(a);
      for (int o = 0; o < Outputs; o++) sum[s][o].add(a, swapped, kernel[o]);
    }
  }
  for (int s = 0; s < Images; s++) {
    for (int o = 0; o < Outputs; o++) store(sums + s * image_step + o * output_step, sum[s][o].value());
  }
}

// Two sums each of Images x 4 in 32 registers, or in 16.
constexpr int kImages = kVectorBytes == 64 ? 3 : 1;

template <int Outputs, typename T>
void multiply_column(int images, int channels, int outputs, const T* image, const T* kernels, T* sums,
                     std::int64_t image_step, std::int64_t output_step) {
  int s = 0;
  const auto block = [&]<int Images>(std::integral_constant<int, Images>) {
    multiply_block<Images, Outputs>(channels, outputs, image + std::int64_t(s) * channels * 2 * kCell<T>,
                                    kernels, sums + s * image_step, image_step, output_step);
    s += Images;
  };
  while (images - s >= kImages) block(std::integral_constant<int, kImages>());
  if (images - s == 2) block(std::integral_constant<int, 2>());
  if (images - s == 1) block(std::integral_constant<int, 1>());
}

}  // namespace

template <typename T>
void inner_product(int channels, std::int64_t bins, Channels<T> images, Channels<T> kernels,
                   std::complex<T>* sum, bool first) {
  constexpr std::int64_t kBins = kLanes<T> / 2;
  std::int64_t b = 0;
  const auto run = [&]<int Registers>(std::integral_constant<int, Registers>) {
    for (; b + Registers * kBins <= bins; b += Registers * kBins) {
      inner_product_of<Registers>(channels, parts(images.first + b), 2 * images.distance,
                                  parts(kernels.first + b), 2 * kernels.distance, parts(sum + b), first);
    }
  };
  run(std::integral_constant<int, 4>());
  run(std::integral_constant<int, 1>());
  for (; b < bins; b++) {
    std::complex<T> value = first ? std::complex<T>(0) : sum[b];
    for (int c = 0; c < channels; c++) {
      const std::complex<T> a = images.first[c * images.distance + b];
      const std::complex<T> w = kernels.first[c * kernels.distance + b];
      value += std::complex<T>(a.real() * w.real() + a.imag() * w.imag(),
                               a.imag() * w.real() - a.real() * w.imag());
    }
    sum[b] = value;
  }
}

template <typename T>
void multiply_cell(int images, int channels, int outputs, const std::complex<T>* image,
                   const std::complex<T>* kernels, std::complex<T>* sums, std::int64_t image_step,
                   std::int64_t output_step) {
  const auto column = [&]<int Outputs>(int o, std::integral_constant<int, Outputs>) {
    // A cell is one register or several.
    for (int part = 0; part < 2 * kCell<T>; part += kLanes<T>) {
      multiply_column<Outputs>(images, channels, outputs, parts(image) + part,
                               parts(kernels) + o * 2 * kCell<T> + part,
                               parts(sums) + 2 * o * output_step + part, 2 * image_step, 2 * output_step);
    }
  };
  int o = 0;
  for (; outputs - o >= 4; o += 4) column(o, std::integral_constant<int, 4>());
  if (outputs - o == 3) column(o, std::integral_constant<int, 3>());
  if (outputs - o == 2) column(o, std::integral_constant<int, 2>());
  if (outputs - o == 1) column(o, std::integral_constant<int, 1>());
}

#define KAITEN_INSTANTIATE(T)                                                                          \
  template void inner_product<T>(int, std::int64_t, Channels<T>, Channels<T>, std::complex<T>*, bool); \
  template void multiply_cell<T>(int, int, int, const std::complex<T>*, const std::complex<T>*,        \
                                 std::complex<T>*, std::int64_t, std::int64_t);
KAITEN_INSTANTIATE(float)
KAITEN_INSTANTIATE(double)
#undef KAITEN_INSTANTIATE

}  // namespace kaiten::fft
