// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/emit/cycle_model.h"

#include <gtest/gtest.h>

#include "compile/emit/bank_waits.h"
#include "compile/emit/hazard.h"
#include "compile/emit/schedule.h"
#include "program/config.h"
#include "program/program.h"

namespace kaiten {
namespace {

TEST(CycleModel, KeepsOrderAndWaits) {
  // Four LOADs that ask ahead, a CONV for each, a STORE with the last one.
  Config config;
  config.kp = 32;
  config.cp = 8;
  config.axi_bytes = 64;
  std::vector<TimedCommand> commands;
  const auto add = [&](CommandBody body, std::int64_t cycles, Counts wait) {
    Command c;
    c.body = std::move(body);
    c.wait = wait;
    commands.emplace_back(c, cycles, config);
  };
  for (std::uint32_t i = 1; i <= 4; i++) add(LoadRowsCommand{}, 10, {});
  for (std::uint32_t i = 1; i <= 4; i++) {
    if (i == 4) add(StoreCommand{}, 0, {});
    ConvCommand conv;
    conv.rows = conv.columns = 8;
    add(conv, 50, {i, 0, 0, 0});
  }
  const std::vector<CommandTime> times = command_times(commands, config);
  ASSERT_EQ(times.size(), 9U);
  // The data of four LOADs follow each other, the memory's latency is there once.
  EXPECT_EQ(times[3].complete - times[0].complete, 3 * 10);
  for (std::size_t i = 4; i < 7; i++) EXPECT_GT(times[i].start, times[i - 4].complete);
  // The array goes from command to command.
  EXPECT_EQ(times[6].start - times[5].start, 52);
  EXPECT_EQ(times[6].complete - times[6].start, 50 + 32 + 10);
  EXPECT_GT(times[7].complete, times[8].complete);
  // Twice as much work for the array takes so much longer.
  for (std::size_t i = 4; i < 9; i++) commands[i].cycles *= 2;
  EXPECT_EQ(command_times(commands, config)[8].complete - times[8].complete, 4 * 50);
}

TEST(CycleModel, NoPassFollowsTheLastOne) {
  Config config;
  config.kp = 32;
  config.cp = 8;
  config.stage_rows = 4;
  config.axi_bytes = 64;
  Command c;
  ConvCommand conv;
  conv.rows = conv.columns = 1;
  c.body = conv;
  // Two passes of a pixel in eight stages: the second one's weights need as many cycles, it takes one.
  const TimedCommand timed(c, std::int64_t(2 * 8), config);
  const std::vector<CommandTime> one = command_times(std::span(&timed, 1), config);
  EXPECT_EQ(one[0].complete - one[0].start, 8 + 1 + 8 + 10);
}

// A LOAD of 100 requests, eight words each, and an engine that writes meanwhile.
struct Meeting {
  std::vector<Command> commands{2};
  std::vector<std::int64_t> cycles{100, 400};
  std::vector<WorkTime> work{{0, 100}, {0, 400}};
  Config config;

  template <class C>
  explicit Meeting(C engine, bool to_sb = true) {
    config.kp = 32;
    config.cp = 8;
    config.axi_bytes = 64;
    LoadRowsCommand load;
    load.rows = load.segments = 1;
    load.columns = 100;
    load.pixel_bytes = 64;
    load.to_sb = 1;
    commands[0].body = load;
    engine.rows = 1;
    engine.columns = 400;
    engine.tiles = 1;
    engine.out_groups = 4;
    engine.to_sb = to_sb;
    engine.to_vb = !to_sb;
    commands[1].body = engine;
  }
  std::vector<std::int64_t> waits() const {
    std::vector<BankWrites> writes;
    for (const Command& c : commands) writes.push_back(bank_writes(c.body, config));
    return bank_waits(writes, cycles, work);
  }
};

TEST(BankWaits, LoadsWaitForResultsInTheirBuffer) {
  EXPECT_EQ(Meeting(ConvCommand{}).waits()[0], 100);  // eight words of nine always meet four: two cycles each
  EXPECT_EQ(Meeting(ConvCommand{}, false).waits()[0], 0);
  EXPECT_EQ(Meeting(WindowCommand{}).waits()[0], 100);
  EXPECT_EQ(Meeting(ConvCommand{}).waits()[1], 0);
}

TEST(BankWaits, OnlyWhileBothWork) {
  Meeting later(ConvCommand{});
  later.work[1] = {60, 460};
  EXPECT_EQ(later.waits()[0], 40);
  later.work[1] = {100, 500};
  EXPECT_EQ(later.waits()[0], 0);
}

TEST(BankWaits, RareResultsAndSlowBusesHideThem) {
  Meeting rare(WindowCommand{});
  std::get<WindowCommand>(rare.commands[1].body).columns = 100;  // one in four cycles
  EXPECT_EQ(rare.waits()[0], 33);                                // three requests in four cycles
  Meeting slow(ConvCommand{});
  slow.cycles[0] = 200;
  slow.work[0].end = 200;
  EXPECT_EQ(slow.waits()[0], 0);
}

TEST(BankWaits, TheVectorEngineWaitsForTheArray) {
  Meeting both(ConvCommand{});
  AddCommand add;
  add.rows = add.tiles = 1;
  add.columns = 100;
  add.out_groups = 3;
  add.to_sb = 1;
  both.commands[0].body = add;
  const std::int64_t wait = both.waits()[0];
  EXPECT_GT(wait, 50);  // 1 - (5 * 4 * 3) / (9 * 8 * 7) of its results meet those of the array
  EXPECT_LE(wait, 100);
}

// A LOAD of 1000 bytes in 16 cycles: a narrower memory takes 1000 / bandwidth, a wider one changes nothing; the CONV after it
// waits as much longer and computes as long.
TEST(LimitedBandwidth, LengthensWhatReadsMemory) {
  Program program;
  program.config = preset("base");
  Command load, conv;
  load.body = LoadRowsCommand{};
  conv.body = ConvCommand{};
  conv.wait = {1, 0, 0, 0};
  program.commands = {load, conv};
  program.meta.resize(2);
  program.meta[0].read_bytes = 1000;
  program.meta[0].cycles = 16;
  program.meta[1].cycles = 50;
  limit_bandwidth(program, 64);
  const std::int64_t wide = program.modelled_cycles;
  EXPECT_EQ(program.meta[0].cycles, 16);
  limit_bandwidth(program, 3);
  EXPECT_EQ(program.meta[0].cycles, 334);
  EXPECT_EQ(program.meta[1].cycles, 50);
  EXPECT_EQ(program.modelled_cycles, wide + 334 - 16);
  EXPECT_EQ(program.meta[1].complete, program.modelled_cycles);
}

}  // namespace
}  // namespace kaiten
