// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// kt_axi_gate between masters and a memory of random speed, halted in the middle of anything: nothing is added or delayed
// before the halt; after it AXI's rules hold at the port, no new read is asked for, every address gets its data and every
// burst of data its address, and the bus comes to rest and stays so.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "Vkt_axi_gate.h"
#include "tests/support/model.h"

namespace kaiten::test {
namespace {

class AxiGate : public testing::Test {
 protected:
  AxiGate() : random_(seed()) {}
  Vkt_axi_gate& top() { return model_.top(); }
  bool chance(unsigned percent) { return random_() % 100 < percent; }

  void reset();
  void drive();
  void compare();
  void advance();
  void cycle() {
    drive();
    model_.eval();
    compare();
    advance();
    model_.tick();
  }
  bool at_rest() const { return reads_.empty() && aw_ == w_ && beat_ == 0 && b_ == aw_; }

  static constexpr unsigned kOutstanding = 8;
  Model<Vkt_axi_gate> model_;
  std::mt19937_64 random_;
  enum class Memory { kAnyOrder, kAddressFirst, kDataFirst } memory_ = Memory::kAnyOrder;
  unsigned percent_[10] = {};  // how often each side of the five channels acts
  // What the port has seen.
  std::vector<unsigned> reads_;      // beats left of each read burst, oldest first
  std::vector<unsigned> lengths_;    // beats of each write burst so far
  unsigned aw_ = 0, w_ = 0, b_ = 0;  // addresses, whole bursts of data, responses
  unsigned beat_ = 0;                // data beats of the next burst
  bool m_ar_ = false, m_aw_ = false, m_w_ = false, r_ = false, b_offered_ = false;  // offered and not taken
  bool ar_held_ = false, aw_held_ = false, w_held_ = false;                         // the same, at the port
};

void AxiGate::reset() {
  for (auto& p : percent_) p = 5 + random_() % 96;
  memory_ = static_cast<Memory>(random_() % 3);
  reads_.clear();
  lengths_.clear();
  aw_ = w_ = beat_ = b_ = 0;
  m_ar_ = m_aw_ = m_w_ = r_ = b_offered_ = ar_held_ = aw_held_ = w_held_ = false;
  top().halt_i = 0;
  top().m_ar_valid_i = top().m_aw_valid_i = top().m_w_valid_i = top().r_valid_i = top().b_valid_i = 0;
  top().rst_ni = 0;
  model_.tick();
  top().rst_ni = 1;
}

// Inputs of one cycle. The writing master has all data of a burst once its address or first beat is out.
void AxiGate::drive() {
  while (lengths_.size() <= std::max(aw_, w_)) lengths_.push_back(1 + random_() % (random_() % 4 ? 4 : 40));
  m_ar_ = m_ar_ || (reads_.size() < kOutstanding && chance(percent_[0]));
  m_aw_ = m_aw_ || w_ > aw_ || (w_ == aw_ && (beat_ > 0 || w_held_)) ||
          (aw_ - b_ < kOutstanding && chance(percent_[1]));
  m_w_ = m_w_ || aw_ > w_ || beat_ > 0 || (w_ - b_ < kOutstanding && chance(percent_[2]));
  r_ = r_ || (!reads_.empty() && chance(percent_[3]));
  b_offered_ = b_offered_ || (std::min(aw_, w_) > b_ && chance(percent_[4]));
  top().m_ar_valid_i = m_ar_;
  top().m_aw_valid_i = m_aw_;
  top().m_w_valid_i = m_w_;
  top().m_w_last_i = beat_ + 1 == lengths_[w_];
  top().r_valid_i = r_;
  top().r_last_i = !reads_.empty() && reads_.front() == 1;
  top().b_valid_i = b_offered_;
  top().ar_ready_i = chance(percent_[5]);
  // AXI lets a memory wait for either.
  top().aw_ready_i = chance(percent_[6]) && (memory_ != Memory::kDataFirst || w_ > aw_);
  top().w_ready_i = chance(percent_[7]) && (memory_ != Memory::kAddressFirst || aw_ > w_);
  top().m_r_ready_i = chance(percent_[8]);
  top().m_b_ready_i = chance(percent_[9]);
}

void AxiGate::compare() {
  auto& t = top();
  ASSERT_EQ(t.m_ar_ready_o && t.m_ar_valid_i, t.ar_valid_o && t.ar_ready_i);
  ASSERT_EQ(t.m_aw_ready_o && t.m_aw_valid_i, t.aw_valid_o && t.aw_ready_i);
  ASSERT_EQ(t.m_w_ready_o && t.m_w_valid_i, t.w_valid_o && t.w_ready_i);
  if (t.halt_i) {
    ASSERT_TRUE(t.r_ready_o && t.b_ready_o);
    ASSERT_FALSE(t.m_r_valid_o);
    ASSERT_TRUE(t.ar_valid_o || !ar_held_);
    ASSERT_TRUE(t.aw_valid_o || !aw_held_);
    ASSERT_TRUE(t.w_valid_o || !w_held_);
    ASSERT_TRUE(!t.ar_valid_o || ar_held_) << "a new read";
  } else {
    ASSERT_EQ(t.ar_valid_o, t.m_ar_valid_i);
    ASSERT_EQ(t.aw_valid_o, t.m_aw_valid_i);
    ASSERT_EQ(t.w_valid_o, t.m_w_valid_i);
    ASSERT_EQ(t.m_r_valid_o, t.r_valid_i);
    ASSERT_EQ(t.r_ready_o, t.m_r_ready_i);
    ASSERT_EQ(t.m_b_valid_o, t.b_valid_i);
    ASSERT_EQ(t.b_ready_o, t.m_b_ready_i);
    ASSERT_EQ(t.m_ar_ready_o, t.ar_ready_i);
    ASSERT_EQ(t.m_aw_ready_o, t.aw_ready_i);
    ASSERT_EQ(t.m_w_ready_o, t.w_ready_i);
  }
  ASSERT_EQ(t.idle_o, at_rest() && !ar_held_ && !aw_held_ && !w_held_);
}

void AxiGate::advance() {
  auto& t = top();
  const bool ar = t.ar_valid_o && t.ar_ready_i, aw = t.aw_valid_o && t.aw_ready_i,
             w = t.w_valid_o && t.w_ready_i;
  ar_held_ = t.ar_valid_o && !ar;
  aw_held_ = t.aw_valid_o && !aw;
  w_held_ = t.w_valid_o && !w;
  m_ar_ = m_ar_ && !ar;
  m_aw_ = m_aw_ && !aw;
  m_w_ = m_w_ && !w;
  if (r_ && t.r_ready_o) {
    r_ = false;
    if (--reads_.front() == 0) reads_.erase(reads_.begin());
  }
  if (b_offered_ && t.b_ready_o) {
    b_offered_ = false;
    ++b_;
  }
  if (ar) reads_.push_back(1 + random_() % 20);
  if (w && ++beat_ == lengths_[w_]) {
    beat_ = 0;
    ++w_;
  }
  if (aw) ++aw_;
}

TEST_F(AxiGate, ComesToRestFromAnyStateByAxisRules) {
  unsigned late_addresses = 0, late_data = 0;
  for (int round = 0; round < 1500; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round);
    reset();
    for (auto n = random_() % 200; n > 0; --n) ASSERT_NO_FATAL_FAILURE(cycle());
    top().halt_i = 1;
    late_addresses += w_ > aw_;
    late_data += aw_ > w_;
    // Slowest: 8 bursts of 40 beats, each taken in one of 20 cycles.
    int cycles = 0;
    for (; !top().idle_o; ++cycles) {
      ASSERT_LT(cycles, 50'000) << "not at rest";
      ASSERT_NO_FATAL_FAILURE(cycle());
    }
    for (int n = 0; n < 20; ++n) {
      ASSERT_NO_FATAL_FAILURE(cycle());
      ASSERT_TRUE(top().idle_o);
      ASSERT_FALSE(top().ar_valid_o || top().aw_valid_o || top().w_valid_o);
    }
  }
  EXPECT_GT(late_addresses, 50u);
  EXPECT_GT(late_data, 50u);
}

}  // namespace
}  // namespace kaiten::test
