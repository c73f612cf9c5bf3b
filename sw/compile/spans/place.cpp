// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/spans/place.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/arithmetic.h"

namespace kaiten {

namespace {

// Memory regions start at multiples of this, whatever the bus.
constexpr std::int64_t kRegionAlign = 64;

// Ranges of a buffer's addresses: the first gap from below, or from above.
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
    const UsesOfStorages uses = find_uses(lowering_, config_);
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
  using Key = std::pair<StorageId, Buffer>;

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

// Regions of memory, one after the other.
std::int64_t take_region(std::int64_t& total, std::int64_t bytes) {
  const std::int64_t at = align_up(total, kRegionAlign);
  total = at + bytes;
  return at;
}

class MemoryAssigner {
 public:
  MemoryAssigner(const Lowering& lowering, const Config& config, const SpanPlan& plan,
                 const Compression& compression, Placement& placement)
      : lowering_(lowering),
        config_(config),
        plan_(plan),
        compression_(compression),
        placement_(placement),
        used_(lowering.storages.size()) {
    for (const LoweredOp& op : lowering.ops) {
      if (!on_device(op.engine)) continue;
      for (const ViewId v : op.inputs) used_[storage_of(v)] = true;
    }
    for (const Lowering::Fetched& f : lowering.fetched) used_[storage_of(f.view)] = true;
    for (const StorageId s : lowering.storages.ids())
      placement.parts[s].resize(lowering.storages[s].parts.size());
  }

  void run() {
    for (const StorageId s : lowering_.storages.ids()) {
      if (lowering_.storages[s].is_input && used_[s]) place_input(s);
    }
    find_special_parts();
    const std::vector<int> rows_of = block_rows(lowering_, plan_);
    for (std::size_t at = 0; at < lowering_.ops.size(); at++) {
      const LoweredOp& op = lowering_.ops[at];
      if (on_device(op.engine) && plan_.stored[at]) place_output(op, rows_of[at]);
    }
    for (const StorageId s : lowering_.storages.ids()) {
      if (lowering_.storages[s].bytes_of.exists() && used_[s]) place_reshaped(s);
    }
  }

 private:
  StorageId storage_of(ViewId view) const { return lowering_.views[view].storage; }
  PartPlan& part_of(ViewId view) {
    return placement_.parts[storage_of(view)][std::size_t(lowering_.parts_of(view).front())];
  }

  // One image after the other.
  std::int64_t take_batch(std::int64_t& total, MemoryLayout& m) const {
    if (plan_.images > 1) m.image_pitch = align_up(m.bytes(), kRegionAlign);
    return take_region(total, (plan_.images - 1) * m.image_pitch + m.bytes());
  }

  void place_input(StorageId id) {
    const Storage& s = lowering_.storages[id];
    PartPlan& part = placement_.parts[id][0];
    part.in_memory = true;
    MemoryLayout& m = part.memory;
    m = s.windows ? dense_layout(s.shape.h, s.windows->width, s.windows->channels, config_.cp)
                  : dense_layout(s.shape.h, s.shape.w, s.shape.c, config_.cp);
    m.base = int(Base::kInputs);
    const auto [input, is_new] = input_of_.try_emplace(s.origin, m);
    if (is_new) input->second.offset = take_batch(placement_.input_bytes, input->second);
    m.offset = input->second.offset;
    m.image_pitch = input->second.image_pitch;
  }

  // What is read as another shape has no gaps between its rows, what the host reads has its own region, a compressed row
  // is read and written as a whole.
  void find_special_parts() {
    for (const StorageId s : lowering_.storages.ids()) {
      const ViewId bytes = lowering_.storages[s].bytes_of;
      if (bytes.exists() && used_[s]) dense_.insert(&part_of(bytes));
    }
    for (const Lowering::Fetched& f : lowering_.fetched) {
      auto& parts = placement_.parts[storage_of(f.view)];
      for (int part : lowering_.parts_of(f.view)) fetched_.insert(&parts[std::size_t(part)]);
      const ViewId bytes = lowering_.storage_of(f.view).bytes_of;
      if (bytes.exists()) fetched_.insert(&part_of(bytes));
    }
    for (const Span& span : plan_.spans) {
      if (span.stripes == 1) continue;
      const LoweredOp& op = lowering_.ops[span.tasks.front().position];
      std::vector<ViewId> views = op.inputs;
      views.push_back(op.output);
      for (const ViewId v : views) {
        for (const PartPlan& part : placement_.parts[storage_of(v)]) striped_.insert(&part);
      }
    }
  }

  // `rows`: output rows of a command.
  void place_output(const LoweredOp& op, int rows) {
    PartPlan& part = part_of(op.output);
    const bool array = op.engine == Engine::kConv;
    const bool to_host = fetched_.contains(&part);
    const bool dense = dense_.contains(&part);
    MemoryLayout& m = part.memory;
    part.in_memory = true;
    m = spilled_layout(op.out.h, op.out.w, array ? op.out.c : op.lanes, array ? config_.kp / config_.cp : 3,
                       config_.cp, dense ? 1 : config_.axi_bytes);
    m.base = int(to_host ? Base::kOutputs : Base::kActivations);
    m.offset = take_batch(to_host ? placement_.output_bytes : placement_.activation_bytes, m);
    if (to_host || dense || striped_.contains(&part)) return;
    m.packing = packing_of(config_, compression_, lowering_, op, {m, rows, plan_.images});
    if (m.packing)
      m.packing->surface = take_region(placement_.activation_bytes, plan_.images * m.surface_bytes());
  }

  void place_reshaped(StorageId id) {
    const Storage& s = lowering_.storages[id];
    const MemoryLayout& from = part_of(s.bytes_of).memory;
    PartPlan& part = placement_.parts[id][0];
    part.in_memory = true;
    part.memory = dense_layout(s.shape.h, s.shape.w, s.shape.c, config_.cp);
    part.memory.base = from.base;
    part.memory.offset = from.offset;
    part.memory.image_pitch = from.image_pitch;
  }

  const Lowering& lowering_;
  const Config& config_;
  const SpanPlan& plan_;
  const Compression& compression_;
  Placement& placement_;
  IndexedVector<StorageId, bool> used_;   // by operators of the device, or by the host
  std::map<int, MemoryLayout> input_of_;  // by origin
  std::set<const PartPlan*> dense_, fetched_, striped_;
};

}  // namespace

std::optional<Placement> place(const Lowering& lowering, const Config& config, const SpanPlan& plan,
                               const Compression& compression, int max_slack, Buffer& too_small) {
  Placement placement;
  placement.parts.resize(lowering.storages.size());
  if (!Placer(lowering, config, plan).rings(placement, max_slack, too_small)) return std::nullopt;
  MemoryAssigner(lowering, config, plan, compression, placement).run();
  return placement;
}

}  // namespace kaiten
