// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Command fetch against its program in memory: order, content and number of every command, requests inside the program,
// at most eight commands ahead, beats taken at once; illegal commands and bus errors stop it with number and reason.
#include <gtest/gtest.h>

#include <optional>

#include "Vkt_cmd_fetch.h"
#include "tests/rtl/control/program.h"
#include "tests/support/model.h"

namespace kaiten::test {
namespace {

constexpr int kBeatWords = PARAM_AxiW / 32;
constexpr int kBeats = 16 / kBeatWords;
constexpr std::size_t kAhead = 8;
constexpr int kConv = 4, kExtension = 8;  // operations

struct Error {
  bool bus = false;
  std::uint32_t index = 0, info = 0;
};

class Fetch : public testing::Test {
 protected:
  Fetch() : random_(seed()) {
    top().rst_ni = 0;
    top().start_i = top().stop_i = top().req_ready_i = top().rsp_valid_i = top().rsp_error_i = 0;
    top().cmd_ready_i = 0;
    model_.tick();
    top().rst_ni = 1;
    model_.tick();
  }
  Vkt_cmd_fetch& top() { return model_.top(); }

  // Runs until everything was handed over or an error came; returns the commands handed over.
  std::vector<Command> run(const std::vector<Command>& program, std::uint64_t address, int bad_beat = -1) {
    std::vector<Command> out;
    std::deque<std::size_t> beats;  // asked for
    const int memory = pick(random_, 100), queue = 10 + pick(random_, 90), bus = 10 + pick(random_, 90);
    error_.reset();
    std::size_t asked = 0;
    int after = -1;
    std::vector<std::size_t> ends{0};  // blocks up to the end of so many commands
    for (std::size_t i = 0; i < program.size(); ++i) {
      if (program[i].op() != kExtension) ends.push_back(i + 1);
    }
    extensions_.clear();
    top().addr_i = address >> 6;
    top().count_i = program.size();
    for (int cycle = 0;; ++cycle) {
      if (cycle > 20000 + 2000 * static_cast<int>(program.size())) {
        ADD_FAILURE() << "hangs";
        break;
      }
      top().start_i = cycle == 0;
      top().req_ready_i = chance(random_, bus);
      top().rsp_valid_i = !beats.empty() && chance(random_, memory + 1);
      top().rsp_error_i = 0;
      if (top().rsp_valid_i) {
        const std::size_t beat = beats.front();
        top().rsp_error_i = static_cast<int>(beat) == bad_beat;
        const std::uint32_t* from = program[beat / kBeats].words.data() + beat % kBeats * kBeatWords;
        for (int i = 0; i < kBeatWords; ++i) top().rsp_data_i[i] = from[i];
      } else {
        for (int i = 0; i < kBeatWords; ++i) top().rsp_data_i[i] = static_cast<std::uint32_t>(random_());
      }
      top().cmd_ready_i = chance(random_, queue);
      model_.eval();
      EXPECT_TRUE(top().rsp_ready_o);
      EXPECT_EQ(top().blocked_o, top().cmd_valid_o && !top().cmd_ready_i);
      if (top().rsp_valid_i) beats.pop_front();
      if (top().req_valid_o && top().req_ready_i && cycle > 0) {
        EXPECT_EQ(top().req_addr_o, address + 64 * asked);
        EXPECT_EQ(top().req_bytes_o % 64, 0u);
        for (std::uint32_t b = 0; b < top().req_bytes_o / 64 * kBeats; ++b)
          beats.push_back(asked * kBeats + b);
        asked += top().req_bytes_o / 64;
        EXPECT_LE(asked, program.size());
        const bool extended =
            ends[out.size()] < program.size() && program[ends[out.size()]].op() == kExtension;
        EXPECT_LE(asked - ends[out.size()], kAhead + 1 + extended) << "more asked for than there is room for";
      }
      if (top().cmd_valid_o && top().cmd_ready_i) {
        EXPECT_EQ(top().cmd_index_o, out.size());
        Command c;
        for (int i = 0; i < 16; ++i) c.words[i] = top().cmd_o[i];
        out.push_back(c);
        extensions_.push_back(top().cmd_extension_o);
      }
      model_.tick();
      if (cycle > 0) EXPECT_EQ(top().done_o, out.size() + 1 == ends.size());
      if (top().illegal_o || top().bus_error_o) {
        EXPECT_FALSE(error_) << "reported twice";
        if (!error_)
          error_ = Error{static_cast<bool>(top().bus_error_o), top().error_index_o, top().error_info_o};
        after = cycle + 200;
      }
      if (!error_ && cycle > 0 && top().done_o && after < 0) after = cycle + 20;
      if (cycle == after) break;
    }
    if (!error_) EXPECT_TRUE(beats.empty());
    top().start_i = top().rsp_valid_i = top().cmd_ready_i = 0;
    return out;
  }

