// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/lower/lowered.h"

#include <algorithm>
#include <map>

namespace kaiten {

namespace {

// Cycles of a depthwise tile of the vector engine, or of loading any of its parameters, beyond one a word.
constexpr int kVectorTileLoad = 7;
// Of large windows that are streamed: cells of a side, windows of a row; cycles from a kernel tile's first slot to the
// next one's, beyond one for each of its columns.
constexpr int kMostLarge = 9;
constexpr int kLeastRow = 4, kMostRow = 128;
constexpr int kKernelTileLoad = 2;

// Columns of the map from `first` on that `windows` of `columns` columns cover.
int columns_read(int map, int first, int windows, int stride, int columns) {
  return std::min(map, first + (windows - 1) * stride + columns) - std::max(first, 0);
}

// Of a row of windows above 3x3: slots of a row of kernel tiles, and of its last one; 0 where windows are taken one by one.
struct LargeWindowSlots {
  int all = 0, last = 0;
};
LargeWindowSlots large_window_slots(const LoweredOp& op) {
  const int stride = op.column_stride;
  if (!op.stream_large || op.kernel_rows > kMostLarge || op.kernel_columns > kMostLarge || stride > 2 ||
      stride >= op.kernel_columns || op.pad_left >= op.kernel_columns || op.out.w < kLeastRow ||
      op.out.w > kMostRow)
    return {};
  LargeWindowSlots slots;
  int offset = 0;
  for (int tiles = ceil_div(op.kernel_columns, 3); tiles > 0; tiles--) {
    const int columns = ceil_div(op.kernel_columns - offset, tiles);
    const int read = columns_read(op.in.w, offset - op.pad_left, op.out.w, stride, columns);
    if (read <= 0) return {};
    slots.last = std::max({op.out.w, read, op.depthwise.data != nullptr ? columns + kKernelTileLoad : 0});
    slots.all += slots.last;
    offset += columns;
  }
  return slots;
}

}  // namespace

int LoweredOp::weight_rows_of_tile() const {
  if (engine == Engine::kConv) return array.rows_of_tile();
  return depthwise.data != nullptr ? vector.rows_of_tile() : 0;
}

int LoweredOp::weight_rows(int begin, int end) const {
  const int rows = (end - begin) * weight_rows_of_tile();
  const int kept = std::max(0, std::min(end, resident.tiles) - begin);
  return rows - kept * resident.passes * array.kernel_tiles() * array.kp;
}

// Slots of the array for a row of windows: in mode 3x3 columns of the map are read one by one, at stride 2 two by
// two, and without padding there are more of them than windows.
int LoweredOp::row_slots(int kernel_tile_column) const {
  if (array.mode != ConvMode::k3x3) return out.w;
  const int left = kernel_tile_column * array.kernel_tile_width() - pad_left;
  const int columns = std::min(in.w, left + (out.w - 1) * column_stride + 3) - std::max(left, 0);
  return std::max(out.w, ceil_div(columns, column_stride));
}

// Slots before a command's first window, beyond those of its row: two or three columns have to be there.
int LoweredOp::first_window_slots() const {
  if (array.mode != ConvMode::k3x3) return 0;
  const int columns = std::min(in.w, 3 - pad_left);
  return std::max(0, ceil_div(columns, column_stride) - 1 - (row_slots(0) - out.w));
}

int LoweredOp::table_words() const {
  return engine == Engine::kConv ? align_up(int(table.size()), array.kp) : int(table.size());
}

std::int64_t LoweredOp::window_row_slots() const {
  const int results = look_up() ? table_slots * out.w : 0;
  if (kernel_rows <= 3 && kernel_columns <= 3 && stride <= 2)  // one column of the map a cycle
    return std::max({out.w, stride == 2 ? in.w : 0, results});
  const LargeWindowSlots large = large_window_slots(*this);
  if (large.all == 0)
    return std::max<std::int64_t>(std::int64_t(vector.kernel_tiles) * out.w * vector.kernel_columns, results);
  // Results leave in the last kernel tile.
  return std::int64_t(vector.kernel_tiles) * large.all + std::max(0, results - large.last);
}

std::int64_t LoweredOp::cycles(int tiles, int rows, bool stored) const {
  const std::int64_t pixels = std::int64_t(rows) * out.w;
  switch (engine) {
    case Engine::kConv: {
      std::int64_t slots = 0;  // of a pass of each column of kernel tiles
      for (int k = 0; k < array.kernel_tile_columns; k++)
        slots += std::max<std::int64_t>(std::int64_t(rows) * row_slots(k), stages);
      slots *= std::int64_t(array.kernel_tile_rows) * array.passes;
      if (pair_groups > 0) {  // the last pass; results that leave one by one take a slot each
        const std::int64_t last = std::max<std::int64_t>(std::int64_t(rows) * ceil_div(out.w, 2), stages);
        slots += last - std::max<std::int64_t>(pixels, stages);
        if (stored || pair_splits) slots = std::max(slots, pixels);
      }
      return tiles * slots + first_window_slots();
    }
    case Engine::kWindow: {
      // A tile is never shorter than loading its parameters, nor the last one than loading the next command's table as well.
      const bool by_lane = depthwise.data != nullptr;
      const int load = (by_lane ? 3 * vector.cp : 1) + kVectorTileLoad;
      const std::int64_t tile = std::max<std::int64_t>(rows * window_row_slots(), by_lane ? load : 0);
      return tiles * tile + (look_up() ? std::max<std::int64_t>(0, table_words() + load - tile) : 0);
    }
    case Engine::kAdd:
      return tiles * pixels * std::max(pair ? 1 : int(inputs.size()), look_up() ? table_slots : 0);
    case Engine::kHost:
    case Engine::kNone:
      return 0;
  }
  return 0;
}

std::vector<int> Lowering::find_parts(ViewId view) const {
  const ChannelMap& channels = views[view].channels;
  const std::vector<Part>& parts = storage_of(view).parts;
  std::vector<int> found;
  for (std::size_t i = 0; i < parts.size(); i++) {
    if (parts[i].group < channels.end(cp) && channels.begin() < parts[i].group + parts[i].groups)
      found.push_back(int(i));
  }
  return found;
}

void Lowering::find_all_parts() {
  for (const ViewId v : views.ids()) parts_of_view.push_back(find_parts(v));
}

namespace {

// What packed weights and parameters depend on.
bool same_weights(const LoweredOp& a, const LoweredOp& b) {
  return a.kernels == b.kernels && a.array == b.array && a.weight_zero == b.weight_zero &&
         a.resident == b.resident && a.params == b.params && a.table == b.table;
}

}  // namespace

std::vector<std::size_t> weight_owners(const std::vector<LoweredOp>& ops) {
  std::vector<std::size_t> owners(ops.size());
  std::map<const std::uint8_t*, std::vector<std::size_t>> of_data;  // owners
  for (std::size_t i = 0; i < ops.size(); i++) {
    owners[i] = i;
    const std::uint8_t* data = ops[i].kernels.data;
    if (ops[i].engine != Engine::kConv || data == nullptr) continue;
    std::vector<std::size_t>& known = of_data[data];
    const auto same =
        std::find_if(known.begin(), known.end(), [&](std::size_t k) { return same_weights(ops[k], ops[i]); });
    if (same == known.end()) {
      known.push_back(i);
    } else {
      owners[i] = *same;
    }
  }
  return owners;
}

}  // namespace kaiten
