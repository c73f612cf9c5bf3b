// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// kt_fifo against std::deque, in the sizes and forms of CMakeLists.txt.
#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "Vkt_fifo.h"
#include "tests/support/model.h"

#ifndef PARAM_BlockRam
#define PARAM_BlockRam (PARAM_Depth > 32)
#endif

namespace {

using kaiten::test::Model;
constexpr unsigned kDepth = PARAM_Depth;
constexpr unsigned kLatency = PARAM_BlockRam ? 2 : 1;

class KtFifo : public ::testing::Test {
 protected:
  void SetUp() override {
    m->rst_ni = 0;
    m->in_valid_i = 0;
    m->out_ready_i = 0;
    m->in_data_i = 0;
    m.tick();
    m.tick();
    m->rst_ni = 1;
  }
  Model<Vkt_fifo> m;
};

TEST_F(KtFifo, IsADequeUnderRandomBackPressure) {
  std::mt19937_64 rng(kaiten::test::seed());
  std::deque<uint32_t> model;
  unsigned fulls = 0, empties = 0;
  for (unsigned phase = 0; phase < 30; phase++) {
    const unsigned in_percent = rng() % 101, out_percent = rng() % 101;
    for (unsigned n = 0; n < 300; n++) {
      m->in_valid_i = rng() % 100 < in_percent;
      m->out_ready_i = rng() % 100 < out_percent;
      m->in_data_i = static_cast<uint32_t>(rng());
      m.eval();
      ASSERT_EQ(m->level_o, model.size());
      ASSERT_EQ(m->in_ready_o, model.size() < kDepth);
      if (m->out_valid_o) {
        ASSERT_FALSE(model.empty());
        ASSERT_EQ(m->out_data_o, model.front());
      }
      if (kLatency == 1) ASSERT_EQ(m->out_valid_o, !model.empty());
      const bool push = m->in_valid_i && m->in_ready_o, pop = m->out_valid_o && m->out_ready_i;
      if (pop) model.pop_front();
      if (push) model.push_back(m->in_data_i);
      fulls += model.size() == kDepth;
      empties += model.empty();
      m.tick();
    }
  }
  EXPECT_GT(fulls, 0u);
  EXPECT_GT(empties, 0u);
}

TEST_F(KtFifo, EmptyToOutputLatency) {
  m->in_valid_i = 1;
  m->in_data_i = 77;
  m.tick();
  m->in_valid_i = 0;
  for (unsigned c = 1; c < kLatency; c++) {
    EXPECT_FALSE(m->out_valid_o);
    m.tick();
  }
  EXPECT_TRUE(m->out_valid_o);
  EXPECT_EQ(m->out_data_o, 77u);
}

TEST_F(KtFifo, OneWordPerCycleWhateverTheLevel) {
  // A block RAM FIFO of two words cannot hide its read latency; deeper ones must not show it.
  if (kDepth < 2 + (kLatency - 1)) GTEST_SKIP() << "two words only";
  m->in_valid_i = 1;
  m->out_ready_i = 1;
  for (unsigned n = 0; n < 100; n++) {
    m->in_data_i = n;
    m.eval();
    ASSERT_TRUE(m->in_ready_o);
    if (n >= kLatency) {
      ASSERT_TRUE(m->out_valid_o);
      ASSERT_EQ(m->out_data_o, n - kLatency);
    }
    m.tick();
  }
}

TEST_F(KtFifo, ResetEmptiesIt) {
  m->in_valid_i = 1;
  for (unsigned n = 0; n < kDepth; n++) m.tick();
  EXPECT_EQ(m->level_o, kDepth);
  m->in_valid_i = 0;
  m->rst_ni = 0;
  m.tick();
  m->rst_ni = 1;
  m.eval();
  EXPECT_EQ(m->level_o, 0u);
  EXPECT_FALSE(m->out_valid_o);
  EXPECT_TRUE(m->in_ready_o);
}

}  // namespace
