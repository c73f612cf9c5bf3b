#include "compile/rows.h"

#include <algorithm>

namespace kaiten {

namespace {

// Pixels of a segment that LOAD writes in one cycle: the words, as many as a request has, must lie in different
// banks, and only pixels of one word may end inside it.
int pixels_together(const MemoryLayout& m, int pixel, const Config& config) {
  constexpr int kMost = 8;
  const int words = ceil_div(m.pixel_bytes, config.cp);
  if (words > 1 && (m.pixel_bytes % config.cp != 0 || m.last_pixel_bytes % config.cp != 0)) return 1;
  std::array<bool, 9> taken{};
  for (int n = 0; n < kMost; n++) {
    if ((n + 1) * words > config.load_words()) return std::max(n, 1);
    for (int w = 0; w < words; w++) {
      bool& bank = taken[std::size_t(bank_of(0, n * pixel + w))];
      if (bank) return n;
      bank = true;
    }
  }
  return kMost;
}

}  // namespace

RowLoader::RowLoader(const Config& config, const Lowering& lowering, const Plan& plan, CommandList& list)
    : config_(config), lowering_(lowering), plan_(plan), list_(list) {
  loaded_.resize(lowering.storages.size());
}

void RowLoader::start(std::size_t op) { streamed_to_.assign(lowering_.ops[op].inputs.size(), 0); }

void RowLoader::start_chunk(std::size_t op) {
  const OpPlan& p = plan_.ops[op];
  for (std::size_t i = 0; i < p.rings.size(); i++) {
    if (p.streamed[i] && p.rings[i].slots < lowering_.ops[op].in.h) streamed_to_[i] = 0;
  }
}

void RowLoader::need(std::size_t position, int begin, int end) {
  const LoweredOp& op = lowering_.ops[position];
  const OpPlan& p = plan_.ops[position];
  for (std::size_t i = 0; i < op.inputs.size(); i++) {
    const int storage = op.inputs[i];
    if (p.streamed[i]) {
      if (i > 0 && op.inputs[0] == storage) continue;  // both operands from one ring
      int& to = streamed_to_[i];
      // Rows above the window are skipped, if there are any (stride larger than the kernel).
      if (p.rings[i].slots < op.in.h) to = std::max(to, begin);
      if (to >= end) continue;
      load(op, storage, p.rings[i], to, end);
      to = end;
    } else if (lowering_.storages[std::size_t(storage)].is_input) {
      int& to = loaded_[std::size_t(storage)][std::size_t(buffer_of(op.engine))];
      if (to >= end) continue;
      load(op, storage, p.rings[i], to, end);
      to = end;
    }
  }
}

// Rows [begin, end) of a storage from memory into a ring. A flattened map is one row of one pixel.
void RowLoader::load(const LoweredOp& op, int storage, const Ring& ring, int begin, int end) {
  MemoryLayout m = plan_.storages[std::size_t(storage)].memory;
  if (op.flatten) {
    const std::int64_t offset = m.offset;
    const int base = m.base;
    m = dense_layout(1, 1, op.in.c, config_.cp);
    m.offset = offset;
    m.base = base;
  }
  const RowLayout rows(op.in.c, op.in.w, config_.cp);
  const std::int64_t row_payload =
      std::int64_t(m.width) * ((m.segments - 1) * std::int64_t(m.pixel_bytes) + m.last_pixel_bytes);
  const int step = int(std::clamp<std::int64_t>(kMaxLoadBytes / row_payload, 1, end - begin));
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
    l.pixel = rows.width > 1 ? rows.pixel : 0;  // a single pixel may be longer than the field
    l.more_pixels = pixels_together(m, rows.pixel, config_) - 1;
    l.row_mod3 = row % 3;
    l.slot_size = rows.slot_size;
    std::vector<Access> accesses;
    const Buffer buffer = buffer_of(op.engine);
    if (buffer == Buffer::kSb) {
      l.to_sb = 1;
      l.sb_first = ring.first;
      l.sb_last = ring.last();
      l.sb_slot = ring.slot(row);
    } else {
      l.to_vb = 1;
      l.vb_first = ring.first;
      l.vb_last = ring.last();
      l.vb_slot = ring.slot(row);
    }
    add_rows(accesses, buffer, ring, row, row + n, true);
    if (m.base != int(Base::kInputs)) {
      const MemoryLayout& whole = plan_.storages[std::size_t(storage)].memory;
      accesses.push_back(op.flatten ? memory_rows(whole, 0, whole.height, false)
                                    : memory_rows(m, row, row + n, false));
    }
    CommandMeta meta;
    meta.op = op.op;
    meta.tensor = lowering_.storages[std::size_t(storage)].tensor;
    meta.first_row = row;
    meta.rows = n;
    meta.columns = m.width;
    meta.kind = CommandMeta::Bytes::kActivations;
    meta.read_bytes = row_payload * n;
    // Pixels, or what fits of one, take a cycle, whatever their length.
    const std::int64_t pieces = std::int64_t(ceil_div(m.width, int(l.more_pixels) + 1)) *
                                ceil_div(m.pixel_bytes, config_.load_words() * config_.cp);
    meta.cycles = std::max(list_.bus_cycles(meta.read_bytes), n * m.segments * pieces);
    list_.emit(l, meta, accesses, kLoadLatency);
  }
}

}  // namespace kaiten
