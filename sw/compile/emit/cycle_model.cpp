// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/emit/cycle_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <variant>

#include "base/arithmetic.h"
#include "compile/emit/bank_waits.h"
#include "compile/emit/schedule.h"
#include "program/config.h"
#include "program/program.h"

namespace kaiten {

namespace {

// A read of memory, from the request to the first beat, and the way of a beat into the accelerator.
constexpr std::int64_t kMemory = 106;
// The fetch asks for commands in chunks and has room for two of them.
constexpr std::size_t kChunk = 4;
constexpr std::size_t kAhead = 8;
// Entries of a queue, until their commands are complete.
constexpr std::size_t kQueueDepth = 8;
constexpr std::int64_t kToHead = 4;       // from the fetch to the engine
constexpr std::int64_t kBetween = 3;      // starts of commands of one queue
constexpr std::int64_t kAfterWait = 2;    // from a completion to a start
constexpr std::size_t kLoadsAhead = 5;    // LOADs asked for and not complete
constexpr std::int64_t kLoadDone = 6;     // from the last beat to completion
constexpr std::int64_t kStoreDone = 106;  // from the last result to the last response
constexpr std::int64_t kIdle = 2;         // an engine's slots between two commands
constexpr std::int64_t kArrayDone = 10;  // from the last window to completion, beyond the stages of the array
constexpr std::int64_t kVectorDone = 17;
constexpr std::int64_t kTileSetup = 21;  // loading the parameters of a depthwise convolution's first tile

constexpr int kRounds = 3;  // of waits for banks

// A LOAD's: memory answers in the order in which it was asked, the fetch after the LOADs before it.
struct Request {
  std::int64_t at = 0;
  std::int64_t end = 0;  // its last beat
};

bool depthwise(const Command& c) {
  const auto* w = std::get_if<WindowCommand>(&c.body);
  return w != nullptr && w->kind == 0;
}

// No pass waits for the weights after a command's last one, however few its pixels are.
std::int64_t spare_slots(const Command& c, int stages) {
  const auto& conv = std::get<ConvCommand>(c.body);
  return std::max<std::int64_t>(stages - std::int64_t(conv.rows) * std::int64_t(conv.columns), 0);
}

// Of a list whose commands take these cycles.
struct Timeline {
  std::vector<CommandTime> times;
  std::vector<WorkTime> work;
};

Timeline timeline(const std::vector<Command>& commands, const std::vector<std::int64_t>& cycles, int stages) {
  std::vector<CommandTime> times(commands.size());
  std::vector<WorkTime> work(commands.size());
  std::size_t blocks = 0;
  for (const Command& c : commands) blocks += std::size_t(c.blocks());
  const std::size_t chunks = ceil_div(blocks, kChunk);
  std::vector<std::int64_t> popped(blocks), asked(chunks), arrived(chunks);
  std::size_t block = 0;         // first one of the command
  std::vector<Request> loads;    // in order of both times
  std::size_t loads_before = 0;  // asked for their data before the fetch asked for this chunk
  std::array<std::vector<std::int64_t>, kQueues> done;   // of each queue, in order
  std::array<std::vector<std::int64_t>, kQueues> begun;  // when its work begins
  std::array<std::int64_t, kQueues> last_start{}, busy_until{};
  last_start.fill(-kBetween);

  for (std::size_t i = 0; i < commands.size(); i++) {
    const Command& c = commands[i];
    const std::size_t q = std::size_t(c.queue());
    std::int64_t at = 0;
    for (const std::size_t end = block + std::size_t(c.blocks()); block < end; block++) {
      const std::size_t chunk = block / kChunk;
      if (block % kChunk == 0 && chunk > 0) {
        asked[chunk] = asked[chunk - 1] + 1;
        if (const std::size_t needed = (chunk + 1) * kChunk; needed > kAhead)
          asked[chunk] = std::max(asked[chunk], popped[needed - kAhead - 1]);
      }
      if (block % kChunk == 0) {
        while (loads_before < loads.size() && loads[loads_before].at <= asked[chunk]) loads_before++;
        arrived[chunk] = asked[chunk] + kMemory;
        if (loads_before > 0) arrived[chunk] = std::max(arrived[chunk], loads[loads_before - 1].end);
      }
      at = arrived[chunk] + std::int64_t(block % kChunk);
      if (block > 0) at = std::max(at, popped[block - 1] + 1);
      if (block + 1 == end && done[q].size() >= kQueueDepth)
        at = std::max(at, done[q][done[q].size() - kQueueDepth] + 1);
      popped[block] = at;
    }

    std::int64_t start = std::max(at + kToHead, last_start[q] + kBetween);
    for (std::size_t w = 0; w < kQueues; w++) {
      if (c.wait[w] > 0 && c.wait[w] <= done[w].size())
        start = std::max(start, done[w][c.wait[w] - 1] + kAfterWait);
    }
    std::int64_t begin = start, complete = 0;
    switch (c.queue()) {
      case Queue::kLoad:
        if (done[q].size() >= kLoadsAhead) start = std::max(start, done[q][done[q].size() - kLoadsAhead] + 1);
        begin = std::max(start + kMemory, busy_until[q]);
        busy_until[q] = begin + cycles[i];
        complete = busy_until[q] + kLoadDone;
        loads.push_back({start, busy_until[q]});
        break;
      case Queue::kStore:
        complete = 0;  // with what feeds it, below
        break;
      case Queue::kConv:
        begin = start = std::max(start, busy_until[q]);
        busy_until[q] = begin + cycles[i] - spare_slots(c, stages) + kIdle;
        complete = busy_until[q] - kIdle + stages + kArrayDone;
        break;
      case Queue::kVector:
        // Taken, and its parameters loaded, while the one before runs.
        if (!begun[q].empty()) start = std::max(start, begun[q].back());
        begin = std::max(start + (depthwise(c) ? kTileSetup : 0), busy_until[q]);
        busy_until[q] = begin + cycles[i] + kIdle;
        complete = begin + cycles[i] + kVectorDone;
    }
    last_start[q] = start;
    begun[q].push_back(begin);
    times[i].start = start;
    work[i] = {begin, begin + cycles[i]};
    const auto finish = [&](std::size_t command, std::int64_t when) {
      auto& d = done[std::size_t(commands[command].queue())];
      if (!d.empty()) when = std::max(when, d.back() + 1);
      d.push_back(when);
      times[command].complete = when;
    };
    if (c.queue() == Queue::kStore) continue;
    finish(i, complete);
    if (i > 0 && commands[i - 1].queue() == Queue::kStore) finish(i - 1, times[i].complete + kStoreDone);
  }
  return {std::move(times), std::move(work)};
}

}  // namespace

std::vector<CommandTime> command_times(const std::vector<Command>& commands,
                                       const std::vector<ScheduledCost>& costs, const Config& config) {
  std::vector<std::int64_t> alone;
  alone.reserve(costs.size());
  for (const ScheduledCost& c : costs) alone.push_back(c.cycles);
  Timeline t = timeline(commands, alone, config.stages());
  // What waits moves others, and with them what is in the way.
  for (int round = 0; round < kRounds; round++) {
    const std::vector<std::int64_t> waits = bank_waits(commands, alone, t.work, config);
    std::vector<std::int64_t> cycles = alone;
    for (std::size_t i = 0; i < cycles.size(); i++) cycles[i] += waits[i];
    t = timeline(commands, cycles, config.stages());
  }
  return std::move(t.times);
}

namespace {

// Times of commands whose cycles have changed.
void retime(Program& program) {
  std::vector<ScheduledCost> costs;
  costs.reserve(program.commands.size());
  for (const CommandMeta& m : program.meta) costs.push_back({m.cycles, 0});
  const std::vector<CommandTime> times = command_times(program.commands, costs, program.config);
  program.modelled_cycles = 0;
  for (std::size_t i = 0; i < times.size(); i++) {
    program.meta[i].start = times[i].start;
    program.meta[i].complete = times[i].complete;
    program.modelled_cycles = std::max(program.modelled_cycles, times[i].complete);
  }
}

}  // namespace

void halve_vector_cycles(Program& program) {
  for (std::size_t i = 0; i < program.commands.size(); i++) {
    if (program.commands[i].queue() == Queue::kVector)
      program.meta[i].cycles = ceil_div(program.meta[i].cycles, std::int64_t(2));
  }
  retime(program);
}

void limit_bandwidth(Program& program, double bytes_per_cycle) {
  for (CommandMeta& m : program.meta) {
    const auto moved = double(m.bytes_read());
    m.cycles = std::max(m.cycles, std::int64_t(std::ceil(moved / bytes_per_cycle)));
  }
  retime(program);
}

}  // namespace kaiten
