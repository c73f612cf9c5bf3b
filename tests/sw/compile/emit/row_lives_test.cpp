// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/emit/row_lives.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace kaiten {
namespace {

// A ring of three slots of ten addresses.
RowUse rows(int map, int begin, int end, bool write) {
  return {Buffer::kVb, {100, 3, 10, 0, map}, begin, end, write};
}

TEST(RowLives, EndWithTheLastReader) {
  RowLives lives;
  lives.use(Queue::kLoad, 1, rows(1, 0, 3, true));
  lives.use(Queue::kConv, 1, rows(1, 0, 2, false));
  lives.use(Queue::kVector, 1, rows(1, 0, 1, false));
  lives.use(Queue::kConv, 2, rows(1, 1, 3, false));
  EXPECT_EQ(lives.deaths().size(), 3U);
  EXPECT_EQ(lives.deaths()[0].after, (Counts{0, 1, 1, 0}));
  lives.use(Queue::kLoad, 2, rows(1, 3, 4, true));  // over row 0
  const std::vector<RowDeath> deaths = lives.deaths();
  ASSERT_EQ(deaths.size(), 3U);  // no command reads row 3
  EXPECT_EQ(deaths[0].begin, 100);
  EXPECT_EQ(deaths[0].end, 110);
  EXPECT_EQ(deaths[0].after, (Counts{0, 1, 1, 0}));
  EXPECT_EQ(deaths[0].written, (Counts{1, 0, 0, 0}));
  EXPECT_EQ(deaths[1].begin, 110);
  EXPECT_EQ(deaths[1].after, (Counts{0, 2, 0, 0}));
}

// Of a row in parts, the first.
TEST(RowLives, BeginWithTheFirstWriter) {
  RowLives lives;
  lives.use(Queue::kConv, 4, rows(1, 0, 1, true));
  lives.use(Queue::kConv, 5, rows(1, 0, 1, true));
  lives.use(Queue::kVector, 1, rows(1, 0, 1, false));
  ASSERT_EQ(lives.deaths().size(), 1U);
  EXPECT_EQ(lives.deaths()[0].written, (Counts{0, 4, 0, 0}));
}

TEST(RowLives, KnowWhatIsNotThere) {
  RowLives lives;
  EXPECT_THROW(lives.use(Queue::kConv, 1, rows(1, 0, 1, false)), std::logic_error);  // never written
  lives.use(Queue::kLoad, 1, rows(1, 0, 3, true));
  EXPECT_THROW(lives.use(Queue::kConv, 1, rows(1, 3, 4, false)), std::logic_error);  // not yet
  lives.use(Queue::kLoad, 2, rows(1, 3, 4, true));
  EXPECT_THROW(lives.use(Queue::kConv, 1, rows(1, 0, 1, false)), std::logic_error);  // not any more
  lives.use(Queue::kConv, 1, rows(1, 1, 4, false));
}

TEST(RowLives, OneRowOfACommandASlot) {
  RowLives lives;
  lives.use(Queue::kVector, 1, rows(1, 0, 3, true));
  lives.use(Queue::kVector, 1, rows(1, 2, 3, true));  // another part of it
  EXPECT_THROW(lives.use(Queue::kVector, 1, rows(1, 3, 4, true)), std::logic_error);
  lives.use(Queue::kConv, 1, rows(1, 3, 4, true));  // another command
}

// Rings of another span over the same addresses.
TEST(RowLives, EndWhereOtherRowsOverlapThem) {
  RowLives lives;
  lives.use(Queue::kLoad, 1, rows(1, 0, 3, true));
  lives.use(Queue::kConv, 1, {Buffer::kVb, {105, 1, 10, 0, 2}, 0, 1, true});
  EXPECT_THROW(lives.use(Queue::kConv, 2, rows(1, 1, 2, false)), std::logic_error);
  lives.use(Queue::kConv, 2, rows(1, 2, 3, false));
}

}  // namespace
}  // namespace kaiten
