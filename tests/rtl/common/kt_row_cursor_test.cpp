// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// kt_row_cursor against rows counted in plain numbers: rings of 1 to 9 slots in SB and VB, rows set and stepped at random.
#include <gtest/gtest.h>

#include <random>

#include "Vkt_row_cursor.h"
#include "tests/support/model.h"

namespace {

using kaiten::test::Model;

struct Ring {
  uint64_t first, size, slots;
  uint64_t slot(uint64_t row) const { return first + size * (row % slots); }
  uint64_t packed() const {
    return first << 32 | (first + size * (slots - 1)) << 16 | size;
  }  // kt_pkg::ring_t
};

TEST(KtRowCursor, StandsInTheSlotsOfItsRow) {
  std::mt19937_64 rng(kaiten::test::seed());
  const auto pick = [&](uint64_t n) { return rng() % n; };
  Model<Vkt_row_cursor> m;
  for (int command = 0; command < 300; command++) {
    const Ring sb{pick(5000), 1 + pick(600), 1 + pick(9)}, vb{pick(5000), 1 + pick(600), 1 + pick(9)};
    m->sb_ring_i = sb.packed();
    m->vb_ring_i = vb.packed();
    const uint64_t top = pick(1000);
    uint64_t row = top;
    for (int n = 0; n < 60; n++) {
      const bool set = n == 0 || pick(20) == 0;
      m->set_i = set;
      m->next_i = pick(3) != 0;  // not looked at with set_i
      m->sb_slot_i = static_cast<uint16_t>(sb.slot(top));
      m->vb_slot_i = static_cast<uint16_t>(vb.slot(top));
      m->row_mod3_i = top % 3;
      row = set ? top : row + m->next_i;
      m.tick();
      ASSERT_EQ(m->sb_slot_o, sb.slot(row)) << "command " << command << " row " << row;
      ASSERT_EQ(m->vb_slot_o, vb.slot(row)) << "command " << command << " row " << row;
      ASSERT_EQ(m->bank_offset_o, 3 * row % 9) << "command " << command << " row " << row;
    }
  }
}

}  // namespace
