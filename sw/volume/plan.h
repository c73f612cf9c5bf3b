// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// How a network is evaluated on a block of a volume. A block is what one pass over all offsets of the plain pooling layers
// gives: `fragment` elements of the last layer's maps, times all pooling windows, is its result. Plain pooling keeps one
// offset of its windows a run, so there are as many runs a block as the plain windows have elements, each on the block
// shifted; fragments keep all offsets in one run.
//
// Halos along depth may be kept: of every layer's input but the first one's the last slices, a kernel's depth less one of
// them or a fragment window's, stay for the block that follows in depth, and every layer computes new slices alone. A
// block's results lie before its voxels then, by lag_of(): what the halos hold is of the blocks before. The first blocks
// of a column of them fill the halos, and results before the volume's are left out.
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
  bool halos_kept = false;  // along depth
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

// What enters every layer, kept halos included, and at the end the results: layers + 1 entries.
std::vector<Maps> maps_of(const Network& network, const Plan& plan);
// Of the convolution that `in` enters.
fft::LayerShape shape_of(const Layer& layer, const Maps& in);

fft::Size block_result(const Network& network, const Plan& plan);  // voxels of a block's result
fft::Size block_input(const Network& network, const Plan& plan);   // of the volume that it reads
fft::Size plain_windows(const Network& network,
                        const Plan& plan);  // product of the plain windows: offsets of a block
// Where run 0 .. plain_windows().elements() - 1 begins in the block.
fft::Size shift_of(const Network& network, const Plan& plan, int run);
// Blocks that are worked on at a time: those of a batch.
int blocks_together(const Network& network, const Plan& plan);
// Blocks along each axis that cover a result of this size; the last ones may reach beyond it.
fft::Size blocks_of(const fft::Size& result, const fft::Size& block);
// Blocks of a plan that cover the whole result, with those that fill halos.
fft::Size grid_of(const Network& network, const Plan& plan, const fft::Size& result);

// Slices of its input, along depth, that a layer needs besides those it makes as many results of.
int halo_of(const Layer& layer, const Choice& choice);
// Of the last run's beginning in the block, along depth.
int most_shift(const Network& network, const Plan& plan);
// Of kept halos: voxels by which the new slices that enter layer `layer` lie before the block's place in the grid; of the
// result for the number of layers. Reading begins most_shift() before it, so that the last run reads the volume's first
// voxel, too.
int lag_of(const Network& network, const Plan& plan, std::size_t layer);
// Blocks of a column, its first ones, in which nothing that layer `layer` makes is of the volume; 0 where halos are not
// kept.
int idle_blocks(const Network& network, const Plan& plan, std::size_t layer);

// All choices of how to pool, fragments first, where the network leaves one; methods are as in a new Choice.
std::vector<std::vector<Choice>> poolings(const Network& network);

// "patches MPF patches pool ..." in the order of the layers.
std::string text_of(const Network& network, const Plan& plan);

}  // namespace kaiten::volume

#endif  // KAITEN_VOLUME_PLAN_H
