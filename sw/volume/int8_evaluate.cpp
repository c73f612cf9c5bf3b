// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "volume/int8_evaluate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/arithmetic.h"
#include "fft/exact.h"
#include "fft/pooling.h"
#include "volume/int8_rows.h"

namespace kaiten::volume {

using fft::Array;
using fft::LayerShape;
using fft::Size;

namespace {

constexpr double kLargestValue = 255, kLargestWeight = 127;

fft::Correlation correlation_of(const LayerShape& s) { return {s.channels, s.outputs, s.image, s.kernel}; }

std::uint64_t image_elements(const LayerShape& s) {
  return fft::product({std::uint64_t(s.channels), s.image.elements()});
}
std::uint64_t result_elements(const LayerShape& s) {
  return fft::product({std::uint64_t(s.outputs), s.result().elements()});
}

std::uint64_t images_and_results(std::uint64_t batch, std::uint64_t in, std::uint64_t out) {
  return fft::sum(
      {fft::array_bytes(fft::product({batch, in}), 1), fft::array_bytes(fft::product({batch, out}), 1)});
}

fft::PoolShape pool_of(const Layer& layer, const Maps& in) {
  return {in.batch, in.channels, in.size, layer.window};
}

}  // namespace

bool int8_exact(const LayerShape& s, fft::Method method) {
  if (method == fft::Method::Blocked) return true;
  const double image = kLargestValue * std::sqrt(double(s.image.elements()));
  const double taps = double(s.kernel.elements());
  const fft::Norms norms{image * std::sqrt(s.channels), kLargestWeight * std::sqrt(s.channels * taps),
                         image * s.channels * kLargestWeight * taps};
  return fft::error_bound<double>(correlation_of(s), norms) < 0.5;
}

std::uint64_t int8_layer_bytes(const Layer& layer, const Choice& choice, const Maps& in,
                               const fft::Workers& workers) {
  const auto batch = std::uint64_t(in.batch);
  if (!layer.convolution) {
    const fft::PoolShape shape = pool_of(layer, in);
    const std::uint64_t result =
        choice.fragments ? fft::product({shape.fragment().elements(), std::uint64_t(shape.fragments())})
                         : shape.pooled().elements();
    const auto channels = std::uint64_t(in.channels);
    return images_and_results(batch, fft::product({channels, in.size.elements()}),
                              fft::product({channels, result}));
  }
  const LayerShape shape = shape_of(layer, in);
  const std::uint64_t maps = images_and_results(batch, image_elements(shape), result_elements(shape));
  if (choice.method == fft::Method::Blocked) return maps;
  return fft::sum({maps, fft::array_bytes(image_elements(shape), sizeof(std::int16_t)),
                   fft::exact_bytes<double>(correlation_of(shape), workers)});
}

Int8Evaluator::Int8Evaluator(const Int8Network& network, Plan plan, fft::Workers& workers,
                             fft::Memory& memory)
    : network_(network),
      plan_(std::move(plan)),
      workers_(workers),
      memory_(memory),
      maps_(maps_of(network.network, plan_)),
      wide_(network.layers.size()),
      zeros_(network.layers.size()) {
  for (std::size_t i = 0; i < network.layers.size(); i++) {
    const Layer& l = network.network.layers[i];
    const Choice& choice = plan_.layers[i];
    const std::vector<std::int8_t>& kernels = network.layers[i].kernels;
    if (l.convolution && choice.method == fft::Method::Blocked) {
      const std::size_t taps = kernels.size() / std::size_t(l.maps);
      for (std::size_t o = 0; o < std::size_t(l.maps); o++) {
        std::int32_t sum = 0;
        for (std::size_t t = 0; t < taps; t++) sum += kernels[o * taps + t];
        zeros_[i].push_back(sum * network.maps[i].zero_point);
      }
    } else if (l.convolution) {
      if (std::find(kInt8Methods.begin(), kInt8Methods.end(), choice.method) == kInt8Methods.end() ||
          !int8_exact(shape_of(l, maps_[i]), choice.method))
        throw std::invalid_argument("no exact method in int8: " + std::string(fft::name_of(choice.method)));
      wide_[i].assign(kernels.begin(), kernels.end());
    }
    const std::uint64_t bytes = int8_layer_bytes(l, choice, maps_[i], workers);
    memory.require("a layer in int8", bytes);
    peak_ = std::max({peak_, bytes, join_bytes(network.network, plan_, maps_[i], i, Numbers::kInt8)});
  }
}

Array<std::int8_t> Int8Evaluator::make_images() const {
  return Array<std::int8_t>(memory_, maps_.front().elements());
}

Array<std::int8_t> Int8Evaluator::evaluate(Array<std::int8_t> images) const {
  for (std::size_t i = 0; i < network_.layers.size(); i++) images = run_layer(i, std::move(images));
  return images;
}

Array<std::int8_t> Int8Evaluator::run_layer(std::size_t i, Array<std::int8_t> images) const {
  const fft::PoolShape pool = pool_of(network_.network.layers[i], maps_[i]);
  return network_.network.layers[i].convolution ? convolve(i, images)
         : plan_.layers[i].fragments            ? fft::max_pool_fragments(pool, images, workers_, memory_)
                                                : fft::max_pool(pool, images, workers_, memory_);
}

Array<std::int8_t> Int8Evaluator::convolve(std::size_t i, const Array<std::int8_t>& images) const {
  const LayerShape shape = shape_of(network_.network.layers[i], maps_[i]);
  Array<std::int8_t> result(memory_, std::uint64_t(shape.batch) * result_elements(shape));
  if (plan_.layers[i].method == fft::Method::Blocked) {
    directly(i, images, result);
  } else {
    by_transforms(i, images, result);
  }
  return result;
}

void Int8Evaluator::directly(std::size_t i, const Array<std::int8_t>& images,
                             Array<std::int8_t>& result) const {
  const Int8Layer& q = network_.layers[i];
  const LayerShape s = shape_of(network_.network.layers[i], maps_[i]);
  const Size out = s.result();
  const std::size_t taps = std::size_t(s.channels) * s.kernel.elements(), width = std::size_t(out.width);
  const int groups = ceil_div(s.outputs, kRowOutputs);
  // A task: some outputs, one plane of an image.
  workers_.each(std::int64_t(s.batch) * out.depth * groups, [&](std::int64_t task, int) {
    const int first = int(task % groups) * kRowOutputs, z = int(task / groups % out.depth);
    const auto image = std::size_t(task / groups / out.depth);
    std::array<const std::int8_t*, kRowOutputs> kernels;
    for (int k = 0; k < kRowOutputs; k++)
      kernels[std::size_t(k)] = q.kernels.data() + std::size_t(std::min(first + k, s.outputs - 1)) * taps;
    std::vector<std::int32_t> sums(kRowOutputs * width);
    for (int y = 0; y < out.height; y++) {
      correlate_rows(s.channels, s.image, s.kernel, images.data() + image * image_elements(s), kernels.data(),
                     z, y, sums.data());
      for (int k = 0; k < kRowOutputs && first + k < s.outputs; k++) {
        const auto o = std::size_t(first + k);
        std::int8_t* to =
            result.data() + image * result_elements(s) +
            ((o * std::size_t(out.depth) + std::size_t(z)) * std::size_t(out.height) + std::size_t(y)) *
                width;
        for (std::size_t x = 0; x < width; x++)
          to[x] = q.result(o, sums[std::size_t(k) * width + x] - zeros_[i][o]);
      }
    }
  });
}

void Int8Evaluator::by_transforms(std::size_t i, const Array<std::int8_t>& images,
                                  Array<std::int8_t>& result) const {
  const Int8Layer& q = network_.layers[i];
  const LayerShape s = shape_of(network_.network.layers[i], maps_[i]);
  const std::size_t in = image_elements(s), voxels = s.result().elements();
  const int zero = network_.maps[i].zero_point;
  Array<std::int16_t> wide(memory_, in);
  for (std::size_t b = 0; b < std::size_t(s.batch); b++) {
    std::transform(images.data() + b * in, images.data() + (b + 1) * in, wide.data(),
                   [&](std::int8_t v) { return std::int16_t(v - zero); });
    std::int8_t* to = result.data() + b * result_elements(s);
    const auto done = fft::correlate_exactly<double>(
        correlation_of(s), {wide.data(), wide.size()}, wide_[i], workers_, memory_,
        [&](int o, std::span<const std::int64_t> sums) {
          for (std::size_t x = 0; x < voxels; x++)
            to[std::size_t(o) * voxels + x] = q.result(std::size_t(o), std::int32_t(sums[x]));
        });
    if (!done.exact) throw std::logic_error("a bound for these values above that for all");
  }
}

}  // namespace kaiten::volume
