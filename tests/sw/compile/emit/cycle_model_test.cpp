// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/emit/cycle_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "compile/emit/bank_waits.h"
#include "compile/emit/hazard.h"
#include "compile/emit/load_requests.h"
#include "compile/emit/schedule.h"
#include "compile/emit/slow_memory.h"
#include "program/config.h"
#include "program/program.h"
#include "tests/support/seed.h"

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
  // The array goes from command to command; each sets up its first row for a cycle.
  EXPECT_EQ(times[6].start - times[5].start, 53);
  EXPECT_EQ(times[6].complete - times[6].start, 50 + 32 + 9 + 15);  // a chain of nine taps
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
  EXPECT_EQ(one[0].complete - one[0].start, 8 + 1 + 8 + 9 + 15);
}

std::int64_t end_of(const std::vector<CommandTime>& times) {
  std::int64_t end = 0;
  for (const CommandTime& t : times) end = std::max(end, t.complete);
  return end;
}

// LOADs, CONVs and VECTORs, some with a STORE, that wait for some of those before them.
struct RandomList {
  std::vector<ScheduledCommand> scheduled;
  std::vector<TimedCommand> timed;

  RandomList(std::mt19937_64& rng, const Config& config) {
    Counts before{}, counts{};  // that may be waited for, and are there: not the STORE that a command feeds
    const auto up_to = [&](std::int64_t n) { return std::int64_t(rng() % std::uint64_t(n + 1)); };
    const auto add = [&](CommandBody body, std::int64_t cycles) {
      Command c;
      c.body = std::move(body);
      for (std::size_t q = 0; q < kQueues; q++) {
        if (up_to(1) == 0) c.wait[q] = std::uint32_t(up_to(before[q]));
      }
      counts[std::size_t(c.queue())]++;
      if (c.queue() != Queue::kStore) before = counts;
      scheduled.push_back({c.wait, c.queue(), {cycles, 20}});
      timed.emplace_back(c, cycles, config);
    };
    for (int i = 0; i < 60; i++) {
      const std::int64_t kind = up_to(2), cycles = 1 + up_to(up_to(4) == 0 ? 400 : 20);
      if (kind == 0) {
        add(LoadRowsCommand{}, cycles);
        continue;
      }
      if (up_to(3) == 0) add(StoreCommand{}, 0);
      if (kind == 1) {
        ConvCommand conv;
        conv.rows = std::uint8_t(1 + up_to(3));
        conv.columns = std::uint16_t(1 + up_to(3));
        add(conv, cycles);
      } else {
        add(WindowCommand{}, cycles);
      }
    }
  }
};