  void reset() {
    top().rst_ni = 0;
    model_.tick();
    top().rst_ni = 1;
  }

  std::uint64_t address() { return (random_() & 0xffffffull) << 6; }

  Random random_;
  Model<Vkt_cmd_fetch> model_;
  std::optional<Error> error_;
  std::vector<std::uint64_t> extensions_;  // handed over with each command
};

void expect_same(const std::vector<Command>& out, const std::vector<Command>& program, std::size_t length) {
  ASSERT_EQ(out.size(), length);
  for (std::size_t i = 0; i < length; ++i) ASSERT_EQ(out[i].words, program[i].words) << "command " << i;
}

TEST_F(Fetch, HandsOverEveryCommand) {
  for (int round = 0; round < 60; ++round) {
    const auto program = random_program(random_, 1 + pick(random_, round % 10 == 0 ? 400 : 40));
    const auto out = run(program, address());
    ASSERT_FALSE(error_);
    expect_same(out, program, program.size());
  }
}

TEST_F(Fetch, ExtensionsGoWithTheirConv) {
  for (int round = 0; round < 60; ++round) {
    const auto commands = random_program(random_, 1 + pick(random_, 60));
    std::vector<Command> program;
    std::vector<std::uint64_t> expected;
    for (const Command& c : commands) {
      expected.push_back(0);
      if (c.op() == kConv && chance(random_, 50)) {
        const std::uint32_t first = pick(random_, 65536), pitch = pick(random_, 65536);
        const std::uint32_t passes = pick(random_, 1024), groups = pick(random_, 10);
        const std::uint32_t look_up = pick(random_, 2), table = pick(random_, 1 << 14);
        Command e;
        e.words = {};
        e.set(0, 4, kExtension);
        e.set(96, 16, first);
        e.set(112, 16, pitch);
        e.set(128, 10, passes);
        e.set(138, 4, groups);
        e.set(142, 1, look_up);
        e.set(143, 14, table);
        program.push_back(e);
        expected.back() = std::uint64_t(first) << 47 | std::uint64_t(pitch) << 31 |
                          std::uint64_t(passes) << 21 | groups << 17 | look_up << 16 | table;
      }
      program.push_back(c);
    }
    const auto out = run(program, address());
    ASSERT_FALSE(error_);
    expect_same(out, commands, commands.size());
    EXPECT_EQ(extensions_, expected);
  }
}

TEST_F(Fetch, RefusesAnExtensionBeforeAnythingElse) {
  auto program = random_program(random_, 2);
  Command e;
  e.words = {};
  e.set(0, 4, kExtension);
  e.set(128, 10, 1);
  program.insert(program.begin() + 1, {e, e});
  const auto out = run(program, address());
  ASSERT_TRUE(error_);
  EXPECT_EQ(error_->index, 1u);
  EXPECT_EQ(error_->info, 1u);
  expect_same(out, program, 1);
}

TEST_F(Fetch, EmptyProgramIsDoneAtOnce) {
  const auto out = run({}, address());
  EXPECT_TRUE(out.empty());
  EXPECT_FALSE(error_);
}

TEST_F(Fetch, StopsAtAnIllegalCommand) {
  for (int round = 0; round < 150; ++round) {
    auto program = random_program(random_, 2 + pick(random_, 30));
    const int at = pick(random_, static_cast<int>(program.size()));
    std::array<std::uint32_t, kQueues> seen{};
    for (int i = 0; i < at; ++i) ++seen[program[i].queue()];
    Command& c = program[at];
    std::uint32_t info = 0;
    switch (pick(random_, 5)) {
      case 0:
        c.set(0, 4, chance(random_, 50) ? 0 : kExtension + 1 + pick(random_, 7));
        info = 1;
        break;
      case 1:
        if (c.queue() == 0) {  // a LOAD may wait for rows
          c.set(0, 4, 0);
          info = 1;
          break;
        }
        c.set(4 + pick(random_, 12), 1, 1);
        info = 2;
        break;
      case 2: {
        const int used = used_bits(c.op());
        c.set(used + pick(random_, 512 - used), 1, 1);
        info = 4;
        break;
      }
      case 3: {
        const auto fields = counts(c.op());
        const Count& zero = fields[static_cast<std::size_t>(pick(random_, static_cast<int>(fields.size())))];
        c.set(zero.first, zero.bits, 0);
        if (zero.where_bits > 0) c.set(zero.where_first + pick(random_, zero.where_bits), 1, 1);
        info = 256;
        break;
      }
      default: {
        const int q = pick(random_, kQueues);
        c.set_wait(q, seen[q] + 1 + (chance(random_, 50) ? 0 : pick(random_, 1000)));
        info = 8u << q;
      }
    }
    const auto out = run(program, address());
    ASSERT_TRUE(error_);
    EXPECT_FALSE(error_->bus);
    EXPECT_EQ(error_->index, static_cast<std::uint32_t>(at));
    EXPECT_EQ(error_->info, info);
    expect_same(out, program, at);
    reset();
  }
}

TEST_F(Fetch, StopsAtABusError) {
  for (int round = 0; round < 100; ++round) {
    const auto program = random_program(random_, 1 + pick(random_, 30));
    const int beat = pick(random_, static_cast<int>(program.size()) * kBeats);
    const auto out = run(program, address(), beat);
    ASSERT_TRUE(error_);
    EXPECT_TRUE(error_->bus);
    EXPECT_EQ(error_->index, static_cast<std::uint32_t>(beat / kBeats));
    ASSERT_LE(out.size(), static_cast<std::size_t>(beat / kBeats));
    expect_same(out, program, out.size());
    reset();
  }
}

TEST_F(Fetch, StopEndsHandingOver) {
  const auto program = random_program(random_, 30);
  top().addr_i = 1;
  top().count_i = program.size();
  top().start_i = 1;
  top().req_ready_i = 1;
  model_.tick();
  top().start_i = 0;
  top().cmd_ready_i = 0;
  for (int i = 0; i < 8 * kBeats; ++i) {
    top().rsp_valid_i = 1;
    for (int w = 0; w < kBeatWords; ++w)
      top().rsp_data_i[w] = program[i / kBeats].words[i % kBeats * kBeatWords + w];
    model_.tick();
  }
  top().rsp_valid_i = 0;
  EXPECT_TRUE(top().cmd_valid_o);
  top().stop_i = 1;
  model_.tick();
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(top().cmd_valid_o);
    EXPECT_FALSE(top().req_valid_o);
    model_.tick();
  }
}

#if PARAM_AxiW == 512
// A queue's counter counts to 2^20 - 1: one command more is refused, not counted as 0.
TEST_F(Fetch, RefusesMoreCommandsThanACounterCounts) {
  constexpr std::uint32_t kMost = (1u << 20) - 1;
  const Command load = random_command(random_, 1);
  for (int i = 0; i < 16; ++i) top().rsp_data_i[i] = load.words[i];
  top().addr_i = 1;
  top().count_i = kMost + 5;
  top().start_i = top().req_ready_i = top().cmd_ready_i = 1;
  model_.tick();
  top().start_i = 0;
  std::uint32_t owed = 0, handed = 0;
  for (std::uint32_t cycle = 0; cycle < 2 * kMost && !top().illegal_o; ++cycle) {
    if (top().req_valid_o) owed += top().req_bytes_o / 64;
    top().rsp_valid_i = owed > 0;
    owed -= top().rsp_valid_i;
    handed += top().cmd_valid_o;
    model_.tick();
  }
  EXPECT_TRUE(top().illegal_o);
  EXPECT_EQ(handed, kMost);
  EXPECT_EQ(top().error_index_o, kMost);
  EXPECT_EQ(top().error_info_o, 1u << 7);
}
#endif

}  // namespace
}  // namespace kaiten::test
