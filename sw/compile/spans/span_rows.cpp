// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/spans/span_rows.h"

#include <algorithm>
#include <array>
#include <utility>

#include "compile/spans/stripes.h"

namespace kaiten {

UsesOfStorages find_uses(const Lowering& lowering, const Config& config) {
  UsesOfStorages uses(lowering.storages.size());
  for (const StorageId i : uses.ids()) {
    const Storage& s = lowering.storages[i];
    uses[i].slot_size = s.parts.empty() ? 0 : s.rows().slot_size;
    const std::int64_t pixels = std::int64_t(s.shape.h) * s.shape.w;
    for (const Part& p : s.parts) {
      // Whole words of CP channels, but what is dense has its own bytes.
      const std::int64_t bytes = s.windows    ? std::int64_t(s.shape.h) * s.windows->row_bytes()
                                 : s.loaded() ? pixels * s.shape.c
                                              : pixels * p.groups * config.cp;
      uses[i].parts.push_back({kNone, {}, bytes, false});
    }
  }
  const auto each_part = [&](ViewId view, auto use) {
    Uses& u = uses[lowering.views[view].storage];
    for (int part : lowering.parts_of(view)) use(u, u.parts[std::size_t(part)]);
  };
  for (std::size_t at = 0; at < lowering.ops.size(); at++) {
    const LoweredOp& op = lowering.ops[at];
    if (!on_device(op.engine)) continue;
    for (ViewId v : op.inputs) {
      each_part(v, [&](Uses& u, Uses::Part& p) {
        p.consumers.push_back(at);
        auto& consumers = u.consumers[std::size_t(buffer_of(op.engine))];
        if (consumers.empty() || consumers.back() != at) consumers.push_back(at);
      });
      const ViewId bytes = lowering.storage_of(v).bytes_of;
      if (bytes.exists()) each_part(bytes, [](Uses&, Uses::Part& p) { p.needed_in_memory = true; });
    }
    each_part(op.output, [&](Uses& u, Uses::Part& p) {
      p.producer = at;
      u.first_producer = std::min(u.first_producer, at);
    });
  }
  for (const Lowering::Fetched& f : lowering.fetched) {
    each_part(f.view, [](Uses&, Uses::Part& p) { p.needed_in_memory = true; });
    const ViewId bytes = lowering.storage_of(f.view).bytes_of;
    if (bytes.exists()) each_part(bytes, [](Uses&, Uses::Part& p) { p.needed_in_memory = true; });
  }
  return uses;
}

namespace {

class SpanRowsBuilder {
 public:
  SpanRowsBuilder(const Lowering& lowering, const UsesOfStorages& uses, const Span& span, const Held& is_held)
      : lowering_(lowering),
        uses_(uses),
        span_(span),
        is_held_(is_held),
        first_(span.tasks.front().position),
        end_(span.tasks.back().position + 1) {
    rows_.flow = RowFlow(span.passes());
    find_storages();
    std::size_t parts = 0;
    for (Met& m : met_) {
      m.first_part = parts;
      parts += uses[m.storage].parts.size();
    }
    producers_.assign(parts, -1);
    rows_.flow.reserve(met_.size() + span.tasks.size(), kBuffers * met_.size());
  }

  SpanRows run() {
    for (Met& m : met_) {
      for (const Buffer b : {Buffer::kSb, Buffer::kVb}) add_ring(m, b);
    }
    for (const Met& m : met_) add_load(m.storage);
    for (std::size_t i = 0; i < span_.tasks.size(); i++) add_task(i);
    return std::move(rows_);
  }

 private:
  // A storage that concerns the span.
  struct Met {
    StorageId storage;
    std::array<int, kBuffers> rings{-1, -1};  // -1: none
    std::size_t first_part = 0;               // in producers_
  };

