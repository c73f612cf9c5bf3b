// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// How a network is evaluated on a block of a volume. A block is what one pass over all offsets of the plain pooling layers
// gives: `fragment` elements of the last layer's maps, times all pooling windows, is its result. Plain pooling keeps one
// offset of its windows a run, so there are as many runs a block as the plain windows have elements, each on the block
// shifted; fragments keep all offsets in one run.
#ifndef KAITEN_VOLUME_PLAN_H
#define KAITEN_VOLUME_PLAN_H

#include <cstdint>
#include <string>
#include <vector>

#include "fft/convolution.h"
#include "volume/network.h"

namespace kaiten::volume {

// Of one layer in a plan.
struct Choice {
  fft::Method method = fft::Method::Patches;  // of a convolution
  bool fragments = true;                      // of a pooling layer
};

struct Plan {
  fft::Size fragment;  // of the last layer's maps
  int batch = 1;       // runs computed together
  std::vector<Choice> layers;
};

// What maps hold.
enum class Numbers : std::uint8_t { kFloat32, kInt8 };
constexpr std::size_t bytes_of(Numbers n) { return n == Numbers::kFloat32 ? sizeof(float) : 1; }

// What enters a layer, or leaves the last one.
struct Maps {
  int batch = 1;
  int channels = 1;
  fft::Size size;

  std::uint64_t elements() const;
};

// What enters every layer, and at the end the results: layers + 1 entries.
std::vector<Maps> maps_of(const Network& network, const Plan& plan);
// Of the convolution that `in` enters.
fft::LayerShape shape_of(const Layer& layer, const Maps& in);

fft::Size block_result(const Network& network, const Plan& plan);  // voxels of a block's result
fft::Size block_input(const Network& network, const Plan& plan);   // of the volume below it
fft::Size plain_windows(const Network& network,
                        const Plan& plan);  // product of the plain windows: offsets of a block
// Where run 0 .. plain_windows().elements() - 1 begins in the block.
fft::Size shift_of(const Network& network, const Plan& plan, int run);
// Blocks that are worked on at a time: those of a batch.
int blocks_together(const Network& network, const Plan& plan);
// Blocks along each axis that cover a result of this size; the last ones may reach beyond it.
fft::Size blocks_of(const fft::Size& result, const fft::Size& block);

// "patches MPF patches pool ..." in the order of the layers.
std::string text_of(const Network& network, const Plan& plan);

}  // namespace kaiten::volume

#endif  // KAITEN_VOLUME_PLAN_H