TEST(CycleModel, NoOrderIsFasterThanTheBound) {
  std::mt19937_64 rng(test::seed());
  const Config config = preset("nano");
  int reached = 0;
  for (int round = 0; round < 300; round++) {
    SCOPED_TRACE(round);
    const RandomList list(rng, config);
    const std::int64_t least = least_cycles(list.timed, config);
    std::int64_t best = end_of(command_times(list.timed, config));
    for (const std::int64_t extra : {0, 10, 100}) {
      std::vector<TimedCommand> ordered;
      for (const std::uint32_t i : schedule(list.scheduled, extra)) ordered.push_back(list.timed[i]);
      best = std::min(best, end_of(command_times(ordered, config)));
    }
    EXPECT_LE(least, best);
    EXPECT_GT(2 * least, best);
    reached += least == best ? 1 : 0;
  }
  EXPECT_GT(reached, 0);
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

// A LOAD of `rows` rows of 1000 bytes, a beat's width apart from whole beats, in 16 cycles each.
struct NarrowMemory {
  Program program;

  explicit NarrowMemory(int rows) {
    program.config = preset("base");
    LoadRowsCommand load;
    load.rows = std::uint32_t(rows);
    load.segments = 1;
    load.columns = 125;
    load.pixel_bytes = load.last_pixel_bytes = 8;
    load.row_pitch = 1024;
    add(load, rows * 16);
  }
  void add(CommandBody body, std::int64_t cycles, Counts wait = {}) {
    Command c;
    c.body = std::move(body);
    c.wait = wait;
    program.commands.push_back(c);
    program.meta.emplace_back().cycles = cycles;
  }
  // Results of `columns` pixels of 32 bytes, two a beat, one a cycle.
  void store(int columns, Counts wait) {
    StoreCommand store;
    store.rows = store.segments = 1;
    store.columns = std::uint32_t(columns);
    store.pixel_bytes = store.last_pixel_bytes = 32;
    add(store, 0, wait);
    ConvCommand conv;
    conv.rows = conv.tiles = 1;
    conv.columns = std::uint32_t(columns);
    conv.out_groups = 4;
    conv.to_store = 1;
    add(conv, columns, wait);
  }
  // With a memory as fast as the bus.
  std::int64_t wide_cycles() const {
    std::vector<TimedCommand> timed;
    for (std::size_t i = 0; i < program.commands.size(); i++)
      timed.emplace_back(program.commands[i], program.meta[i].cycles, program.config);
    return command_times(timed, program.config).back().complete;
  }
  std::int64_t cycles(double bytes_per_cycle) {
    Program copy = program;
    limit_bandwidth(copy, bytes_per_cycle);
    return copy.modelled_cycles;
  }
};

constexpr double kBeat = 64;

// 1000 bytes are 16 beats: a narrower memory takes 16 * 64 / bandwidth for them and as much as that for the beat of the commands
// before them.
TEST(LimitedBandwidth, LengthensWhatReadsMemory) {
  NarrowMemory one(1);
  ConvCommand conv;
  conv.rows = conv.columns = 7;
  one.add(conv, 50, {1, 0, 0, 0});
  const std::int64_t wide = one.wide_cycles();
  limit_bandwidth(one.program, 4);
  EXPECT_EQ(one.program.meta[0].cycles, 16 * 16);
  EXPECT_EQ(one.program.meta[1].cycles, 50);
  EXPECT_EQ(one.program.modelled_cycles, wide + (16 * 16 - 16) + (16 - 1));
  EXPECT_EQ(one.program.meta[1].complete, one.program.modelled_cycles);
}

TEST(LimitedBandwidth, AMemoryAsFastAsTheBusChangesNothing) {
  for (const double rate : {0.0, -1.0, 64.0, 1000.0}) {
    NarrowMemory one(1);
    limit_bandwidth(one.program, rate);
    EXPECT_EQ(one.program.meta[0].cycles, 16);
    EXPECT_EQ(one.program.modelled_cycles, 0);  // as it was
  }
}

TEST(LimitedBandwidth, CommandsAreReadToo) {
  // Each is a beat, and nothing else is read.
  NarrowMemory none(0);
  for (int i = 0; i < 999; i++) none.add(ConvCommand{}, 1);
  EXPECT_NEAR(double(none.cycles(2)), 1000 * kBeat / 2, 0.02 * 1000 * kBeat / 2);
}

TEST(LimitedBandwidth, WritesAndReadsShareIt) {
  // 1600 beats are read while 1600 are written, by an engine that waits for nothing.
  NarrowMemory both(100);
  both.store(3200, {});
  EXPECT_NEAR(double(both.cycles(16)), 3200 * kBeat / 16, 0.02 * 3200 * kBeat / 16);
  // Nobody writes: the reads alone.
  EXPECT_NEAR(double(NarrowMemory(100).cycles(16)), 1600 * kBeat / 16, 0.05 * 1600 * kBeat / 16);
}

TEST(LimitedBandwidth, AFewResultsAreStaged) {
  // 32 beats wait for memory while the array goes on; STORE ends when they have left.
  NarrowMemory few(0);
  few.store(64, {});
  limit_bandwidth(few.program, 16);
  const CommandMeta &store = few.program.meta[1], &conv = few.program.meta[2];
  EXPECT_LT(conv.complete - conv.start, 64 + 32);
  EXPECT_GE(store.complete - conv.start, 32 * 4);
  NarrowMemory many(0);
  many.store(640, {});
  limit_bandwidth(many.program, 16);
  EXPECT_GT(many.program.meta[2].complete - many.program.meta[2].start, 2 * (640 - 64));
}

TEST(LimitedBandwidth, TheFetchPassesALongLoad) {
  // Of 3200 beats 512 are asked for at most: the last commands wait for these, not for all.
  NarrowMemory loads(200);
  for (int i = 0; i < 20; i++) loads.add(ConvCommand{}, 1);
  limit_bandwidth(loads.program, 16);
  EXPECT_LT(loads.program.meta.back().complete, 2 * 512 * 4 + 1000);
  EXPECT_GT(loads.program.meta.back().complete, 512 * 4);
  EXPECT_GT(loads.program.meta.front().complete, 3200 * 4);
}

TEST(LoadRequests, BurstsUnderWay) {
  LoadRequests loads(2);
  EXPECT_EQ(loads.room_for_burst(), 0);
  loads.add({.at = 0, .begin = 100, .end = 1380, .bursts = 64});  // 20 cycles each
  loads.add({.at = 5, .begin = 1380, .end = 1400, .bursts = 1});
  // Of 65 bursts the last 31 are under way when the 34th has come.
  EXPECT_EQ(loads.room_for_burst(), 100 + 34 * 20);
  EXPECT_EQ(loads.made(4), 1U);
  EXPECT_EQ(loads.made(5), 2U);
  EXPECT_EQ(loads.asked_until(2, 0), 0);               // none has left
  EXPECT_EQ(loads.asked_until(2, 8), 100 + 7 * 20);    // one a cycle
  EXPECT_EQ(loads.asked_until(2, 60), 100 + 32 * 20);  // as many as may be under way
  EXPECT_EQ(loads.asked_until(2, 300), 100 + (10 + 32) * 20);
  EXPECT_EQ(loads.asked_until(2, 1390), 1400);
  EXPECT_EQ(loads.end_of(0), 0);
}

// A LOAD and results of an engine, by cycles of memory, in the same time.
std::vector<std::int64_t> turns(double read, double written, std::int64_t load_cycles,
                                std::int64_t engine_cycles) {
  const std::vector<MemoryWork> moved{{.read = read}, {.written = written}};
  const std::vector<std::int64_t> cycles{load_cycles, engine_cycles};
  const std::vector<WorkTime> work{{0, load_cycles}, {0, engine_cycles}};
  return memory_waits(moved, cycles, work);
}

TEST(MemoryWaits, DirectionsTakeTurns) {
  // Both want every cycle: each has every other one.
  const std::vector<std::int64_t> both = turns(100, 100, 100, 100);
  EXPECT_NEAR(double(both[0]), 100, 3);
  EXPECT_NEAR(double(both[1]), 100, 3);
  // The LOAD waits for 25 cycles of writing, and the other way round.
  EXPECT_EQ(turns(100, 25, 100, 100), (std::vector<std::int64_t>{25, 0}));
  EXPECT_EQ(turns(25, 100, 100, 100), (std::vector<std::int64_t>{0, 25}));
  EXPECT_EQ(turns(50, 50, 100, 100), (std::vector<std::int64_t>{0, 0}));
  EXPECT_EQ(turns(100, 0, 100, 100), (std::vector<std::int64_t>{0, 0}));
  // Both have half until the results are there, after 100 cycles; the LOAD needs 50 more.
  const std::vector<std::int64_t> shorter = turns(100, 50, 100, 50);
  EXPECT_NEAR(double(shorter[0]), 50, 2);
  EXPECT_NEAR(double(shorter[1]), 50, 2);
}

}  // namespace
}  // namespace kaiten
