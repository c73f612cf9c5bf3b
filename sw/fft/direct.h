// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Direct correlation of many images with many kernels, the sums in vector registers.
#ifndef KAITEN_FFT_DIRECT_H
#define KAITEN_FFT_DIRECT_H

#include "fft/size.h"

namespace kaiten::fft {

// Outputs computed together: they share what is loaded of the images.
constexpr int kDirectOutputs = 4;

// One batch entry and up to kDirectOutputs of its outputs. images [channel][element]; kernels
// [output][channel][tap]; result [output][element]. All dense; result may not overlap the others.
template <typename T>
void correlate_blocked(int channels, int outputs, const Size& image_size, const Size& kernel_size,
                       const T* images, const T* kernels, T* result);

}  // namespace kaiten::fft

#endif  // KAITEN_FFT_DIRECT_H
