// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/emit/cycle_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <variant>

#include "base/arithmetic.h"
#include "compile/emit/load_requests.h"
#include "compile/emit/slow_memory.h"
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
constexpr std::int64_t kBetween = 4;      // starts of commands of one queue
constexpr std::int64_t kAfterWait = 2;    // from a completion to a start
constexpr std::size_t kLoadsAhead = 5;    // LOADs asked for and not complete
constexpr std::int64_t kLoadDone = 6;     // from the last beat to completion
constexpr std::int64_t kStoreDone = 107;  // from the last result to the last response
constexpr std::int64_t kArrayIdle = 3;    // slots of the array between two commands
constexpr std::int64_t kVectorIdle = 2;   // and of the vector engine
constexpr std::int64_t kArrayDone = 15;   // from the last window to completion, beyond the array's depth
constexpr std::int64_t kVectorDone = 20;
constexpr std::int64_t kTileSetup = 21;   // loading the parameters of a depthwise convolution's first tile
constexpr std::int64_t kTableSetup = 32;  // and a table before them, a word a cycle

constexpr int kRounds = 3;  // of waits for banks

std::int64_t setup(const WindowCommand& c) {
  return (c.kind == 0 ? kTileSetup : 0) + (c.look_up != 0 ? kTableSetup : 0);
}

// No pass waits for the weights after a command's last one, however few its pixels are.
std::int64_t spare_slots(const ConvCommand& conv, int stages) {
  return std::max<std::int64_t>(stages - conv.rows * last_slots_of_row(conv), 0);
}

// Commands that the fetch asks a slow memory for.
struct Chunk {
  std::int64_t at = 0;
  double cycles = 0;  // of memory
};

// Asks for the list a chunk at a time and hands out its blocks in order.
class Fetch {
 public:
  // Of so many blocks. `slow`: null for a memory as fast as the bus. `loads` outlives the fetch.
  Fetch(std::size_t blocks, LoadRequests& loads, const SlowMemory* slow)
      : blocks_(blocks), loads_(loads), slow_(slow) {}

  // What it asked a slow memory for, in order.
  std::vector<Chunk>&& chunks() { return std::move(chunks_); }

  // When the next command leaves, whose queue has room from `room` on.
  std::int64_t pop(const TimedCommand& c, std::int64_t room) {
    for (int left = c.blocks; left > 0; left--, block_++) {
      if (block_ % kChunk == 0) ask(block_ / kChunk);
      std::int64_t at = arrived_ + arrival(block_ % kChunk);
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
    const std::size_t before = loads_.made(asked_);
    if (slow_ == nullptr) {
      arrived_ = std::max(asked_ + kMemory, loads_.end_of(before));
      return;
    }
    const double cycles = double(std::min(kChunk, blocks_ - chunk * kChunk)) * slow_->block;
    arrived_ = std::max({asked_ + kMemory, loads_.asked_until(before, asked_), chunk_end_});
    chunk_end_ = arrived_ + std::int64_t(cycles);
    chunks_.push_back({asked_, cycles});
  }

  // Of a chunk's blocks, after its first beat.
  std::int64_t arrival(std::size_t block) const {
    if (slow_ == nullptr) return std::int64_t(block);
    return std::int64_t(std::ceil(double(block + 1) * slow_->block)) - 1;
  }

  std::size_t blocks_;
  LoadRequests& loads_;
  const SlowMemory* slow_;
  std::array<std::int64_t, kAhead> popped_{};  // of the last blocks
  std::int64_t asked_ = 0, arrived_ = 0;       // of the last chunk
  std::int64_t chunk_end_ = 0;                 // of a slow memory
  std::size_t block_ = 0;                      // the next one
  std::vector<Chunk> chunks_;
};

// Commands of each queue.
using Numbers = std::array<std::size_t, kQueues>;

// The queues and what stands behind each.
class Machine {
 public:
  // `row_at`: see command_times(); null: all rows are there. `chunks`: what the fetch asks a slow memory for. All outlive the
  // machine.
  Machine(int array_depth, const Numbers& commands, const std::vector<std::int64_t>* row_at,
          LoadRequests& loads, std::span<const Chunk> chunks)
      : array_depth_(array_depth), row_at_(row_at), loads_(loads), chunks_(chunks) {
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
    WorkTime memory;
  };

