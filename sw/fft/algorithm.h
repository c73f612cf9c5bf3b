// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What the methods of a convolutional layer have in common; inside this library only.
#ifndef KAITEN_FFT_ALGORITHM_H
#define KAITEN_FFT_ALGORITHM_H

#include <algorithm>
#include <vector>

#include "fft/convolution.h"

namespace kaiten::fft {

template <typename T>
class Convolution<T>::Algorithm {
 public:
  virtual ~Algorithm() = default;
  virtual std::uint64_t bytes_needed() const = 0;
  virtual Size transform_size() const = 0;
  virtual Array<T> run(Array<T> images, const Weights<T>& weights) const = 0;
};

// Everything an algorithm is made with.
struct Setting {
  LayerShape shape;
  Workers& workers;
  Memory& memory;
  Effort effort;
};

template <typename T>
using AlgorithmPointer = std::unique_ptr<typename Convolution<T>::Algorithm>;
template <typename T>
AlgorithmPointer<T> make_patches(const Setting& setting);

// Elements of a layer's arrays.
inline std::uint64_t image_elements(const LayerShape& s) {
  return product({std::uint64_t(s.batch), std::uint64_t(s.channels), s.image.elements()});
}
inline std::uint64_t result_elements(const LayerShape& s) {
  return product({std::uint64_t(s.batch), std::uint64_t(s.outputs), s.result().elements()});
}

// Bytes of an array for each worker.
inline std::uint64_t each_bytes(const Workers& workers, std::uint64_t elements, std::size_t element_bytes) {
  return product({std::uint64_t(workers.count()), array_bytes(elements, element_bytes)});
}

template <typename T>
std::vector<Array<T>> array_each(const Workers& workers, Memory& memory, std::uint64_t elements) {
  std::vector<Array<T>> arrays;
  arrays.reserve(std::size_t(workers.count()));
  for (int w = 0; w < workers.count(); w++) arrays.emplace_back(memory, elements);
  return arrays;
}

// Bias and transfer function on the finished result of an output.
template <typename T>
void finish(const Weights<T>& weights, int output, std::span<T> result) {
  const T bias = weights.bias.empty() ? T(0) : weights.bias[std::size_t(output)];
  if (weights.bias.empty() && !weights.relu) return;
  for (T& value : result) {
    value += bias;
    if (weights.relu) value = std::max(value, T(0));
  }
}

}  // namespace kaiten::fft

#endif  // KAITEN_FFT_ALGORITHM_H
