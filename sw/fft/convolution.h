// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Convolutional layers on many images and kernels, as ZNNi (Zlateski, Lee, Seung 2016) has them on CPUs,
/// section IV: direct, and by FFT in a data-parallel and a task-parallel form; and one of our own, by FFT of
/// overlapping patches (docs/software/fft.md). Correlation as networks define it, where the kernel stays inside the
/// image:
///
///   out[s][o][x] = bias[o] + sum over channels i and taps t of kernel[o][i][t] * image[s][i][x + t]
#ifndef KAITEN_FFT_CONVOLUTION_H
#define KAITEN_FFT_CONVOLUTION_H

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "fft/memory.h"
#include "fft/plan.h"
#include "fft/size.h"
#include "fft/workers.h"

namespace kaiten::fft {

/// Images [batch][channel][element], kernels [output][channel][tap], results [batch][output][element], all
/// dense.
struct LayerShape {
  int batch = 1;
  int channels = 1;
  int outputs = 1;
  Size image;
  Size kernel;

  Size result() const { return valid(image, kernel); }
};

enum class Method {
  Naive,         ///< loops over the definition
  Blocked,       ///< the same with the sums of four outputs in vector registers
  DataParallel,  ///< one transform after the other, each by all threads (the paper's FFT algorithm 1)
  TaskParallel,  ///< every thread its own transforms (algorithm 2)
  Patches,       ///< images cut into overlapping patches, whose transforms are small and share the kernels'
};
std::string_view name_of(Method method);  ///< "naive", "blocked", "data-parallel", "task-parallel", "patches"

template <typename T>
struct Weights {
  std::span<const T> kernels;
  std::span<const T> bias = {};  ///< one an output; empty: none
  bool relu = false;             ///< negative results become 0
};

/// T: float or double. A layer is prepared once and run any number of times, by one thread at a time.
template <typename T>
class Convolution {
 public:
  /// Throws OutOfMemory, naming the bytes, where bytes_needed() are more than `memory` has left, and
  /// std::invalid_argument for kernels larger than the images. Workers and memory must outlive the layer.
  Convolution(const LayerShape& shape, Method method, Workers& workers, Memory& memory,
              Effort effort = Effort::Estimate);
  ~Convolution();

  const LayerShape& shape() const { return shape_; }
  /// The most that images, results and everything in between take at any time of run(); weights not counted.
  /// Exactly what Memory measures.
  std::uint64_t bytes_needed() const;
  /// Of Patches: the transforms' size. Else the size of the one transform, or of the image.
  Size transform_size() const;

  /// Room for the images, from `memory`.
  Array<T> make_images() const;
  /// Releases the images as soon as their transforms are there.
  Array<T> run(Array<T> images, const Weights<T>& weights) const;

  class Algorithm;

 private:
  LayerShape shape_;
  Workers& workers_;
  Memory& memory_;
  std::unique_ptr<Algorithm> algorithm_;
};

extern template class Convolution<float>;
extern template class Convolution<double>;

}  // namespace kaiten::fft

#endif  // KAITEN_FFT_CONVOLUTION_H
