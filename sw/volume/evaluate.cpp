// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "volume/evaluate.h"

#include <chrono>
#include <ctime>
#include <utility>

#include "fft/pooling.h"

namespace kaiten::volume {

using fft::Array;
using fft::Size;

namespace {

fft::PoolShape pool_of(const Layer& layer, const Maps& in) {
  return {in.batch, in.channels, in.size, layer.window};
}

std::uint64_t pooling_bytes(const Layer& layer, const Choice& choice, const Maps& in) {
  const fft::PoolShape shape = pool_of(layer, in);
  const std::uint64_t images = fft::product({std::uint64_t(in.batch), std::uint64_t(in.channels)});
  const std::uint64_t result =
      choice.fragments ? fft::product({shape.fragment().elements(), std::uint64_t(shape.fragments())})
                       : shape.pooled().elements();
  return fft::sum({fft::array_bytes(fft::product({images, in.size.elements()}), sizeof(float)),
                   fft::array_bytes(fft::product({images, result}), sizeof(float))});
}

}  // namespace

std::uint64_t layer_bytes(const Layer& layer, const Choice& choice, const Maps& in, fft::Workers& workers) {
  if (!layer.convolution) return pooling_bytes(layer, choice, in);
  fft::Memory unbounded(~std::uint64_t(0));
  return fft::Convolution<float>(shape_of(layer, in), choice.method, workers, unbounded).bytes_needed();
}

Seconds now() {
  std::timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(),
          double(t.tv_sec) + 1e-9 * double(t.tv_nsec)};
}

Seconds operator-(const Seconds& a, const Seconds& b) { return {a.wall - b.wall, a.processor - b.processor}; }

Evaluator::Evaluator(const Network& network, Plan plan, std::span<const LayerWeights> weights,
                     fft::Workers& workers, fft::Memory& memory, fft::Effort effort)
    : network_(network),
      plan_(std::move(plan)),
      weights_(weights),
      workers_(workers),
      memory_(memory),
      maps_(maps_of(network, plan_)),
      convolutions_(network.layers.size()) {
  for (std::size_t i = 0; i < convolutions_.size(); i++) {
    const Layer& l = network.layers[i];
    if (l.convolution) {
      convolutions_[i] = std::make_unique<fft::Convolution<float>>(
          shape_of(l, maps_[i]), plan_.layers[i].method, workers, memory, effort);
      peak_ = std::max(peak_, convolutions_[i]->bytes_needed());
    } else {
      const std::uint64_t bytes = pooling_bytes(l, plan_.layers[i], maps_[i]);
      memory.require("pooling layer", bytes);
      peak_ = std::max(peak_, bytes);
    }
    peak_ = std::max(peak_, join_bytes(network, plan_, maps_[i], i, Numbers::kFloat32));
  }
}

Array<float> Evaluator::make_images() const { return Array<float>(memory_, maps_.front().elements()); }

Array<float> Evaluator::run_layer(std::size_t i, Array<float> images) const {
  const Layer& l = network_.layers[i];
  if (l.convolution)
    return convolutions_[i]->run(std::move(images), {weights_[i].kernels, weights_[i].bias, true});
  const fft::PoolShape shape = pool_of(l, maps_[i]);
  return plan_.layers[i].fragments ? fft::max_pool_fragments(shape, images, workers_, memory_)
                                   : fft::max_pool(shape, images, workers_, memory_);
}

Array<float> Evaluator::run(Array<float> images, std::vector<Seconds>* seconds) const {
  for (std::size_t i = 0; i < network_.layers.size(); i++) {
    const Seconds begin = now();
    images = run_layer(i, std::move(images));
    if (seconds == nullptr) continue;
    seconds->resize(network_.layers.size());
    const Seconds spent = now() - begin;
    (*seconds)[i].wall += spent.wall;
    (*seconds)[i].processor += spent.processor;
  }
  return images;
}

template <typename T>
Array<T> BlockEvaluator<T>::evaluate_next(Array<T> images, Halos<T>& halos, std::size_t layers) const {
  for (std::size_t i = 0; i < layers; i++) {
    images = halos.joined(i, std::move(images));  // what was joined is released before the layer begins
    images = run_layer(i, std::move(images));
  }
  if (layers == plan().layers.size()) return images;
  halos.joined(layers, std::move(images));
  return {};
}

template class BlockEvaluator<float>;
template class BlockEvaluator<std::int8_t>;

template <typename T>
void scatter(const Network& network, const Plan& plan, int run, const T* fragments, std::span<T> block) {
  const Size whole = block_result(network, plan), step = network.pooled(), f = plan.fragment;
  const Size first = shift_of(network, plan, run);
  std::vector<std::pair<Size, Size>>
      windows;  // of fragment layers, with the distance of their offsets in the result
  Size distance;
  int count = 1;
  for (std::size_t i = 0; i < network.layers.size(); i++) {
    const Layer& l = network.layers[i];
    if (l.convolution) continue;
    if (plan.layers[i].fragments) {
      windows.emplace_back(l.window, distance);
      count *= int(l.window.elements());
    }
    distance = {distance.depth * l.window.depth, distance.height * l.window.height,
                distance.width * l.window.width};
  }
  const auto maps = std::size_t(network.outputs());
  for (int n = 0; n < count; n++) {
    Size begin = first;
    int rest = n;
    for (auto w = windows.rbegin(); w != windows.rend(); ++w) {  // the last layer's offset changes fastest
      const auto& [window, apart] = *w;
      const int o = rest % int(window.elements());
      rest /= int(window.elements());
      begin = {begin.depth + apart.depth * (o / (window.height * window.width)),
               begin.height + apart.height * (o / window.width % window.height),
               begin.width + apart.width * (o % window.width)};
    }
    for (std::size_t m = 0; m < maps; m++) {
      for (int z = 0; z < f.depth; z++) {
        for (int y = 0; y < f.height; y++) {
          const std::size_t row = (m * std::size_t(whole.depth) + std::size_t(begin.depth + z * step.depth)) *
                                      std::size_t(whole.height) +
                                  std::size_t(begin.height + y * step.height);
          T* to = block.data() + row * std::size_t(whole.width) + begin.width;
          for (int x = 0; x < f.width; x++) to[std::size_t(x) * std::size_t(step.width)] = *fragments++;
        }
      }
    }
  }
}

template void scatter(const Network&, const Plan&, int, const float*, std::span<float>);
template void scatter(const Network&, const Plan&, int, const std::int8_t*, std::span<std::int8_t>);

}  // namespace kaiten::volume