  // Those that the span uses, and what is held: a network has thousands, a span a few.
  void find_storages() {
    std::vector<StorageId> found;
    for (const Task& t : span_.tasks) {
      const LoweredOp& op = lowering_.ops[t.position];
      for (const ViewId v : op.inputs) found.push_back(storage_of(v));
      found.push_back(storage_of(op.output));
    }
    for (const StorageId s : is_held_.ids()) {
      if (is_held_[s]) found.push_back(s);
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    for (const StorageId s : found) met_.push_back({.storage = s});
  }

  Met& met(StorageId s) {
    return *std::lower_bound(met_.begin(), met_.end(), s,
                             [](const Met& m, StorageId id) { return m.storage < id; });
  }
  // Node of a part, -1: it is there already.
  int& producer(StorageId s, int part) { return producers_[met(s).first_part + std::size_t(part)]; }
  StorageId storage_of(ViewId view) const { return lowering_.views[view].storage; }
  bool is_held(StorageId s) const { return !is_held_.empty() && is_held_[s]; }

  void add_ring(Met& m, Buffer b) {
    const StorageId s = m.storage;
    const Uses& u = uses_[s];
    const bool here = u.read_in(b, first_, end_);
    // Held: from its first producer to the last consumer, whether this span uses it or not.
    const bool held = is_held(s) && u.made_before(end_) && u.read_in(b, first_, kNone);
    if (!here && !held) return;
    const int height = lowering_.storages[s].shape.h;
    const int passes = span_.passes();
    const bool parts = u.parts.size() > 1;
    // Where rows share slots, equal rows of two images have equal banks too.
    const int pitch = parts && !held && passes > 1 ? ceil_div(height, 3) * 3 : height;
    const int slots = held ? passes * height : RowFlow::kUnlimited;
    int slot_size = u.slot_size;
    if (span_.stripes > 1 && !held) {
      const int width = widest_input(lowering_.ops[first_], span_.stripes);
      slot_size = lowering_.storages[s].rows(width).slot_size;
    }
    m.rings[std::size_t(b)] = rows_.flow.add_ring(height, slots, pitch);
    rows_.rings.push_back({s, b, slot_size, held, 1, parts, passes * pitch});
  }

  // The rings of a storage become those that a node writes, `block` rows at a time or more.
  void write_rings(StorageId s, int block, RowFlow::Node& node) {
    for (int r : met(s).rings) {
      if (r < 0) continue;
      node.rings.push_back(r);
      int& producer_block = rows_.rings[std::size_t(r)].producer_block;
      producer_block = std::max(producer_block, block);
    }
  }

  // A map that is read from memory, as far as it was made before.
  void add_load(StorageId s) {
    const std::vector<int> parts = uses_[s].loaded_in(first_, end_);
    if (parts.empty() || is_held(s)) return;
    RowFlow::Node node;
    node.rows = lowering_.storages[s].shape.h;
    node.block = node.rows;
    for (const Task& t : span_.tasks) {
      const LoweredOp& op = lowering_.ops[t.position];
      const bool reads =
          std::any_of(op.inputs.begin(), op.inputs.end(), [&](ViewId v) { return storage_of(v) == s; });
      if (reads) node.block = std::min(node.block, std::max(1, t.block_rows * op.stride));
    }
    write_rings(s, node.block, node);
    const int n = rows_.flow.add_node(std::move(node));
    for (int part : parts) producer(s, part) = n;
    rows_.nodes.push_back({s, 0, parts});
  }

  RowFlow::Input input_of(const LoweredOp& op, std::size_t number) {
    const ViewId v = op.inputs[number];
    RowFlow::Input in;
    in.ring = met(storage_of(v)).rings[std::size_t(buffer_of(op.engine))];
    for (int part : lowering_.parts_of(v)) {
      const int n = producer(storage_of(v), part);
      if (n >= 0 && (in.producers.empty() || in.producers.back() != n)) in.producers.push_back(n);
    }
    in.stride = op.broadcast && number == 1 ? 0 : op.stride;  // its one row is read by all
    in.pad_top = op.pad_top;
    in.kernel_rows = op.kernel_rows;
    return in;
  }

  void add_task(std::size_t number) {
    const Task& t = span_.tasks[number];
    const LoweredOp& op = lowering_.ops[t.position];
    RowFlow::Node node;
    node.rows = op.out.h;
    node.block = t.block_rows;
    node.chunks = t.chunks();
    for (std::size_t k = 0; k < op.inputs.size(); k++) node.inputs.push_back(input_of(op, k));
    const StorageId s = storage_of(op.output);
    write_rings(s, t.block_rows, node);
    producer(s, lowering_.parts_of(op.output).front()) = rows_.flow.add_node(std::move(node));
    rows_.nodes.push_back({StorageId(), number, {}});
  }

  const Lowering& lowering_;
  const UsesOfStorages& uses_;
  const Span& span_;
  const Held& is_held_;
  std::size_t first_;  // operators of the span, by position
  std::size_t end_;
  std::vector<Met> met_;  // by storage
  std::vector<int> producers_;
  SpanRows rows_;
};

}  // namespace

SpanRows span_rows(const Lowering& lowering, const UsesOfStorages& uses, const Span& span,
                   const Held& is_held) {
  return SpanRowsBuilder(lowering, uses, span, is_held).run();
}

}  // namespace kaiten
