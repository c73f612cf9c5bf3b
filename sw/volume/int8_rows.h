// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Direct correlation of int8 maps with int8 kernels, the sums in int32.
#ifndef KAITEN_VOLUME_INT8_ROWS_H
#define KAITEN_VOLUME_INT8_ROWS_H

#include <cstddef>
#include <cstdint>

#include "fft/size.h"

namespace kaiten::volume {

// Outputs computed together: they share what is loaded of the images.
constexpr int kRowOutputs = 4;

// A row (z, y) of the results of kRowOutputs outputs: sums [output][x] of the products of stored values. image
// [channel][element]; kernels [output][channel][tap].
void correlate_rows(int channels, const fft::Size& image_size, const fft::Size& kernel_size,
                    const std::int8_t* image, const std::int8_t* const* kernels, int z, int y,
                    std::int32_t* sums);

}  // namespace kaiten::volume

#endif  // KAITEN_VOLUME_INT8_ROWS_H
