// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Scoreboard against a C++ model: order in each queue, no start before the waits hold and rows have arrived, start as soon as they do, bodies,
// numbers, peek, counters and the state that the watchdog sees; engines of random speed that take and complete commands
// independently of each other.
#include <gtest/gtest.h>

#include "Vkt_scoreboard.h"
#include "tests/rtl/common/kt_pkg.h"
#include "tests/rtl/control/program.h"
#include "tests/support/model.h"

namespace kaiten::test {
namespace {

constexpr int kDepth = PARAM_QueueDepth;

class Scoreboard : public testing::Test {
 protected:
  Scoreboard() : random_(seed()) {
    quiet();
    top().rst_ni = 0;
    model_.tick();
    top().rst_ni = 1;
  }
  Vkt_scoreboard& top() { return model_.top(); }

  void quiet() {
    top().start_i = top().stop_i = top().cmd_valid_i = top().report_i = 0;
    drive({}, {});
  }
  void arrive(std::uint32_t rows) { top().arrived_i = static_cast<std::uint16_t>(rows); }
  void drive(const std::array<bool, kQueues>& ready, const std::array<bool, kQueues>& done) {
    top().issue_ready_i = mask_of(ready);
    top().done_i = mask_of(done);
  }
  bool valid(int q) { return top().issue_valid_o >> q & 1; }
  // Numbers of commands begin anywhere.
  std::uint32_t number(std::size_t index) const {
    return (first_ + static_cast<std::uint32_t>(index)) & 0xffffff;
  }
  void offer(const Command& c, std::size_t index) {
    for (int i = 0; i < 16; ++i) top().cmd_i[i] = c.words[i];
    top().cmd_index_i = number(index);
  }

  void run(const std::vector<Command>& program, Engines& engines, int source, int stop_after = -1);

