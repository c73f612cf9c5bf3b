// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Two pipelined DPE rows of a stage, and netlists of them mapped to each FPGA family, beside plain sums of products: random
// operands, with the extreme ones often, and random loads and swaps of weights. On 7-series both rows share their
// multipliers; of these every product is tried, with every pair of weights.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <random>

#include "Vdpe_rows.h"
#include "Vdpe_rows_27.h"
#include "Vdpe_rows_cyclonev.h"
#include "Vdpe_rows_ecp5.h"
#include "Vdpe_rows_xc7.h"
#include "tests/support/model.h"
#include "tests/support/seed.h"

namespace kaiten::test {
namespace {

constexpr int kTaps = PARAM_Taps, kChain = PARAM_Chain;
using Operands = std::array<std::int8_t, kTaps>;

struct Cycle {
  Operands act{};
  std::array<Operands, 2> weight{};  // of the lower row, of the upper one
  bool swap = false, load = false;
  std::int32_t extra = 0;
};

class Stimulus {
 public:
  Cycle next() {
    Cycle c;
    const int kind = draw(0, 4);
    for (auto* operands : {&c.act, &c.weight[0], &c.weight[1]}) {
      for (auto& v : *operands) v = value(kind);
    }
    c.swap = draw(0, 3) == 0;
    c.load = draw(0, 3) == 0;
    c.extra = kind == 0 ? 0 : std::int32_t(std::uint32_t(rng_()));
    return c;
  }

 private:
  int draw(int low, int high) { return std::uniform_int_distribution(low, high)(rng_); }
  std::int8_t value(int kind) {
    constexpr std::int8_t kExtreme[] = {-128, -127, -1, 0, 1, 127};
    if (kind == 4) return -128;
    return kind == 3 ? kExtreme[draw(0, 5)] : std::int8_t(draw(-128, 127));
  }

  std::mt19937_64 rng_{seed()};
};

// The definition: what the rows give for the cycles so far.
class Expected {
 public:
  void step(const Cycle& c) {
    for (int r = 0; r < 2; r++) {
      // extra_i belongs to the activations of the cycle before.
      std::uint32_t sum = std::uint32_t(c.extra);
      for (int t = 0; t < kTaps; t++) sum += std::uint32_t(act_[t] * weight_[r][t]);
      sums_[r] = std::int32_t(sum);
    }
    act_ = c.act;
    if (c.swap) weight_ = shadow_;
    if (c.load) shadow_ = c.weight;
  }
  std::array<std::int32_t, 2> sums() const { return sums_; }
  const Operands& act() const { return act_; }

 private:
  Operands act_{};
  std::array<Operands, 2> weight_{}, shadow_{};
  std::array<std::int32_t, 2> sums_{};
};

template <typename Port>
Operands get(const Port& port) {
  Operands operands;
  std::memcpy(operands.data(), port.data(), operands.size());
  return operands;
}

// Rows and their definition, step by step.
template <typename Top>
class Rows {
 public:
  // Flip-flops hold anything at first: zeros into the shadow weights, then into the weights.
  Rows() {
    step({.load = true});
    step({.swap = true});
    for (int n = 0; n <= kChain; n++) step({});
    sums_.assign(kChain, {0, 0});
  }
  void check(const Cycle& c) {
    step(c);
    sums_.push_back(expected_.sums());
    const std::array sums = {std::int32_t(model_->sum_o), std::int32_t(model_->sum_o >> 32)};
    ASSERT_EQ(sums, sums_.front());
    sums_.pop_front();
    ASSERT_EQ(get(model_->act_o), expected_.act());
  }

 private:
  void step(const Cycle& c) {
    std::memcpy(model_->act_i.data(), c.act.data(), kTaps);
    for (int r = 0; r < 2; r++) {
      std::memcpy(reinterpret_cast<char*>(model_->weight_i.data()) + r * kTaps, c.weight[r].data(), kTaps);
    }
    model_->swap_i = c.swap;
    model_->load_i = c.load;
    model_->extra_i = IData(c.extra);
    model_.tick();
    expected_.step(c);
  }

  Model<Top> model_;
  Expected expected_;
  std::deque<std::array<std::int32_t, 2>> sums_;  // on their way through the chains
};

template <typename Top>
void sums_products() {
  Rows<Top> rows;
  Stimulus stimulus;
  for (int n = 0; n < 20000; n++) {
    rows.check(stimulus.next());
    if (testing::Test::HasFatalFailure()) FAIL() << "cycle " << n;
  }
}

// All activations with all pairs of weights, one for each tap in a cycle.
template <typename Top>
void multiplies_all() {
  Rows<Top> rows;
  Cycle c{.swap = true, .load = true};
  Operands next{};                             // activations of the weights that are loaded now
  constexpr std::uint32_t kLate = kChain + 3;  // cycles from the load of weights to their sums
  for (std::uint32_t n = 0; n < (1 << 24) + kLate * kTaps; n += kTaps) {
    c.act = next;
    for (std::uint32_t t = 0; t < kTaps; t++) {
      const std::uint32_t triple = n + t;
      next[t] = std::int8_t(triple);
      for (int r = 0; r < 2; r++) c.weight[r][t] = std::int8_t(triple >> (8 + 8 * r));
    }
    rows.check(c);
    if (testing::Test::HasFatalFailure()) FAIL() << "triple " << n;
  }
}

TEST(DpeRows, Rtl) { sums_products<Vdpe_rows>(); }
TEST(DpeRows, RtlMultipliesAll) { multiplies_all<Vdpe_rows>(); }
TEST(DpeRows, RtlOfUltraScale) { sums_products<Vdpe_rows_27>(); }
TEST(DpeRows, RtlOfUltraScaleMultipliesAll) { multiplies_all<Vdpe_rows_27>(); }
TEST(DpeRows, MappedToXc7) { sums_products<Vdpe_rows_xc7>(); }
TEST(DpeRows, MappedToCycloneV) { sums_products<Vdpe_rows_cyclonev>(); }
TEST(DpeRows, MappedToEcp5) { sums_products<Vdpe_rows_ecp5>(); }

}  // namespace
}  // namespace kaiten::test
