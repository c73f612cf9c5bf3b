// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "fft/direct.h"

#include <cstdint>

#include "fft/vectors.h"

namespace kaiten::fft {
namespace {

template <typename T>
struct Problem {
  int channels;
  Size image, kernel, out;
  const T* images;
  const T* kernels;
  T* result;
};

// `Registers` vectors of a row of each of `Outputs` outputs, from (z, y, x) on.
template <int Outputs, int Registers, typename T>
void strip(const Problem<T>& p, int z, int y, int x) {
  const auto taps = std::int64_t(p.kernel.elements());
  const std::int64_t output_distance = p.channels * taps;
  Vector<T> sums[Outputs][Registers] = {};
  const T* kernel = p.kernels;
  for (int c = 0; c < p.channels; c++) {
    const T* image = p.images + std::int64_t(c) * std::int64_t(p.image.elements());
    for (int dz = 0; dz < p.kernel.depth; dz++) {
      for (int dy = 0; dy < p.kernel.height; dy++) {
        const T* row = image + (std::int64_t(z + dz) * p.image.height + y + dy) * p.image.width + x;
        for (int dx = 0; dx < p.kernel.width; dx++, kernel++) {
          Vector<T> cells[Registers];
          for (int r = 0; r < Registers; r++) cells[r] = load(row + dx + r * kLanes<T>);
          for (int o = 0; o < Outputs; o++) {
            const T weight = kernel[o * output_distance];
            for (int r = 0; r < Registers; r++) sums[o][r] += cells[r] * weight;
          }
        }
      }
    }
  }
  for (int o = 0; o < Outputs; o++) {
    T* to = p.result + std::int64_t(o) * std::int64_t(p.out.elements()) +
            (std::int64_t(z) * p.out.height + y) * p.out.width + x;
    for (int r = 0; r < Registers; r++) store(to + r * kLanes<T>, sums[o][r]);
  }
}

// A row too short for a vector.
template <int Outputs, typename T>
void short_row(const Problem<T>& p, int z, int y) {
  const auto taps = std::int64_t(p.kernel.elements());
  for (int o = 0; o < Outputs; o++) {
    T* to = p.result + std::int64_t(o) * std::int64_t(p.out.elements()) +
            (std::int64_t(z) * p.out.height + y) * p.out.width;
    for (int x = 0; x < p.out.width; x++) {
      T sum = 0;
      const T* kernel = p.kernels + std::int64_t(o) * p.channels * taps;
      for (int c = 0; c < p.channels; c++) {
        const T* image = p.images + std::int64_t(c) * std::int64_t(p.image.elements());
        for (int dz = 0; dz < p.kernel.depth; dz++) {
          for (int dy = 0; dy < p.kernel.height; dy++) {
            const T* row = image + (std::int64_t(z + dz) * p.image.height + y + dy) * p.image.width + x;
            for (int dx = 0; dx < p.kernel.width; dx++) sum += row[dx] * *kernel++;
          }
        }
      }
      to[x] = sum;
    }
  }
}

template <int Outputs, typename T>
void rows(const Problem<T>& p) {
  // As many sums as fit beside what is loaded.
  constexpr int kRegisters = kVectorBytes == 64 ? 4 : 2;
  constexpr int kLane = kLanes<T>;
  for (int z = 0; z < p.out.depth; z++) {
    for (int y = 0; y < p.out.height; y++) {
      if (p.out.width < kLane) {
        short_row<Outputs>(p, z, y);
        continue;
      }
      int x = 0;
      for (; x + kRegisters * kLane <= p.out.width; x += kRegisters * kLane)
        strip<Outputs, kRegisters>(p, z, y, x);
      for (; x + 2 * kLane <= p.out.width; x += 2 * kLane) strip<Outputs, 2>(p, z, y, x);
      for (; x + kLane <= p.out.width; x += kLane) strip<Outputs, 1>(p, z, y, x);
      // What is left, together with some sums once more.
      if (x < p.out.width) strip<Outputs, 1>(p, z, y, p.out.width - kLane);
    }
  }
}

}  // namespace

template <typename T>
void correlate_blocked(int channels, int outputs, const Size& image_size, const Size& kernel_size,
                       const T* images, const T* kernels, T* result) {
  const Problem<T> p{channels, image_size, kernel_size, valid(image_size, kernel_size),
                     images,   kernels,    result};
  switch (outputs) {
    case 1:
      return rows<1>(p);
    case 2:
      return rows<2>(p);
    case 3:
      return rows<3>(p);
    default:
      return rows<kDirectOutputs>(p);
  }
}

template void correlate_blocked<float>(int, int, const Size&, const Size&, const float*, const float*,
                                       float*);
template void correlate_blocked<double>(int, int, const Size&, const Size&, const double*, const double*,
                                        double*);

}  // namespace kaiten::fft
