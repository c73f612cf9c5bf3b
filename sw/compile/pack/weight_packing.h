// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Weights and requantisation parameters as LOAD reads them from memory: tiles, kernel tiles and passes of the
// array and of the vector engine. docs/formats/weights.md and docs/formats/requantisation.md have the rules.
#ifndef KAITEN_COMPILE_PACK_WEIGHT_PACKING_H
#define KAITEN_COMPILE_PACK_WEIGHT_PACKING_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/arithmetic.h"
#include "graph/quantize.h"
#include "program/command_fields.h"

namespace kaiten {

// Kernels of a convolution in the order of the model: OHWI, or 1HWO for a depthwise convolution (multiplier >
// 0).
struct KernelView {
  const std::uint8_t* data = nullptr;
  int out_channels = 0;
  int rows = 1;  // taps of the model; dilated, they lie apart
  int columns = 1;
  int in_channels = 0;
  int multiplier = 0;           // depthwise as a dense convolution: output o sees input o / multiplier only
  int groups = 1;               // group g of the outputs sees group g of the inputs
  std::vector<int> channel_of;  // of every lane of the input, -1 in gaps; empty: lanes are channels
  std::vector<int> moved_from;  // no data: output o is input moved_from[o], below 0 none
  std::vector<int> kernel_of;   // of every output; empty: kernels stand in the order of the outputs
  int dilation_rows = 1;
  int dilation_columns = 1;
  int zero_point = 0;  // of the weights

  // The zero point where an output does not see an input, in gaps, between dilated taps and beyond the kernel; `in` is a lane.
  std::uint8_t at(int out, int row, int column, int in) const;
  // Where the channels from `in` on follow each other in the model, nullptr where they do not.
  const std::uint8_t* run(int out, int row, int column, int in) const;
  bool operator==(const KernelView&) const = default;
};

// The kernels of a convolution as the array computes them.
struct KernelShape {
  int rows = 1;  // taps, dilated
  int columns = 1;
  int in_channels = 0;  // lanes, gaps included
  int out_channels = 0;
};

// How the array sees a convolution's kernels: tiles of kp outputs, kernel tiles of the taps of a DPE, passes
// of input channels.
struct ArrayTiles {
  ConvMode mode = ConvMode::k3x3;
  int kp = 0;
  int cp = 0;
  int in_channels = 0;
  int out_channels = 0;
  int kernel_tile_rows = 1;
  int kernel_tile_columns = 1;
  int passes = 0;  // of a kernel tile
  int tiles = 0;

  bool operator==(const ArrayTiles&) const = default;
  ArrayTiles() = default;
  ArrayTiles(ConvMode mode, const KernelShape& kernels, int kp, int cp);
  int kernel_tiles() const { return kernel_tile_rows * kernel_tile_columns; }
  int rows_of_kernel_tile() const { return passes * kp; }  // WB rows
  int rows_of_tile() const { return kernel_tiles() * rows_of_kernel_tile(); }
  int kernels(int tile) const { return std::min(kp, out_channels - tile * kp); }  // that exist
  int kernel_tile_height() const { return mode == ConvMode::k1x1 ? 1 : 3; }       // taps
  int kernel_tile_width() const { return mode == ConvMode::k3x3 ? 3 : 1; }
  int pass_groups() const { return 9 / (kernel_tile_height() * kernel_tile_width()); }
  int channels(int pass) const {
    return std::min(pass_groups() * cp, in_channels - pass * pass_groups() * cp);
  }
  // Bytes of a WB row in memory.
  int row_bytes(int pass) const { return kernel_tile_height() * kernel_tile_width() * channels(pass); }
  int pass_bytes(int tile, int pass) const { return kernels(tile) * row_bytes(pass); }
  // Of a row of a kernel tile's last pass: words of cp bytes, and bytes after them.
  int last_full_words() const {
    return channels(passes - 1) / cp * kernel_tile_height() * kernel_tile_width();
  }
  int last_word_bytes() const { return channels(passes - 1) % cp; }
};

// One LOAD of weights: `passes` passes from `first_pass` of `kernel_tile` of `tile` on, possibly over several
// whole kernel tiles and tiles.
struct WeightLoad {
  int tile = 0;
  int kernel_tile = 0;
  int first_pass = 0;
  int passes = 0;
  int bytes = 0;
};

constexpr int kMaxLoadBytes = 16384;

// Tiles [begin, end), of every kernel tile the passes from `first_pass` on.
struct TileRange {
  int begin = 0;
  int end = 0;
  int first_pass = 0;
};

std::int64_t weight_bytes(const ArrayTiles& tiles, const TileRange& range);
// Splits tiles into loads of at most kMaxLoadBytes.
std::vector<WeightLoad> split_weights(const ArrayTiles& tiles, const TileRange& range);
// Appends the compact bytes of tiles: tile, pass, kernel, bytes of the WB row without missing channels.
void pack_weights(const ArrayTiles& tiles, const KernelView& kernels, const TileRange& range,
                  std::vector<std::uint8_t>& out);

// How the vector engine sees a depthwise convolution: VWB rows (tile, kernel tile, column) of 9 * cp bytes.
struct VectorTiles {
  int cp = 0;
  int channels = 0;
  int kernel_rows = 0;
  int kernel_columns = 0;
  int kernel_tiles = 0;
  int tiles = 0;

  VectorTiles() = default;
  // `channels`: lanes of a pixel, gaps included.
  VectorTiles(int channels, int kernel_rows, int kernel_columns, int cp);
  int rows_of_tile() const { return kernel_tiles * kernel_columns; }
};

// Kernels of a depthwise convolution, 1HWO.
struct DepthwiseView {
  const std::uint8_t* data = nullptr;
  int channels = 0;
  int rows = 1;
  int columns = 1;
  std::vector<int> channel_of;  // of every lane, -1 in gaps; empty: lanes are channels
  int dilation_rows = 1;
  int dilation_columns = 1;
  int zero_point = 0;  // of the weights

  // The zero point in gaps, between dilated taps and beyond the kernel.
  std::uint8_t at(int row, int column, int lane) const;
};

// Appends the VWB rows of tiles [begin, end).
void pack_vector_weights(const VectorTiles& tiles, const DepthwiseView& weights, int begin, int end,
                         std::vector<std::uint8_t>& out);

// Requantisation parameters of a channel, a word of a ZSB: kt_pkg::requant_params_t.
struct RequantParams {
  std::int32_t bias = 0;
  std::int32_t multiplier = 0;
  int shift = 0;

  bool operator==(const RequantParams&) const = default;
};

void pack_params(std::span<const RequantParams> words, std::vector<std::uint8_t>& out);

// A table as ZSB words: eight entries in bias and multiplier of each, little endian.
std::vector<RequantParams> table_words(const ValueTable& table);

// y = x through rule Double.
constexpr RequantParams kIdentityWord{0, 1 << 30, 1};
// sum / cells through rule Average, exact for cells < 2^21.
RequantParams average_word(int cells);
// (sum + 128 * cells) / cells, the average of uint8 values that are stored less 128, through rule Single: half up,
// exact for cells < 2^21. The output's 128 are its zero point.
RequantParams average_word_uint8(int cells);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_PACK_WEIGHT_PACKING_H
