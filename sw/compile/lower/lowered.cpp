// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/lower/lowered.h"

namespace kaiten {

namespace {

// Cycles of a depthwise tile of the vector engine beyond one for each of its lanes.
constexpr int kVectorTileLoad = 7;
// Cycles of a result that goes through a table, at least.
constexpr int kTableSlots = 3;

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

std::int64_t LoweredOp::cycles(int tiles, int rows) const {
  const std::int64_t pixels = std::int64_t(rows) * out.w;
  switch (engine) {
    case Engine::kConv:
      return tiles * std::int64_t(array.kernel_tiles()) * array.passes *
             std::max<std::int64_t>(pixels, stages);
    case Engine::kWindow: {
      // Small windows are streamed, one column of the map a cycle; a tile is never shorter than loading its
      // parameters.
      const bool streamed = kernel_rows <= 3 && kernel_columns <= 3 && stride <= 2;
      std::int64_t tile = streamed ? std::int64_t(rows) * std::max(out.w, stride == 2 ? in.w : 0)
                                   : pixels * vector.kernel_tiles * vector.kernel_columns;
      if (look_up) tile = std::max(tile, pixels * kTableSlots);
      return tiles * (depthwise.data != nullptr
                          ? std::max<std::int64_t>(tile, 3 * vector.cp + kVectorTileLoad)
                          : tile);
    }
    case Engine::kAdd:
      return tiles * pixels * std::max(pair ? 1 : int(inputs.size()), look_up ? kTableSlots : 0);
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

}  // namespace kaiten
