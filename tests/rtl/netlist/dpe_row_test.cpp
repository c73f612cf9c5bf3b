// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Netlists of a pipelined DPE row, mapped to each FPGA family, beside the RTL that they were made from and beside a
// plain sum of products: random operands, with the extreme ones often, and random loads and swaps of weights.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <random>

#include "Vdpe_row.h"
#include "Vdpe_row_cyclonev.h"
#include "Vdpe_row_ecp5.h"
#include "Vdpe_row_xc7.h"
#include "tests/support/model.h"
#include "tests/support/seed.h"

namespace kaiten::test {
namespace {

constexpr int kTaps = PARAM_Taps, kChain = PARAM_Chain;
using Operands = std::array<std::int8_t, kTaps>;

struct Cycle {
  Operands act{}, weight{};
  bool swap = false, load = false;
  std::int32_t extra = 0;
};

class Stimulus {
 public:
  Cycle next() {
    Cycle c;
    const int kind = draw(0, 4);
    for (auto* operands : {&c.act, &c.weight}) {
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

// The definition: what the row gives for the cycles so far.
class Expected {
 public:
  void step(const Cycle& c) {
    // extra_i belongs to the activations of the cycle before.
    std::uint32_t sum = std::uint32_t(c.extra);
    for (int t = 0; t < kTaps; t++) sum += std::uint32_t(act_[t] * weight_[t]);
    sum_ = std::int32_t(sum);
    act_ = c.act;
    if (c.swap) weight_ = shadow_;
    if (c.load) shadow_ = c.weight;
  }
  std::int32_t sum() const { return sum_; }
  const Operands& act() const { return act_; }

 private:
  Operands act_{}, weight_{}, shadow_{};
  std::int32_t sum_ = 0;
};

// Operands as the ports have them.
template <typename Port>
void set(Port& port, const Operands& operands) {
  std::memcpy(port.data(), operands.data(), operands.size());
}
template <typename Port>
Operands get(const Port& port) {
  Operands operands;
  std::memcpy(operands.data(), port.data(), operands.size());
  return operands;
}

template <typename Top>
void sums_products() {
  Model<Top> model;
  Stimulus stimulus;
  Expected expected;
  const auto step = [&](const Cycle& c) {
    set(model->act_i, c.act);
    set(model->weight_i, c.weight);
    model->swap_i = c.swap;
    model->load_i = c.load;
    model->extra_i = IData(c.extra);
    model.tick();
    expected.step(c);
  };
  // Flip-flops hold anything at first: zeros into the shadow weights, then into the weights.
  step({.load = true});
  step({.swap = true});
  for (int n = 0; n <= kChain; n++) step({});
  std::deque<std::int32_t> sums(kChain, 0);  // on their way through the chains
  for (int n = 0; n < 20000; n++) {
    step(stimulus.next());
    sums.push_back(expected.sum());
    ASSERT_EQ(std::int32_t(model->sum_o), sums.front()) << "cycle " << n;
    sums.pop_front();
    ASSERT_EQ(get(model->act_o), expected.act()) << "cycle " << n;
  }
}

TEST(DpeRow, Rtl) { sums_products<Vdpe_row>(); }
TEST(DpeRow, MappedToXc7) { sums_products<Vdpe_row_xc7>(); }
TEST(DpeRow, MappedToCycloneV) { sums_products<Vdpe_row_cyclonev>(); }
TEST(DpeRow, MappedToEcp5) { sums_products<Vdpe_row_ecp5>(); }

}  // namespace
}  // namespace kaiten::test
