// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// All dot products of some lines of numbers with some kernels of the same length: what a convolution spends
// its time on. Written so that the compiler keeps blocks of sums in vector registers.
#ifndef KAITEN_REFERENCE_DOT_PRODUCTS_H
#define KAITEN_REFERENCE_DOT_PRODUCTS_H

#include <cstddef>
#include <cstdint>

#include "base/arithmetic.h"

namespace kaiten::reference {

// Lengths are padded with zeros to a multiple of this many numbers.
constexpr size_t kDotStep = 32;
constexpr size_t padded_length(size_t length) { return align_up(length, kDotStep); }

// sums[l * pitch + k] = sum over i < length of lines[l * length + i] * kernels[k * length + i], modulo 2^32:
// right whenever the whole sum fits int32, whatever its parts do. Values must lie in -32767..32767, length
// must be padded.
void dot_products(size_t length, const int16_t* lines, size_t line_count, const int16_t* kernels,
                  size_t kernel_count, int32_t* sums, size_t pitch);

}  // namespace kaiten::reference

#endif  // KAITEN_REFERENCE_DOT_PRODUCTS_H
