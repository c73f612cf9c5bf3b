// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/pack/weight_packing.h"

namespace kaiten {

std::uint8_t KernelView::at(int out, int row, int column, int in) const {
  const auto missing = std::uint8_t(zero_point);
  if (row % dilation_rows != 0 || column % dilation_columns != 0) return missing;
  row /= dilation_rows;
  column /= dilation_columns;
  if (row >= rows || column >= columns) return missing;
  if (!channel_of.empty()) in = channel_of[std::size_t(in)];
  if (in < 0) return missing;
  if (!moved_from.empty()) return in == moved_from[std::size_t(out)];
  if (!kernel_of.empty()) out = kernel_of[std::size_t(out)];
  if (multiplier > 0) {
    return in == out / multiplier ? data[std::size_t((row * columns + column) * out_channels + out)]
                                  : missing;
  }
  const int group_channels = in_channels / groups;
  const int first = groups == 1 ? 0 : out / (out_channels / groups) * group_channels;
  if (in < first || in >= first + group_channels) return missing;
  return data[((std::size_t(out) * std::size_t(rows) + std::size_t(row)) * std::size_t(columns) +
               std::size_t(column)) *
                  std::size_t(group_channels) +
              std::size_t(in - first)];
}

const std::uint8_t* KernelView::run(int out, int row, int column, int in) const {
  const bool plain = channel_of.empty() && moved_from.empty() && multiplier == 0 && groups == 1;
  if (!plain || dilation_rows != 1 || dilation_columns != 1 || row >= rows || column >= columns)
    return nullptr;
  if (!kernel_of.empty()) out = kernel_of[std::size_t(out)];
  const std::size_t tap =
      (std::size_t(out) * std::size_t(rows) + std::size_t(row)) * std::size_t(columns) + std::size_t(column);
  return data + tap * std::size_t(in_channels) + in;
}

ArrayTiles::ArrayTiles(ConvMode mode, const KernelShape& kernels, int kp, int cp)
    : mode(mode),
      kp(kp),
      cp(cp),
      in_channels(kernels.in_channels),
      out_channels(kernels.out_channels),
      kernel_tile_rows(ceil_div(kernels.rows, kernel_tile_height())),
      kernel_tile_columns(ceil_div(kernels.columns, kernel_tile_width())),
      passes(ceil_div(in_channels, pass_groups() * cp)),
      tiles(ceil_div(out_channels, kp)) {}

std::int64_t weight_bytes(const ArrayTiles& tiles, const TileRange& range) {
  std::int64_t bytes = 0;
  const auto add = [&](int tile, int number) {
    for (int pass = range.first_pass; pass < tiles.passes; pass++)
      bytes += std::int64_t(number) * tiles.kernel_tiles() * tiles.pass_bytes(tile, pass);
  };
  // The last tile may have fewer kernels than the others.
  if (range.end - range.begin > 1) add(range.begin, range.end - range.begin - 1);
  if (range.end > range.begin) add(range.end - 1, 1);
  return bytes;
}

std::vector<WeightLoad> split_weights(const ArrayTiles& tiles, const TileRange& range) {
  std::vector<WeightLoad> loads;
  WeightLoad now;
  const auto flush = [&] {
    if (now.passes > 0) loads.push_back(now);
    now = {};
  };
  for (int tile = range.begin; tile < range.end; tile++) {
    // The number of kernels is one field of a load: a last tile with fewer of them has loads of its own.
    if (tile > range.begin && tiles.kernels(tile) != tiles.kernels(tile - 1)) flush();
    for (int kernel_tile = 0; kernel_tile < tiles.kernel_tiles(); kernel_tile++) {
      for (int pass = range.first_pass; pass < tiles.passes; pass++) {
        const int bytes = tiles.pass_bytes(tile, pass);
        if (now.bytes + bytes > kMaxLoadBytes) flush();
        if (now.passes == 0) {
          now.tile = tile;
          now.kernel_tile = kernel_tile;
          now.first_pass = pass;
        }
        now.passes++;
        now.bytes += bytes;
      }
    }
  }
  flush();
  return loads;
}

void pack_weights(const ArrayTiles& tiles, const KernelView& kernels, const TileRange& range,
                  std::vector<std::uint8_t>& out) {
  const int height = tiles.kernel_tile_height();
  const int width = tiles.kernel_tile_width();
  for (int tile = range.begin; tile < range.end; tile++) {
    for (int kernel_tile = 0; kernel_tile < tiles.kernel_tiles(); kernel_tile++) {
      const int top = kernel_tile / tiles.kernel_tile_columns * height;
      const int left = kernel_tile % tiles.kernel_tile_columns * width;
      for (int pass = range.first_pass; pass < tiles.passes; pass++) {
        const int first = pass * tiles.pass_groups() * tiles.cp;
        const int end_channel = first + tiles.channels(pass);
        for (int k = 0; k < tiles.kernels(tile); k++) {
          const int o = tile * tiles.kp + k;
          for (int group = first; group < end_channel; group += tiles.cp) {
            const int group_end = std::min(group + tiles.cp, end_channel);
            for (int column = left; column < left + width; column++) {
              for (int row = top; row < top + height; row++) {
                if (const std::uint8_t* bytes = kernels.run(o, row, column, group)) {
                  out.insert(out.end(), bytes, bytes + group_end - group);
                  continue;
                }
                for (int i = group; i < group_end; i++) out.push_back(kernels.at(o, row, column, i));
              }
            }
          }
        }
      }
    }
  }
}

VectorTiles::VectorTiles(int channels, int kernel_rows, int kernel_columns, int cp)
    : cp(cp),
      channels(channels),
      kernel_rows(kernel_rows),
      kernel_columns(kernel_columns),
      kernel_tiles(ceil_div(kernel_rows, 3)),
      tiles(ceil_div(channels, 3 * cp)) {}

std::uint8_t DepthwiseView::at(int row, int column, int lane) const {
  const auto missing = std::uint8_t(zero_point);
  if (row % dilation_rows != 0 || column % dilation_columns != 0) return missing;
  row /= dilation_rows;
  column /= dilation_columns;
  if (row >= rows || column >= columns) return missing;
  if (!channel_of.empty()) lane = lane < int(channel_of.size()) ? channel_of[std::size_t(lane)] : -1;
  if (lane < 0 || lane >= channels) return missing;
  return data[std::size_t((row * columns + column) * channels + lane)];
}

void pack_vector_weights(const VectorTiles& tiles, const DepthwiseView& weights, int begin, int end,
                         std::vector<std::uint8_t>& out) {
  for (int tile = begin; tile < end; tile++) {
    for (int kernel_tile = 0; kernel_tile < tiles.kernel_tiles; kernel_tile++) {
      for (int column = 0; column < tiles.kernel_columns; column++) {
        for (int r = 0; r < 3; r++) {
          for (int lane = 0; lane < 3 * tiles.cp; lane++)
            out.push_back(weights.at(3 * kernel_tile + r, column, tile * 3 * tiles.cp + lane));
        }
      }
    }
  }
}

void pack_params(std::span<const RequantParams> words, std::vector<std::uint8_t>& out) {
  const auto put = [&](std::int32_t v) {
    for (int i = 0; i < 4; i++) out.push_back(std::uint8_t(std::uint32_t(v) >> (8 * i)));
  };
  for (const RequantParams& w : words) {
    put(w.bias);
    put(w.multiplier);
    out.push_back(std::uint8_t(w.shift));
  }
}

std::vector<RequantParams> table_words(const ValueTable& table) {
  std::vector<RequantParams> words(table.size() / 8);
  for (std::size_t i = 0; i < table.size(); i++) {
    RequantParams& w = words[i / 8];
    std::int32_t& half = i % 8 < 4 ? w.bias : w.multiplier;
    half = std::int32_t(std::uint32_t(half) | std::uint32_t(std::uint8_t(table[i])) << (8 * (i % 4)));
  }
  return words;
}

RequantParams average_word(int cells) {
  int log = 0;
  while ((1 << log) < cells) log++;
  const std::int64_t one = std::int64_t(1) << (31 + log);
  return {cells, std::int32_t((one + 2 * cells - 1) / (2 * cells)), -log};
}

RequantParams average_word_uint8(int cells) {
  // multiplier / 2^bits is at least 1 / cells, so that ties go up, and for sums up to 255 * cells too little above
  // it to reach the next value.
  int bits = 30;
  while ((std::int64_t(1) << bits) / cells < std::int64_t(1) << 30) bits++;
  return {128 * cells, std::int32_t(((std::int64_t(1) << bits) + cells - 1) / cells), 31 - bits};
}

}  // namespace kaiten
