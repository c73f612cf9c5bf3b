// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Rows on their way through the operators of a span: which of them may compute its next rows, and how many rows
// of each map must be kept. Knows nothing of memories or commands.
//
// A node computes its output rows in order, `block` rows at a time: an operator, or a LOAD that brings a map
// from memory (no inputs). A node with several chunks (tiles of output channels whose weights follow each
// other) goes through all its rows once per chunk; its rows are there when the last chunk has made them, and
// its input rows are needed until then. A ring keeps the rows of one map; several nodes may each write some
// of its channels.
//
// Several images follow each other through the flow: a node continues with the next one after its last row, in
// each chunk anew. Blocks end where an image does. Inside, rows are numbered over all images.
//
// A node is ready when the input rows of its next block are there and the block's rows may take the place of
// rows that no consumer needs any more. Both only ever become true, so a ready node stays ready until it runs:
// if the rows can be computed in one order with given rings, no order can get stuck.
#ifndef KAITEN_COMPILE_SPANS_ROW_FLOW_H
#define KAITEN_COMPILE_SPANS_ROW_FLOW_H

#include <boost/container/small_vector.hpp>
#include <limits>
#include <vector>

namespace kaiten {

class RowFlow {
 public:
  // A planner makes thousands of flows of few nodes that have one or two of each: these need no memory of their own.
  template <class T>
  using Few = boost::container::small_vector<T, 2>;
  static constexpr int kUnlimited = std::numeric_limits<int>::max();

  struct Input {
    int ring = 0;
    Few<int> producers;  // nodes whose rows are read
    // Output row y reads rows y * stride - pad_top .. + kernel_rows - 1, as far as the map has them.
    int stride = 1;
    int pad_top = 0;
    int kernel_rows = 1;
  };
  struct Node {
    int rows = 0;
    int block = 1;
    int chunks = 1;
    Few<Input> inputs;
    Few<int> rings;  // it writes; none: its rows only go to memory
  };
  // Output rows of a node's next block.
  struct Block {
    int chunk = 0;
    int image = 0;
    int first_row = 0;  // of the image
    int rows = 0;
  };

  explicit RowFlow(int images = 1) : images_(images) {}

  // So many of both are to come.
  void reserve(std::size_t nodes, std::size_t rings) {
    nodes_.reserve(nodes);
    rings_.reserve(rings);
  }
  // `rows` of the map, `slots` kept at a time. A ring that outlives the flow has a slot for every row. The
  // slot of an image's row is `pitch` after that of the image before, at least `rows`; 0: as many.
  int add_ring(int rows, int slots = kUnlimited, int pitch = 0);
  // In topological order: inputs name earlier nodes only.
  int add_node(Node node);

  int nodes() const { return int(nodes_.size()); }
  int rings() const { return int(rings_.size()); }
  const Node& node(int n) const { return nodes_[std::size_t(n)].node; }
  int images() const { return images_; }
  // Slots for all rows of all images.
  int all_slots(int ring) const { return images_ * rings_[std::size_t(ring)].pitch; }
  int pitch(int ring) const { return rings_[std::size_t(ring)].pitch; }
  int slots(int ring) const { return rings_[std::size_t(ring)].slots; }
  void set_slots(int ring, int slots) { rings_[std::size_t(ring)].slots = slots; }

  bool done(int n) const;
  bool ready(int n) const { return !done(n) && inputs_there(n) && room(n); }
  // Its two conditions apart; not for a node that is done.
  bool inputs_there(int n) const;
  bool room(int n) const;
  Block next(int n) const;  // not for a node that is done
  void advance(int n);      // only while ready
  // Whole blocks that the node is ahead of the consumer with the earliest deadline, of what its next block
  // reads; 0 without consumers.
  int blocks_ahead(int n) const;

  // Slots that suffice for every ring when all other rings have as many: the most rows that are alive when
  // every node runs only when one after it asks for rows, and no fewer than a consumer's stride, which the
  // array steps over at once. The flow must be at its beginning.
  std::vector<int> slots_needed() const& { return RowFlow(*this).run_through(); }
  std::vector<int> slots_needed() && { return run_through(); }

 private:
  struct Position {
    Node node;
    int chunk = 0;
    int image = 0;
    int row = 0;  // of the image
  };
  struct Consumer {
    int node;
    int input;
  };
  struct Ring {
    int rows;
    int slots;
    int pitch;
    Few<int> producers;
    Few<Consumer> consumers;

    // How many slots before a row's when no slot is used twice.
    int slot(int row) const { return pitch == rows ? row : row / rows * pitch + row % rows; }
  };

  int made(int n) const;                 // rows of node n that are there
  int end_row(const Consumer& c) const;  // one past the last row its next block reads
  int dead(const Ring& ring) const;      // rows before this one are not needed any more
  int dead_for(const Consumer& c) const;
  // Slots in use while node n writes its next block, all of whose rows have one, read or not: a command writes tile by tile, so
  // that a later tile of its first rows would fall upon its last ones.
  int alive(int n, const Ring& ring) const;
  std::vector<int> run_through();  // to the end; see slots_needed()
  // Computes the node's next block and whatever it needs; `most` rows were alive in each ring.
  void pull(int n, std::vector<int>& most);

  int images_;
  std::vector<Position> nodes_;
  std::vector<Ring> rings_;
};

}  // namespace kaiten

#endif  // KAITEN_COMPILE_SPANS_ROW_FLOW_H
