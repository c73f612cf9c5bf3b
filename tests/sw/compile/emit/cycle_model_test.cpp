// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/emit/cycle_model.h"

#include <gtest/gtest.h>

#include "compile/emit/hazard.h"
#include "compile/emit/schedule.h"
#include "program/config.h"
#include "program/program.h"

namespace kaiten {
namespace {

TEST(MachineClock, KeepsOrderAndWaits) {
  // Four LOADs that ask ahead, a CONV for each, a STORE with the last one.
  std::vector<Command> commands;
  std::vector<ScheduledCost> costs;
  const auto add = [&](CommandBody body, std::int64_t cycles, Counts wait) {
    Command c;
    c.body = std::move(body);
    c.wait = wait;
    commands.push_back(std::move(c));
    costs.push_back({cycles, 0});
  };
  for (std::uint32_t i = 1; i <= 4; i++) add(LoadRowsCommand{}, 10, {});
  for (std::uint32_t i = 1; i <= 4; i++) {
    if (i == 4) add(StoreCommand{}, 0, {});
    add(ConvCommand{}, 50, {i, 0, 0, 0});
  }
  const std::vector<CommandTime> times = command_times(commands, costs, 32);
  ASSERT_EQ(times.size(), 9U);
  // The data of four LOADs follow each other, the memory's latency is there once.
  EXPECT_EQ(times[3].complete - times[0].complete, 3 * 10);
  for (std::size_t i = 4; i < 7; i++) EXPECT_GT(times[i].start, times[i - 4].complete);
  // The array goes from command to command.
  EXPECT_EQ(times[6].start - times[5].start, 52);
  EXPECT_EQ(times[6].complete - times[6].start, 50 + 32 + 10);
  EXPECT_GT(times[7].complete, times[8].complete);
  // Twice as much work for the array takes so much longer.
  for (std::size_t i = 4; i < 9; i++) costs[i].cycles *= 2;
  EXPECT_EQ(command_times(commands, costs, 32)[8].complete - times[8].complete, 4 * 50);
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
