#include "report/layer_clock.h"

#include <algorithm>
#include <string_view>

#include "device/csr.h"

namespace kaiten {

namespace {

std::uint64_t count(const LayerTime& time, std::string_view name) {
  for (std::size_t i = 0; i < time.events.size(); i++) {
    if (name == csr::kCounters[i].name) return time.events[i];
  }
  return 0;
}

}  // namespace

LayerClock::LayerClock(const Program& program) : program_(program), last_of_layer_(program.commands.size()) {
  int ops = 0;
  for (const LayerInfo& l : program.layers) ops = std::max(ops, l.op + 1);
  times_.resize(std::size_t(ops));
  std::vector<int> last(std::size_t(ops), -1);
  for (std::size_t i = 0; i < program.commands.size(); i++) {
    const Queue q = program.commands[i].queue();
    if (q == Queue::kConv || q == Queue::kVector) last[std::size_t(program.meta[i].op)] = int(i);
  }
  for (int i : last) {
    if (i >= 0) last_of_layer_[std::size_t(i)] = true;
  }
}

void LayerClock::close(int op) {
  LayerTime& t = times_[std::size_t(op)];
  t.cycles += now_.cycles;
  for (std::size_t i = 0; i < t.events.size(); i++) t.events[i] += now_.events[i];
  now_ = {};
  last_op_ = op;
}

const std::vector<LayerTime>& LayerClock::finish() {
  if (last_op_ >= 0) close(last_op_);
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
