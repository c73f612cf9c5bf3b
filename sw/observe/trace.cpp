// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "observe/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/arithmetic.h"
#include "device/csr.h"

namespace kaiten {

namespace {

// So that a count is a percentage.
constexpr std::uint64_t kInterval = 100;
constexpr std::uint32_t kEmpty = 1U << kQueues;

std::uint32_t flag(std::string_view name) {
  std::size_t i = 0;
  while (name != csr::kCounters[i].name) i++;
  return std::uint32_t(1) << i;
}

constexpr std::string_view kQueueNames[] = {"LOAD", "CONV", "VECTOR", "STORE"};
constexpr std::string_view kCounterQueues[] = {"load", "conv", "vector", "store"};

// The counters of the viewer: title, and what is drawn in it.
struct Series {
  const char* title;
  std::vector<std::pair<const char*, const char*>> lines;  // name, counter
};
const std::vector<Series>& series() {
  static const std::vector<Series> all = {
      {"array %",
       {{"busy", "array_busy"},
        {"no rows", "array_no_rows"},
        {"no weights", "array_no_weights"},
        {"no output", "array_no_output"}}},
      {"vector engine %", {{"busy", "vector_busy"}, {"conflict", "vector_conflict"}}},
      {"bus %", {{"read", "beats_read"}, {"write", "beats_written"}}},
  };
  return all;
}

// The bits of all lines, in order.
std::vector<std::uint32_t> sampled_flags() {
  std::vector<std::uint32_t> flags;
  for (const Series& s : series()) {
    for (const auto& line : s.lines) flags.push_back(flag(line.second));
  }
  return flags;
}

std::uint32_t cause_of(std::size_t queue, std::uint32_t flags) {
  static const auto bits = [] {
    std::array<std::array<std::uint32_t, kQueues + 1>, kQueues> all{};
    for (std::size_t q = 0; q < kQueues; q++) {
      const std::string name(kCounterQueues[q]);
      for (std::size_t c = 0; c < kQueues; c++)
        all[q][c] = flag(name + "_wait_" + std::string(kCounterQueues[c]));
      all[q][kQueues] = flag(name + "_no_command");
    }
    return all;
  }();
  std::uint32_t cause = 0;
  for (std::size_t i = 0; i <= kQueues; i++) cause |= (flags & bits[queue][i]) != 0 ? 1U << i : 0;
  return cause;
}

std::string cause_text(std::uint32_t cause) {
  if (cause & kEmpty) return "no command";
  std::string text = "waits for";
  for (std::size_t c = 0; c < kQueues; c++) {
    if (cause >> c & 1) text += " " + std::string(kQueueNames[c]);
  }
  return text;
}

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// "3" or "3-5".
std::string range_text(int first, int count) {
  return count == 1 ? std::to_string(first) : fmt::format("{}-{}", first, first + count - 1);
}

}  // namespace

TraceRecorder::TraceRecorder(const Graph& graph, const Program& program) : graph_(graph), program_(program) {
  for (std::size_t i = 0; i < program.commands.size(); i++)
    tracks_[std::size_t(program.commands[i].queue())].commands.push_back(std::uint32_t(i));
  samples_.resize(sampled_flags().size());
}

void TraceRecorder::events(std::uint32_t flags) {
  static const std::vector<std::uint32_t> sampled = sampled_flags();
  const std::size_t interval = std::size_t(cycles_ / kInterval);
  for (std::size_t i = 0; i < samples_.size(); i++) {
    if (samples_[i].size() <= interval) samples_[i].push_back(0);
    samples_[i][interval] = std::uint8_t(samples_[i][interval] + ((flags & sampled[i]) != 0));
  }
  for (std::size_t q = 0; q < kQueues; q++) {
    Track& t = tracks_[q];
    const std::uint32_t cause = cause_of(q, flags);
    // Of no interest when every command of the queue has started.
    if (cause == 0 || t.started.size() == t.commands.size()) continue;
    if (!t.waits.empty() && t.waits.back().to == cycles_ && t.waits.back().cause == cause) {
      t.waits.back().to++;
    } else {
      t.waits.push_back({cycles_, cycles_ + 1, cause});
    }
  }
  cycles_++;
}

void TraceRecorder::queues(std::uint32_t heads, std::span<const std::uint32_t, kQueues> completed) {
  if (cycles_ == 0) return;  // the queues fill later; counts may still be those of an earlier run
  for (std::size_t q = 0; q < kQueues; q++) {
    Track& t = tracks_[q];
    if ((heads_ & ~heads) >> q & 1) t.started.push_back(cycles_);
    while (t.completed.size() < completed[q]) t.completed.push_back(cycles_);
  }
  heads_ = heads;
}

std::vector<TraceRecorder::Slice> TraceRecorder::slices() const {
  std::vector<Slice> all;
  for (std::size_t q = 0; q < kQueues; q++) {
    const Track& t = tracks_[q];
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < t.started.size() && i < t.completed.size(); i++) {
      all.push_back({q, t.commands[i], std::max(last, t.started[i]), t.completed[i]});
      last = t.completed[i];
    }
  }
  return all;
}

