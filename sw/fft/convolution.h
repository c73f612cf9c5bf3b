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
  int batch = 1;     ///< images
  int channels = 1;  ///< of an image and of every kernel
  int outputs = 1;   ///< channels of a result
  Size image;        ///< elements of a channel
  Size kernel;       ///< not larger than the image

  Size result() const { return valid(image, kernel); }  ///< elements of an output channel
};

/// How a layer is computed; all give the same result but for rounding.
enum class Method {
  Naive,         ///< loops over the definition
  Blocked,       ///< the same with the sums of four outputs in vector registers
  DataParallel,  ///< one transform after the other, each by all threads (the paper's FFT algorithm 1)
  TaskParallel,  ///< every thread its own transforms (algorithm 2)
  Patches,       ///< images cut into overlapping patches, whose transforms are small and share the kernels'
};
std::string_view name_of(Method method);  ///< "naive", "blocked", "data-parallel", "task-parallel", "patches"

/// Of a layer, for one run; the values stay the caller's.
template <typename T>
struct Weights {
  std::span<const T> kernels;    ///< [output][channel][tap]
  std::span<const T> bias = {};  ///< one an output; empty: none
  bool relu = false;             ///< negative results become 0
};

/// A layer, prepared once and run any number of times. T: float or double. Not thread-safe: one thread at a time; run()
/// itself uses all workers.
template <typename T>
class Convolution {
 public:
  /// Throws OutOfMemory, naming the bytes, where bytes_needed() are more than `memory` has left, and
  /// std::invalid_argument for kernels larger than the images. Workers and memory must outlive the layer.
  Convolution(const LayerShape& shape, Method method, Workers& workers, Memory& memory,
              Effort effort = Effort::Estimate);
  ~Convolution();

  const LayerShape& shape() const { return shape_; }  ///< as given
  /// The most that images, results and everything in between take at any time of run(); weights not counted.
  /// Exactly what Memory measures.
  std::uint64_t bytes_needed() const;
  /// Of Patches: the transforms' size. Else the size of the one transform, or of the image.
  Size transform_size() const;

  /// Room for the images, uninitialised, from `memory`. Throws OutOfMemory.
  Array<T> make_images() const;
  /// The results [batch][output][element]. Releases the images as soon as their transforms are there. Throws
  /// std::invalid_argument where images or weights have other sizes than the layer's, OutOfMemory where other arrays
  /// have taken the memory since.
  Array<T> run(Array<T> images, const Weights<T>& weights) const;

  class Algorithm;  ///< how the method does it; not public

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
