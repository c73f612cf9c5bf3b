// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/spans/span_rows.h"

#include <array>
#include <utility>

#include "compile/spans/stripes.h"

namespace kaiten {

std::vector<Uses> find_uses(const Lowering& lowering, const Config& config) {
  std::vector<Uses> uses(lowering.storages.size());
  for (std::size_t i = 0; i < uses.size(); i++) {
    const Storage& s = lowering.storages[i];
    uses[i].slot_size = s.parts.empty() ? 0 : RowLayout(s.groups, s.shape.w).slot_size;
    const std::int64_t pixels = std::int64_t(s.shape.h) * s.shape.w;
    for (const Part& p : s.parts) {
      // Whole words of CP channels, but what is dense has its own bytes.
      const std::int64_t bytes = s.windows    ? std::int64_t(s.shape.h) * s.windows->row_bytes()
                                 : s.loaded() ? pixels * s.shape.c
                                              : pixels * p.groups * config.cp;
      uses[i].parts.push_back({kNobody, {}, bytes, false});
    }
  }
  const auto each_part = [&](int view, auto use) {
    Uses& u = uses[std::size_t(lowering.views[std::size_t(view)].storage)];
    for (int part : lowering.parts_of(view)) use(u, u.parts[std::size_t(part)]);
  };
  for (std::size_t at = 0; at < lowering.ops.size(); at++) {
    const LoweredOp& op = lowering.ops[at];
    if (!on_device(op.engine)) continue;
    for (int v : op.inputs) {
      each_part(v, [&](Uses& u, Uses::Part& p) {
        p.readers.push_back(at);
        auto& readers = u.readers[std::size_t(buffer_of(op.engine))];
        if (readers.empty() || readers.back() != at) readers.push_back(at);
      });
      const int bytes = lowering.storage_of(v).bytes_of;
      if (bytes >= 0) each_part(bytes, [](Uses&, Uses::Part& p) { p.needed_in_memory = true; });
    }
    each_part(op.output, [&](Uses& u, Uses::Part& p) {
      p.maker = at;
      u.first_maker = std::min(u.first_maker, at);
    });
  }
  for (const Lowering::Fetched& f : lowering.fetched) {
    each_part(f.view, [](Uses&, Uses::Part& p) { p.needed_in_memory = true; });
  }
  return uses;
}

SpanRows span_rows(const Lowering& lowering, const std::vector<Uses>& uses, const Span& span,
                   const Held& is_held) {
  const std::vector<Task>& tasks = span.tasks;
  const int passes = span.passes();
  SpanRows rows;
  rows.flow = RowFlow(passes);
  const std::size_t first = tasks.front().position;
  const std::size_t end = tasks.back().position + 1;
  const std::size_t storages = lowering.storages.size();
  std::vector<std::array<int, kBuffers>> ring_of(storages, {-1, -1});
  std::vector<std::size_t> first_part(storages);
  std::size_t parts_in_all = 0;
  for (std::size_t s = 0; s < storages; s++) {
    first_part[s] = parts_in_all;
    parts_in_all += uses[s].parts.size();
  }
  std::vector<int> writers(parts_in_all, -1);  // node of every part, -1: it is there already
  const auto writer = [&](std::size_t s, int part) -> int& {
    return writers[first_part[s] + std::size_t(part)];
  };

  for (std::size_t s = 0; s < storages; s++) {
    const Uses& u = uses[s];
    for (int b = 0; b < kBuffers; b++) {
      const bool here = u.read_in(Buffer(b), first, end);
      // Held: from its first maker to the last reader, whether this span uses it or not.
      const bool held = is_held[s] && u.made_before(end) && u.read_in(Buffer(b), first, kNobody);
      if (!here && !held) continue;
      const int height = lowering.storages[s].shape.h;
      const bool parts = u.parts.size() > 1;
      // Where rows share slots, equal rows of two images have equal banks too.
      const int pitch = parts && !held && passes > 1 ? ceil_div(height, 3) * 3 : height;
      const int slots = held ? passes * height : RowFlow::kUnlimited;
      int slot_size = u.slot_size;
      if (span.stripes > 1 && !held) {
        const int width = widest_input(lowering.ops[first], span.stripes);
        slot_size = RowLayout(lowering.storages[s].groups, width).slot_size;
      }
      ring_of[s][std::size_t(b)] = rows.flow.add_ring(height, slots, pitch);
      rows.rings.push_back({int(s), Buffer(b), slot_size, held, 1, parts, passes * pitch});
    }
  }
  // Maps that are read from memory, as far as they were made before.
  for (std::size_t s = 0; s < storages; s++) {
    const std::vector<int> parts = uses[s].loaded_in(first, end);
    if (parts.empty() || is_held[s]) continue;
    RowFlow::Node node;
    node.rows = lowering.storages[s].shape.h;
    node.block = node.rows;
    for (const Task& t : tasks) {
      const LoweredOp& op = lowering.ops[t.position];
      const bool reads = std::any_of(op.inputs.begin(), op.inputs.end(),
                                     [&](int v) { return lowering.views[std::size_t(v)].storage == int(s); });
      if (reads) node.block = std::min(node.block, std::max(1, t.block_rows * op.stride));
    }
    for (int r : ring_of[s]) {
      if (r < 0) continue;
      node.rings.push_back(r);
      rows.rings[std::size_t(r)].producer_block = node.block;
    }
    const int n = rows.flow.add_node(std::move(node));
    for (int part : parts) writer(s, part) = n;
    rows.nodes.push_back({int(s), 0, parts});
  }
  for (std::size_t i = 0; i < tasks.size(); i++) {
    const Task& t = tasks[i];
    const LoweredOp& op = lowering.ops[t.position];
    RowFlow::Node node;
    node.rows = op.out.h;
    node.block = t.block_rows;
    node.chunks = t.chunks();
    for (std::size_t k = 0; k < op.inputs.size(); k++) {
      const int v = op.inputs[k];
      const std::size_t s = std::size_t(lowering.views[std::size_t(v)].storage);
      RowFlow::Input in;
      in.ring = ring_of[s][std::size_t(buffer_of(op.engine))];
      for (int part : lowering.parts_of(v)) {
        const int n = writer(s, part);
        if (n >= 0 && (in.writers.empty() || in.writers.back() != n)) in.writers.push_back(n);
      }
      in.stride = op.broadcast && k == 1 ? 0 : op.stride;  // its one row is read by all
      in.pad_top = op.pad_top;
      in.kernel_rows = op.kernel_rows;
      node.inputs.push_back(std::move(in));
    }
    const std::size_t s = std::size_t(lowering.views[std::size_t(op.output)].storage);
    for (int r : ring_of[s]) {
      if (r < 0) continue;
      node.rings.push_back(r);
      rows.rings[std::size_t(r)].producer_block =
          std::max(rows.rings[std::size_t(r)].producer_block, t.block_rows);
    }
    writer(s, lowering.parts_of(op.output).front()) = rows.flow.add_node(std::move(node));
    rows.nodes.push_back({-1, i, {}});
  }
  return rows;
}

}  // namespace kaiten
