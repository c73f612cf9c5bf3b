// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/emit/engine_commands.h"

#include <algorithm>
#include <string>

#include "base/error.h"

namespace kaiten {

namespace {

constexpr int kPositions = 2304;  // that a field of kind position holds

RowLayout rows_of(const EngineContext& x, ViewId view) { return x.lowering.storage_of(view).rows(); }

// Of Window and Add, and of what extends a Conv.
template <class Body>
void fill_table(const LoweredOp& op, const Chunk& c, Body& b) {
  if (!op.look_up()) return;
  b.look_up = 1;
  b.table_word = c.table_at;
}

// The first input row of an output row, above the map below 0.
int top_row(const LoweredOp& op, int row) { return row * op.stride - op.pad_top; }

// Input, output and finishing fields that CONV, Window and Add have in common.
template <class Body>
void fill_common(const EngineContext& x, const LoweredOp& op, const Chunk& c, int out_row, int rows,
                 Body& b) {
  const Ring& in = x.inputs[0];
  const int first_input_row = top_row(op, out_row);
  const RowLayout in_rows = rows_of(x, op.inputs[0]);
  const RowLayout out_rows = rows_of(x, op.output);
  const Part& part = x.lowering.part_of(op.output);
  b.in_first = in.first;
  b.in_last = in.last();
  b.in_slot_size = in.slot_size;
  b.in_slot = in.slot(first_input_row);
  b.in_pixel = in_rows.width > 1 ? in_rows.pixel : 0;
  b.in_group = x.lowering.views[op.inputs[0]].channels.begin();
  b.top_mod3 = positive_mod(first_input_row + x.lowering.storage_of(op.inputs[0]).mod3_offset, 3);
  b.columns = op.out.w;
  b.rows = rows;
  b.tiles = c.tile_end - c.tile_begin;
  b.params = c.word_at;
  const int group = part.group + c.tile_begin * op.tile_channels() / x.config.cp;
  b.out_groups = part.group + part.groups;
  b.out_group = group;
  b.out_first = group;
  b.out_pixel = out_rows.width > 1 ? out_rows.pixel : 0;
  b.out_row_mod3 = (out_row + x.lowering.storage_of(op.output).mod3_offset) % 3;
  b.out_slot_size = out_rows.slot_size;
  if (const auto& ring = x.outputs[std::size_t(Buffer::kSb)]) {
    b.to_sb = 1;
    b.sb_first = ring->first;
    b.sb_last = ring->last();
    b.sb_slot = ring->slot(out_row);
  }
  if (const auto& ring = x.outputs[std::size_t(Buffer::kVb)]) {
    b.to_vb = 1;
    b.vb_first = ring->first;
    b.vb_last = ring->last();
    b.vb_slot = ring->slot(out_row);
  }
  b.to_store = x.memory != nullptr;
  b.zero = op.out_quant.zero_point;
  b.low = op.out_quant.low;
  b.high = op.out_quant.high;
  b.rule = int(op.out_quant.rule);
}

}  // namespace

CommandBody engine_command(const EngineContext& x, const LoweredOp& op, const Chunk& c, int row, int rows) {
  const int top = top_row(op, row);
  const RowLayout in_rows = rows_of(x, op.inputs[0]);
  if (op.engine == Engine::kConv) {
    ConvCommand b;
    fill_common(x, op, c, row, rows, b);
    b.in_step = in_rows.width > 1 ? op.column_stride * in_rows.pixel : 0;
    // Where a read is a whole window, positions count from the first window's column, also left of the map.
    if (op.array.mode != ConvMode::k3x3) {
      const int first = int(b.in_group) - op.pad_left * int(b.in_pixel);
      if (first < -kPositions / 2) {
        throw DeviceError("command conv: field in_group holds " + std::to_string(-kPositions / 2) +
                          " words and more, not " + std::to_string(first));
      }
      b.in_group = positive_mod(first, kPositions);
    }
    b.in_width = op.in.w;
    b.in_height = op.in.h;
    b.top_row = top;
    b.mode = int(op.array.mode);
    b.stride = op.stride;
    b.column_stride = op.column_stride;
    b.pad_left = op.pad_left;
    b.pad_value = op.pad_value;
    b.weight_zero = op.weight_zero;
    b.passes = op.array.passes;
    b.pair_groups = op.pair_groups;
    b.more_kernel_tile_rows = op.array.kernel_tile_rows - 1;
    b.more_kernel_tile_columns = op.array.kernel_tile_columns - 1;
    b.weights = c.row_at;
    return b;
  }
  if (op.engine == Engine::kWindow) {
    WindowCommand b;
    fill_common(x, op, c, row, rows, b);
    // A slice of columns begins further right: its map ends where the map does.
    const int skipped = std::max(-op.pad_left, 0);
    b.in_group += 3 * c.tile_begin + skipped * in_rows.pixel;
    b.in_width = op.in.w - skipped;
    b.in_height = op.in.h;
    b.top_row = top;
    b.kind = int(op.window);
    fill_table(op, c, b);
    b.kernel_rows = op.kernel_rows;
    b.kernel_columns = op.kernel_columns;
    b.stride = op.column_stride;
    b.pad_left = std::max(op.pad_left, 0);
    b.pad_value = op.pad_value;
    b.weight_zero = op.weight_zero;
    b.weights = c.row_at;
    return b;
  }
  AddCommand b;
  b.kind = int(op.element);
  fill_table(op, c, b);
  b.broadcast = op.broadcast;
  fill_common(x, op, c, row, rows, b);
  b.in_group += 3 * c.tile_begin;
  b.in2_first = x.inputs[1].first;
  b.in2_last = x.inputs[1].last();
  b.in2_slot = x.inputs[1].slot(op.first_row_of_input(1, top));
  if (op.broadcast) b.in2_first = b.in2_last = b.in2_slot;
  const int second_row = op.broadcast ? 0 : top;
  b.in2_mod3 = (second_row + x.lowering.storage_of(op.inputs[1]).mod3_offset) % 3;
  b.pair = op.pair;
  b.more_operands = int(op.inputs.size()) - 2;
  b.operand_step =
      x.lowering.views[op.inputs[1]].channels.begin() - x.lowering.views[op.inputs[0]].channels.begin();
  return b;
}

std::optional<ExtendConvCommand> extension_of(const LoweredOp& op, const Chunk& c) {
  const LoweredOp::Resident& r = op.resident;
  const bool resident = c.tile_begin < r.tiles;
  if (op.engine != Engine::kConv || (!resident && !op.look_up())) return std::nullopt;
  ExtendConvCommand e;
  fill_table(op, c, e);
  if (!resident) return e;
  e.resident = r.row + c.tile_begin * op.array.kernel_tiles() * r.pitch;
  e.resident_pitch = r.pitch;
  e.resident_passes = r.passes;
  e.last_groups = r.passes == op.array.passes ? r.last_groups : 0;
  return e;
}

StoreCommand store_command(const EngineContext& x, const LoweredOp& op, const Chunk& c, int row, int rows) {
  const MemoryLayout& m = *x.memory;
  StoreCommand s;
  s.base = m.base;
  s.offset = m.offset + row * m.row_pitch + c.tile_begin * m.segment_pitch;
  s.row_pitch = rows > 1 ? m.row_pitch : 0;
  s.segments = c.tile_end - c.tile_begin;
  s.segment_pitch = s.segments > 1 ? m.segment_pitch : 0;
  s.rows = rows;
  s.columns = op.out.w;
  s.pixel_bytes = m.pixel_bytes;
  s.last_pixel_bytes = c.tile_end == op.tiles() ? m.last_pixel_bytes : m.pixel_bytes;
  s.from_vector = op.engine != Engine::kConv;
  if (m.packing) {
    s.zvc = 1;
    s.surface = m.surface(row) + c.tile_begin;
    s.surface_pitch = m.segments;
    s.zero_value = m.packing->zero;
  }
  return s;
}

}  // namespace kaiten
