// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Flows of rows against a store that knows which row lies in which slot: whatever the order, no node reads a row
// that is not there any more or not yet, and everything gets computed.
#include "compile/spans/row_flow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/support/seed.h"

namespace kaiten {
namespace {

using Input = RowFlow::Input;
using Node = RowFlow::Node;

int pick(std::mt19937& rng, int low, int high) { return std::uniform_int_distribution(low, high)(rng); }

int rows_out(int rows, const Input& in) {
  return std::max(1, (rows + 2 * in.pad_top - in.kernel_rows) / in.stride + 1);
}

// A chain with branches that meet again (a node of two inputs of as many rows, from one ring or two) and
// rings that two nodes write.
RowFlow random_flow(std::mt19937& rng) {
  RowFlow flow(pick(rng, 0, 1) == 0 ? 1 : pick(rng, 2, 5));
  struct Map {
    int ring;
    int rows;
    RowFlow::Few<int> producers;
  };
  std::vector<Map> maps;
  const int rows = pick(rng, 1, 40);
  const auto add_ring = [&](int height) {
    return flow.add_ring(height, RowFlow::kUnlimited, height + (pick(rng, 0, 3) == 0 ? pick(rng, 1, 2) : 0));
  };
  const int first = add_ring(rows);
  maps.push_back({first, rows, {flow.add_node({rows, pick(rng, 1, 4), 1, {}, {first}})}});
  for (int i = pick(rng, 1, 10); i > 0; i--) {
    const Map from = maps[std::size_t(pick(rng, std::max(0, int(maps.size()) - 4), int(maps.size()) - 1))];
    Input in{from.ring, from.producers, pick(rng, 1, 2), 0, pick(rng, 1, 5)};
    in.kernel_rows = std::min(in.kernel_rows, from.rows);
    in.pad_top = pick(rng, 0, in.kernel_rows - 1);
    int out = rows_out(from.rows, in);
    if (pick(rng, 0, 3) == 0) {  // the last rows alone, as a slice has it
      in = {from.ring, from.producers, 1, -pick(rng, 0, from.rows - 1), 1};
      out = from.rows + in.pad_top;
    }
    RowFlow::Few<Input> inputs{in};
    for (const Map& m : maps) {
      if (m.rows == out && pick(rng, 0, 2) == 0) {
        inputs.push_back({m.ring, m.producers, 1, 0, 1});
        break;
      }
    }
    const int ring = add_ring(out);
    Map to{ring, out, {}};
    for (int parts = pick(rng, 1, 4) / 4 + 1; parts > 0; parts--) {
      const int chunks = pick(rng, 0, 9) == 0 ? 2 : 1;
      to.producers.push_back(flow.add_node({out, pick(rng, 1, 4), chunks, inputs, {ring}}));
    }
    maps.push_back(to);
  }
  return flow;
}

// What lies in the slots of a ring: for every writer, the row it wrote last, and how often. Rows are numbered
// over all images as their slots are.
class Store {
 public:
  explicit Store(const RowFlow& flow)
      : flow_(flow), rows_(std::size_t(flow.nodes())), pitch_(std::size_t(flow.nodes())) {
    for (int n = 0; n < flow.nodes(); n++) {
      for (int ring : flow.node(n).rings) {
        const int slots = std::min(flow.slots(ring), flow.all_slots(ring));
        pitch_[std::size_t(n)] = flow.pitch(ring);
        rows_[std::size_t(n)].assign(std::size_t(slots), {-1, 0});
      }
    }
  }

  void write(int n, const RowFlow::Block& b) {
    if (flow_.node(n).rings.empty()) return;
    auto& slots = rows_[std::size_t(n)];
    const int first = b.image * pitch_[std::size_t(n)] + b.first_row;
    ASSERT_LE(std::size_t(b.rows), slots.size()) << "two rows of a command in one slot";
    for (int row = first; row < first + b.rows; row++) {
      Slot& s = slots[std::size_t(row) % slots.size()];
      s = {row, s.row == row ? s.times + 1 : 1};
    }
  }

  bool holds(int writer, int image, int row) const {
    row += image * pitch_[std::size_t(writer)];
    const auto& slots = rows_[std::size_t(writer)];
    const Slot& s = slots[std::size_t(row) % slots.size()];
    return s.row == row && s.times == flow_.node(writer).chunks;
  }

