// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/emit/rows.h"

#include <algorithm>

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

std::vector<Offer> load_rows(const Config& config, const CommandList& list, const RowSource& source,
                             const std::array<std::optional<Ring>, kBuffers>& rings, int begin, int end) {
  MemoryLayout m = source.memory;
  const RowLayout& rows = source.rows;
  // LOADs of the other parts write the same rows and need not wait for these.
  const std::uint32_t part_of = kLoadPart + std::uint32_t(source.storage);
  std::int64_t row_payload =
      std::int64_t(m.width) * ((m.segments - 1) * std::int64_t(m.pixel_bytes) + m.last_pixel_bytes);
  if (const auto& w = source.windows) {
    row_payload = w->row_bytes();
    m.offset += w->skip;
    m.width = w->columns;
    m.pixel_bytes = m.last_pixel_bytes = w->bytes;
  }
  int step = int(std::clamp<std::int64_t>(kMaxLoadBytes / row_payload, 1, end - begin));
  if (m.packing) step = std::min(step, kMaxSurfaceBytes / m.segments);
  std::vector<Offer> offers;
  for (int row = begin; row < end; row += step) {
    const int n = std::min(step, end - row);
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
      l.row_bytes = row_payload;
      l.fill = w->fill;
    } else {
      l.more_pixels = pixels_together(m, rows.pixel, config.cp, config.load_words()) - 1;
    }
    if (m.packing) {
      l.zvc = 1;
      l.surface = m.surface(row);
    }
    l.row_mod3 = row % 3;
    l.slot_size = rows.slot_size;
    Offer offer;
    if (const auto& ring = rings[std::size_t(Buffer::kSb)]) {
      l.to_sb = 1;
      l.sb_first = ring->first;
      l.sb_last = ring->last();
      l.sb_slot = ring->slot(row);
      add_rows(offer, Buffer::kSb, *ring, row, row + n, true, part_of);
    }
    if (const auto& ring = rings[std::size_t(Buffer::kVb)]) {
      l.to_vb = 1;
      l.vb_first = ring->first;
      l.vb_last = ring->last();
      l.vb_slot = ring->slot(row);
      add_rows(offer, Buffer::kVb, *ring, row, row + n, true, part_of);
    }
    if (m.base != int(Base::kInputs) && m.base != int(Base::kConstants)) {
      const auto& whole = source.shape_of;
      offer.accesses.push_back(whole ? memory_rows(*whole, 0, whole->height, false)
                                     : memory_rows(m, row, row + n, false));
      if (m.packing) offer.accesses.push_back(surface_rows(m, row, row + n, false));
    }
    offer.meta.op = source.op;
    offer.meta.tensor = source.tensor;
    offer.meta.image = source.image;
    offer.meta.first_row = row;
    offer.meta.rows = n;
    offer.meta.first_column = source.first_column;
    offer.meta.columns = m.width;
    offer.meta.kind = CommandMeta::Bytes::kActivations;
    offer.meta.read_bytes = row_payload * n;
    if (m.packing) offer.meta.packed = moved(config, m, row, row + n, 0, m.segments);
    // Pixels, or what fits of one, take a cycle, whatever their length.
    const std::int64_t pieces = std::int64_t(ceil_div(m.width, int(l.more_pixels) + 1)) *
                                ceil_div(m.pixel_bytes, config.load_words() * config.cp);
    offer.meta.cycles = std::max(list.bus_cycles(offer.meta.bytes_read()), n * m.segments * pieces);
    offer.latency = kLoadLatency;
    offer.body = l;
    offers.push_back(std::move(offer));
  }
  return offers;
}

}  // namespace kaiten
