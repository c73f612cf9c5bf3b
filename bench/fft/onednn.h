// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// oneDNN's direct convolution in float32, where the build found the library (Debian: libdnnl-dev).
#ifndef KAITEN_BENCH_FFT_ONEDNN_H
#define KAITEN_BENCH_FFT_ONEDNN_H

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fft/convolution.h"

namespace kaiten::bench {

class OneDnn {
 public:
  virtual ~OneDnn() = default;
  // The convolution alone: images and weights are in the library's own layout before, and stay in it.
  virtual void run() = 0;
  // The result of run(), dense.
  virtual std::vector<float> result() = 0;
  virtual std::string implementation() const = 0;
};

// Null without the library.
std::unique_ptr<OneDnn> make_onednn(const fft::LayerShape& shape, std::span<const float> images,
                                    std::span<const float> kernels);
std::string onednn_version();  // empty without the library

}  // namespace kaiten::bench

#endif  // KAITEN_BENCH_FFT_ONEDNN_H
