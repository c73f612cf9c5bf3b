// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/emit/cycle_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <variant>

#include "base/arithmetic.h"
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
constexpr std::int64_t kTileSetup = 21;   // loading the parameters of a depthwise convolution's first tile
constexpr std::int64_t kTableSetup = 32;  // and a table before them, a word a cycle

constexpr int kRounds = 3;  // of waits for banks

// A LOAD's: memory answers in the order in which it was asked, the fetch after the LOADs before it.
struct Request {
  std::int64_t at = 0;
  std::int64_t end = 0;  // its last beat
};

std::int64_t setup(const WindowCommand& c) {
  return (c.kind == 0 ? kTileSetup : 0) + (c.look_up != 0 ? kTableSetup : 0);
}

// No pass waits for the weights after a command's last one, however few its pixels are.
std::int64_t spare_slots(const ConvCommand& conv, int stages) {
  return std::max<std::int64_t>(stages - conv.rows * last_slots_of_row(conv), 0);
}

// Asks for the list a chunk at a time and hands out its blocks in order.
class Fetch {
 public:
  explicit Fetch(std::size_t loads) { loads_.reserve(loads); }

  void asked_for(const Request& load) { loads_.push_back(load); }

  // When the next command leaves, whose queue has room from `room` on.
  std::int64_t pop(const TimedCommand& c, std::int64_t room) {
    for (int left = c.blocks; left > 0; left--, block_++) {
      if (block_ % kChunk == 0) ask(block_ / kChunk);
      std::int64_t at = arrived_ + std::int64_t(block_ % kChunk);
      if (block_ > 0) at = std::max(at, popped(block_ - 1) + 1);
      if (left == 1) at = std::max(at, room);
      popped_[block_ % kAhead] = at;
    }
    return popped(block_ - 1);
  }

 private:
  std::int64_t popped(std::size_t block) const { return popped_[block % kAhead]; }

  void ask(std::size_t chunk) {
    if (chunk > 0) {
      asked_++;
      if (const std::size_t needed = (chunk + 1) * kChunk; needed > kAhead)
        asked_ = std::max(asked_, popped(needed - kAhead - 1));
    }
    while (loads_before_ < loads_.size() && loads_[loads_before_].at <= asked_) loads_before_++;
    arrived_ = asked_ + kMemory;
    if (loads_before_ > 0) arrived_ = std::max(arrived_, loads_[loads_before_ - 1].end);
  }

  std::array<std::int64_t, kAhead> popped_{};  // of the last blocks
  std::int64_t asked_ = 0, arrived_ = 0;       // of the last chunk
  std::size_t block_ = 0;                      // the next one
  std::vector<Request> loads_;                 // in order of both times
  std::size_t loads_before_ = 0;               // asked for before the fetch asked for its last chunk
};

// Commands of each queue.
using Numbers = std::array<std::size_t, kQueues>;

// The queues and what stands behind each.
class Machine {
 public:
  // `row_at`: see command_times(); outlives the machine; null: all rows are there.
  explicit Machine(int stages, const Numbers& commands, const std::vector<std::int64_t>* row_at)
      : stages_(stages), row_at_(row_at) {
    last_start_.fill(-kBetween);
    for (std::size_t q = 0; q < kQueues; q++) done_[q].reserve(commands[q]);
  }

  // The cycle in which the queue has room for another command.
  std::int64_t room(std::size_t q) const {
    return done_[q].size() < kQueueDepth ? 0 : done_[q][done_[q].size() - kQueueDepth] + 1;
  }

  struct Taken {
    CommandTime time;
    WorkTime work;
  };

  // A command that left the fetch at `at` and takes so many cycles. A STORE is complete with what feeds it: see finish().
  Taken take(const TimedCommand& c, std::int64_t at, std::int64_t cycles) {
    const std::size_t q = std::size_t(c.queue);
    std::int64_t start = std::max(at + kToHead, last_start_[q] + kBetween);
    for (std::size_t w = 0; w < kQueues; w++) {
      if (c.wait[w] > 0 && c.wait[w] <= done_[w].size())
        start = std::max(start, done_[w][c.wait[w] - 1] + kAfterWait);
    }
    if (row_at_ != nullptr && c.arrived > 0) start = std::max(start, (*row_at_)[c.arrived] + kAfterWait);
    std::int64_t begin = start, complete = 0;
    switch (c.queue) {
      case Queue::kLoad:
        if (done_[q].size() >= kLoadsAhead)
          start = std::max(start, done_[q][done_[q].size() - kLoadsAhead] + 1);
        begin = std::max(start + kMemory, busy_until_[q]);
        busy_until_[q] = begin + cycles;
        complete = busy_until_[q] + kLoadDone;
        break;
      case Queue::kStore:
        break;
      case Queue::kConv:
        begin = start = std::max(start, busy_until_[q]);
        busy_until_[q] = begin + cycles - c.spare_slots + kIdle;
        complete = busy_until_[q] - kIdle + stages_ + kArrayDone;
        break;
      case Queue::kVector:
        // Taken, and its parameters loaded, while the one before runs.
        start = std::max(start, last_begin_[q]);
        begin = std::max(start + c.setup, busy_until_[q]);
        busy_until_[q] = begin + cycles + kIdle;
        complete = begin + cycles + kVectorDone;
    }
    last_start_[q] = start;
    last_begin_[q] = begin;
    return {{start, complete}, {begin, begin + cycles}};
  }

