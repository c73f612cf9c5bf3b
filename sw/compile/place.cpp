#include "compile/place.h"

#include <algorithm>
#include <array>
#include <map>
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
      : lowering_(lowering), config_(config), plan_(plan), space_{Addresses(config.sb_depth), Addresses(config.vb_depth)} {}

  bool rings(Placement& placement, int max_slack, Buffer& too_small) {
    const std::size_t n = plan_.spans.size();
    for (std::size_t k = 0; k < n; k++) {
      PlacedSpan p{span_rows(lowering_, config_, plan_, k), {}};
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
        const int height = p.rows.flow.ring_rows(int(r));
        const int slots = whole ? height : std::min(height, needed[r] + slack * ring.producer_block);
        const auto first = space_[std::size_t(ring.buffer)].take(slots * ring.slot_size, whole && k % 2 == 1);
        if (!first) {
          too_small = ring.buffer;
          return undo();
        }
        taken.emplace_back(ring.buffer, *first);
        p.rings[r] = {*first, slots, ring.slot_size};
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
};

void assign_memory(const Lowering& lowering, const Config& config, const SpanPlan& plan,
                   Placement& placement) {
  const auto region = [](std::int64_t& total, std::int64_t bytes) {
    const std::int64_t at = (total + kRegionAlign - 1) / kRegionAlign * kRegionAlign;
    total = at + bytes;
    return at;
  };
  std::map<int, std::int64_t> offset_of;  // of inputs, by origin
  std::vector<bool> flattened(lowering.storages.size());
  std::vector<bool> used(lowering.storages.size());
  for (const LoweredOp& op : lowering.ops) {
    if (op.engine == Engine::kHost) continue;
    for (int s : op.inputs) used[std::size_t(s)] = true;
    if (op.flatten) flattened[std::size_t(op.inputs[0])] = true;
  }
  for (std::size_t i = 0; i < lowering.storages.size(); i++) {
    const Storage& s = lowering.storages[i];
    if (!s.is_input || !used[i]) continue;
    StoragePlan& sp = placement.storages[i];
    sp.in_memory = true;
    sp.memory = dense_layout(s.shape.h, s.shape.w, s.shape.c, config.cp);
    sp.memory.base = int(Base::kInputs);
    const auto [offset, is_new] = offset_of.try_emplace(s.origin, 0);
    if (is_new) offset->second = region(placement.input_bytes, std::int64_t(s.shape.elements()));
    sp.memory.offset = offset->second;
  }
  for (const LoweredOp& op : lowering.ops) {
    if (op.engine == Engine::kHost || !plan.spilled[std::size_t(op.output)]) continue;
    StoragePlan& sp = placement.storages[std::size_t(op.output)];
    const int groups = op.engine == Engine::kConv ? config.kp / config.cp : 3;
    const int align = flattened[std::size_t(op.output)] ? 1 : config.axi_bytes;
    const bool fetched =
        std::find(lowering.fetched.begin(), lowering.fetched.end(), op.output) != lowering.fetched.end();
    sp.in_memory = true;
    sp.memory = spilled_layout(op.out.h, op.out.w, op.out.c, groups, config.cp, align);
    sp.memory.base = int(fetched ? Base::kOutputs : Base::kActivations);
    sp.memory.offset = region(fetched ? placement.output_bytes : placement.activation_bytes, sp.memory.bytes());
  }
}

}  // namespace

std::optional<Placement> place(const Lowering& lowering, const Config& config,
                               const SpanPlan& plan, int max_slack, Buffer& too_small) {
  Placement placement;
  placement.storages.resize(lowering.storages.size());
  if (!Placer(lowering, config, plan).rings(placement, max_slack, too_small)) return std::nullopt;
  assign_memory(lowering, config, plan, placement);
  return placement;
}

}  // namespace kaiten
