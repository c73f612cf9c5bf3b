// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// kt_ram_1r1w against an array: registered read, held while the enable is low, old value on a read of the
// word written.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "Vkt_ram_1r1w.h"
#include "tests/support/model.h"

namespace {

constexpr unsigned kDepth = PARAM_Depth;

TEST(KtRam1r1w, RandomAccesses) {
  kaiten::test::Model<Vkt_ram_1r1w> m;
  std::mt19937_64 rng(kaiten::test::seed());
  std::array<uint32_t, kDepth> model{};
  m->rd_en_i = 0;
  m->rd_addr_i = 0;
  for (unsigned a = 0; a < kDepth; a++) {
    m->wr_en_i = 1;
    m->wr_addr_i = a;
    m->wr_data_i = model[a] = static_cast<uint32_t>(rng());
    m.tick();
  }
  uint32_t out = 0;
  bool known = false;
  for (unsigned n = 0; n < 5000; n++) {
    m->wr_en_i = rng() & 1;
    m->wr_addr_i = rng() % kDepth;
    m->wr_data_i = static_cast<uint32_t>(rng());
    m->rd_en_i = rng() & 1;
    m->rd_addr_i = rng() % kDepth;
    if (m->rd_en_i) {
      out = model[m->rd_addr_i];
      known = true;
    }
    if (m->wr_en_i) model[m->wr_addr_i] = m->wr_data_i;
    m.tick();
    if (known) ASSERT_EQ(m->rd_data_o, out);
  }
}

}  // namespace