void TraceRecorder::add_events(std::uint64_t first_cycle, std::vector<std::string>& events) const {
  std::array<std::size_t, kQueues> seen{};
  for (const Slice& s : slices()) {
    const CommandMeta& m = program_.meta[s.command];
    const Command& command = program_.commands[s.command];
    std::string layer = m.op >= 0 ? graph_.ops[std::size_t(m.op)].name : "";
    std::string args = fmt::format(R"("command":{},"op":"{}","started":{})", s.command, command.name(),
                                   tracks_[s.queue].started[seen[s.queue]++]);
    if (!layer.empty()) args += ",\"layer\":" + json_text(layer);
    if (m.tensor != kNoTensor) args += ",\"tensor\":" + json_text(graph_.tensors[std::size_t(m.tensor)].name);
    if (program_.images > 1 && m.rows > 0) args += fmt::format(R"(,"image":{})", m.image);
    if (m.rows > 0) args += fmt::format(R"(,"rows":"{}")", range_text(m.first_row, m.rows));
    if (m.columns > 0) args += fmt::format(R"(,"columns":"{}")", range_text(m.first_column, m.columns));
    if (m.tiles > 0) args += fmt::format(R"(,"tiles":{})", m.tiles);
    args += fmt::format(R"(,"bytes_read":{},"bytes_written":{})", m.read_bytes, m.written_bytes);
    args += fmt::format(R"(,"modelled_started":{},"modelled_completed":{},"modelled_cycles":{})", m.start,
                        m.complete, m.cycles);
    const std::string name = layer.empty() ? std::string(command.name()) : layer;
    events.push_back(fmt::format(
        R"({{"ph":"X","pid":1,"tid":{},"ts":{},"dur":{},"name":{},"cat":"{}","args":{{{}}}}})",
        1 + 2 * s.queue, first_cycle + s.from, s.to - s.from, json_text(name), command.name(), args));
  }
  for (std::size_t q = 0; q < kQueues; q++) {
    for (const Waiting& w : tracks_[q].waits) {
      events.push_back(
          fmt::format(R"({{"ph":"X","pid":1,"tid":{},"ts":{},"dur":{},"name":"{}","cat":"wait"}})", 2 + 2 * q,
                      first_cycle + w.from, w.to - w.from, cause_text(w.cause)));
    }
  }
  const std::size_t intervals = std::size_t(ceil_div(cycles_, kInterval));
  std::size_t line = 0;
  for (const Series& s : series()) {
    std::string shown;
    for (std::size_t i = 0; i < intervals; i++) {
      std::string values;
      for (std::size_t l = 0; l < s.lines.size(); l++)
        values += fmt::format(R"({}"{}":{})", l == 0 ? "" : ",", s.lines[l].first, samples_[line + l][i]);
      if (values == shown) continue;
      shown = values;
      events.push_back(fmt::format(R"({{"ph":"C","pid":1,"ts":{},"name":"{}","args":{{{}}}}})",
                                   first_cycle + i * kInterval, s.title, values));
    }
    line += s.lines.size();
  }
}

std::string trace_json(std::span<const std::unique_ptr<TraceRecorder>> recorders, const std::string& graph,
                       const std::string& config) {
  std::vector<std::string> events;
  const auto track_name = [&](int track, const std::string& name) {
    events.push_back(fmt::format(R"({{"ph":"M","pid":1,"tid":{},"name":"thread_name","args":{{"name":{}}}}})",
                                 track, json_text(name)));
    events.push_back(
        fmt::format(R"({{"ph":"M","pid":1,"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})",
                    track, track));
  };
  const std::string title = graph + " on " + config;
  events.push_back(
      fmt::format(R"({{"ph":"M","pid":1,"name":"process_name","args":{{"name":{}}}}})", json_text(title)));
  track_name(0, "run");
  for (std::size_t q = 0; q < kQueues; q++) {
    track_name(int(1 + 2 * q), std::string(kQueueNames[q]));
    track_name(int(2 + 2 * q), std::string(kQueueNames[q]) + " waits");
  }
  std::uint64_t cycles = 0;
  for (const auto& recorder : recorders) {
    events.push_back(
        fmt::format(R"({{"ph":"X","pid":1,"tid":0,"ts":{},"dur":{},"name":{},"args":{{"commands":{}}}}})",
                    cycles, recorder->cycles(), json_text(title), recorder->commands()));
    recorder->add_events(cycles, events);
    cycles += recorder->cycles();
  }
  std::string text = "{\"traceEvents\":[\n";
  for (std::size_t i = 0; i < events.size(); i++) text += events[i] + (i + 1 < events.size() ? ",\n" : "\n");
  return text + fmt::format(
                    "],\n\"displayTimeUnit\":\"ns\",\n\"otherData\":{{\"cycles\":{},\"unit\":\"1 us is 1 "
                    "cycle\"}}}}\n",
                    cycles);
}

}  // namespace kaiten
