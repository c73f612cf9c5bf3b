// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Networks of 3-D convolutions and maximum pooling that slide over volumes (ZNNi, Zlateski, Lee, Seung 2016, table III).
// Sizes are depth, height, width. ReLU follows every convolution.
#ifndef KAITEN_VOLUME_NETWORK_H
#define KAITEN_VOLUME_NETWORK_H

#include <string>
#include <string_view>
#include <vector>

#include "fft/size.h"

namespace kaiten::volume {

// How a pooling layer may be evaluated: as the search finds best, at one offset a run, or as max-pooling fragments.
enum class Pooling { kAny, kPlain, kFragments };

struct Layer {
  bool convolution = true;
  fft::Size window;  // kernel, or pooling window (also its stride)
  int maps = 0;      // outputs of a convolution
  Pooling pooling = Pooling::kAny;
};

struct Network {
  int inputs = 1;  // maps of the volume
  std::vector<Layer> layers;

  int outputs() const;              // maps of the result
  fft::Size field_of_view() const;  // what one output voxel sees
  fft::Size pooled() const;         // product of all pooling windows
};

// The text of a `.znni` file, or of JSON where it begins with '{':
//   INPUTS:1, LAYERS:3         {"inputs": 1, "layers": [{"conv": [2, 2, 2], "maps": 8},
//   CONV 2,2,2 8                                        {"pool": [2, 2, 2], "pooling": "fragments"},
//   POOL 2,2,2                                          {"conv": [3, 3, 3], "maps": 3}]}
//   CONV 3,3,3 3
// In JSON "pooling" is any, plain or fragments. Throws InputError "FILE:LINE: ...".
Network parse_network(std::string_view text, const std::string& file);

}  // namespace kaiten::volume

#endif  // KAITEN_VOLUME_NETWORK_H
