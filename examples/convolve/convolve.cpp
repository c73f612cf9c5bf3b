// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A convolution of eight volumes to eight, directly and by FFT of patches: how long each takes, and how far apart they are.
#include <kaiten/fft/convolution.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <random>
#include <vector>

namespace fft = kaiten::fft;

int main() {
  const fft::LayerShape shape{.channels = 8, .outputs = 8, .image = {48, 48, 48}, .kernel = {7, 7, 7}};
  std::mt19937 random(1);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<float> images(std::size_t(shape.channels) * shape.image.elements());
  std::vector<float> kernels(std::size_t(shape.channels * shape.outputs) * shape.kernel.elements());
  for (auto* data : {&images, &kernels})
    std::generate(data->begin(), data->end(), [&] { return value(random); });

  fft::Workers workers(2);
  fft::Memory memory;
  std::vector<fft::Array<float>> results;
  for (const fft::Method method : {fft::Method::Blocked, fft::Method::Patches}) {
    const fft::Convolution<float> layer(shape, method, workers, memory);
    fft::Array<float> input = layer.make_images();
    std::copy(images.begin(), images.end(), input.begin());
    const auto start = std::chrono::steady_clock::now();
    results.push_back(layer.run(std::move(input), {.kernels = kernels}));
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
    std::cout << fft::name_of(method) << ": " << taken.count() << " ms, " << layer.bytes_needed()
              << " bytes\n";
  }
  float largest = 0, apart = 0;
  for (std::size_t i = 0; i < results[0].size(); i++) {
    largest = std::max(largest, std::abs(results[0][i]));
    apart = std::max(apart, std::abs(results[0][i] - results[1][i]));
  }
  std::cout << "relative difference " << apart / largest << "\n";
  return apart <= 1e-5f * largest ? 0 : 1;
}
