// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Layers of a volume as 2-D operators, for the accelerator. A map of all slices is one tensor [row][column][slice][map]:
// depth is folded into channels. A convolution is one Conv2D for some slices of its result, whose input are the channels
// of the slices below them; all of them have the same weights. Slices of results are grouped so that their maps fill tiles
// of KP outputs: of 80 maps and KP = 32, two slices are 160 outputs in five tiles, the middle one over the slices of both.
//
// Maximum pooling first takes the maximum of slices beside each other, for every slice, as a + relu(b - a): both
// operations are exact where scales agree. Then windows in the plane pool all slices, for every offset in the plane that
// is asked for; offsets in depth are slices of that.
#ifndef KAITEN_VOLUME_SLICES_H
#define KAITEN_VOLUME_SLICES_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "graph/values.h"
#include "volume/int8_network.h"
#include "volume/int8_reference.h"

namespace kaiten::volume {

// Of the accelerator: outputs and channels that its array works on at a time.
struct ArrayShape {
  int outputs = 32;  // KP
  int channels = 8;  // CP, of a word
};

// A tensor of the graph: `slices` of a map from `first` on, so many maps each and, with gaps, `pitch` channels.
struct SliceTensor {
  int tensor = kNoTensor;
  int first = 0;
  int slices = 1;
  int maps = 1;
  int pitch = 1;
  fft::Size size;  // rows and columns; depth: slices
};

// What layers [begin, end) of the network are: convolutions, then at most one pooling layer.
struct SliceGraph {
  Graph graph;
  std::vector<SliceTensor> inputs;   // like Graph::inputs: parts of the one map that comes in
  std::vector<SliceTensor> outputs;  // like Graph::outputs
  // With `show_all`, the first outputs are the results of so many convolutions, but for the last layer.
  std::size_t shown = 0;
};

struct SliceOptions {
  std::size_t begin = 0, end = 1;  // layers
  fft::Size size;                  // of the maps that come in
  bool fragments = true;           // pooling: all offsets; else the first
  bool show_all = false;           // results of all layers are outputs
  ArrayShape array;
};

// Ends of the parts that a network is cut into: after every pooling layer.
std::vector<std::size_t> slice_cuts(const Network& network);
SliceGraph slice_graph(const Int8Network& network, const SliceOptions& options);

// Values of an input, of maps [map][z][y][x]; gaps have the zero point.
Int8Values slice_values(const SliceTensor& t, std::span<const std::int8_t> maps, const fft::Size& size,
                        int zero_point);
// The maps of an output: slices first, first + step, ... of it, `count` of them.
Int8Maps maps_of_slices(const SliceTensor& t, std::span<const std::int8_t> values, int first, int step,
                        int count);

}  // namespace kaiten::volume

#endif  // KAITEN_VOLUME_SLICES_H
