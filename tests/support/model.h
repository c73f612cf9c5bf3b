// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A verilated model with its context: random initial state and random `x` drawn from a seed, so that bits left without
// a reset are different in every run. tick() is one clock cycle of a top with `clk_i`; inputs set before it are seen by
// its rising edge, outputs read after it are those of the next cycle.
//
//   Model<Vkt_fifo> m;  m->rst_ni = 0;  m.tick();  m->rst_ni = 1;
#ifndef KAITEN_TESTS_SUPPORT_MODEL_H
#define KAITEN_TESTS_SUPPORT_MODEL_H

#include <memory>

#include "sim/coverage_file.h"
#include "tests/support/seed.h"
#include "verilated.h"

namespace kaiten::test {

template <class Top>
class Model {
 public:
  explicit Model(std::uint64_t seed = test::seed()) : context_(std::make_unique<VerilatedContext>()) {
    context_->randReset(sim::kInitialState);
    context_->randSeed(static_cast<int>(seed % 0x7fffffff) + 1);  // 0 means "pick one"
    top_ = std::make_unique<Top>(context_.get());
    top_->clk_i = 0;
  }
  ~Model() {
    top_->final();
    sim::save_coverage(*context_);
  }

  Top* operator->() { return top_.get(); }
  Top& top() { return *top_; }
  VerilatedContext& context() { return *context_; }
  std::uint64_t cycles() const { return cycles_; }

  void tick() {
    top_->clk_i = 0;
    top_->eval();
    context_->timeInc(1);
    top_->clk_i = 1;
    top_->eval();
    context_->timeInc(1);
    ++cycles_;
  }

  // Settles combinational outputs after inputs have changed, without a clock edge.
  void eval() {
    top_->clk_i = 0;
    top_->eval();
  }

 private:
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Top> top_;
  std::uint64_t cycles_ = 0;
};

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SUPPORT_MODEL_H
