// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The whole control with stub engines and a stub of the command fetch's memory: random programs complete; illegal ones, bus
// errors, deadlocks and engines that hang stop with cause, command and details; after a soft reset it works again.
#include <gtest/gtest.h>

#include "Vkt_control.h"
#include "device/csr.h"
#include "tests/rtl/common/kt_pkg.h"
#include "tests/rtl/control/program.h"
#include "tests/support/model.h"

namespace kaiten::test {
namespace {

constexpr int kBeatWords = PARAM_AxiW / 32;
constexpr int kBeats = 16 / kBeatWords;
constexpr int kQuietCycles = PARAM_QuietCycles;
constexpr int kFetch = 0, kLoad = 1, kStore = 2;  // bus masters

// status_t of kt_control_pkg, from the lowest bit
struct Status {
  std::array<std::uint32_t, kQueues> completed{};
  std::uint32_t info, index, cause, row;
  bool stopped, finished, resetting, error, done, busy;

  template <class Words>
  explicit Status(const Words& words) {
    int at = 0;
    const auto take = [&](int bits) {
      std::uint32_t value = 0;
      for (int i = 0; i < bits; ++i, ++at) value |= (words[at / 32] >> (at % 32) & 1u) << i;
      return value;
    };
    for (auto& c : completed) c = take(20);
    info = take(10);
    index = take(24);
    cause = take(4);
    stopped = take(1);
    finished = take(1);
    resetting = take(1);
    error = take(1);
    done = take(1);
    busy = take(1);
    row = take(10);
  }
};

class Control : public testing::Test {
 protected:
  Control() : random_(seed()) {
    idle();
    top().rst_ni = 0;
    top().start_i = top().soft_reset_i = 0;
    top().axi_idle_i = 1;
    model_.tick();
    EXPECT_EQ(top().engine_rst_no, 0);
    top().rst_ni = 1;
    model_.tick();
    EXPECT_EQ(top().engine_rst_no, 1);
  }
  Vkt_control& top() { return model_.top(); }
  Status status() { return Status(top().status_o); }

  void idle() {
    top().fetch_req_ready_i = top().fetch_rsp_valid_i = top().fetch_rsp_error_i = 0;
    top().issue_ready_i = top().done_i = 0;
    top().load_error_i = top().store_error_i = 0;
    top().axi_error_i = 0;
    top().fetch_busy_i = 0;
  }

  void settings(std::uint64_t address, std::uint32_t count, std::uint32_t watchdog) {
    top().settings_i[0] = watchdog;
    top().settings_i[1] = count | static_cast<std::uint32_t>(address << 24);
    top().settings_i[2] = static_cast<std::uint32_t>(address >> 8);
    top().settings_i[3] = 0;
  }

  struct Faults {
    int fetch_beat = -1;  // beat of the program that comes with an error
    int load_at = -1;     // LOAD, STORE command that reports an error while it runs
    int store_at = -1;
    std::uint32_t response = 2;
    int corrupt_row = -1;    // LOAD's error is not the bus's but that of a compressed row
    std::uint32_t rows = 0;  // that arrive from outside, and how often one does, in percent of the cycles
    int arrivals = 0;
  };

