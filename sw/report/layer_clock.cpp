#include "report/layer_clock.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

#include "device/csr.h"

namespace kaiten {

namespace {

constexpr int kArrayLatency = 12;  // beyond the rows of the array

constexpr std::size_t bit_of(std::string_view name) {
  std::size_t i = 0;
  while (name != csr::kCounters[i].name) i++;
  return i;
}

constexpr std::size_t kArrayBusyBit = bit_of("array_busy");
constexpr std::size_t kVectorBusyBit = bit_of("vector_busy");
constexpr std::uint32_t kArrayBusy = std::uint32_t(1) << kArrayBusyBit;
constexpr std::uint32_t kVectorBusy = std::uint32_t(1) << kVectorBusyBit;

std::uint64_t count(const LayerTime& time, std::string_view name) { return time.events[bit_of(name)]; }

}  // namespace

LayerClock::LayerClock(const Program& program)
    : program_(program), delayed_(std::size_t(program.config.kp + kArrayLatency)) {
  int ops = 0;
  for (const LayerInfo& l : program.layers) ops = std::max(ops, l.op + 1);
  times_.resize(std::size_t(ops));
}

void LayerClock::events(std::uint32_t flags) {
  std::uint32_t array_flags = std::exchange(delayed_[at_], flags);
  at_ = at_ + 1 == delayed_.size() ? 0 : at_ + 1;
  if (array_flags & kArrayBusy) {
    engines_[0].owned++;
  } else if (flags & kVectorBusy) {
    engines_[1].owned++;
  } else {
    idle_++;
  }
  for (; array_flags != 0; array_flags &= array_flags - 1) engines_[0].events[std::size_t(std::countr_zero(array_flags))]++;
  for (; flags != 0; flags &= flags - 1) engines_[1].events[std::size_t(std::countr_zero(flags))]++;
}

void LayerClock::last_result(std::uint32_t command) {
  const bool conv = program_.commands[command].queue() == Queue::kConv;
  Engine& engine = engines_[conv ? 0 : 1];
  last_op_ = program_.meta[command].op;
  LayerTime& t = times_[std::size_t(last_op_)];
  t.cycles += engine.owned + idle_;
  t.engine_cycles += engine.events[conv ? kArrayBusyBit : kVectorBusyBit];
  for (std::size_t i = 0; i < t.events.size(); i++) t.events[i] += engine.events[i];
  engine = {};
  idle_ = 0;
}

const std::vector<LayerTime>& LayerClock::finish() {
  if (last_op_ >= 0) times_[std::size_t(last_op_)].cycles += engines_[0].owned + engines_[1].owned + idle_;
  return times_;
}

std::string limited_by(const Program& program, int op, const LayerTime& time) {
  bool conv = false;
  bool vector = false;
  std::int64_t weight_bytes = 0;
  std::int64_t row_bytes = 0;
  for (std::size_t i = 0; i < program.commands.size(); i++) {
    const CommandMeta& m = program.meta[i];
    if (m.op != op) continue;
    conv = conv || program.commands[i].queue() == Queue::kConv;
    vector = vector || program.commands[i].queue() == Queue::kVector;
    (m.kind == CommandMeta::Bytes::kActivations ? row_bytes : weight_bytes) += m.read_bytes;
  }
  if (!conv && !vector) return "host";
  const char* loads = weight_bytes >= row_bytes ? "weights" : "rows";
  std::vector<std::pair<const char*, std::uint64_t>> causes;
  const auto add = [&](const char* name, std::uint64_t cycles) {
    for (auto& c : causes) {
      if (std::string_view(c.first) == name) {
        c.second += cycles;
        return;
      }
    }
    causes.emplace_back(name, cycles);
  };
  if (conv) {
    add("array", count(time, "array_busy"));
    add("weights", count(time, "array_no_weights"));
    add("rows", count(time, "array_no_rows") + count(time, "conv_wait_conv"));
    add("output", count(time, "array_no_output") + count(time, "conv_wait_store"));
    add("commands", count(time, "conv_no_command"));
    add("vector", count(time, "conv_wait_vector"));
    add(loads, count(time, "conv_wait_load"));
  } else {
    add("vector", count(time, "vector_busy"));
    add("rows", count(time, "vector_wait_conv") + count(time, "vector_wait_vector"));
    add("output", count(time, "vector_conflict") + count(time, "vector_wait_store"));
    add("commands", count(time, "vector_no_command"));
    add(loads, count(time, "vector_wait_load"));
  }
  const auto most = std::max_element(causes.begin(), causes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->first;
}

}  // namespace kaiten
