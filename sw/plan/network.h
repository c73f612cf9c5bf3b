// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the planner knows of a network: layers in execution order and the maps between them, shapes and weight
/// counts only. Map 0 is the image, map m + 1 the output of layer m. Elements are INT8: one byte each.
///
/// A layer reads its `inputs`; `adds` are residual edges, maps added to its output. Where the shapes of a
/// residual edge differ, a 1x1 projection is implied whose weights do not count.
#ifndef KAITEN_PLAN_NETWORK_H
#define KAITEN_PLAN_NETWORK_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kaiten::plan {

/// Kind of a layer. kMove: changes the place or the number of cells, not their values in a way that matters here (pad, slice,
/// resize of imported models).
enum class Op : std::uint8_t { kConv, kDepthwise, kPool, kGlobalPool, kFc, kAdd, kMul, kConcat, kMove };

/// "conv", "depthwise", "pool", "global_pool", "fc", "add", "mul", "concat", "move".
std::string_view name_of(Op op);

/// A map of INT8 elements [row][column][channel].
struct Map {
  int height = 1;    ///< rows
  int width = 1;     ///< columns
  int channels = 1;  ///< of a pixel

  /// Also its bytes.
  std::int64_t elements() const { return std::int64_t(height) * width * channels; }
  bool operator==(const Map&) const = default;  ///< in all three
};

/// A layer; the window concerns kConv, kDepthwise and kPool, in elements.
struct Layer {
  std::string name;         ///< for reports
  Op op = Op::kConv;        ///< its kind
  int kernel_h = 1;         ///< rows of the window
  int kernel_w = 1;         ///< columns
  int stride_h = 1;         ///< input rows from one output row to the next
  int stride_w = 1;         ///< columns alike
  int dilation_h = 1;       ///< rows from tap to tap
  int dilation_w = 1;       ///< columns
  int pad_top = 0;          ///< rows added above
  int pad_bottom = 0;       ///< below
  int pad_left = 0;         ///< columns added on the left
  int pad_right = 0;        ///< on the right
  int groups = 1;           ///< kConv: output channel group g reads input channel group g
  std::vector<int> inputs;  ///< maps
  std::vector<int> adds;    ///< maps, residual edges
  int number = 0;           ///< in the table or model the network was read from

  /// Rows covered by the dilated kernel.
  int extent_h() const { return (kernel_h - 1) * dilation_h + 1; }
};

/// Layers and maps. Indices are not checked; reading does not change anything: threads may share one.
struct Network {
  std::string name;           ///< for reports and errors
  std::vector<Layer> layers;  ///< in execution order: inputs and adds are maps before the layer
  std::vector<Map> maps;      ///< layers + 1
  std::vector<int> outputs;   ///< maps whose values the network returns, besides the last one
  std::string source;         ///< how it was read: "table", "topology", "model"
  int head = -1;              ///< first layer of the classifier; -1: none is named

  int layer_count() const { return int(layers.size()); }  ///< layers
  /// First input of a layer.
  const Map& in(int layer) const { return maps[std::size_t(layers[std::size_t(layer)].inputs.front())]; }
  /// Output of a layer.
  const Map& out(int layer) const { return maps[std::size_t(layer) + 1]; }
  std::int64_t weight_elements(int layer) const;  ///< also its bytes; 0 for layers without weights
  std::int64_t macs(int layer) const;             ///< multiply-accumulates, one image; 0 without weights
  std::int64_t macs() const;                      ///< of all layers
  /// Rows of `map` from one output row of the layer to the next: the stride of windows, else one row; over residual
  /// edges that of the implied projection, projection_stride().
  int stride_over(int layer, int map) const;
  /// Rows of `map` under one output row: those of the window; all of a map that is read whole; else one.
  int extent_over(int layer, int map) const;
  /// Rows added above `map` for this layer.
  int pad_over(int layer, int map) const;
};

/// Limits that keep every sum of the planner inside 63 bits.
constexpr int kMaxLayers = 4096;
constexpr int kMaxSide = 1 << 20;                             ///< rows, columns or channels of a map
constexpr std::int64_t kMaxElements = std::int64_t(1) << 36;  ///< of a map or of a layer's weights
constexpr int kMaxBatch = 4096;                               ///< images
constexpr std::int64_t kMaxCapacity = std::int64_t(1) << 50;  ///< bytes on chip

/// The output map of a layer whose inputs are known; `channels` is the number of output channels a conv or fc
/// names. Throws InputError with the reason alone (the caller adds the place): a kernel larger than the padded
/// map, operands of different shapes, sizes that are not positive or beyond the limits.
Map output_map(const Network& network, const Layer& layer, int channels);

/// Rows, or columns, from one output of the projection that a residual edge implies to the next: the rounded ratio of the
/// sides.
int projection_stride(int from, int to);

/// Throws InputError with the reason alone unless a 1x1 projection makes a map of the sides of `to` of `from`.
void check_projection(const Map& from, const Map& to);

/// The network that analytic mode plans: without fully connected layers (what reads one reads its input instead)
/// and without the classifier. Throws InputError when nothing is left.
Network without_classifier(const Network& network);

/// The same network with rows and columns exchanged, in maps and windows.
Network transposed(const Network& network);

/// An edge from a map to a layer.
struct Consumer {
  int layer = 0;          ///< that reads the map
  bool residual = false;  ///< adds it to its output
};
/// By map, the edges from it, layers in ascending order.
std::vector<std::vector<Consumer>> consumers(const Network& network);

}  // namespace kaiten::plan

#endif  // KAITEN_PLAN_NETWORK_H
