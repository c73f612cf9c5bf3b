// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "observe/layer_clock.h"

#include <algorithm>

#include "device/csr.h"

namespace kaiten {

namespace {

// Cycles from the flags of a window to its result where nothing stands in the way.
constexpr int kArrayLatency = 10;  // beyond the array's depth
constexpr int kVectorLatency = 12;

// consteval: events() runs every simulated cycle and must not compare names in it.
consteval std::uint32_t flag(std::string_view name) {
  std::size_t i = 0;
  while (name != csr::kCounters[i].name) i++;
  return std::uint32_t(1) << i;
}

constexpr std::uint32_t kArrayBusy = flag("array_busy");
constexpr std::uint32_t kVectorBusy = flag("vector_busy");

std::size_t operators(const Program& program) {
  int ops = 0;
  for (const LayerInfo& l : program.layers) ops = std::max(ops, l.op + 1);
  return std::size_t(ops);
}

// Layers that load more bytes of rows than of weights and parameters.
std::vector<bool> loads_more_rows(const Program& program) {
  std::vector<std::int64_t> more(operators(program), 0);
  for (const CommandMeta& m : program.meta)
    more[std::size_t(m.op)] += m.kind == CommandMeta::Bytes::kActivations ? m.read_bytes : -m.read_bytes;
  std::vector<bool> rows;
  rows.reserve(more.size());
  for (std::int64_t n : more) rows.push_back(n > 0);
  return rows;
}

}  // namespace

std::string_view name_of(Wait wait) {
  constexpr std::string_view names[] = {"weights", "rows", "output", "commands", "vector", "latency"};
  return names[std::size_t(wait)];
}

LayerClock::LayerClock(const Program& program)
    : program_(program),
      loads_rows_(loads_more_rows(program)),
      array_(std::size_t(program.config.array_depth() + kArrayLatency)),
      vector_(kVectorLatency) {
  times_.resize(operators(program));
  for (const Command& c : program.commands) {
    // An empty queue is a loss only while there are commands to come.
    if (c.queue() == Queue::kConv) engines_[0].left++;
    if (c.queue() == Queue::kVector) engines_[1].left++;
  }
}

void LayerClock::events(std::uint32_t flags) {
  const std::uint32_t array = array_.pass(flags), vector = vector_.pass(flags);
  engines_[0].worked += (array & kArrayBusy) != 0;
  engines_[1].worked += (vector & kVectorBusy) != 0;
  if (array & kArrayBusy) {
    engines_[0].owned++;
    return;
  }
  if (vector & kVectorBusy) {
    engines_[1].owned++;
    return;
  }
  const auto array_wait = [&]() -> std::size_t {
    if (array & flag("conv_wait_vector")) return std::size_t(Wait::kVector);
    if (array & flag("conv_wait_load")) return kLoads;
    if (array & flag("array_no_weights")) return std::size_t(Wait::kWeights);
    if (array & (flag("array_no_rows") | flag("conv_wait_conv"))) return std::size_t(Wait::kRows);
    if (array & (flag("array_no_output") | flag("conv_wait_store"))) return std::size_t(Wait::kOutput);
    if ((array & flag("conv_no_command")) && engines_[0].left > 1) return std::size_t(Wait::kCommands);
    return std::size_t(Wait::kLatency);
  };
  const auto vector_wait = [&]() -> std::size_t {
    if (vector & flag("vector_wait_load")) return kLoads;
    if (vector & (flag("vector_wait_conv") | flag("vector_wait_vector"))) return std::size_t(Wait::kRows);
    if (vector & (flag("vector_conflict") | flag("vector_wait_store"))) return std::size_t(Wait::kOutput);
    if ((vector & flag("vector_no_command")) && engines_[1].left > 1) return std::size_t(Wait::kCommands);
    return std::size_t(Wait::kLatency);
  };
  engines_[0].idle[array_wait()]++;
  engines_[1].idle[vector_wait()]++;
}

void LayerClock::close(int op, Engine& engine) {
  LayerTime& t = times_[std::size_t(op)];
  t.busy_cycles += engine.owned;
  t.engine_cycles += engine.worked;
  t.cycles += engine.owned;
  for (std::size_t w = 0; w < engine.idle.size(); w++) {
    t.cycles += engine.idle[w];
    const std::size_t to =
        w != kLoads ? w : std::size_t(loads_rows_[std::size_t(op)] ? Wait::kRows : Wait::kWeights);
    t.waits[to] += engine.idle[w];
  }
  engine.owned = engine.worked = 0;
  engines_[0].idle = engines_[1].idle = {};
}

void LayerClock::last_result(std::uint32_t command) {
  last_op_ = program_.meta[command].op;
  Engine& engine = engines_[program_.commands[command].queue() == Queue::kConv ? 0 : 1];
  close(last_op_, engine);
  engine.left--;
}

const std::vector<LayerTime>& LayerClock::finish() {
  if (last_op_ >= 0) {
    close(last_op_, engines_[0]);
    close(last_op_, engines_[1]);
  }
  return times_;
}

namespace {

// What a command of an engine waited for before its modelled start.
class ModelledWaits {
 public:
  explicit ModelledWaits(const Program& program) : program_(program), loads_rows_(loads_more_rows(program)) {
    for (std::size_t i = 0; i < program.commands.size(); i++)
      done_[std::size_t(program.commands[i].queue())].push_back(program.meta[i].complete);
  }

