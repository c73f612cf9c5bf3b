#include "compile/row_flow.h"

#include <algorithm>
#include <utility>

namespace kaiten {

int RowFlow::add_ring(int rows, int slots) {
  rings_.push_back({rows, slots, {}, {}});
  return int(rings_.size()) - 1;
}

int RowFlow::add_node(Node node) {
  const int n = nodes();
  for (std::size_t i = 0; i < node.inputs.size(); i++) {
    rings_[std::size_t(node.inputs[i].ring)].readers.push_back({n, int(i)});
  }
  for (int ring : node.rings) rings_[std::size_t(ring)].writers.push_back(n);
  nodes_.push_back({std::move(node), 0, 0});
  return n;
}

bool RowFlow::done(int n) const {
  const Position& p = nodes_[std::size_t(n)];
  return p.chunk == p.node.chunks;
}

RowFlow::Block RowFlow::next(int n) const {
  const Position& p = nodes_[std::size_t(n)];
  return {p.chunk, p.row, std::min(p.node.block, p.node.rows - p.row)};
}

int RowFlow::made(int n) const {
  const Position& p = nodes_[std::size_t(n)];
  if (p.chunk == p.node.chunks) return p.node.rows;
  return p.chunk + 1 == p.node.chunks ? p.row : 0;
}

int RowFlow::end_row(const Reader& r) const {
  const Input& in = nodes_[std::size_t(r.node)].node.inputs[std::size_t(r.input)];
  const Block b = next(r.node);
  const int last = (b.first_row + b.rows - 1) * in.stride - in.pad_top + in.kernel_rows;
  return std::clamp(last, 0, rings_[std::size_t(in.ring)].rows);
}

bool RowFlow::inputs_there(int n) const {
  const std::vector<Input>& inputs = nodes_[std::size_t(n)].node.inputs;
  for (std::size_t i = 0; i < inputs.size(); i++) {
    const int end = end_row({n, int(i)});
    for (int w : inputs[i].writers) {
      if (made(w) < end) return false;
    }
  }
  return true;
}

int RowFlow::dead_for(const Reader& r) const {
  const Position& p = nodes_[std::size_t(r.node)];
  const Input& in = p.node.inputs[std::size_t(r.input)];
  const int rows = rings_[std::size_t(in.ring)].rows;
  if (p.chunk == p.node.chunks) return rows;
  if (p.chunk + 1 < p.node.chunks) return 0;
  return std::clamp(p.row * in.stride - in.pad_top, 0, rows);
}

int RowFlow::dead(const Ring& ring) const {
  int rows = ring.readers.empty() ? 0 : ring.rows;
  for (const Reader& r : ring.readers) rows = std::min(rows, dead_for(r));
  return rows;
}

bool RowFlow::room(int n) const {
  const Block b = next(n);
  for (int i : nodes_[std::size_t(n)].node.rings) {
    const Ring& ring = rings_[std::size_t(i)];
    if (ring.slots < ring.rows && b.first_row + b.rows - dead(ring) > ring.slots) return false;
  }
  return true;
}

void RowFlow::advance(int n) {
  Position& p = nodes_[std::size_t(n)];
  p.row += next(n).rows;
  if (p.row == p.node.rows) {
    p.row = 0;
    p.chunk++;
  }
}

int RowFlow::blocks_ahead(int n) const {
  int least = kUnlimited;
  for (int i : nodes_[std::size_t(n)].node.rings) {
    for (const Reader& r : rings_[std::size_t(i)].readers) {
      if (!done(r.node)) least = std::min(least, made(n) - end_row(r));
    }
  }
  return least == kUnlimited ? 0 : std::max(0, least) / nodes_[std::size_t(n)].node.block;
}

void RowFlow::pull(int n, std::vector<int>& most) {
  const Node& node = this->node(n);
  for (std::size_t i = 0; i < node.inputs.size(); i++) {
    const int end = end_row({n, int(i)});
    for (int w : node.inputs[i].writers) {
      while (made(w) < end) pull(w, most);
    }
  }
  const Block b = next(n);
  for (int r : node.rings) {
    const Ring& ring = rings_[std::size_t(r)];
    // What a chunk but the last writes stays until the last one has been through.
    const int alive = node.chunks > 1 ? ring.rows : b.first_row + b.rows - dead(ring);
    most[std::size_t(r)] = std::max(most[std::size_t(r)], std::min(alive, ring.rows));
  }
  advance(n);
}

std::vector<int> RowFlow::slots_needed() const {
  RowFlow flow = *this;
  for (Ring& r : flow.rings_) r.slots = kUnlimited;
  std::vector<bool> is_read(nodes_.size());
  for (const Position& p : nodes_) {
    for (const Input& in : p.node.inputs) {
      for (int w : in.writers) is_read[std::size_t(w)] = true;
    }
  }
  std::vector<int> most(rings_.size(), 0);
  for (std::size_t i = 0; i < rings_.size(); i++) {
    for (const Reader& r : rings_[i].readers) {
      const int stride = nodes_[std::size_t(r.node)].node.inputs[std::size_t(r.input)].stride;
      most[i] = std::max(most[i], std::min(stride, rings_[i].rows));
    }
  }
  for (;;) {
    // The end that is furthest behind asks for its next block.
    int end = -1;
    double least = 1;
    for (int n = 0; n < nodes(); n++) {
      if (is_read[std::size_t(n)] || flow.done(n)) continue;
      const Position& p = flow.nodes_[std::size_t(n)];
      const double progress = (p.chunk + double(p.row) / p.node.rows) / p.node.chunks;
      if (end < 0 || progress < least) {
        end = n;
        least = progress;
      }
    }
    if (end >= 0) {
      flow.pull(end, most);
      continue;
    }
    // Rows that nobody reads (below the last window) are computed all the same.
    int left = nodes() - 1;
    while (left >= 0 && flow.done(left)) left--;
    if (left < 0) return most;
    flow.pull(left, most);
  }
}

}  // namespace kaiten
