// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "fft/exact.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "fft/products.h"
#include "fft/transform.h"

namespace kaiten::fft {
namespace {

double square_sum(std::span<const std::int16_t> values) {
  double sum = 0;
  for (std::int16_t v : values) sum += double(v) * double(v);
  return sum;
}

double absolute_sum(std::span<const std::int16_t> values) {
  double sum = 0;
  for (std::int16_t v : values) sum += std::abs(double(v));
  return sum;
}

// Relative error of a one-dimensional transform in units of the rounding error (docs/software/fft.md).
double transform_error(int length) {
  struct Pass {
    int prime;
    double error;
  };
  constexpr Pass kPasses[] = {{2, 7}, {3, 17}, {5, 27}, {7, 39}, {11, 66}, {13, 82}};
  double error = 0;
  for (const Pass& pass : kPasses) {
    for (; length % pass.prime == 0; length /= pass.prime) error += pass.error;
  }
  return error;
}

double transform_error(const Size& size) {
  constexpr double kPairs = 2;  // rows are taken out of pairs, or put together
  return kPairs + transform_error(size.depth) + transform_error(size.height) + transform_error(size.width);
}

}  // namespace

Norms norms_of(const Correlation& c, std::span<const std::int16_t> image,
               std::span<const std::int16_t> kernels) {
  const std::size_t n = image.size() / std::size_t(c.channels);
  const std::size_t k = c.kernel.elements();
  Norms norms;
  std::vector<double> of_channel;
  of_channel.reserve(std::size_t(c.channels));
  for (int i = 0; i < c.channels; i++) of_channel.push_back(square_sum(image.subspan(std::size_t(i) * n, n)));
  for (double& v : of_channel) {
    norms.image += v;
    v = std::sqrt(v);
  }
  norms.image = std::sqrt(norms.image);
  for (int o = 0; o < c.outputs; o++) {
    double squares = 0, spread = 0;
    for (int i = 0; i < c.channels; i++) {
      const auto kernel = kernels.subspan((std::size_t(o) * std::size_t(c.channels) + std::size_t(i)) * k, k);
      squares += square_sum(kernel);
      spread += of_channel[std::size_t(i)] * absolute_sum(kernel);
    }
    norms.kernel = std::max(norms.kernel, std::sqrt(squares));
    norms.spread = std::max(norms.spread, spread);
  }
  return norms;
}

template <typename T>
double error_bound(const Correlation& c, const Norms& norms) {
  const double u = double(std::numeric_limits<T>::epsilon()) / 2;
  const double transform = transform_error(good_size(c.image));
  const double forward = 2 * transform + 3 * (double(c.channels) + 3);
  const double first_order = u * (forward * norms.image * norms.kernel + (transform + 2) * norms.spread);
  // Products of errors: the sum of all relative errors is far below 1/100, or the bound does not hold anyway.
  return u * (3 * transform + 3 * double(c.channels)) < 0.01 ? 1.05 * first_order
                                                             : std::numeric_limits<double>::infinity();
}

template <typename T>
ExactResult correlate_exactly(const Correlation& c, std::span<const std::int16_t> image,
                              std::span<const std::int16_t> kernels, Workers& workers, Memory& memory,
                              const TakeSums& take) {
  ExactResult result;
  result.bound = error_bound<T>(c, norms_of(c, image, kernels));
  result.exact = result.bound < 0.5;
  if (!result.exact) return result;

  using Complex = std::complex<T>;
  const Size size = good_size(c.image);
  const Size out = valid(c.image, c.kernel);
  const std::uint64_t bins = spectrum_bins<T>(size);
  const auto threads = std::uint64_t(workers.count());
  const auto channels = std::size_t(c.channels);
  const std::size_t n = c.image.elements();
  const std::size_t k = c.kernel.elements();
  memory.require(
      "the exact correlation of " + c.image.text() + " in " + std::to_string(c.channels) + " channels",
      sum({product({std::uint64_t(c.channels), bins, sizeof(Complex)}),
           product({threads, bins, 2 * sizeof(Complex)}), product({threads, n, sizeof(T)}),
           product({threads, out.elements(), sizeof(std::int64_t)})}));
  const Transform<T> of_image(size, c.image);
  const Transform<T> of_kernel(size, c.kernel);
  const Transform<T> of_output(size, out);

  Array<Complex> spectra(memory, channels * bins);
  struct Own {
    Array<T> scratch;
    Array<Complex> kernel;
    Array<Complex> sum;
    Array<T> values;  // of an image, a kernel or a result
    Array<std::int64_t> sums;
  };
  std::vector<Own> own;
  for (std::uint64_t t = 0; t < threads; t++) {
    own.push_back({Array<T>(memory, std::max({of_image.scratch(), of_kernel.scratch(), of_output.scratch()})),
                   Array<Complex>(memory, bins), Array<Complex>(memory, bins), Array<T>(memory, n),
                   Array<std::int64_t>(memory, out.elements())});
  }
  workers.each(c.channels, [&](std::int64_t i, int worker) {
    Own& mine = own[std::size_t(worker)];
    std::copy_n(image.data() + std::size_t(i) * n, n, mine.values.data());
    of_image.forward(mine.values.data(), dense(c.image), spectra.data() + std::size_t(i) * bins,
                     mine.scratch.data());
  });
  std::mutex mutex;
  workers.each(c.outputs, [&](std::int64_t o, int worker) {
    Own& mine = own[std::size_t(worker)];
    for (std::size_t i = 0; i < channels; i++) {
      std::copy_n(kernels.data() + (std::size_t(o) * channels + i) * k, k, mine.values.data());
      of_kernel.forward(mine.values.data(), dense(c.kernel), mine.kernel.data(), mine.scratch.data());
      inner_product<T>(1, std::int64_t(bins), {spectra.data() + i * bins, 0}, {mine.kernel.data(), 0},
                       mine.sum.data(), i == 0);
    }
    of_output.inverse(mine.sum.data(), mine.values.data(), dense(out), mine.scratch.data());
    double distance = 0;
    for (std::size_t x = 0; x < mine.sums.size(); x++) {
      const double value = double(mine.values[x]);
      const double rounded = std::nearbyint(value);
      distance = std::max(distance, std::abs(value - rounded));
      mine.sums[x] = std::int64_t(rounded);
    }
    take(int(o), {mine.sums.data(), mine.sums.size()});
    const std::lock_guard lock(mutex);
    result.distance = std::max(result.distance, distance);
  });
  return result;
}

template <typename T>
std::uint64_t exact_bytes(const Correlation& c, const Workers& workers) {
  using Complex = std::complex<T>;
  const Size size = good_size(c.image), out = valid(c.image, c.kernel);
  const std::uint64_t bins = spectrum_bins<T>(size);
  const std::uint64_t scratch =
      std::max({Transform<T>(size, c.image).scratch(), Transform<T>(size, c.kernel).scratch(),
                Transform<T>(size, out).scratch()});
  const std::uint64_t each =
      sum({array_bytes(scratch, sizeof(T)), product({2, array_bytes(bins, sizeof(Complex))}),
           array_bytes(c.image.elements(), sizeof(T)), array_bytes(out.elements(), sizeof(std::int64_t))});
  return sum({array_bytes(product({std::uint64_t(c.channels), bins}), sizeof(Complex)),
              product({std::uint64_t(workers.count()), each})});
}

template std::uint64_t exact_bytes<float>(const Correlation&, const Workers&);
template std::uint64_t exact_bytes<double>(const Correlation&, const Workers&);
template double error_bound<float>(const Correlation&, const Norms&);
template double error_bound<double>(const Correlation&, const Norms&);
template ExactResult correlate_exactly<float>(const Correlation&, std::span<const std::int16_t>,
                                              std::span<const std::int16_t>, Workers&, Memory&,
                                              const TakeSums&);
template ExactResult correlate_exactly<double>(const Correlation&, std::span<const std::int16_t>,
                                               std::span<const std::int16_t>, Workers&, Memory&,
                                               const TakeSums&);

}  // namespace kaiten::fft