  // Completions of a queue are in order, one a cycle.
  std::int64_t finish(Queue queue, std::int64_t when) {
    std::vector<std::int64_t>& done = done_[std::size_t(queue)];
    if (!done.empty()) when = std::max(when, done.back() + 1);
    done.push_back(when);
    return when;
  }

 private:
  int stages_;
  const std::vector<std::int64_t>* row_at_;
  std::array<std::vector<std::int64_t>, kQueues> done_;  // of each queue, in order
  std::array<std::int64_t, kQueues> last_start_{}, last_begin_{}, busy_until_{};
};

// Of a list whose commands take these cycles.
struct Timeline {
  std::vector<CommandTime> times;
  std::vector<WorkTime> work;
};

// Into `t`, whose memory is used again.
void find_timeline(std::span<const TimedCommand> commands, std::span<const std::int64_t> cycles, int stages,
                   const std::vector<std::int64_t>* row_at, Timeline& t) {
  t.times.resize(commands.size());
  t.work.resize(commands.size());
  Numbers numbers{};
  for (const TimedCommand& c : commands) numbers[std::size_t(c.queue)]++;
  Fetch fetch(numbers[std::size_t(Queue::kLoad)]);
  Machine machine(stages, numbers, row_at);
  for (std::size_t i = 0; i < commands.size(); i++) {
    const TimedCommand& c = commands[i];
    const std::int64_t at = fetch.pop(c, machine.room(std::size_t(c.queue)));
    const Machine::Taken taken = machine.take(c, at, cycles[i]);
    t.times[i] = taken.time;
    t.work[i] = taken.work;
    if (c.queue == Queue::kLoad) fetch.asked_for({taken.time.start, taken.work.end});
    if (c.queue == Queue::kStore) continue;
    t.times[i].complete = machine.finish(c.queue, taken.time.complete);
    if (i > 0 && commands[i - 1].queue == Queue::kStore)
      t.times[i - 1].complete = machine.finish(Queue::kStore, t.times[i].complete + kStoreDone);
  }
}

std::vector<CommandTime> times_of(std::span<const TimedCommand> commands, const Config& config,
                                  const std::vector<std::int64_t>* row_at) {
  std::vector<std::int64_t> alone;
  std::vector<BankWrites> writes;
  alone.reserve(commands.size());
  writes.reserve(commands.size());
  for (const TimedCommand& c : commands) {
    alone.push_back(c.cycles);
    writes.push_back(c.writes);
  }
  Timeline t;
  find_timeline(commands, alone, config.stages(), row_at, t);
  // What waits moves others, and with them what is in the way.
  std::vector<std::int64_t> waits(commands.size()), cycles(commands.size());
  for (int round = 0; round < kRounds; round++) {
    std::vector<std::int64_t> others = bank_waits(writes, alone, t.work);
    if (others == waits) break;
    waits = std::move(others);
    for (std::size_t i = 0; i < cycles.size(); i++) cycles[i] = alone[i] + waits[i];
    find_timeline(commands, cycles, config.stages(), row_at, t);
  }
  return std::move(t.times);
}

std::vector<TimedCommand> timed(const Program& program) {
  std::vector<TimedCommand> commands;
  commands.reserve(program.commands.size());
  for (std::size_t i = 0; i < program.commands.size(); i++)
    commands.emplace_back(program.commands[i], program.meta[i].cycles, program.config);
  return commands;
}

// Times of commands whose cycles have changed.
void retime(Program& program) {
  const std::vector<CommandTime> times = command_times(timed(program), program.config);
  program.modelled_cycles = 0;
  for (std::size_t i = 0; i < times.size(); i++) {
    program.meta[i].start = times[i].start;
    program.meta[i].complete = times[i].complete;
    program.modelled_cycles = std::max(program.modelled_cycles, times[i].complete);
  }
}

}  // namespace

TimedCommand::TimedCommand(const Command& command, std::int64_t alone, const Config& config)
    : wait(command.wait),
      arrived(command.arrived),
      queue(command.queue()),
      blocks(std::uint8_t(command.blocks())),
      cycles(alone),
      writes(bank_writes(command.body, config)) {
  if (const auto* conv = std::get_if<ConvCommand>(&command.body))
    spare_slots = kaiten::spare_slots(*conv, config.stages());
  if (const auto* window = std::get_if<WindowCommand>(&command.body)) setup = kaiten::setup(*window);
}

std::vector<CommandTime> command_times(std::span<const TimedCommand> commands, const Config& config) {
  return times_of(commands, config, nullptr);
}

std::vector<CommandTime> command_times(const Program& program, const std::vector<std::int64_t>& row_at) {
  return times_of(timed(program), program.config, &row_at);
}

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
