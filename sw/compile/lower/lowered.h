// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What lowering makes of a graph: operators of the two engines, the maps they read and write (storages), and where every
// tensor is in them (views). Nothing here knows of memories.
#ifndef KAITEN_COMPILE_LOWER_LOWERED_H
#define KAITEN_COMPILE_LOWER_LOWERED_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "compile/lower/channel_map.h"
#include "compile/lower/image_windows.h"
#include "compile/pack/weight_packing.h"
#include "graph/graph.h"
#include "graph/quantize.h"
#include "program/command_fields.h"
#include "program/ring.h"

namespace kaiten {

// Numbers of Lowering::views and Lowering::storages.
using ViewId = Id<struct ViewTag>;
using StorageId = Id<struct StorageTag>;

// kNone: nothing is computed, the output is a view of what exists.
enum class Engine : std::uint8_t { kNone, kHost, kConv, kWindow, kAdd };

constexpr bool on_device(Engine e) { return e != Engine::kNone && e != Engine::kHost; }

// The buffer an engine reads.
constexpr Buffer buffer_of(Engine engine) { return engine == Engine::kConv ? Buffer::kSb : Buffer::kVb; }

struct LoweredOp {
  int op = -1;  // of the graph; one of them may become several of these
  Engine engine = Engine::kNone;
  WindowKind window = WindowKind::kDepthwise;
  ElementKind element = ElementKind::kSum;  // kAdd
  bool broadcast = false;                   // kAdd: the second input is one pixel
  std::vector<ViewId> inputs;
  ViewId output;
  // The results: channels of a graph tensor from first_channel on.
  int tensor = kNoTensor;
  int first_channel = 0;
  Nhwc in;        // as the engine reads it
  int lanes = 0;  // bytes of an input pixel from the view's first word on: in.c, more where there are gaps
  std::vector<int> channel_of;  // of every lane, -1 in gaps; empty: lanes are channels
  // Where the input is an image that LOAD presents row-flattened: then `in` has its windows as pixels.
  std::optional<ImageWindows> windows;
  Nhwc out;

  int kernel_rows = 1;
  int kernel_columns = 1;
  int stride = 1;  // of rows; 1 where there is one output row only
  int column_stride = 1;
  int pad_top = 0;
  int pad_left = 0;
  int pad_value = 0;
  int weight_zero = 0;

  ArrayTiles array;           // kConv
  int stages = 0;             // kConv: of the array, the cycles of the shortest pass
  VectorTiles vector;         // kWindow, kAdd
  bool stream_large = false;  // kWindow: windows above 3x3 are streamed, where the engine can
  int table_slots = 1;        // kWindow, kAdd: of a result that goes through the table, at least
  KernelView kernels;         // kConv
  DepthwiseView depthwise;    // kWindow, with data where there are weights
  // kConv: of the first `tiles` tiles, the first `passes` of every kernel tile lie in PB, from `row` on, the next kernel tile
  // `pitch` rows after; other weights are loaded.
  struct Resident {
    int row = 0;
    int pitch = 0;
    int tiles = 0;
    int passes = 0;
    int last_groups = 0;  // of a kernel tile's last pass, where PB goes on behind them; else 0

    bool operator==(const Resident&) const = default;
  };
  Resident resident;
  bool pair = false;  // kAdd: both operands are read in one slot
  // kConv: groups of the last pass, where it takes two windows at once; 0: it does not
  int pair_groups = 0;
  // and the words of two results meet in a bank: these are written one after the other
  bool pair_splits = false;
  std::vector<RequantParams> table;   // results go through it; empty: they do not
  std::vector<RequantParams> params;  // of the array by channel, of the vector engine by lane
  OutputQuant out_quant;