  // Starts and runs until the run ends or `limit` cycles have passed.
  Status run(const std::vector<Command>& program, Engines& engines, std::uint32_t watchdog,
             const Faults& faults, int limit = 200000) {
    const std::uint64_t address = (random_() & 0x3ffffffffull) << 6;
    settings(address, program.size(), watchdog);
    EXPECT_FALSE(status().busy);
    std::deque<std::pair<std::size_t, int>> beats;  // asked for; cycles until they come
    std::size_t asked = 0, wrong = 0;
    std::uint32_t arrived = 0;
    std::vector<std::size_t> load_store_error;
    const int ready = 20 + pick(random_, 81), latency = pick(random_, 40);
    bool response_next = false;
    completed_pulses_ = stopped_pulses_ = 0;
    int ended = -1;
    for (int cycle = 0; cycle < limit; ++cycle) {
      idle();
      engines.step();
      top().start_i = cycle == 0;
      if (cycle > 0 && arrived < faults.rows && chance(random_, faults.arrivals)) {
        arrived += 1 + static_cast<std::uint32_t>(pick(random_, static_cast<int>(faults.rows - arrived)));
        top().settings_i[3] = arrived;
      }
      top().issue_ready_i = mask_of(engines.ready);
      top().done_i = mask_of(engines.done);
      top().fetch_req_ready_i = chance(random_, ready);
      // the master's own error pulse comes a cycle after the beat
      top().axi_error_i = response_next ? 1 << kFetch : 0;
      top().axi_resp_i[kFetch] = faults.response;
      response_next = false;
      for (auto& beat : beats) beat.second = std::max(0, beat.second - 1);
      if (!beats.empty() && beats.front().second == 0) {
        const std::size_t beat = beats.front().first;
        beats.pop_front();
        top().fetch_rsp_valid_i = 1;
        top().fetch_rsp_error_i = response_next = static_cast<int>(beat) == faults.fetch_beat;
        for (int i = 0; i < kBeatWords; ++i)
          top().fetch_rsp_data_i[i] = program[beat / kBeats].words[beat % kBeats * kBeatWords + i];
      }
      if (!load_store_error.empty() && ended < 0) {
        const std::size_t at = load_store_error.back();
        load_store_error.clear();
        EngineError error;
        error.index = static_cast<std::uint32_t>(at);
        error.corrupt = faults.corrupt_row >= 0;
        error.bus = !error.corrupt;
        if (error.corrupt) error.row = static_cast<std::uint32_t>(faults.corrupt_row);
        const bool load = program[at].queue() == 0;
        (load ? top().load_error_i : top().store_error_i) = error.port();
        if (error.bus) {
          top().axi_error_i |= 1 << (load ? kLoad : kStore);
          top().axi_resp_i[load ? kLoad : kStore] = faults.response;
        }
      }
      top().axi_idle_i = beats.empty() && !engines.writing();
      model_.eval();
      if (top().fetch_req_valid_o && top().fetch_req_ready_i) {
        EXPECT_EQ(top().fetch_req_o >> 20, ((address + 64 * asked) & 0xffffffffffull));
        const std::uint32_t commands = (top().fetch_req_o & 0xfffff) / 64;
        for (std::uint32_t b = 0; b < commands * kBeats; ++b) beats.emplace_back(asked * kBeats + b, latency);
        asked += commands;
      }
      for (int q = 0; q < kQueues; ++q) {
        if (!(top().issue_valid_o >> q & 1) || !engines.ready[q]) continue;
        const std::uint32_t index = index_of(top().issue_o[q]);
        if (ended >= 0 && cycle > ended + 2) ++wrong;
        for (int c = 0; c < kQueues; ++c)
          if (program[index].wait(c) > engines.completed[c]) ++wrong;
        if (program[index].wait_arrived() > arrived) ++wrong;
        engines.take(q, index);
        if (static_cast<int>(index) == (q == 0 ? faults.load_at : faults.store_at))
          load_store_error.push_back(index);
      }
      model_.tick();
      const Status s = status();
      completed_pulses_ += s.finished;
      stopped_pulses_ += s.stopped;
      if (cycle > 0 && !s.busy && ended < 0) ended = cycle;
      if (ended >= 0 && cycle > ended + 100) break;
    }
    idle();
    top().settings_i[3] = 0;
    EXPECT_EQ(wrong, 0u) << "commands taken too early or after the end";
    EXPECT_EQ(completed_pulses_ + stopped_pulses_, ended >= 0 ? 1 : 0);
    return status();
  }

  void soft_reset(int busy_cycles) {
    top().soft_reset_i = 1;
    top().axi_idle_i = 0;
    model_.tick();
    top().soft_reset_i = 0;
    for (int i = 0; i < busy_cycles; ++i) {
      EXPECT_TRUE(top().axi_halt_o);
      EXPECT_TRUE(top().engine_rst_no) << "reset with transactions outstanding";
      EXPECT_TRUE(status().resetting);
      top().axi_idle_i = i % 5 == 4;  // a gap between two bursts is not the end
      top().start_i = 1;              // ignored
      model_.tick();
    }
    top().start_i = 0;
    top().axi_idle_i = 1;
    int low = 0;
    for (int i = 0; i < 40 && status().resetting; ++i) {
      low += !top().engine_rst_no;
      model_.tick();
    }
    EXPECT_GE(low, 8);
    const Status s = status();
    EXPECT_FALSE(s.resetting || s.busy || s.done || s.error || s.cause || s.index || s.info);
    EXPECT_TRUE(top().engine_rst_no);
    EXPECT_FALSE(top().axi_halt_o);
  }

