// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/spans/place.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace kaiten {

namespace {

// Memory regions start at multiples of this, whatever the bus.
constexpr std::int64_t kRegionAlign = 64;

// Pieces of a buffer's addresses: the first gap from below, or from above.
class Addresses {
 public:
  explicit Addresses(int depth) : depth_(depth) {}

  std::optional<int> take(int size, bool from_above) {
    std::optional<int> found;
    int at = 0;
    for (auto it = used_.begin();; ++it) {
      const int end = it == used_.end() ? depth_ : it->first;
      if (end - at >= size) {
        found = from_above ? end - size : at;
        if (!from_above) break;
      }
      if (it == used_.end()) break;
      at = it->second;
    }
    if (found) used_.emplace(*found, *found + size);
    return found;
  }
  void give_back(int first) { used_.erase(first); }

 private:
  int depth_;
  std::map<int, int> used_;  // first, end
};

class Placer {
 public:
  Placer(const Lowering& lowering, const Config& config, const SpanPlan& plan)
      : lowering_(lowering),
        config_(config),
        plan_(plan),
        space_{Addresses(config.sb_depth), Addresses(config.vb_depth)} {}

  bool rings(Placement& placement, int max_slack, Buffer& too_small) {
    const std::size_t n = plan_.spans.size();
    const std::vector<Uses> uses = find_uses(lowering_, config_);
    for (const Span& span : plan_.spans) {
      PlacedSpan p{span_rows(lowering_, uses, span, plan_.held), {}};
      p.rings.resize(p.rows.rings.size());
      placement.spans.push_back(std::move(p));
    }
    for (std::size_t k = 0; k < n; k++) {
      PlacedSpan& p = placement.spans[k];
      const std::vector<int> needed = p.rows.flow.slots_needed();
      int slack = max_slack;
      while (!try_span(placement.spans, k, needed, slack, too_small)) {
        if (slack-- == 0) return false;
      }
      for (std::size_t r = 0; r < p.rings.size(); r++) p.rows.flow.set_slots(int(r), p.rings[r].slots);
      free_after(placement.spans, k);
    }
    return true;
  }

 private:
  using Key = std::pair<int, Buffer>;  // storage

  bool try_span(std::vector<PlacedSpan>& spans, std::size_t k, const std::vector<int>& needed, int slack,
                Buffer& too_small) {
    PlacedSpan& p = spans[k];
    std::vector<std::pair<Buffer, int>> taken;
    std::vector<Key> new_held;
    const auto undo = [&] {
      for (const auto& [buffer, first] : taken) space_[std::size_t(buffer)].give_back(first);
      for (const Key& key : new_held) held_.erase(key);
      return false;
    };
    // Tensors that stay lie at one end, the next ones at the other: what is between is one gap.
    for (const bool whole : {true, false}) {
      for (std::size_t r = 0; r < p.rows.rings.size(); r++) {
        const SpanRows::Ring& ring = p.rows.rings[r];
        if (ring.whole != whole) continue;
        const Key key{ring.storage, ring.buffer};
        if (const auto it = held_.find(key); whole && it != held_.end()) {
          p.rings[r] = it->second;
          continue;
        }
        const int slots = ring.slots(needed[r], slack);
        const auto first = space_[std::size_t(ring.buffer)].take(slots * ring.slot_size, whole && k % 2 == 1);
        if (!first) {
          too_small = ring.buffer;
          return undo();
        }
        taken.emplace_back(ring.buffer, *first);
        p.rings[r] = {*first, slots, ring.slot_size, 0, ring.parts && !whole ? Ring::kRowsApart : ++maps_};
        if (whole) {
          held_[key] = p.rings[r];
          new_held.push_back(key);
        }
      }
    }
    return true;
  }

  void free_after(const std::vector<PlacedSpan>& spans, std::size_t k) {
    const PlacedSpan& p = spans[k];
    for (std::size_t r = 0; r < p.rings.size(); r++) {
      const SpanRows::Ring& ring = p.rows.rings[r];
      const auto same = [&](const SpanRows::Ring& o) {
        return o.whole && o.storage == ring.storage && o.buffer == ring.buffer;
      };
      const bool stays = ring.whole && k + 1 < spans.size() &&
                         plan_.spans[k + 1].first_image == plan_.spans[k].first_image &&
                         std::any_of(spans[k + 1].rows.rings.begin(), spans[k + 1].rows.rings.end(), same);
      if (stays) continue;
      space_[std::size_t(ring.buffer)].give_back(p.rings[r].first);
      if (ring.whole) held_.erase({ring.storage, ring.buffer});
    }
  }