  std::uint32_t first_ = 0;
  Random random_;
  Model<Vkt_scoreboard> model_;
};

void Scoreboard::run(const std::vector<Command>& program, Engines& engines, int source, int stop_after) {
  std::array<std::vector<std::size_t>, kQueues> expected;
  for (std::size_t i = 0; i < program.size(); ++i) expected[program[i].queue()].push_back(i);

  std::uint32_t rows = 0, arrived = 0;
  for (const Command& c : program) rows = std::max(rows, c.wait_arrived());
  const int arrivals = 1 + pick(random_, 20);
  arrive(0);
  model_.tick();
  first_ = static_cast<std::uint32_t>(random_());
  top().start_i = 1;
  model_.tick();
  top().start_i = 0;
  std::array<std::size_t, kQueues> pushed{}, taken{};
  std::array<std::uint32_t, kQueues> counted{};  // done pulses up to the cycle before
  std::array<int, kQueues> may_start{};          // cycles since the head could have been offered
  int lacking = 0;                               // cycles in which the head of LOAD has waited for rows
  std::size_t next = 0;
  const std::size_t total = program.size();
  for (int cycle = 0;; ++cycle) {
    ASSERT_LT(cycle, 4000 + 400 * static_cast<int>(total)) << "hangs";
    if (cycle == stop_after) break;
    engines.step();
    drive(engines.ready, engines.done);
    top().cmd_valid_i = next < total && chance(random_, source);
    if (top().cmd_valid_i) offer(program[next], next);
    top().report_i = chance(random_, 20);
    const bool arrival = arrived < rows && chance(random_, arrivals);
    if (arrival)
      arrive(arrived += 1 + static_cast<std::uint32_t>(pick(random_, static_cast<int>(rows - arrived))));
    model_.eval();
    ASSERT_EQ(top().arrival_o, arrival);

    for (int q = 0; q < kQueues; ++q) {
      const bool there = taken[q] < pushed[q];
      ASSERT_EQ(top().queued_o >> q & 1, there);
      const std::uint32_t complete = engines.completed[q] - engines.done[q];
      ASSERT_EQ(top().completed_o[q], complete);
      ASSERT_EQ(top().running_o >> q & 1, taken[q] > complete);
      ASSERT_EQ(top().no_command_o >> q & 1, engines.ready[q] && !there);
      if (top().report_i && pushed[q] > complete) ASSERT_EQ(top().oldest_o[q], number(expected[q][complete]));
      bool holds = there;
      std::uint32_t unmet = 0;
      if (there) {
        const Command& head = program[expected[q][taken[q]]];
        for (int c = 0; c < kQueues; ++c) {
          if (head.wait(c) > engines.completed[c] - engines.done[c]) {
            holds = false;
            unmet |= 1u << c;
          }
        }
        if (head.wait_arrived() > arrived) holds = false;
      }
      if (q == 0) {
        const bool lacks = there && program[expected[q][taken[q]]].wait_arrived() > arrived;
        ASSERT_EQ(top().load_arrived_o, engines.ready[0] && top().outside_o);
        if (top().outside_o) ASSERT_TRUE(there);
        if (holds && may_start[q] > 1) ASSERT_FALSE(top().outside_o);
        lacking = lacks ? lacking + 1 : 0;
        if (lacking > 6) ASSERT_TRUE(top().outside_o);
      }
      // what is reported as waiting is what was waiting two cycles ago at most
      const std::uint32_t reported = top().waits_o >> (4 * q) & 15;
      if (reported) ASSERT_TRUE(there && engines.ready[q]);
      if (may_start[q] > 1) ASSERT_EQ(reported, 0u);
      if (unmet && engines.ready[q]) ASSERT_EQ(reported & unmet, reported ? unmet : 0u);
      may_start[q] = holds ? may_start[q] + 1 : 0;
      if (valid(q)) {
        ASSERT_TRUE(holds) << "queue " << q << " starts too early";
      } else {
        ASSERT_LE(may_start[q], 6) << "queue " << q << " does not start";
      }
      if (q == 1) {
        const bool load_holds = there && !(unmet & 1);
        if (top().conv_peek_o) ASSERT_TRUE(load_holds);
        if (may_start[q] > 6) ASSERT_TRUE(top().conv_peek_o);
      }
      if ((valid(q) || (q == 1 && top().conv_peek_o)) && there) {
        const std::size_t i = expected[q][taken[q]];
        ASSERT_EQ(index_of(top().issue_o[q]), number(i));
        ASSERT_EQ(op_of(top().issue_o[q]), program[i].op());
        for (int w = 0; w < 13; ++w) ASSERT_EQ(top().issue_o[q][w], program[i].words[w + 3]);
      }
    }
    if (top().cmd_valid_i && top().cmd_ready_o) {
      ++pushed[program[next].queue()];
      ++next;
    }
    for (int q = 0; q < kQueues; ++q) {
      if (valid(q) && engines.ready[q]) {
        engines.take(q, expected[q][taken[q]]);
        ++taken[q];
        may_start[q] = 0;
      }
      ASSERT_LE(pushed[q] - engines.completed[q], static_cast<std::size_t>(kDepth));
    }
    counted = engines.completed;
    model_.tick();
    if (next == total && engines.idle() && counted[0] + counted[1] + counted[2] + counted[3] == total) break;
  }
  if (stop_after >= 0) return;
  quiet();
  model_.tick();
  EXPECT_EQ(top().queued_o | top().running_o | top().issue_valid_o, 0);
  for (int q = 0; q < kQueues; ++q) {
    EXPECT_EQ(engines.order[q], expected[q]);
    EXPECT_EQ(top().completed_o[q], expected[q].size());
  }
}

TEST_F(Scoreboard, RunsProgramsThatKeepTheRules) {
  for (int round = 0; round < 200; ++round) {
    auto program = random_program(random_, 1 + pick(random_, round % 20 == 0 ? 500 : 60));
    if (round % 2) wait_for_rows(random_, program, 1 + static_cast<std::uint32_t>(pick(random_, 4095)));
    Engines engines(program, random_, 1 + pick(random_, 60));
    engines.ready_percent = 20 + pick(random_, 81);
    run(program, engines, 10 + pick(random_, 91));
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST_F(Scoreboard, StopOffersNothingMore) {
  for (int round = 0; round < 50; ++round) {
    const auto program = random_program(random_, 60);
    Engines engines(program, random_, 20);
    run(program, engines, 80, 5 + pick(random_, 100));
    if (HasFatalFailure()) FAIL() << "round " << round;
    quiet();
    top().stop_i = 1;
    model_.tick();
    for (int i = 0; i < 30; ++i) {
      ASSERT_EQ(top().issue_valid_o, 0);
      ASSERT_EQ(top().conv_peek_o, 0);
      model_.tick();
    }
    top().rst_ni = 0;
    top().stop_i = 0;
    model_.tick();
    top().rst_ni = 1;
  }
}

// done pulse in cycle t, offered in t + 2
TEST_F(Scoreboard, StartsTwoCyclesAfterTheCompletion) {
  std::vector<Command> program{random_command(random_, 1), random_command(random_, 4)};
  program[1].set_wait(0, 1);
  top().start_i = 1;
  model_.tick();
  top().start_i = 0;
  top().cmd_valid_i = 1;
  offer(program[0], 0);
  model_.tick();
  offer(program[1], 1);
  model_.tick();
  top().cmd_valid_i = 0;
  top().issue_ready_i = 1;
  for (int i = 0; i < 10; ++i) model_.tick();
  EXPECT_FALSE(valid(kConvQueue));
  EXPECT_FALSE(top().conv_peek_o);
  top().done_i = 1;
  model_.tick();
  top().done_i = 0;
  EXPECT_FALSE(valid(kConvQueue));
  model_.tick();
  EXPECT_TRUE(valid(kConvQueue));
  EXPECT_TRUE(top().conv_peek_o);
}

// rows told in cycle t, offered in t + 2
TEST_F(Scoreboard, StartsTwoCyclesAfterTheRowsArrive) {
  Command load = random_command(random_, 1);
  load.set_wait_arrived(7);
  top().start_i = 1;
  model_.tick();
  top().start_i = 0;
  top().cmd_valid_i = 1;
  offer(load, 0);
  model_.tick();
  top().cmd_valid_i = 0;
  arrive(6);
  for (int i = 0; i < 10; ++i) model_.tick();
  EXPECT_FALSE(valid(0));
  EXPECT_TRUE(top().outside_o);
  arrive(7);
  model_.tick();
  EXPECT_FALSE(valid(0));
  model_.tick();
  EXPECT_TRUE(valid(0));
  EXPECT_FALSE(top().outside_o);
}

}  // namespace
}  // namespace kaiten::test