 private:
  struct Slot {
    int row;
    int times;
  };
  const RowFlow& flow_;
  std::vector<std::vector<Slot>> rows_;
  std::vector<int> pitch_;  // of the ring that a node writes
};

// Runs the flow to its end, any ready node at a time.
void run(RowFlow flow, std::mt19937& rng) {
  Store store(flow);
  std::vector<int> ready;
  int left = flow.nodes();
  while (left > 0) {
    ready.clear();
    for (int n = 0; n < flow.nodes(); n++) {
      if (flow.ready(n)) ready.push_back(n);
    }
    ASSERT_FALSE(ready.empty()) << left << " nodes are stuck";
    const int n = ready[std::size_t(pick(rng, 0, int(ready.size()) - 1))];
    const RowFlow::Block b = flow.next(n);
    for (const Input& in : flow.node(n).inputs) {
      const int height = flow.node(in.producers.front()).rows;
      for (int y = b.first_row; y < b.first_row + b.rows; y++) {
        for (int k = 0; k < in.kernel_rows; k++) {
          const int row = y * in.stride - in.pad_top + k;
          if (row < 0 || row >= height) continue;
          for (int w : in.producers) {
            ASSERT_TRUE(store.holds(w, b.image, row))
                << "node " << n << " reads row " << row << " of image " << b.image;
          }
        }
      }
    }
    ASSERT_NO_FATAL_FAILURE(store.write(n, b));
    flow.advance(n);
    if (flow.done(n)) left--;
  }
}

TEST(RowFlow, AnyOrderCompletesWithTheSlotsNeeded) {
  std::mt19937 rng{unsigned(test::seed())};
  for (int i = 0; i < 3000; i++) {
    RowFlow flow = random_flow(rng);
    const std::vector<int> slots = flow.slots_needed();
    for (int r = 0; r < flow.rings(); r++) flow.set_slots(r, slots[std::size_t(r)] + pick(rng, 0, 3) / 3);
    ASSERT_NO_FATAL_FAILURE(run(flow, rng)) << "flow " << i;
  }
}

// A chain whose blocks are single rows keeps what the rolling closure says: the rows under a window.
TEST(RowFlow, ChainKeepsTheRowsOfAWindow) {
  RowFlow flow;
  std::vector<int> kernels{3, 1, 5, 3};
  int ring = flow.add_ring(32);
  int n = flow.add_node({32, 1, 1, {}, {ring}});
  for (int k : kernels) {
    const int out = flow.add_ring(32);
    n = flow.add_node({32, 1, 1, {{ring, {n}, 1, (k - 1) / 2, k}}, {out}});
    ring = out;
  }
  const std::vector<int> slots = flow.slots_needed();
  for (std::size_t i = 0; i < kernels.size(); i++) EXPECT_EQ(slots[i], kernels[i]) << i;
}

// Around two 3x3 convolutions the rows of the shortcut wait for two more.
TEST(RowFlow, ResidualKeepsTheLag) {
  RowFlow flow;
  const int a = flow.add_ring(32), b = flow.add_ring(32), c = flow.add_ring(32), d = flow.add_ring(32);
  const int load = flow.add_node({32, 1, 1, {}, {a}});
  const int first = flow.add_node({32, 1, 1, {{a, {load}, 1, 1, 3}}, {b}});
  const int second = flow.add_node({32, 1, 1, {{b, {first}, 1, 1, 3}}, {c}});
  flow.add_node({32, 1, 1, {{c, {second}, 1, 0, 1}, {a, {load}, 1, 0, 1}}, {d}});
  const std::vector<int> slots = flow.slots_needed();
  EXPECT_EQ(slots[std::size_t(a)], 3);  // lag 2: rows y .. y + 2
  EXPECT_EQ(slots[std::size_t(b)], 3);
  EXPECT_EQ(slots[std::size_t(c)], 1);
}

// A reader of the last rows alone: those before them are written all the same, and not over each other.
TEST(RowFlow, RowsThatNobodyReadsHaveSlots) {
  RowFlow flow;
  const int a = flow.add_ring(7), b = flow.add_ring(2);
  const int writer = flow.add_node({7, 3, 1, {}, {a}});
  flow.add_node({2, 2, 1, {{a, {writer}, 1, -4, 1}}, {b}});
  EXPECT_EQ(flow.slots_needed(), (std::vector<int>{3, 2}));
}

// The next image's first rows go in while the last one's last rows are still needed, and take no more room.
TEST(RowFlow, ImagesFollowEachOther) {
  for (const int images : {1, 2, 7}) {
    RowFlow flow(images);
    const int a = flow.add_ring(9), b = flow.add_ring(9);
    const int load = flow.add_node({9, 1, 1, {}, {a}});
    const int first = flow.add_node({9, 1, 1, {{a, {load}, 1, 1, 3}}, {b}});
    flow.add_node({9, 1, 1, {{b, {first}, 1, 0, 1}}, {}});
    EXPECT_EQ(flow.slots_needed(), (std::vector<int>{3, 1})) << images;
  }
}

TEST(RowFlow, ChunksKeepTheWholeMap) {
  RowFlow flow;
  const int a = flow.add_ring(10), b = flow.add_ring(10);
  const int load = flow.add_node({10, 2, 1, {}, {a}});
  flow.add_node({10, 2, 3, {{a, {load}, 1, 0, 1}}, {b}});
  EXPECT_EQ(flow.slots_needed(), (std::vector<int>{10, 10}));
}

// Every chunk goes through all images, whose maps are whole at the same time.
TEST(RowFlow, ChunksKeepTheMapsOfAllImages) {
  RowFlow flow(3);
  const int a = flow.add_ring(10), b = flow.add_ring(10);
  const int load = flow.add_node({10, 2, 1, {}, {a}});
  const int node = flow.add_node({10, 5, 2, {{a, {load}, 1, 0, 1}}, {b}});
  EXPECT_EQ(flow.slots_needed(), (std::vector<int>{30, 30}));
  for (int i = 0; i < 15; i++) flow.advance(load);
  for (int i = 0; i < 6; i++) {
    EXPECT_EQ(flow.next(node).chunk, 0);
    EXPECT_EQ(flow.next(node).image, i / 2);
    flow.advance(node);
  }
  EXPECT_EQ(flow.next(node).chunk, 1);
  EXPECT_EQ(flow.next(node).image, 0);
}

TEST(RowFlow, AheadOfTheHungriestReader) {
  RowFlow flow;
  const int a = flow.add_ring(12);
  const int load = flow.add_node({12, 2, 1, {}, {a}});
  flow.add_node({12, 1, 1, {{a, {load}, 1, 1, 3}}, {}});
  flow.add_node({12, 1, 1, {{a, {load}, 1, 0, 1}}, {}});
  flow.advance(load);
  EXPECT_EQ(flow.blocks_ahead(load), 0);  // the first reader needs both rows
  flow.advance(load);
  flow.advance(load);
  EXPECT_EQ(flow.blocks_ahead(load), 2);
}

}  // namespace
}  // namespace kaiten
