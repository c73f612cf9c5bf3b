// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/emit/rows.h"

#include <algorithm>
#include <utility>

#include "compile/spans/compression.h"
#include "compile/spans/stripes.h"

namespace kaiten {

namespace {

// Names the parts of a storage that LOADs write, apart from those that engines write.
constexpr std::uint32_t kLoadPart = 1U << 31;

}  // namespace

std::vector<RowSource> RowSource::columns(int begin, int end) const {
  RowSource some = *this;
  some.memory.width = end - begin;
  some.first_column = begin;
  if (windows) {
    some.windows = some_windows(*windows, begin, end);
    return {some};
  }
  some.memory.offset += std::int64_t(begin) * memory.pixel_bytes;
  if (memory.segments == 1 || memory.pixel_bytes == memory.last_pixel_bytes) return {some};
  RowSource last = some;
  some.memory.segments--;
  some.memory.last_pixel_bytes = memory.pixel_bytes;
  last.memory.segments = 1;
  last.memory.pixel_bytes = memory.last_pixel_bytes;
  last.memory.offset = memory.offset + some.memory.segments * memory.segment_pitch +
                       std::int64_t(begin) * memory.last_pixel_bytes;
  last.first_group += some.memory.segments * memory.segment_groups;
  return {some, last};
}

std::vector<RowSource> RowSource::by_segments() const {
  std::vector<RowSource> all;
  for (int begin = 0; begin < memory.segments; begin += kMaxLoadSegments) {
    RowSource some = *this;
    some.memory.segments = std::min(kMaxLoadSegments, memory.segments - begin);
    some.memory.offset += begin * memory.segment_pitch;
    if (begin + some.memory.segments < memory.segments) some.memory.last_pixel_bytes = memory.pixel_bytes;
    some.first_group += begin * memory.segment_groups;
    all.push_back(std::move(some));
  }
  return all;
}

namespace {

// The rows of a source as LOAD sees them: of an image, its windows.
struct LoadedMap {
  MemoryLayout memory;
  std::int64_t row_bytes = 0;  // payload

  explicit LoadedMap(const RowSource& source) : memory(source.memory) {
    MemoryLayout& m = memory;
    row_bytes = std::int64_t(m.width) * ((m.segments - 1) * std::int64_t(m.pixel_bytes) + m.last_pixel_bytes);
    if (const auto& w = source.windows) {
      row_bytes = w->row_bytes();
      m.offset += w->skip;
      m.width = w->columns;
      m.pixel_bytes = m.last_pixel_bytes = w->bytes;
    }
  }

  // Of a LOAD.
  int rows(int wanted) const {
    const int rows = int(std::clamp<std::int64_t>(kMaxLoadBytes / row_bytes, 1, wanted));
    return memory.packing ? std::min(rows, kMaxSurfaceBytes / memory.segments) : rows;
  }
};

// The fields that say what `n` rows from `row` on are in memory, and how wide.
LoadRowsCommand command_of(const Config& config, const RowSource& source, const LoadedMap& map, int row,
                           int n) {
  const MemoryLayout& m = map.memory;
  const RowLayout& rows = source.rows;
  LoadRowsCommand l;
  l.base = m.base;
  l.offset = m.offset + row * m.row_pitch;
  l.row_pitch = n > 1 ? m.row_pitch : 0;
  l.segment_pitch = m.segments > 1 ? m.segment_pitch : 0;
  l.rows = n;
  l.segments = m.segments;
  l.segment_groups = m.segments > 1 ? m.segment_groups : 0;
  l.pixel_bytes = m.pixel_bytes;
  l.last_pixel_bytes = m.last_pixel_bytes;
  l.columns = m.width;
  l.first = source.first_group;
  l.pixel = rows.width > 1 ? rows.pixel : 0;  // a single pixel may be longer than the field
  l.fill = source.zero;
  if (const auto& w = source.windows) {
    l.step_bytes = w->step;
    l.lead_bytes = w->lead;
    l.row_bytes = map.row_bytes;
    l.fill = w->fill;
  } else {
    l.more_pixels = pixels_together(m, rows.pixel, config.cp, config.load_words()) - 1;
  }
  if (m.packing) {
    l.zvc = 1;
    l.surface = m.surface(row);
  }
  l.row_mod3 = (row + source.mod3_offset) % 3;
  l.slot_size = rows.slot_size;
  return l;
}

CommandMeta meta_of(const Config& config, const RowSource& source, const LoadedMap& map, int row, int n) {
  CommandMeta meta;
  meta.op = source.op;
  meta.tensor = source.tensor;
  meta.image = source.image;
  meta.first_row = row;
  meta.rows = n;
  meta.first_column = source.first_column;
  meta.columns = map.memory.width;
  meta.kind = CommandMeta::Bytes::kActivations;
  meta.read_bytes = map.row_bytes * n;
  if (map.memory.packing) meta.packed = moved(config, map.memory, {row, row + n, 0, map.memory.segments});
  return meta;
}

}  // namespace

std::vector<Offer> load_rows(const Config& config, const CommandList& list, const RowSource& source,
                             const std::array<std::optional<Ring>, kBuffers>& rings, int begin, int end) {
  const LoadedMap map(source);
  const MemoryLayout& m = map.memory;
  // LOADs of the other parts write the same rows and need not wait for these.
  const std::uint32_t part_of = kLoadPart + std::uint32_t(source.storage.index());
  const int step = map.rows(end - begin);
  std::vector<Offer> offers;
  for (int row = begin; row < end; row += step) {
    const int n = std::min(step, end - row);
    LoadRowsCommand l = command_of(config, source, map, row, n);
    Offer offer;
    if (const auto& ring = rings[std::size_t(Buffer::kSb)]) {
      l.to_sb = 1;
      l.sb_first = ring->first;
      l.sb_last = ring->last();
      l.sb_slot = ring->slot(row);
      add_rows(offer, {Buffer::kSb, *ring, row, row + n, true}, part_of);
    }
    if (const auto& ring = rings[std::size_t(Buffer::kVb)]) {
      l.to_vb = 1;
      l.vb_first = ring->first;
      l.vb_last = ring->last();
      l.vb_slot = ring->slot(row);
      add_rows(offer, {Buffer::kVb, *ring, row, row + n, true}, part_of);
    }
    if (m.base != int(Base::kInputs) && m.base != int(Base::kConstants)) {
      const auto& whole = source.shape_of;
      offer.accesses.push_back(whole ? memory_rows(*whole, 0, whole->height, false)
                                     : memory_rows(m, row, row + n, false));
      if (m.packing) offer.accesses.push_back(surface_rows(m, row, row + n, false));
    }
    offer.meta = meta_of(config, source, map, row, n);
    // Pixels, or what fits of one, take a cycle, whatever their length.
    const std::int64_t parts = std::int64_t(ceil_div(m.width, int(l.more_pixels) + 1)) *
                               ceil_div(m.pixel_bytes, config.load_words() * config.cp);
    offer.meta.cycles = std::max(list.bus_cycles(offer.meta.bytes_read()), n * m.segments * parts);
    offer.latency = kLoadLatency;
    offer.body = l;
    offers.push_back(std::move(offer));
  }
  return offers;
}

}  // namespace kaiten