  Wait of(std::size_t command) const {
    const Command& c = program_.commands[command];
    const CommandMeta& meta = program_.meta[command];
    std::int64_t latest = 0;
    Queue last = c.queue();
    for (std::size_t q = 0; q < kQueues; q++) {
      if (c.wait[q] == 0 || done_[q][c.wait[q] - 1] <= latest) continue;
      latest = done_[q][c.wait[q] - 1];
      last = Queue(q);
    }
    if (meta.start > latest + kStart) return Wait::kCommands;
    switch (last) {
      case Queue::kLoad:
        return loads_rows_[std::size_t(meta.op)] ? Wait::kRows : Wait::kWeights;
      case Queue::kStore:
        return Wait::kOutput;
      case Queue::kVector:
        return c.queue() == Queue::kConv ? Wait::kVector : Wait::kRows;
      case Queue::kConv:
        break;
    }
    return Wait::kRows;
  }

 private:
  static constexpr std::int64_t kStart = 4;  // at most from the last completion to the start

  const Program& program_;
  std::vector<bool> loads_rows_;
  std::array<std::vector<std::int64_t>, kQueues> done_;  // completions of each queue, in order
};

}  // namespace

std::vector<LayerTime> modelled_layer_times(const Program& program) {
  // Results leave until the command is complete: the engine's cycles come before that moment.
  struct Work {
    std::int64_t from, to;
    std::size_t command;
  };
  std::vector<Work> array, vector;
  std::vector<LayerTime> times(operators(program));
  const auto time_of = [&](const Work& w) -> LayerTime& {
    return times[std::size_t(program.meta[w.command].op)];
  };
  for (std::size_t i = 0; i < program.commands.size(); i++) {
    const Queue queue = program.commands[i].queue();
    if (queue != Queue::kConv && queue != Queue::kVector) continue;
    const CommandMeta& m = program.meta[i];
    (queue == Queue::kConv ? array : vector).push_back({m.complete - m.cycles, m.complete, i});
    times[std::size_t(m.op)].engine_cycles += std::uint64_t(m.cycles);
  }
  const ModelledWaits waits(program);
  std::int64_t at = 0;
  const Work* next = nullptr;  // whose cycles they are
  for (std::size_t a = 0, v = 0; a < array.size() || v < vector.size();) {
    const Work* left = a < array.size() ? &array[a] : nullptr;
    const Work* right = v < vector.size() ? &vector[v] : nullptr;
    std::int64_t until = program.modelled_cycles;
    if (left != nullptr && left->from <= at) {
      next = left;
      until = left->to;
    } else if (right != nullptr && right->from <= at) {
      next = right;
      until = left != nullptr ? std::min(left->from, right->to) : right->to;
    } else {
      for (const Work* w : {left, right}) {
        if (w != nullptr) until = std::min(until, w->from);
      }
      next = left == nullptr || (right != nullptr && right->to < left->to) ? right : left;
    }
    LayerTime& time = time_of(*next);
    const std::uint64_t cycles = std::uint64_t(until - at);
    time.cycles += cycles;
    if (next->from <= at) {
      time.busy_cycles += cycles;
    } else {
      const std::int64_t start = std::clamp(program.meta[next->command].start, at, until);
      time.waits[std::size_t(waits.of(next->command))] += std::uint64_t(start - at);
      time.waits[std::size_t(Wait::kLatency)] += std::uint64_t(until - start);
    }
    at = until;
    while (a < array.size() && array[a].to <= at) a++;
    while (v < vector.size() && vector[v].to <= at) v++;
  }
  if (next != nullptr) {
    const std::uint64_t rest = std::uint64_t(program.modelled_cycles - at);
    time_of(*next).cycles += rest;
    time_of(*next).waits[std::size_t(Wait::kLatency)] += rest;
  }
  return times;
}

std::string limited_by(bool on_array, const LayerTime& time) {
  std::string engine = on_array ? "array" : "vector";
  const auto most = std::max_element(time.waits.begin(), time.waits.end() - 1);  // without the latency
  static_assert(std::size_t(Wait::kLatency) + 1 == kWaits);
  if (time.cycles == 0 && time.engine_cycles == 0) return "";
  if (*most <= time.busy_cycles || time.cycles == 0) return engine;
  return std::string(name_of(Wait(most - time.waits.begin())));
}

}  // namespace kaiten