  int tiles() const { return engine == Engine::kConv ? array.tiles : vector.tiles; }
  // Channels, ZSB words and weight rows of one tile; 0 rows where there are no weights, and for maxima,
  // averages and additions the parameters do not depend on the tile.
  int tile_channels() const { return engine == Engine::kConv ? array.kp : 3 * vector.cp; }
  bool params_per_tile() const { return engine == Engine::kConv || depthwise.data != nullptr; }
  int weight_rows_of_tile() const;
  bool look_up() const { return !table.empty(); }
  // Of ZSB: those of the table, whole tiles of the array; all of so many tiles, which have a word for every lane.
  int table_words() const;
  int param_words(int of_tiles) const {
    return table_words() + (params_per_tile() ? of_tiles * tile_channels() : int(params.size()));
  }
  // Rows of tiles [begin, end) that are loaded.
  int weight_rows(int begin, int end) const;
  // Of CONV.
  int row_slots(int kernel_tile_column) const;
  int first_window_slots() const;
  // Of the vector engine for a row of windows of a tile.
  std::int64_t window_row_slots() const;
  // Busy cycles of the engine for so many tiles and output rows. `stored`: results go to memory.
  std::int64_t cycles(int tiles, int rows, bool stored = false) const;
  // First and one past the last input row that output rows [begin, end) read.
  int first_row(int begin) const { return std::max(0, begin * stride - pad_top); }
  int end_row(int end) const { return std::min(in.h, (end - 1) * stride - pad_top + kernel_rows); }
  // The same for input i, from those of the first.
  int first_row_of_input(std::size_t i, int first) const { return broadcast && i == 1 ? 0 : first; }
  int end_row_of_input(std::size_t i, int end) const { return broadcast && i == 1 ? 1 : end; }
};

// What one operator writes of a map: all channels of a tensor, or of a part of a concatenation.
struct Part {
  int tensor = kNoTensor;  // graph tensor whose values these are
  int group = 0;           // first word
  int groups = 0;          // words
};

// A map with memory of its own. Concatenated tensors are parts of one map; slices and reshapes share the map
// they were made from.
struct Storage {
  Nhwc shape;  // c: lanes
  int groups = 0;
  std::vector<Part> parts;  // by group
  // Known before the run: an input of the graph, or what operators on the host make of it. Dense in memory,
  // so any shape of it is as good as the first.
  bool is_input = false;
  // Known after the run: made by operators on the host from what the device made.
  bool on_host = false;
  int origin = kNoTensor;  // of inputs: the tensor whose bytes the host writes, before any reshape
  ViewId bytes_of;         // dense in memory: its bytes there, read as another shape
  bool refused = false;    // no operator makes it
  int pixel = 0;           // words from one pixel to the next, 0: as RowLayout has it
  int mod3_offset = 0;     // added to the numbers of its rows where they choose banks, 0 to 2
  std::vector<std::uint8_t> constant = {};   // values of an operand that is no activation, dense
  std::optional<ImageWindows> windows = {};  // an image whose pixels here are its windows

  // In SB and VB, so many columns of it.
  RowLayout rows(int columns) const { return RowLayout(groups, columns, pixel); }
  RowLayout rows() const { return rows(shape.w); }
  // Rows come from memory, no operator of the device writes them here.
  bool loaded() const { return is_input || bytes_of.exists() || !constant.empty(); }
};

// Where a tensor is.
struct View {
  StorageId storage;
  ChannelMap channels;
};

struct Lowering {
  // A view the host reads, and the tensor that it has the values of.
  struct Fetched {
    int tensor = kNoTensor;
    ViewId view;
  };

  int cp = 0;
  std::vector<LoweredOp> ops;
  IndexedVector<StorageId, Storage> storages;
  IndexedVector<ViewId, View> views;
  IndexedVector<ViewId, std::vector<int>> parts_of_view;
  std::vector<ViewId> view_of;   // of every graph tensor, none: constant or unused
  std::vector<Fetched> fetched;  // graph outputs, inputs of host operators
  struct Refusal {
    int op = 0;  // of the graph
    std::string reason;
  };
  std::vector<Refusal> refusals;  // why it cannot run; empty when it can

  const Storage& storage_of(ViewId view) const { return storages[views[view].storage]; }
  // The parts that a view reads or is, as positions in its storage: as lowering left them.
  const std::vector<int>& parts_of(ViewId view) const { return parts_of_view[view]; }
  // The same, while views and storages still change.
  std::vector<int> find_parts(ViewId view) const;
  // Of all views, once they do not.
  void find_all_parts();
  // The part that an operator with this output writes.
  const Part& part_of(ViewId view) const {
    return storage_of(view).parts[std::size_t(parts_of(view).front())];
  }
};

// For every operator the first one on the array whose weights and parameters are the same, itself where there is none before
// it: slices of a volume share a layer's kernels.
std::vector<std::size_t> weight_owners(const std::vector<LoweredOp>& ops);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_LOWER_LOWERED_H
