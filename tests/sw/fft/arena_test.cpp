// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Pieces of all sizes, taken and given back at random: none overlap, all hold what was written, what is free is found again,
// and pages that are kept are counted.
#include "fft/arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "tests/support/seed.h"

namespace kaiten::fft {
namespace {

constexpr std::uint64_t kPiece = Arena::kPiece;

struct Piece {
  char* data = nullptr;
  std::uint64_t bytes = 0;
  char mark = 0;
};

void mark(const Piece& p) { p.data[0] = p.data[p.bytes / 2] = p.data[p.bytes - 1] = p.mark; }
bool holds(const Piece& p) {
  return p.data[0] == p.mark && p.data[p.bytes / 2] == p.mark && p.data[p.bytes - 1] == p.mark;
}

std::uint64_t whole(std::uint64_t bytes) { return (bytes + kPiece - 1) / kPiece * kPiece; }

TEST(Arena, PiecesAreApart) {
  std::mt19937_64 random(test::seed());
  Arena arena(64 * kPiece);
  std::vector<Piece> pieces;
  std::uint64_t used = 0;
  int refused = 0;
  for (int i = 0; i < 2000; i++) {
    if (random() % 2 == 0) {
      Piece p{nullptr, 1 + random() % (9 * kPiece), char(random())};
      p.data = static_cast<char*>(arena.take(p.bytes));
      if (p.data == nullptr) {
        refused++;
        continue;
      }
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(p.data) % kPiece, 0U);
      for (const Piece& o : pieces)
        ASSERT_TRUE(p.data + whole(p.bytes) <= o.data || o.data + whole(o.bytes) <= p.data);
      mark(p);
      used += whole(p.bytes);
      pieces.push_back(p);
    } else if (!pieces.empty()) {
      std::swap(pieces[random() % pieces.size()], pieces.back());
      ASSERT_TRUE(holds(pieces.back()));
      ASSERT_TRUE(arena.give_back(pieces.back().data, pieces.back().bytes));
      used -= whole(pieces.back().bytes);
      pieces.pop_back();
    }
    if (random() % 16 == 0) {
      arena.keep_at_most(random() % (16 * kPiece));
    }
    ASSERT_LE(used + arena.kept(), 64 * kPiece);
  }
  EXPECT_GT(refused, 0);
  for (const Piece& p : pieces) {
    ASSERT_TRUE(holds(p));
    ASSERT_TRUE(arena.give_back(p.data, p.bytes));
  }
  // All is one range again.
  EXPECT_NE(arena.take(64 * kPiece), nullptr);
}

TEST(Arena, KeepsPagesAndGivesThemUp) {
  Arena arena(8 * kPiece);
  char* a = static_cast<char*>(arena.take(2 * kPiece));
  char* b = static_cast<char*>(arena.take(3 * kPiece));
  std::memset(a, 1, 2 * kPiece);
  std::memset(b, 2, 3 * kPiece);
  EXPECT_EQ(arena.kept(), 0U);
  EXPECT_TRUE(arena.give_back(a, 2 * kPiece));
  EXPECT_EQ(arena.kept(), 2 * kPiece);
  EXPECT_EQ(arena.take(kPiece), a);  // the lowest
  EXPECT_EQ(a[0], 1);                // as it was
  EXPECT_EQ(arena.kept(), kPiece);
  EXPECT_TRUE(arena.give_back(b, 3 * kPiece));
  EXPECT_EQ(arena.kept(), 4 * kPiece);
  arena.keep_at_most(3 * kPiece);
  EXPECT_EQ(arena.kept(), 3 * kPiece);
  arena.keep_at_most(0);
  EXPECT_EQ(arena.kept(), 0U);
  EXPECT_EQ(arena.take(4 * kPiece), a + kPiece);
  EXPECT_EQ(b[0], 0);  // a new page
  EXPECT_EQ(arena.take(4 * kPiece), nullptr);
}

TEST(Arena, KnowsItsOwn) {
  Arena arena(2 * kPiece);
  char other = 0;
  EXPECT_FALSE(arena.give_back(&other, 1));
  void* own = arena.take(1);
  EXPECT_FALSE(arena.give_back(&other, 1));
  EXPECT_TRUE(arena.give_back(own, 1));
  Arena none(0);
  EXPECT_EQ(none.take(1), nullptr);
}

}  // namespace
}  // namespace kaiten::fft