  void expect_completes(const std::vector<Command>& program, std::uint32_t watchdog = 0) {
    Engines engines(program, random_, 1 + pick(random_, 60));
    const Status s = run(program, engines, watchdog, {});
    ASSERT_TRUE(s.done) << "cause " << s.cause << " command " << s.index;
    ASSERT_FALSE(s.error);
    ASSERT_EQ(completed_pulses_, 1);
    for (int q = 0; q < kQueues; ++q) {
      std::vector<std::size_t> expected;
      for (std::size_t i = 0; i < program.size(); ++i)
        if (program[i].queue() == q) expected.push_back(i);
      ASSERT_EQ(engines.order[q], expected);
      ASSERT_EQ(s.completed[q], expected.size());
    }
  }

  void expect_stops(const Status& s, csr::ErrorCause cause, std::size_t index, std::uint32_t info) {
    ASSERT_TRUE(s.error);
    ASSERT_FALSE(s.done || s.busy);
    ASSERT_EQ(s.cause, static_cast<std::uint32_t>(cause));
    ASSERT_EQ(s.index, index);
    ASSERT_EQ(s.info, info);
    ASSERT_EQ(stopped_pulses_, 1);
    // a start is ignored while the error stands
    top().start_i = 1;
    model_.tick();
    top().start_i = 0;
    model_.tick();
    ASSERT_FALSE(status().busy);
  }

