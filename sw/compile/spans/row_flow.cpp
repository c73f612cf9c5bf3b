// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/spans/row_flow.h"

#include <algorithm>
#include <utility>

namespace kaiten {

int RowFlow::add_ring(int rows, int slots, int pitch) {
  rings_.push_back({rows, slots, pitch == 0 ? rows : pitch, {}, {}});
  return int(rings_.size()) - 1;
}

int RowFlow::add_node(Node node) {
  const int n = nodes();
  for (std::size_t i = 0; i < node.inputs.size(); i++) {
    rings_[std::size_t(node.inputs[i].ring)].consumers.push_back({n, int(i)});
  }
  for (int ring : node.rings) rings_[std::size_t(ring)].producers.push_back(n);
  nodes_.push_back({std::move(node), 0, 0, 0});
  return n;
}

bool RowFlow::done(int n) const {
  const Position& p = nodes_[std::size_t(n)];
  return p.chunk == p.node.chunks;
}

RowFlow::Block RowFlow::next(int n) const {
  const Position& p = nodes_[std::size_t(n)];
  return {p.chunk, p.image, p.row, std::min(p.node.block, p.node.rows - p.row)};
}

int RowFlow::made(int n) const {
  const Position& p = nodes_[std::size_t(n)];
  if (p.chunk == p.node.chunks) return images_ * p.node.rows;
  return p.chunk + 1 == p.node.chunks ? p.image * p.node.rows + p.row : 0;
}

int RowFlow::end_row(const Consumer& c) const {
  const Input& in = nodes_[std::size_t(c.node)].node.inputs[std::size_t(c.input)];
  const int rows = rings_[std::size_t(in.ring)].rows;
  const Block b = next(c.node);
  const int last = (b.first_row + b.rows - 1) * in.stride - in.pad_top + in.kernel_rows;
  return b.image * rows + std::clamp(last, 0, rows);
}

bool RowFlow::inputs_there(int n) const {
  const auto& inputs = nodes_[std::size_t(n)].node.inputs;
  for (std::size_t i = 0; i < inputs.size(); i++) {
    const int end = end_row({n, int(i)});
    for (int w : inputs[i].producers) {
      if (made(w) < end) return false;
    }
  }
  return true;
}

int RowFlow::dead_for(const Consumer& c) const {
  const Position& p = nodes_[std::size_t(c.node)];
  const Input& in = p.node.inputs[std::size_t(c.input)];
  const int rows = rings_[std::size_t(in.ring)].rows;
  if (p.chunk == p.node.chunks) return images_ * rows;
  if (p.chunk + 1 < p.node.chunks) return 0;
  const Block b = next(c.node);
  return b.image * rows + std::clamp(b.first_row * in.stride - in.pad_top, 0, rows);
}

int RowFlow::dead(const Ring& ring) const {
  int rows = ring.consumers.empty() ? 0 : images_ * ring.rows;
  for (const Consumer& c : ring.consumers) rows = std::min(rows, dead_for(c));
  return rows;
}

int RowFlow::alive(int n, const Ring& ring) const {
  const Block b = next(n);
  const int first = b.image * ring.rows + b.first_row;
  return ring.slot(first + b.rows - 1) + 1 - ring.slot(std::min(dead(ring), first));
}

bool RowFlow::room(int n) const {
  for (int i : nodes_[std::size_t(n)].node.rings) {
    const Ring& ring = rings_[std::size_t(i)];
    if (ring.slots < images_ * ring.pitch && alive(n, ring) > ring.slots) return false;
  }
  return true;
}

void RowFlow::advance(int n) {
  Position& p = nodes_[std::size_t(n)];
  p.row += next(n).rows;
  if (p.row < p.node.rows) return;
  p.row = 0;
  if (++p.image < images_) return;
  p.image = 0;
  p.chunk++;
}

int RowFlow::blocks_ahead(int n) const {
  int least = kUnlimited;
  for (int i : nodes_[std::size_t(n)].node.rings) {
    for (const Consumer& c : rings_[std::size_t(i)].consumers) {
      if (!done(c.node)) least = std::min(least, made(n) - end_row(c));
    }
  }
  return least == kUnlimited ? 0 : std::max(0, least) / nodes_[std::size_t(n)].node.block;
}

void RowFlow::pull(int n, std::vector<int>& most) {
  const Node& node = this->node(n);
  for (std::size_t i = 0; i < node.inputs.size(); i++) {
    const int end = end_row({n, int(i)});
    for (int w : node.inputs[i].producers) {
      while (made(w) < end) pull(w, most);
    }
  }
  for (int r : node.rings) {
    const Ring& ring = rings_[std::size_t(r)];
    const int all = images_ * ring.pitch;
    // What a chunk but the last writes stays until the last one has been through.
    most[std::size_t(r)] =
        std::max(most[std::size_t(r)], node.chunks > 1 ? all : std::min(alive(n, ring), all));
  }
  advance(n);
}

std::vector<int> RowFlow::run_through() {
  std::vector<bool> is_read(nodes_.size());
  for (const Position& p : nodes_) {
    for (const Input& in : p.node.inputs) {
      for (int w : in.producers) is_read[std::size_t(w)] = true;
    }
  }
  std::vector<int> most(rings_.size(), 0);
  for (std::size_t i = 0; i < rings_.size(); i++) {
    if (rings_[i].consumers.empty()) most[i] = all_slots(int(i));  // kept for others
    for (const Consumer& c : rings_[i].consumers) {
      const int stride = nodes_[std::size_t(c.node)].node.inputs[std::size_t(c.input)].stride;
      most[i] = std::max(most[i], std::min(stride, rings_[i].rows));
    }
  }
  for (Ring& r : rings_) r.slots = kUnlimited;
  // Images are alike from the second on: before each of them all ends are where the last image ends, and what
  // comes before them has made what they asked for. But chunks go through all images.
  const bool chunks =
      std::any_of(nodes_.begin(), nodes_.end(), [](const Position& p) { return p.node.chunks > 1; });
  if (!chunks) images_ = std::min(images_, 2);
  for (;;) {
    // The end that lags most asks for its next block.
    int end = -1;
    double least = 1;
    for (int n = 0; n < nodes(); n++) {
      if (is_read[std::size_t(n)] || done(n)) continue;
      const Position& p = nodes_[std::size_t(n)];
      const int row = p.image * p.node.rows + p.row;
      const double progress = (p.chunk + double(row) / (images_ * p.node.rows)) / p.node.chunks;
      if (end < 0 || progress < least) {
        end = n;
        least = progress;
      }
    }
    if (end >= 0) {
      pull(end, most);
      continue;
    }
    // Rows without a consumer (below the last window) are computed all the same.
    int left = nodes() - 1;
    while (left >= 0 && done(left)) left--;
    if (left < 0) return most;
    pull(left, most);
  }
}

}  // namespace kaiten
