// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// kt_skid against std::deque.
#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "Vkt_skid.h"
#include "tests/support/model.h"

namespace {

using kaiten::test::Model;

class KtSkid : public ::testing::Test {
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
  Model<Vkt_skid> m;
};

TEST_F(KtSkid, IsADequeOfTwoUnderRandomBackPressure) {
  std::mt19937_64 rng(kaiten::test::seed());
  std::deque<uint32_t> model;
  for (unsigned phase = 0; phase < 30; phase++) {
    const unsigned in_percent = rng() % 101, out_percent = rng() % 101;
    for (unsigned n = 0; n < 300; n++) {
      m->in_valid_i = rng() % 100 < in_percent;
      m->out_ready_i = rng() % 100 < out_percent;
      m->in_data_i = static_cast<uint32_t>(rng());
      m.eval();
      ASSERT_EQ(m->out_valid_o, !model.empty());
      ASSERT_EQ(m->in_ready_o, model.size() < 2);
      if (!model.empty()) ASSERT_EQ(m->out_data_o, model.front());
      const bool push = m->in_valid_i && m->in_ready_o, pop = m->out_valid_o && m->out_ready_i;
      if (pop) model.pop_front();
      if (push) model.push_back(m->in_data_i);
      m.tick();
    }
  }
}

TEST_F(KtSkid, OneWordPerCycle) {
  m->in_valid_i = 1;
  m->out_ready_i = 1;
  for (unsigned n = 0; n < 50; n++) {
    m->in_data_i = n;
    m.eval();
    ASSERT_TRUE(m->in_ready_o);
    if (n > 0) ASSERT_EQ(m->out_data_o, n - 1);
    m.tick();
  }
}

TEST_F(KtSkid, OutputsDependOnFlipFlopsOnly) {
  for (unsigned state = 0; state < 3; state++) {  // empty, one word, two words
    m->in_valid_i = 0;
    m->out_ready_i = 0;
    m->in_data_i = 1;
    m.eval();
    const auto valid = m->out_valid_o, ready = m->in_ready_o;
    const auto data = m->out_data_o;
    for (unsigned in = 0; in < 8; in++) {
      m->in_valid_i = in & 1;
      m->out_ready_i = in >> 1 & 1;
      m->in_data_i = in;
      m.eval();
      EXPECT_EQ(m->out_valid_o, valid);
      EXPECT_EQ(m->in_ready_o, ready);
      EXPECT_EQ(m->out_data_o, data);
    }
    m->in_valid_i = 1;
    m->out_ready_i = 0;
    m.tick();
  }
}

}  // namespace