  // A command that left the fetch at `at` and takes so many cycles. A STORE is complete with what feeds it: see finish().
  Taken take(const TimedCommand& c, std::int64_t at, std::int64_t cycles, const FromMemory& memory) {
    const std::size_t q = std::size_t(c.queue);
    std::int64_t start = std::max(at + kToHead, last_start_[q] + kBetween);
    for (std::size_t w = 0; w < kQueues; w++) {
      if (c.wait[w] > 0 && c.wait[w] <= done_[w].size())
        start = std::max(start, done_[w][c.wait[w] - 1] + kAfterWait);
    }
    if (row_at_ != nullptr && c.arrived > 0) start = std::max(start, (*row_at_)[c.arrived] + kAfterWait);
    std::int64_t begin = start, complete = 0;
    WorkTime moves;
    switch (c.queue) {
      case Queue::kLoad:
        if (done_[q].size() >= kLoadsAhead)
          start = std::max(start, done_[q][done_[q].size() - kLoadsAhead] + 1);
        start = std::max(start, asked_);  // of the one before
        asked_ = start;
        if (memory.cycles > 0) asked_ = std::max(start, loads_.room_for_burst());
        wait_for_chunks(asked_);
        begin = std::max(asked_ + kMemory, memory_until_);
        cycles = std::max({busy_until_[q] + cycles, begin + cycles, begin + memory.cycles}) - begin;
        busy_until_[q] = begin + cycles;
        memory_until_ = std::max(begin + memory.cycles, busy_until_[q] - memory.apart);
        complete = busy_until_[q] + kLoadDone;
        moves = {begin, begin + memory.cycles};
        loads_.add({asked_, begin, busy_until_[q], memory.bursts});
        break;
      case Queue::kStore:
        break;
      case Queue::kConv:
        begin = start = std::max(start, busy_until_[q]);
        moves = stage(begin, cycles, memory);
        busy_until_[q] = begin + cycles - c.spare_slots + kArrayIdle;
        complete = busy_until_[q] - kArrayIdle + array_depth_ + kArrayDone;
        break;
      case Queue::kVector:
        // Taken, and its parameters loaded, while the one before runs.
        start = std::max(start, last_begin_[q]);
        begin = std::max(start + c.setup, busy_until_[q]);
        moves = stage(begin, cycles, memory);
        busy_until_[q] = begin + cycles + kVectorIdle;
        complete = begin + cycles + kVectorDone;
    }
    last_start_[q] = start;
    last_begin_[q] = begin;
    return {{start, complete}, {begin, begin + cycles}, moves};
  }

  // When memory has all results, of an engine that is complete at `when`.
  std::int64_t written(std::int64_t when) const { return std::max(when, written_until_); }

  // Completions of a queue are in order, one a cycle.
  std::int64_t finish(Queue queue, std::int64_t when) {
    std::vector<std::int64_t>& done = done_[std::size_t(queue)];
    if (!done.empty()) when = std::max(when, done.back() + 1);
    done.push_back(when);
    return when;
  }

 private:
  // Memory takes results in order, and the engine, which would need so many cycles, ends when there is room for the last ones.
  WorkTime stage(std::int64_t begin, std::int64_t& cycles, const FromMemory& memory) {
    if (memory.cycles == 0) return {};
    const std::int64_t first = std::max(begin, written_until_), end = first + memory.cycles;
    cycles = std::max(cycles, end - memory.apart - begin);
    written_until_ = std::max(end, begin + cycles);
    return {first, end};
  }

  // Memory gives the chunks asked for until then first.
  void wait_for_chunks(std::int64_t until) {
    for (; next_chunk_ < chunks_.size() && chunks_[next_chunk_].at <= until; next_chunk_++) {
      const Chunk& c = chunks_[next_chunk_];
      part_ += c.cycles;
      const auto whole = std::int64_t(part_);
      memory_until_ = std::max(memory_until_, c.at + kMemory) + whole;
      part_ -= double(whole);
    }
  }