  Random random_;
  Model<Vkt_control> model_;
  int completed_pulses_ = 0, stopped_pulses_ = 0;
};

TEST_F(Control, RunsProgramsOneAfterTheOther) {
  for (int round = 0; round < 60; ++round) {
    const int length = round % 15 == 0 ? 400 : round % 7 == 0 ? 1 : 50;
    expect_completes(random_program(random_, 1 + pick(random_, length)), chance(random_, 50) ? 3000 : 0);
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST_F(Control, EmptyProgramCompletes) { expect_completes({}); }

TEST_F(Control, StopsAtAnIllegalCommandAndRecovers) {
  for (int round = 0; round < 30; ++round) {
    auto program = random_program(random_, 2 + pick(random_, 60));
    const std::size_t at = pick(random_, static_cast<int>(program.size()));
    const int queue = program[at].queue();  // a LOAD has a field where others have reserved bits
    program[at].set(queue == 0 ? 511 : 4 + pick(random_, 12), 1, 1);
    Engines engines(program, random_, 20);
    expect_stops(run(program, engines, 0, {}), csr::ErrorCause::kIllegal, at, queue == 0 ? 4 : 2);
    if (HasFatalFailure()) FAIL() << "round " << round;
    soft_reset(pick(random_, 30));
    expect_completes(random_program(random_, 20));
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST_F(Control, StopsAtBusErrorsAndRecovers) {
  for (int round = 0; round < 45; ++round) {
    const auto program = random_program(random_, 20 + pick(random_, 60));
    Faults faults;
    faults.response = 2 + pick(random_, 2);
    std::size_t at = pick(random_, static_cast<int>(program.size()));
    auto cause = csr::ErrorCause::kFetchRead;
    const int queue = program[at].queue();
    if (queue == 0 && chance(random_, 70)) {
      faults.load_at = static_cast<int>(at);
      cause = csr::ErrorCause::kLoadRead;
    } else if (queue == kStoreQueue && chance(random_, 70)) {
      faults.store_at = static_cast<int>(at);
      cause = csr::ErrorCause::kStoreWrite;
    } else {
      faults.fetch_beat = static_cast<int>(at) * kBeats + pick(random_, kBeats);
    }
    Engines engines(program, random_, 20);
    expect_stops(run(program, engines, 0, faults), cause, at, faults.response);
    if (HasFatalFailure()) FAIL() << "round " << round;
    soft_reset(pick(random_, 30));
    expect_completes(random_program(random_, 20));
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST_F(Control, StopsAtCorruptRowsAndRecovers) {
  for (int round = 0; round < 30; ++round) {
    auto program = random_program(random_, 20 + pick(random_, 60));
    program.push_back(random_command(random_, 1));
    std::size_t at = pick(random_, static_cast<int>(program.size()));
    while (program[at].queue() != 0) ++at;
    Faults faults;
    faults.load_at = static_cast<int>(at);
    faults.corrupt_row = pick(random_, 1024);
    Engines engines(program, random_, 20);
    const Status s = run(program, engines, 0, faults);
    expect_stops(s, csr::ErrorCause::kCorrupt, at, 0);
    ASSERT_EQ(s.row, static_cast<std::uint32_t>(faults.corrupt_row));
    if (HasFatalFailure()) FAIL() << "round " << round;
    soft_reset(pick(random_, 30));
    EXPECT_EQ(status().row, 0U);
  }
}

// A command that needs a STORE whose feeder comes later, and everything that then waits for it.
TEST_F(Control, FindsDeadlocks) {
  for (int round = 0; round < 30; ++round) {
    std::vector<Command> program = random_program(random_, pick(random_, 30));
    std::array<std::uint32_t, kQueues> seen{};
    for (const Command& c : program) ++seen[c.queue()];
    program.push_back(random_command(random_, 7));
    Command feeder = random_command(random_, 4 + pick(random_, 3));
    feeder.set(to_store_bit(feeder.op()), 1, 1);
    feeder.set_wait(kStoreQueue, seen[kStoreQueue] + 1);  // itself the feeder of that STORE
    const std::size_t at = program.size();
    const int queue = feeder.queue();
    program.push_back(feeder);
    // followers in the same queue or behind its completion: up to more than the queues hold
    const int followers = pick(random_, 30);
    for (int i = 0; i < followers; ++i) {
      Command c = random_command(random_, 4 + pick(random_, 3));
      c.set_wait(queue, seen[queue] + 1);
      program.push_back(c);
    }
    Engines engines(program, random_, 20);
    const Status s = run(program, engines, 0, {}, 60000);
    ASSERT_TRUE(s.info >> queue & 1);
    expect_stops(s, csr::ErrorCause::kDeadlock, at, s.info);
    if (HasFatalFailure()) FAIL() << "round " << round;
    soft_reset(pick(random_, 30));
    expect_completes(random_program(random_, 20));
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST_F(Control, SlowEnginesAreNoDeadlock) {
  const auto program = random_program(random_, 20);
  Engines engines(program, random_, 3 * kQuietCycles);
  const Status s = run(program, engines, 0, {}, 60 * kQuietCycles * 3);
  EXPECT_TRUE(s.done);
}

// Rows that come late, some of them after many times what a deadlock takes.
TEST_F(Control, WaitsForRowsFromOutside) {
  for (int round = 0; round < 30; ++round) {
    auto program = random_program(random_, 1 + pick(random_, 40));
    Faults none;
    none.rows = 1 + static_cast<std::uint32_t>(pick(random_, 4095));
    none.arrivals = round % 3 == 0 ? 100 : 1;
    wait_for_rows(random_, program, none.rows);
    Engines engines(program, random_, 1 + pick(random_, 60));
    const Status s = run(program, engines, round % 2 ? 30 * kQuietCycles : 0, none);
    ASSERT_TRUE(s.done) << "round " << round << " cause " << s.cause << " command " << s.index;
    ASSERT_EQ(completed_pulses_, 1);
  }
}

// A row that never comes is no deadlock, but the limit ends the run at the LOAD that waits for it.
TEST_F(Control, RowsThatNeverArriveEndAtTheLimit) {
  std::vector<Command> program{random_command(random_, 1), random_command(random_, 1),
                               random_command(random_, 4)};
  program[1].set_wait_arrived(3);
  program[2].set_wait(0, 2);
  Faults two;
  two.rows = 2;
  two.arrivals = 10;
  const std::uint32_t limit = 4 * kQuietCycles;
  Engines engines(program, random_, 20);
  const Status s = run(program, engines, limit, two, 10 * static_cast<int>(limit));
  expect_stops(s, csr::ErrorCause::kTimeout, 1, 0);
  soft_reset(3);
  expect_completes(random_program(random_, 20));
}

TEST_F(Control, FindsAnEngineThatHangs) {
  for (int round = 0; round < 20; ++round) {
    const auto program = random_program(random_, 30 + pick(random_, 30));
    Engines engines(program, random_, 20);
    const int queue = pick(random_, kQueues);
    engines.stuck[queue] = true;
    const Status s = run(program, engines, 2000, {}, 60000);
    if (s.done) {  // nothing in that queue
      for (const Command& c : program) ASSERT_NE(c.queue(), queue);
      continue;
    }
    // the oldest command that is not complete
    std::size_t at = 0;
    while (engines.is_done(at)) ++at;
    expect_stops(s, csr::ErrorCause::kTimeout, at, s.info);
    if (HasFatalFailure()) FAIL() << "round " << round;
    soft_reset(pick(random_, 30));
    expect_completes(random_program(random_, 20), 2000);
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST_F(Control, SoftResetInTheMiddleOfARun) {
  for (int round = 0; round < 30; ++round) {
    const auto program = random_program(random_, 60);
    Engines engines(program, random_, 40);
    run(program, engines, 0, {}, 5 + pick(random_, 300));
    top().start_i = 0;
    soft_reset(1 + pick(random_, 30));
    expect_completes(random_program(random_, 30));
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

}  // namespace
}  // namespace kaiten::test
