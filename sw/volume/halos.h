// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Halos along depth that plans keep (plan.h): what stays of every layer's input for the block that follows.
#ifndef KAITEN_VOLUME_HALOS_H
#define KAITEN_VOLUME_HALOS_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fft/memory.h"
#include "fft/workers.h"
#include "volume/plan.h"

namespace kaiten::volume {

// Bytes of the halos of all runs of a block, exactly; 0 for plans that keep none.
std::uint64_t halo_bytes(const Network& network, const Plan& plan, Numbers numbers);
// Elements that Halos::joined() puts together for this layer, which `in` enters, and the bytes it takes meanwhile; 0 where
// nothing is kept.
std::uint64_t joined_elements(const Network& network, const Plan& plan, const Maps& in, std::size_t layer);
std::uint64_t join_bytes(const Network& network, const Plan& plan, const Maps& in, std::size_t layer,
                         Numbers numbers);

// Of the runs that are computed together. T: float or int8. Workers and memory must outlive it.
template <typename T>
class Halos {
 public:
  // Cleared. Throws fft::OutOfMemory.
  Halos(const Network& network, const Plan& plan, fft::Workers& workers, fft::Memory& memory);

  void clear();  // zeros, as before the first block of a column
  // What enters the layer: its halo, then `fresh` [image][map][voxel]. The last slices become the halo.
  fft::Array<T> joined(std::size_t layer, fft::Array<T> fresh);

 private:
  fft::Workers& workers_;
  fft::Memory& memory_;
  std::vector<Maps> maps_;  // that enter the layers
  std::vector<int> slices_;
  std::vector<fft::Array<T>> kept_;  // [image][map][slice]; empty for layers without a halo
};

}  // namespace kaiten::volume

#endif  // KAITEN_VOLUME_HALOS_H