  int array_depth_;
  const std::vector<std::int64_t>* row_at_;
  LoadRequests& loads_;
  std::span<const Chunk> chunks_;
  std::size_t next_chunk_ = 0;
  double part_ = 0;                                      // of a cycle of memory
  std::int64_t asked_ = 0;                               // by the last LOAD
  std::int64_t memory_until_ = 0;                        // gives what LOADs and the fetch asked for
  std::int64_t written_until_ = 0;                       // takes the results of STOREs
  std::array<std::vector<std::int64_t>, kQueues> done_;  // of each queue, in order
  std::array<std::int64_t, kQueues> last_start_{}, last_begin_{}, busy_until_{};
};

// What a program does not say of its run.
struct Surroundings {
  const std::vector<std::int64_t>* row_at = nullptr;  // see command_times(); null: all rows are there
  const SlowMemory* slow = nullptr;
};

// Of a list whose commands take these cycles.
struct Timeline {
  std::vector<CommandTime> times;
  std::vector<WorkTime> work, memory;
  std::vector<Chunk> chunks;  // of a slow memory
};

Numbers numbers_of(std::span<const TimedCommand> commands) {
  Numbers numbers{};
  for (const TimedCommand& c : commands) numbers[std::size_t(c.queue)]++;
  return numbers;
}

// Into `t`, whose memory is used again and whose chunks are those of the round before.
void find_timeline(std::span<const TimedCommand> commands, std::span<const std::int64_t> cycles,
                   std::span<const std::int64_t> memory, int array_depth, const Surroundings& around,
                   Timeline& t) {
  t.times.resize(commands.size());
  t.work.resize(commands.size());
  t.memory.resize(commands.size());
  const Numbers numbers = numbers_of(commands);
  std::size_t blocks = 0;
  for (const TimedCommand& c : commands) blocks += c.blocks;
  LoadRequests loads(numbers[std::size_t(Queue::kLoad)]);
  Fetch fetch(blocks, loads, around.slow);
  Machine machine(array_depth, numbers, around.row_at, loads, t.chunks);
  for (std::size_t i = 0; i < commands.size(); i++) {
    const TimedCommand& c = commands[i];
    const std::int64_t at = fetch.pop(c, machine.room(std::size_t(c.queue)));
    const FromMemory from =
        around.slow != nullptr ? around.slow->from(i, cycles[i], memory[i]) : FromMemory{};
    const Machine::Taken taken = machine.take(c, at, cycles[i], from);
    t.times[i] = taken.time;
    t.work[i] = taken.work;
    t.memory[i] = taken.memory;
    if (c.queue == Queue::kStore) continue;
    t.times[i].complete = machine.finish(c.queue, taken.time.complete);
    if (i > 0 && commands[i - 1].queue == Queue::kStore)
      t.times[i - 1].complete =
          machine.finish(Queue::kStore, machine.written(t.times[i].complete) + kStoreDone);
  }
  t.chunks = fetch.chunks();
}

std::vector<CommandTime> times_of(std::span<const TimedCommand> commands, const Config& config,
                                  const Surroundings& around) {
  const SlowMemory* slow = around.slow;
  std::vector<std::int64_t> alone, memory;
  std::vector<BankWrites> writes;
  alone.reserve(commands.size());
  writes.reserve(commands.size());
  for (std::size_t i = 0; i < commands.size(); i++) {
    alone.push_back(commands[i].cycles + (slow != nullptr ? slow->commands[i].stalls : 0));
    if (slow != nullptr) memory.push_back(slow->commands[i].cycles());
    writes.push_back(commands[i].writes);
  }
  Timeline t;
  find_timeline(commands, alone, memory, config.array_depth(), around, t);
  // What waits moves others, and with them what is in the way.
  std::vector<std::int64_t> waits(commands.size()), cycles(commands.size());
  for (int round = 0; round < kRounds; round++) {
    std::vector<std::int64_t> others = bank_waits(writes, alone, t.work);
    if (slow == nullptr && others == waits) break;
    waits = std::move(others);
    for (std::size_t i = 0; i < cycles.size(); i++) cycles[i] = alone[i] + waits[i];
    if (slow != nullptr) {
      const std::vector<std::int64_t> turns = memory_waits(slow->commands, alone, t.memory);
      for (std::size_t i = 0; i < memory.size(); i++) memory[i] = slow->commands[i].cycles() + turns[i];
    }
    find_timeline(commands, cycles, memory, config.array_depth(), around, t);
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
void retime(Program& program, const std::vector<CommandTime>& times) {
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
  return times_of(commands, config, {});
}

std::int64_t least_cycles(std::span<const TimedCommand> commands, const Config& config) {
  const Numbers numbers = numbers_of(commands);
  LoadRequests loads(numbers[std::size_t(Queue::kLoad)]);
  Machine machine(config.array_depth(), numbers, nullptr, loads, {});
  std::int64_t last = 0;
  bool stored = false;  // by the command before
  for (const TimedCommand& c : commands) {
    const std::int64_t at = std::max(kMemory, machine.room(std::size_t(c.queue)));
    const Machine::Taken taken = machine.take(c, at, c.cycles, {});
    if (c.queue != Queue::kStore) {
      std::int64_t complete = machine.finish(c.queue, taken.time.complete);
      if (stored) complete = machine.finish(Queue::kStore, complete + kStoreDone);
      last = std::max(last, complete);
    }
    stored = c.queue == Queue::kStore;
  }
  return last;
}

std::vector<CommandTime> command_times(const Program& program, const std::vector<std::int64_t>& row_at) {
  return times_of(timed(program), program.config, {.row_at = &row_at});
}

void halve_vector_cycles(Program& program) {
  for (std::size_t i = 0; i < program.commands.size(); i++) {
    if (program.commands[i].queue() == Queue::kVector)
      program.meta[i].cycles = ceil_div(program.meta[i].cycles, std::int64_t(2));
  }
  retime(program, command_times(timed(program), program.config));
}

void limit_bandwidth(Program& program, double bytes_per_cycle) {
  if (bytes_per_cycle <= 0 || bytes_per_cycle >= program.config.axi_bytes) return;
  const std::vector<TimedCommand> commands = timed(program);
  const SlowMemory slow(program, commands, bytes_per_cycle);
  for (std::size_t i = 0; i < commands.size(); i++)
    program.meta[i].cycles =
        std::max(commands[i].cycles + slow.commands[i].stalls, slow.commands[i].cycles());
  retime(program, times_of(commands, program.config, {.slow = &slow}));
}

}  // namespace kaiten
