// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a convolutional layer has to do, by method, counted without preparing it: the features of time models.
#ifndef KAITEN_FFT_WORK_H
#define KAITEN_FFT_WORK_H

#include "fft/convolution.h"

namespace kaiten::fft {

/// Of one run of a layer.
struct Work {
  double image_passes = 0;   ///< transforms of images and results: complex elements times element_cost()
  double kernel_passes = 0;  ///< transforms of kernels, likewise
  double products = 0;       ///< complex multiply-adds
  double multiplies = 0;     ///< of a direct layer: multiply-adds, rows of results padded to whole vectors
};

/// Of a layer with kernels not larger than its images.
Work work_of(const LayerShape& layer, Method method);

}  // namespace kaiten::fft

#endif  // KAITEN_FFT_WORK_H
