#include "report/layer_clock.h"

#include <algorithm>

#include "device/csr.h"

namespace kaiten {

namespace {

// Cycles from the flags of a window to its result where nothing stands in the way.
constexpr int kArrayLatency = 7;  // beyond the rows of the array
constexpr int kVectorLatency = 10;

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

}  // namespace

std::string_view name_of(Wait wait) {
  constexpr std::string_view names[] = {"weights", "rows", "output", "commands", "vector", "latency"};
  return names[std::size_t(wait)];
}

LayerClock::LayerClock(const Program& program)
    : program_(program), array_(std::size_t(program.config.kp + kArrayLatency)), vector_(kVectorLatency) {
  times_.resize(operators(program));
  std::vector<std::int64_t> more_rows(times_.size(), 0);
  for (const CommandMeta& m : program.meta) {
    more_rows[std::size_t(m.op)] += m.kind == CommandMeta::Bytes::kActivations ? m.read_bytes : -m.read_bytes;
  }
  for (const Command& c : program.commands) {
    // An empty queue is a loss only while there are commands to come.
    if (c.queue() == Queue::kConv) engines_[0].left++;
    if (c.queue() == Queue::kVector) engines_[1].left++;
  }
  for (std::int64_t n : more_rows) loads_rows_.push_back(n > 0);
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

std::vector<std::uint64_t> modelled_layer_cycles(const Program& program) {
  // Results leave until the command is complete: the engine's cycles stand in front of that moment.
  struct Work {
    std::int64_t from, to;
    int op;
  };
  std::vector<Work> array, vector;
  for (std::size_t i = 0; i < program.commands.size(); i++) {
    const Queue queue = program.commands[i].queue();
    const CommandMeta& m = program.meta[i];
    if (queue == Queue::kConv) array.push_back({m.complete - m.cycles, m.complete, m.op});
    if (queue == Queue::kVector) vector.push_back({m.complete - m.cycles, m.complete, m.op});
  }
  const Work never{program.modelled_cycles, program.modelled_cycles, -1};
  std::vector<std::uint64_t> cycles(operators(program));
  std::int64_t at = 0;
  int op = -1;
  for (std::size_t a = 0, v = 0; a < array.size() || v < vector.size();) {
    const Work& left = a < array.size() ? array[a] : never;
    const Work& right = v < vector.size() ? vector[v] : never;
    std::int64_t until = left.to;
    op = left.op;
    if (left.from > at) {  // the array waits
      const bool works = right.from <= at;
      if (works || op < 0 || (right.op >= 0 && right.to < left.to)) op = right.op;
      until = std::min(left.from, works ? right.to : right.from);
    }
    cycles[std::size_t(op)] += std::uint64_t(until - at);
    at = until;
    while (a < array.size() && array[a].to <= at) a++;
    while (v < vector.size() && vector[v].to <= at) v++;
  }
  if (op >= 0) cycles[std::size_t(op)] += std::uint64_t(program.modelled_cycles - at);
  return cycles;
}

std::string limited_by(bool on_array, const LayerTime& time) {
  const std::string engine = on_array ? "array" : "vector";
  const auto most = std::max_element(time.waits.begin(), time.waits.end() - 1);  // without the latency
  static_assert(std::size_t(Wait::kLatency) + 1 == kWaits);
  if (time.cycles == 0 && time.engine_cycles == 0) return "";
  if (*most <= time.busy_cycles || time.cycles == 0) return engine;
  return std::string(name_of(Wait(most - time.waits.begin())));
}

}  // namespace kaiten
