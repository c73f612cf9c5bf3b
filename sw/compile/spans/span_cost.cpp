// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/spans/span_cost.h"

#include <algorithm>

#include "compile/spans/stripes.h"

namespace kaiten {

void SpanCost::look_at(const Span& span, std::size_t end, const std::vector<StorageId>& before,
                       const std::vector<StorageId>& after, int rounds) {
  const std::size_t first = span.tasks.front().position;
  storages_.of(span.tasks);
  before_ = before;
  after_ = after;
  find_around(first);
  spilled_ = {};
  for (const StorageId s : storages_.all()) {
    std::int64_t bytes = 0;
    for (const int part : uses_[s].loaded_in(first, end)) {
      bytes += rounds * loaded_bytes(lowering_.ops[first], lowering_.storages[s],
                                     uses_[s].parts[std::size_t(part)].bytes, span.stripes);
    }
    spilled_.bytes += bytes;
    if (Around* a = around(s)) {
      a->bytes += bytes;
      a->must_spill = span.stripes > 1;
    }
  }
  for (const Task& t : span.tasks) {
    const ViewId view = lowering_.ops[t.position].output;
    if (!in_memory(view, false, end)) continue;
    const std::int64_t bytes = part_of(view).bytes;
    spilled_.bytes += bytes;
    Around* a = around(storage_of(view));
    if (a != nullptr && !in_memory(view, true, end)) a->bytes += bytes;
  }
}

bool SpanCost::in_memory(ViewId view, bool held, std::size_t end) const {
  const Uses::Part& part = part_of(view);
  // Results without consumers must go somewhere too.
  if (part.needed_in_memory || part.consumers.empty()) return true;
  return !held && part.consumers.back() >= end;
}

void SpanCost::find_around(std::size_t first) {
  for (const StorageId s : ids_around_) place_around_[s] = -1;
  ids_around_ = before_;
  for (std::size_t i = 0; i < ids_around_.size(); i++) place_around_[ids_around_[i]] = int(i);
  for (const StorageId s : after_) {
    if (place_around_[s] >= 0) continue;
    place_around_[s] = int(ids_around_.size());
    ids_around_.push_back(s);
  }
  around_.assign(ids_around_.size(), {});
  for (std::size_t i = 0; i < around_.size(); i++) {
    const Uses& u = uses_[ids_around_[i]];
    for (int b = 0; b < kBuffers; b++) {
      const std::vector<std::size_t>& consumers = u.consumers[b];
      if (consumers.empty() || consumers.back() < first) continue;
      around_[i].whole[std::size_t(b)] =
          std::int64_t(images_) * lowering_.storages[ids_around_[i]].shape.h * u.slot_size;
    }
  }
}

SpanCost::Around* SpanCost::around(StorageId s) {
  const int place = place_around_[s];
  return place < 0 ? nullptr : &around_[std::size_t(place)];
}

void SpanCost::forget_rings() {
  spilled_.used = {};
  for (Around& a : around_) a.rings = {};
}

void SpanCost::add_ring(StorageId s, Buffer buffer, std::int64_t addresses) {
  spilled_.used[std::size_t(buffer)] += addresses;
  if (Around* a = around(s)) a->rings[std::size_t(buffer)] += addresses;
}

void SpanCost::measure(const SpanShape& shape) {
  forget_rings();
  for (std::size_t r = 0; r < shape.rings.size(); r++) {
    const SpanRows::Ring& ring = shape.rings[r];
    add_ring(storages_.all()[ring.storage.index()], ring.buffer,
             std::int64_t(ring.slots(shape.slots[r], slack_blocks_)) * ring.slot_size);
  }
}

void SpanCost::bound(const Span& span) {
  const std::size_t first = span.tasks.front().position, end = span.tasks.back().position + 1;
  forget_rings();
  meet(span);
  for (std::size_t i = 0; i < met_.size(); i++) {
    const StorageId s = storages_.all()[i];
    for (const Buffer b : {Buffer::kSb, Buffer::kVb}) {
      if (uses_[s].read_in(b, first, end))
        add_ring(s, b, std::int64_t(bound_of_slots(s, met_[i])) * uses_[s].slot_size);
    }
  }
}

void SpanCost::meet(const Span& span) {
  met_.assign(storages_.all().size(), {});
  const auto met = [&](ViewId v) -> Met& { return met_[storages_.place(storage_of(v)).index()]; };
  for (const Task& t : span.tasks) {
    const LoweredOp& op = lowering_.ops[t.position];
    for (const ViewId v : op.inputs) {
      Met& m = met(v);
      m.readers += op.broadcast ? 2 : 1;
      m.window_rows = (t.block_rows - 1) * op.stride + op.kernel_rows;
      m.stride = op.stride;
      // A LOAD brings as many at a time, if nothing of the span makes them.
      if (m.made_at_once == 0) m.made_at_once = std::max(1, t.block_rows * op.stride);
    }
    met(op.output).made_at_once = t.block_rows;
  }
}

// Where one operator reads a map, its rows are made when it asks for them: before the block that ends its window, all but
// the last row of it may be there. Otherwise no more than all.
int SpanCost::bound_of_slots(StorageId s, const Met& met) const {
  const int height = lowering_.storages[s].shape.h;
  const bool parts = uses_[s].parts.size() > 1;
  const int all = images_ * (parts && images_ > 1 ? ceil_div(height, 3) * 3 : height);
  if (parts || met.readers != 1) return all;
  const int needed = std::max(met.window_rows + met.made_at_once - 1, std::min(met.stride, height));
  return std::min(all, needed + slack_blocks_ * met.made_at_once);
}

SpanNeeds SpanCost::with(std::uint32_t held_before, std::uint32_t held_after) const {
  SpanNeeds all = spilled_;
  const auto hold = [&](const Around& a) {
    for (std::size_t b = 0; b < kBuffers; b++) all.used[b] += a.whole[b] - a.rings[b];
    all.bytes -= a.bytes;
    all.possible &= !a.must_spill;
  };
  const auto held = [](std::uint32_t mask, std::size_t i) { return mask != 0 && ((mask >> i) & 1U) != 0; };
  for (std::size_t i = 0; i < before_.size(); i++) {
    if (held(held_before, i)) hold(around_[i]);
  }
  for (std::size_t i = 0; i < after_.size(); i++) {
    if (!held(held_after, i)) continue;
    const auto place = std::size_t(place_around_[after_[i]]);
    if (place < before_.size() && held(held_before, place)) continue;
    hold(around_[place]);
  }
  return all;
}

}  // namespace kaiten
