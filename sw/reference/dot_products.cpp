// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "reference/dot_products.h"

namespace kaiten::reference {
namespace {

// A block of Lines x Kernels sums: every number that is loaded serves several of them.
template <size_t Lines, size_t Kernels>
void block(size_t length, const int16_t* lines, const int16_t* kernels, int32_t* sums, size_t pitch) {
  uint32_t acc[Lines][Kernels] = {};
  for (size_t i = 0; i < length; i++) {
    for (size_t l = 0; l < Lines; l++) {
      for (size_t k = 0; k < Kernels; k++) {
        acc[l][k] += uint32_t(int32_t(lines[l * length + i]) * int32_t(kernels[k * length + i]));
      }
    }
  }
  for (size_t l = 0; l < Lines; l++) {
    for (size_t k = 0; k < Kernels; k++) sums[l * pitch + k] = int32_t(acc[l][k]);
  }
}

// All lines with a few kernels, which stay in the nearest cache meanwhile.
template <size_t Kernels>
void column_of_blocks(size_t length, const int16_t* lines, size_t line_count, const int16_t* kernels,
                      int32_t* sums, size_t pitch) {
  size_t l = 0;
  for (; l + 4 <= line_count; l += 4)
    block<4, Kernels>(length, lines + l * length, kernels, sums + l * pitch, pitch);
  for (; l < line_count; l++) block<1, Kernels>(length, lines + l * length, kernels, sums + l * pitch, pitch);
}

}  // namespace

void dot_products(size_t length, const int16_t* lines, size_t line_count, const int16_t* kernels,
                  size_t kernel_count, int32_t* sums, size_t pitch) {
  size_t k = 0;
  for (; k + 4 <= kernel_count; k += 4)
    column_of_blocks<4>(length, lines, line_count, kernels + k * length, sums + k, pitch);
  for (; k < kernel_count; k++)
    column_of_blocks<1>(length, lines, line_count, kernels + k * length, sums + k, pitch);
}

}  // namespace kaiten::reference
