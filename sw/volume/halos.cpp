// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "volume/halos.h"

#include <algorithm>
#include <utility>

namespace kaiten::volume {

using fft::Array;

namespace {

// Slices that stay of the layer's input: of the first one's nothing, which is read from the volume.
int slices_of(const Network& network, const Plan& plan, std::size_t layer) {
  return plan.halos_kept && layer > 0 ? halo_of(network.layers[layer], plan.layers[layer]) : 0;
}

std::uint64_t kept_elements(const Maps& in, int slices) {
  Maps kept = in;
  kept.size.depth = slices;
  return kept.elements();
}

}  // namespace

std::uint64_t halo_bytes(const Network& network, const Plan& plan, Numbers numbers) {
  if (!plan.halos_kept) return 0;
  const std::vector<Maps> maps = maps_of(network, plan);
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < network.layers.size(); i++)
    bytes = fft::sum(
        {bytes, fft::array_bytes(kept_elements(maps[i], slices_of(network, plan, i)), bytes_of(numbers))});
  return fft::product({bytes, plain_windows(network, plan).elements() / std::uint64_t(plan.batch)});
}

std::uint64_t joined_elements(const Network& network, const Plan& plan, const Maps& in, std::size_t layer) {
  return slices_of(network, plan, layer) > 0 ? in.elements() : 0;
}

std::uint64_t join_bytes(const Network& network, const Plan& plan, const Maps& in, std::size_t layer,
                         Numbers numbers) {
  const int slices = slices_of(network, plan, layer);
  if (slices == 0) return 0;
  return fft::sum({fft::array_bytes(in.elements(), bytes_of(numbers)),
                   fft::array_bytes(kept_elements(in, in.size.depth - slices), bytes_of(numbers))});
}

template <typename T>
Halos<T>::Halos(const Network& network, const Plan& plan, fft::Workers& workers, fft::Memory& memory)
    : workers_(workers), memory_(memory), maps_(maps_of(network, plan)), kept_(network.layers.size()) {
  for (std::size_t i = 0; i < kept_.size(); i++) {
    slices_.push_back(slices_of(network, plan, i));
    if (slices_[i] > 0) kept_[i] = Array<T>(memory, kept_elements(maps_[i], slices_[i]));
  }
  clear();
}

template <typename T>
void Halos<T>::clear() {
  for (Array<T>& kept : kept_) std::fill(kept.begin(), kept.end(), T(0));
}

template <typename T>
Array<T> Halos<T>::joined(std::size_t layer, Array<T> fresh) {
  if (slices_[layer] == 0) return fresh;
  const Maps& in = maps_[layer];
  Array<T> whole(memory_, in.elements());
  const std::size_t slice = std::size_t(in.size.height) * std::size_t(in.size.width);
  const std::size_t old = slice * std::size_t(slices_[layer]), all = slice * std::size_t(in.size.depth);
  workers_.each(std::int64_t(in.batch) * in.channels, [&](std::int64_t m, int) {
    const auto map = std::size_t(m);
    T *kept = kept_[layer].data() + map * old, *to = whole.data() + map * all;
    std::copy_n(kept, old, to);
    std::copy_n(fresh.data() + map * (all - old), all - old, to + old);
    std::copy_n(to + all - old, old, kept);
  });
  return whole;
}

template class Halos<float>;
template class Halos<std::int8_t>;

}  // namespace kaiten::volume