  const Lowering& lowering_;
  const Config& config_;
  const SpanPlan& plan_;
  std::array<Addresses, kBuffers> space_;
  std::map<Key, Ring> held_;
  int maps_ = 0;  // rings so far
};

// Output rows of a command of each operator, by position in the lowering.
std::vector<int> block_rows(const Lowering& lowering, const SpanPlan& plan) {
  std::vector<int> rows(lowering.ops.size(), 1);
  for (const Span& span : plan.spans) {
    for (const Task& t : span.tasks) rows[t.position] = std::max(rows[t.position], t.block_rows);
  }
  return rows;
}

void assign_memory(const Lowering& lowering, const Config& config, const SpanPlan& plan,
                   const Compression& compression, Placement& placement) {
  const std::vector<int> rows_of = block_rows(lowering, plan);
  const auto region = [](std::int64_t& total, std::int64_t bytes) {
    const std::int64_t at = (total + kRegionAlign - 1) / kRegionAlign * kRegionAlign;
    total = at + bytes;
    return at;
  };
  // One image behind the other.
  const auto batch = [&](std::int64_t& total, MemoryLayout& m) {
    if (plan.images > 1) m.image_pitch = (m.bytes() + kRegionAlign - 1) / kRegionAlign * kRegionAlign;
    return region(total, (plan.images - 1) * m.image_pitch + m.bytes());
  };
  const auto part_of = [&](int view) -> PartPlan& {
    const int storage = lowering.views[std::size_t(view)].storage;
    return placement.parts[std::size_t(storage)][std::size_t(lowering.parts_of(view).front())];
  };
  std::map<int, MemoryLayout> input_of;  // by origin
  std::vector<bool> used(lowering.storages.size());
  for (const LoweredOp& op : lowering.ops) {
    if (!on_device(op.engine)) continue;
    for (int v : op.inputs) used[std::size_t(lowering.views[std::size_t(v)].storage)] = true;
  }
  for (std::size_t i = 0; i < lowering.storages.size(); i++) {
    const Storage& s = lowering.storages[i];
    placement.parts[i].resize(s.parts.size());
    if (!s.is_input || !used[i]) continue;
    MemoryLayout& m = placement.parts[i][0].memory;
    placement.parts[i][0].in_memory = true;
    m = s.windows ? dense_layout(s.shape.h, s.windows->width, s.windows->channels, config.cp)
                  : dense_layout(s.shape.h, s.shape.w, s.shape.c, config.cp);
    m.base = int(Base::kInputs);
    const auto [input, is_new] = input_of.try_emplace(s.origin, m);
    if (is_new) input->second.offset = batch(placement.input_bytes, input->second);
    m.offset = input->second.offset;
    m.image_pitch = input->second.image_pitch;
  }
  // What is read as another shape has no gaps between its rows, what the host reads has its own region.
  std::set<const PartPlan*> dense, fetched;
  for (std::size_t i = 0; i < lowering.storages.size(); i++) {
    if (lowering.storages[i].bytes_of >= 0 && used[i]) dense.insert(&part_of(lowering.storages[i].bytes_of));
  }
  for (const Lowering::Fetched& f : lowering.fetched) {
    auto& parts = placement.parts[std::size_t(lowering.views[std::size_t(f.view)].storage)];
    for (int part : lowering.parts_of(f.view)) fetched.insert(&parts[std::size_t(part)]);
  }
  // A compressed row is read and written as a whole.
  std::set<const PartPlan*> striped;
  for (const Span& span : plan.spans) {
    if (span.stripes == 1) continue;
    const LoweredOp& op = lowering.ops[span.tasks.front().position];
    std::vector<int> views = op.inputs;
    views.push_back(op.output);
    for (int v : views) {
      for (const PartPlan& part : placement.parts[std::size_t(lowering.views[std::size_t(v)].storage)])
        striped.insert(&part);
    }
  }
  for (std::size_t at = 0; at < lowering.ops.size(); at++) {
    const LoweredOp& op = lowering.ops[at];
    if (!on_device(op.engine) || !plan.stored[at]) continue;
    PartPlan& part = part_of(op.output);
    const bool array = op.engine == Engine::kConv;
    const bool to_host = fetched.contains(&part);
    part.in_memory = true;
    part.memory =
        spilled_layout(op.out.h, op.out.w, array ? op.out.c : op.lanes, array ? config.kp / config.cp : 3,
                       config.cp, dense.contains(&part) ? 1 : config.axi_bytes);
    part.memory.base = int(to_host ? Base::kOutputs : Base::kActivations);
    part.memory.offset = batch(to_host ? placement.output_bytes : placement.activation_bytes, part.memory);
    if (to_host || dense.contains(&part) || striped.contains(&part)) continue;
    part.memory.packing =
        packing_of(config, compression, lowering, op, part.memory, rows_of[at], plan.images);
    if (part.memory.packing)
      part.memory.packing->surface =
          region(placement.activation_bytes, plan.images * part.memory.surface_bytes());
  }
  for (std::size_t i = 0; i < lowering.storages.size(); i++) {
    const Storage& s = lowering.storages[i];
    if (s.bytes_of < 0 || !used[i]) continue;
    const MemoryLayout& from = part_of(s.bytes_of).memory;
    PartPlan& part = placement.parts[i][0];
    part.in_memory = true;
    part.memory = dense_layout(s.shape.h, s.shape.w, s.shape.c, config.cp);
    part.memory.base = from.base;
    part.memory.offset = from.offset;
    part.memory.image_pitch = from.image_pitch;
  }
}

}  // namespace

std::optional<Placement> place(const Lowering& lowering, const Config& config, const SpanPlan& plan,
                               const Compression& compression, int max_slack, Buffer& too_small) {
  Placement placement;
  placement.parts.resize(lowering.storages.size());
  if (!Placer(lowering, config, plan).rings(placement, max_slack, too_small)) return std::nullopt;
  assign_memory(lowering, config, plan, compression, placement);
  return placement;
}

}  // namespace kaiten
