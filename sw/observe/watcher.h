// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The watcher compares every result of the accelerator with the reference, where it leaves the array or the
// vector engine, tensor by tensor. Whoever executes a program (the simulated device, the model of the accelerator
// in the tests) shows it every result word with its command and the counters that run down to zero; the
// program itself does not change.
#ifndef KAITEN_OBSERVE_WATCHER_H
#define KAITEN_OBSERVE_WATCHER_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/values.h"
#include "observe/comparison.h"
#include "program/program.h"

namespace kaiten {

// The results of one pixel and one tile.
struct WatchedResult {
  std::uint32_t command = 0;  // its number in the program
  int tiles_left = 0;         // after this one
  int rows_left = 0;
  int columns_left = 0;
};

class Watcher {
 public:
  // What a tensor (of graph.tensors) should hold for an image; null where nobody knows. Asked once, when the first result of
  // it comes.
  using Expected = std::function<const std::int8_t*(int image, int tensor)>;
  // All must outlive the watcher.
  Watcher(const Graph& graph, const Program& program, Expected expected);
  // `expected` is indexed like graph.tensors, one image after the other.
  Watcher(const Graph& graph, const Program& program, std::span<const Int8Values> expected);

  // `channels` are the values of the tile in order; those beyond the tensor's last channel
  // and in gaps are ignored.
  void result(const WatchedResult& r, std::span<const std::int8_t> channels) {
    const CommandMeta& m = program_.meta[r.command];
    const int row = m.first_row + m.rows - 1 - r.rows_left;
    const int column = m.first_column + m.columns - 1 - r.columns_left;
    const int channel = m.first_channel + (m.tiles - 1 - r.tiles_left) * m.tile_channels;
    if (m.spans < 0) {
      const int n = std::min<int>(int(channels.size()), shapes_[std::size_t(m.tensor)].channels - channel);
      return compare(m, row, column, channel, channels.first(std::size_t(n)));
    }
    for (const ChannelSpan& s : program_.channel_spans[std::size_t(m.spans)]) {
      const int begin = std::max(s.lane, channel);
      const int end = std::min(s.lane + s.channels, channel + int(channels.size()));
      if (begin < end) {
        compare(m, row, column, s.channel + begin - s.lane,
                channels.subspan(std::size_t(begin - channel), std::size_t(end - begin)));
      }
    }
  }

  // Of the tensors that the accelerator computes, copies of inputs first, then in the order of their layers.
  std::vector<TensorComparison> comparisons() const;
  std::uint64_t checked() const;
  // Empty when all results of every layer were shown and equal; else one line.
  std::string verdict() const;

 private:
  struct Shape {
    std::vector<const std::int8_t*> expected;  // of each image, null: not asked for yet
    int width = 0;
    int channels = 0;
  };
  void watch(int tensor, int op);
  // Values of a pixel from a channel on.
  void compare(const CommandMeta& m, int row, int column, int channel, std::span<const std::int8_t> found) {
    Shape& s = shapes_[std::size_t(m.tensor)];
    const std::int8_t*& whole = s.expected[std::size_t(m.image)];
    if (whole == nullptr) whole = expected_(m.image, m.tensor);
    if (whole == nullptr) return;
    const std::int8_t* want =
        whole + (std::size_t(row) * std::size_t(s.width) + std::size_t(column)) * std::size_t(s.channels) +
        channel;
    comparisons_[std::size_t(m.tensor)].seen += found.size();
    if (std::memcmp(want, found.data(), found.size()) != 0) differ(m, row, column, channel, want, found);
  }
  void differ(const CommandMeta& m, int row, int column, int channel, const std::int8_t* want,
              std::span<const std::int8_t> found);

  const Graph& graph_;
  const Program& program_;
  std::vector<Shape> shapes_;
  std::vector<TensorComparison> comparisons_;  // indexed like graph.tensors
  Expected expected_;
  std::vector<std::size_t> watched_;  // tensors
};

}  // namespace kaiten

#endif  // KAITEN_OBSERVE_WATCHER_H
