// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// PB: weights in the first rows of WB that stay from program to program, while programs of different networks take what is
// theirs of it and load the rest (SubGraph-stationary serving, Behnam et al., MLSys 2023, section 3.3). A layer keeps its
// first kernels and channels in whole passes of whole tiles; a network with fewer or more of either takes the passes and
// tiles that hold all it needs there.
#ifndef KAITEN_COMPILE_RESIDENT_H
#define KAITEN_COMPILE_RESIDENT_H

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compile/compiler.h"
#include "compile/lower/lowered.h"
#include "compile/pack/weight_packing.h"

namespace kaiten {

// What is to be kept of a layer: its first kernels and, of each, the first input channels.
struct ResidentWish {
  std::string layer;
  int kernels = 0;
  int channels = 0;
};

struct ResidentLayer {
  std::string name;
  ArrayTiles tiles;  // of the kernels and channels that are kept
  int weight_zero = 0;
  int row = 0;                      // of WB, its first
  std::vector<std::uint8_t> bytes;  // pack_weights() of all tiles
};

// What PB holds.
struct ResidentWeights {
  int rows = 0;  // of WB, from the first on
  std::vector<ResidentLayer> layers;

  std::int64_t bytes() const;
};

// What becomes of a layer for which PB has no room.
enum class NoRoom : std::uint8_t { kRefuse, kLeaveOut };

// Layers of which PB can hold weights: convolutions that are one operator on the array, channels in order.
std::set<std::string> resident_layers(const Graph& graph, const Config& config);

// Where they go, one wish after the other, of the weights of `graph`, whose layers have at least so many kernels and
// channels; at most `rows` rows. Throws InputError for a layer that does not exist, has fewer, or is no convolution on the
// array with all its channels in order, and where they are to be refused for those that do not fit.
ResidentWeights place_resident(const Graph& graph, const Config& config, std::span<const ResidentWish> wishes,
                               int rows, NoRoom no_room = NoRoom::kRefuse);

// The program that loads them. Programs that were compiled for the same ResidentWeights may follow in any order.
Program load_resident(const Graph& graph, const Config& config, const ResidentWeights& resident);

// Rows that are left for weights that are loaded: the same configuration with fewer of them.
Config without_resident(const Config& config, const ResidentWeights* resident);

// Notes in operators which of their weights PB has. Bytes are compared: others are loaded.
void use_resident(Lowering& lowering, const Graph& graph, const ResidentWeights& resident);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_RESIDENT_H
