// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "volume/int8_rows.h"

#include <algorithm>

namespace kaiten::volume {
namespace {

std::int32_t wide(std::int8_t v) { return v; }

}  // namespace

void correlate_rows(int channels, const fft::Size& image_size, const fft::Size& kernel_size,
                    const std::int8_t* image, const std::int8_t* const* kernels, int z, int y,
                    std::int32_t* sums) {
  const int width = fft::valid(image_size, kernel_size).width;
  std::fill_n(sums, std::ptrdiff_t(kRowOutputs) * width, 0);
  std::int32_t *s0 = sums, *s1 = s0 + width, *s2 = s1 + width, *s3 = s2 + width;
  std::size_t tap = 0;
  for (int c = 0; c < channels; c++) {
    for (int dz = 0; dz < kernel_size.depth; dz++) {
      for (int dy = 0; dy < kernel_size.height; dy++) {
        const std::int8_t* row =
            image +
            ((std::ptrdiff_t(c) * image_size.depth + z + dz) * image_size.height + y + dy) * image_size.width;
        for (int dx = 0; dx < kernel_size.width; dx++, tap++) {
          const auto w0 = wide(kernels[0][tap]), w1 = wide(kernels[1][tap]);
          const auto w2 = wide(kernels[2][tap]), w3 = wide(kernels[3][tap]);
          for (int x = 0; x < width; x++) {
            const std::int32_t a = wide(row[x + dx]);
            s0[x] += w0 * a;
            s1[x] += w1 * a;
            s2[x] += w2 * a;
            s3[x] += w3 * a;
          }
        }
      }
    }
  }
}

}  // namespace kaiten::volume
