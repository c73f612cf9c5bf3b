// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/plan_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/json_report.h"
#include "report/table.h"

namespace kaiten {

namespace {

std::string bytes_text(std::int64_t n) { return grouped(static_cast<unsigned long long>(n)); }

const plan::Method* find(const PlanReport& r, const std::string& name) {
  const auto it =
      std::find_if(r.methods.begin(), r.methods.end(), [&](const auto& m) { return m.name == name; });
  return it == r.methods.end() ? nullptr : &*it;
}

int number_of(const PlanReport& r, int layer) { return r.network.layers[std::size_t(layer)].number; }

// What ended a span: the end of the network, the next layer's bytes, or less traffic by stopping here.
std::string limit_of(const PlanReport& r, const plan::Span& s) {
  if (s.tile > 0) return fmt::format("tiles {}x{}", s.tile, s.tile);
  if (s.last + 1 == r.network.layer_count()) return "end";
  if (s.short_bytes > 0) return fmt::format("{} short", bytes_text(s.short_bytes));
  return "traffic";
}

nlohmann::ordered_json json_of(const plan::Bytes& b) {
  return {{"weights", b.weights}, {"parameters", b.parameters}, {"commands", b.commands}, {"input", b.input},
          {"output", b.output},   {"spilled", b.spilled},       {"residual", b.residual}};
}

nlohmann::ordered_json json_of(const std::vector<plan::LayerWork>& layers) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const plan::LayerWork& l : layers) {
    all.push_back({{"layer", l.number},
                   {"name", l.name},
                   {"op", l.op},
                   {"commands", l.commands},
                   {"cycles", l.cycles},
                   {"limited_by", l.limited_by},
                   {"bytes", json_of(l.bytes)},
                   {"bus_bytes", json_of(l.bus_bytes)}});
  }
  return all;
}

nlohmann::ordered_json json_of(const std::vector<plan::CommandWork>& commands) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const plan::CommandWork& c : commands) {
    all.push_back({{"op", c.op},
                   {"layer", c.layer},
                   {"image", c.image},
                   {"first_row", c.first_row},
                   {"rows", c.rows},
                   {"start", c.start},
                   {"complete", c.complete},
                   {"cycles", c.cycles},
                   {"bytes", json_of(c.bytes)},
                   {"bus_bytes", json_of(c.bus_bytes)}});
  }
  return all;
}

std::int64_t busy_cycles(const plan::Span& s) {
  return std::max({s.cycles.array, s.cycles.vector, s.cycles.load, s.cycles.store});
}

std::string limited_by(const plan::Span& s) {
  const std::int64_t most = busy_cycles(s);
  if (s.cycles.array == most) return "array";
  if (s.cycles.vector == most) return "vector";
  return s.cycles.load == most ? "load" : "store";
}

std::string target_spans_text(const PlanReport& r, const plan::Method& m, std::size_t width) {
  Table table({{"span", true, 0, false},
               {"layers", false, 0, false},
               {"from", false, 2, true},
               {"to", false, 3, true},
               {"weights", true, 7, false},
               {"SB+VB", true, 8, false},
               {"traffic", true, 0, false},
               {"output", false, 9, false},
               {"busy cycles", true, 4, false},
               {"limited by", false, 6, false}});
  int i = 0;
  for (const plan::Span& s : m.spans) {
    table.add({std::to_string(i++), fmt::format("{}-{}", number_of(r, s.first), number_of(r, s.last)),
               r.network.layers[std::size_t(s.first)].name, r.network.layers[std::size_t(s.last)].name,
               bytes_text(s.weights_bytes), bytes_text(s.rows_bytes), bytes_text(s.traffic_bytes),
               std::string(plan::name_of(s.boundary)), bytes_text(busy_cycles(s)),
               s.streamed ? limited_by(s) + ", streamed" : limited_by(s)});
  }
  return table.text(width);
}

// What the compiler's model of the accelerator says of each layer.
std::string layers_text(const plan::Method& m, std::size_t width) {
  Table table({{"layer", true, 0, false},
               {"name", false, 0, true},
               {"operator", false, 8, false},
               {"commands", true, 3, false},
               {"cycles", true, 0, false},
               {"of all", true, 7, false},
               {"limited by", false, 9, false},
               {"weights", true, 5, false},
               {"parameters", true, 1, false},
               {"input, output", true, 4, false},
               {"spilled, residual", true, 2, false},
               {"bus bytes", true, 6, false}});
  for (const plan::LayerWork& l : m.layers) {
    table.add({std::to_string(l.number), l.name, l.op, std::to_string(l.commands), bytes_text(l.cycles),
               fmt::format("{:.1f} %", 100 * double(l.cycles) / double(m.cycles)), l.limited_by,
               bytes_text(l.bytes.weights), bytes_text(l.bytes.parameters),
               bytes_text(l.bytes.input + l.bytes.output), bytes_text(l.bytes.spilled + l.bytes.residual),
               bytes_text(l.bus_bytes.total())});
  }
  return table.text(width);
}

std::string sections_text(const PlanReport& r, std::size_t width) {
  Table table({{"program", true, 0, false},
               {"cycles", true, 0, false},
               {"traffic", true, 0, false},
               {"host writes", true, 1, false},
               {"host reads", true, 1, false},
               {"operators on the host", true, 2, false}});
  for (std::size_t i = 0; i < r.sections.size(); i++) {
    const plan::SectionWork& s = r.sections[i];
    table.add({std::to_string(i), bytes_text(s.cycles), bytes_text(s.traffic_bytes),
               bytes_text(s.host_written_bytes), bytes_text(s.host_read_bytes),
               std::to_string(s.host_operators.size())});
  }
  return table.text(width);
}

std::string commands_text(const plan::Method& m, std::size_t width) {
  Table table({{"command", true, 0, false},
               {"operation", false, 0, false},
               {"layer", true, 0, false},
               {"image", true, 1, false},
               {"rows", false, 3, false},
               {"start", true, 0, false},
               {"complete", true, 0, false},
               {"cycles", true, 0, false},
               {"bytes", true, 5, false},
               {"bus bytes", true, 4, false}});
  for (std::size_t i = 0; i < m.commands.size(); i++) {
    const plan::CommandWork& c = m.commands[i];
    table.add({std::to_string(i), std::string(c.op), std::to_string(c.layer), std::to_string(c.image),
               c.rows > 0 ? fmt::format("{}-{}", c.first_row, c.first_row + c.rows - 1) : "-",
               bytes_text(c.start), bytes_text(c.complete), bytes_text(c.cycles), bytes_text(c.bytes.total()),
               bytes_text(c.bus_bytes.total())});
  }
  return table.text(width);
}

std::string target_methods_text(const PlanReport& r, std::size_t width) {
  std::vector<Column> columns{
      {"method", false, 0, false},      {"spans", true, 3, false},    {"traffic", true, 0, false},
      {"of the bound", true, 8, false}, {"weights", true, 5, false},  {"parameters", true, 1, false},
      {"input", true, 1, false},        {"output", true, 1, false},   {"spilled", true, 7, false},
      {"residual", true, 6, false},     {"commands", true, 4, false}, {"bus bytes", true, 2, false},
      {"cycles", true, 9, false},       {"array", true, 5, false},    {"energy mJ", true, 2, false}};
  const bool timed = r.clock_mhz > 0;
  if (timed) columns.insert(columns.begin() + 13, {"ms", true, 10, false});
  Table table(columns);
  const plan::Method* bound = find(r, "bound");
  double array_macs = 0;
  for (int layer = 0; layer < r.network.layer_count(); layer++) {
    const plan::Op op = r.network.layers[std::size_t(layer)].op;
    if (op == plan::Op::kConv || op == plan::Op::kFc) array_macs += double(r.network.macs(layer));
  }
  for (std::size_t i = 0; i < r.methods.size(); i++) {
    const plan::Method& m = r.methods[i];
    const double share =
        double(m.traffic_bytes - m.bytes.commands) / double(bound != nullptr ? bound->traffic_bytes : 1);
    const double busy = array_macs * r.batch / (double(m.cycles) * r.array_macs_per_cycle);
    std::vector<std::string> row{m.name,
                                 std::to_string(m.spans.size()),
                                 bytes_text(m.traffic_bytes),
                                 bound != nullptr ? fmt::format("{:.4f}", share) : "-",
                                 bytes_text(m.bytes.weights),
                                 bytes_text(m.bytes.parameters),
                                 bytes_text(m.bytes.input),
                                 bytes_text(m.bytes.output),
                                 bytes_text(m.bytes.spilled),
                                 bytes_text(m.bytes.residual),
                                 bytes_text(m.bytes.commands),
                                 m.cycles > 0 ? bytes_text(m.bus_bytes.total()) : "-",
                                 m.cycles > 0 ? bytes_text(m.cycles) : "-",
                                 m.cycles > 0 ? fmt::format("{:.1f} %", 100 * busy) : "-",
                                 fmt::format("{:.3f}", r.energies[i].total())};
    if (timed)
      row.insert(row.begin() + 13,
                 m.cycles > 0 ? fmt::format("{:.4g}", r.milliseconds(double(m.cycles))) : "-");
    table.add(std::move(row));
  }
  return table.text(width);
}

std::string spans_text(const PlanReport& r, const plan::Method& m, std::size_t width) {
  Table table({{"span", true, 0, false},
               {"layers", false, 0, false},
               {"from", false, 2, true},
               {"to", false, 3, true},
               {"weights", true, 0, false},
               {"rows", true, 0, false},
               {"full", true, 4, false},
               {"traffic", true, 0, false},
               {"output", false, 5, false},
               {"limit", false, 1, false}});
  int i = 0;
  for (const plan::Span& s : m.spans) {
    const double footprint = double(s.weights_bytes + s.rows_bytes);
    table.add({std::to_string(i++), fmt::format("{}-{}", number_of(r, s.first), number_of(r, s.last)),
               r.network.layers[std::size_t(s.first)].name, r.network.layers[std::size_t(s.last)].name,
               bytes_text(s.weights_bytes),
               s.tile > 0 ? "-" : bytes_text(s.rows_bytes) + (s.columns ? " (columns)" : ""),
               r.capacity_bytes > 0 && s.tile == 0
                   ? fmt::format("{:.0f} %", 100 * footprint / double(r.capacity_bytes))
                   : "-",
               bytes_text(s.traffic_bytes), std::string(plan::name_of(s.boundary)), limit_of(r, s)});
  }
  return table.text(width);
}

std::string methods_text(const PlanReport& r, std::size_t width) {
  Table table({{"method", false, 0, false},
               {"spans", true, 3, false},
               {"traffic", true, 0, false},
               {"residual", true, 1, false},
               {"of per-layer", true, 5, false},
               {"of the bound", true, 4, false},
               {"MACs", true, 2, false},
               {"energy mJ", true, 2, false}});
  const plan::Method* base = find(r, "per-layer");
  const plan::Method* bound = find(r, "bound");
  const auto ratio = [](const plan::Method& m, const plan::Method* to) {
    return to != nullptr && to->traffic_bytes > 0
               ? fmt::format("{:.3f}", double(m.traffic_bytes) / double(to->traffic_bytes))
               : "-";
  };
  for (std::size_t i = 0; i < r.methods.size(); i++) {
    const plan::Method& m = r.methods[i];
    table.add({title_of(m), std::to_string(m.spans.size()), bytes_text(m.traffic_bytes),
               bytes_text(m.penalty_bytes), ratio(m, base), ratio(m, bound), bytes_text(m.macs),
               fmt::format("{:.3f}", r.energies[i].total())});
  }
  return table.text(width);
}

std::string sweep_text(const PlanReport& r, std::size_t width) {
  std::vector<Column> columns{{"capacity", true, 0, false}};
  for (std::size_t i = 0; i < r.methods.size(); i++) {
    columns.push_back({title_of(r.methods[i]), true, i == 0 ? 0 : int(r.methods.size() - i), false});
  }
  Table table(columns);
  for (const SweepPoint& p : r.sweep) {
    std::vector<std::string> row{bytes_text(p.capacity_bytes)};
    for (const auto& t : p.traffic_bytes) row.push_back(t ? bytes_text(*t) : "-");
    table.add(std::move(row));
  }
  return table.text(width);
}

std::string pipeline_text(const PlanReport& r, std::size_t width) {
  const plan::Pipeline& p = *r.pipeline;
  Table table({{"stage", true, 0, false},
               {"cycles", true, 0, false},
               {"chips", true, 0, false},
               {"cycles an image", true, 1, false}});
  for (std::size_t i = 0; i < p.times.size(); i++) {
    table.add({std::to_string(i), fmt::format("{:.0f}", p.times[i]), std::to_string(p.replicas[i]),
               fmt::format("{:.0f}", p.times[i] / p.replicas[i])});
  }
  const std::int64_t links = plan::link_bytes(r.network, r.methods.front(), r.batch);
  return table.text(width) +
         fmt::format(
             "pipeline: {} chips, one image per {:.0f} cycles, latency {:.0f} cycles, {} "
             "bytes an image over links\n",
             p.chips, p.period, p.latency, bytes_text(links)) +
         (r.clock_mhz > 0 ? fmt::format("{:g} MHz: {:.4g} frames/s, latency {:.4g} ms\n", r.clock_mhz,
                                        1e3 / r.milliseconds(p.period), r.milliseconds(p.latency))
                          : "");
}

}  // namespace

std::string title_of(const plan::Method& method) {
  return method.closure.empty() ? method.name : method.name + " (" + method.closure + ")";
}

std::string to_text(const PlanReport& r, std::size_t width) {
  const std::string where = r.mode == "paper" ? bytes_text(r.capacity_bytes) + " bytes" : r.config;
  std::string out = fmt::format("{}: {} layers, {} MACs, {} weights; {} mode, {}{}\n", r.network.name,
                                r.network.layer_count(), bytes_text(r.network.macs()), bytes_text([&] {
                                  std::int64_t w = 0;
                                  for (int m = 0; m < r.network.layer_count(); m++)
                                    w += r.network.weight_elements(m);
                                  return w;
                                }()),
                                r.mode, where, r.batch > 1 ? fmt::format(", batch {}", r.batch) : "");
  if (!r.methods.empty()) {
    const bool target = !r.config.empty();
    const plan::Method& first = r.methods.front();
    out += "\n" + title_of(first) + "\n";
    if (r.show_commands) out += commands_text(first, width) + "\n";
    if (!first.layers.empty()) out += layers_text(first, width) + "\n";
    out += target ? target_spans_text(r, first, width) : spans_text(r, first, width);
    if (r.sections.size() > 1) out += "\n" + sections_text(r, width);
    out += "\n" + (target ? target_methods_text(r, width) : methods_text(r, width));
  }
  if (!r.sweep.empty()) out += "\n" + sweep_text(r, width);
  if (r.pipeline) out += "\n" + pipeline_text(r, width);
  out += "\n";
  for (const std::string& note : r.notes) out += note + "\n";
  out += fmt::format("planned in {:.2f} ms\n", r.planning_ms);
  return out;
}

namespace {

nlohmann::ordered_json json_of(const PlanReport& r, const plan::Method& m, const plan::Span& s) {
  nlohmann::ordered_json span{{"first", number_of(r, s.first)},   {"last", number_of(r, s.last)},
                              {"weights_bytes", s.weights_bytes}, {"rows_bytes", s.rows_bytes},
                              {"traffic_bytes", s.traffic_bytes}, {"boundary", plan::name_of(s.boundary)}};
  if (s.tile > 0) span["tile"] = s.tile;
  if (r.config.empty()) span["along"] = s.columns ? "columns" : "rows";
  if (!r.config.empty()) {
    span["bytes"] = json_of(s.bytes);
    if (m.cycles > 0) span["bus_bytes"] = json_of(s.bus_bytes);
    span["cycles"] = {{"array", s.cycles.array},
                      {"vector", s.cycles.vector},
                      {"load", s.cycles.load},
                      {"store", s.cycles.store}};
    span["limited_by"] = limited_by(s);
    span["streamed"] = s.streamed;
    nlohmann::ordered_json layers = nlohmann::ordered_json::array();
    for (int layer : s.layers) layers.push_back(number_of(r, layer));
    span["layers"] = std::move(layers);
  }
  nlohmann::ordered_json kept = nlohmann::ordered_json::array();
  for (const plan::KeptRows& k : s.kept) {
    const std::string name = k.map == 0 ? "input" : r.network.layers[std::size_t(k.map) - 1].name;
    kept.push_back({{"map", name}, {"rows", k.rows}, {"bytes", k.bytes}});
    if (!k.buffer.empty()) kept.back()["buffer"] = k.buffer;
  }
  if (!kept.empty()) span["kept"] = std::move(kept);
  return span;
}

nlohmann::ordered_json json_of(const PlanReport& r, std::size_t i) {
  const plan::Method& m = r.methods[i];
  nlohmann::ordered_json o;
  o["name"] = m.name;
  o["closure"] = m.closure.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(m.closure);
  o["traffic_bytes"] = m.traffic_bytes;
  o["penalty_bytes"] = m.penalty_bytes;
  o["macs"] = m.macs;
  if (!r.config.empty()) {
    o["bytes"] = json_of(m.bytes);
    if (m.cycles > 0) {
      o["bus_bytes"] = json_of(m.bus_bytes);
      o["zvc"] = {{"raw_bytes", m.zvc_raw_bytes},
                  {"packed_bytes", m.zvc_packed_bytes},
                  {"predicted", m.exactly_predicted ? "exactly" : "expected"}};
      o["layers"] = json_of(m.layers);
      if (r.show_commands && i == 0) o["commands"] = json_of(m.commands);
    }
    o["cycles"] = m.cycles;
    if (r.clock_mhz > 0) o["milliseconds"] = r.milliseconds(double(m.cycles));
  }
  o["energy_millijoules"] = {
      {"compute", r.energies[i].compute}, {"dram", r.energies[i].dram}, {"link", r.energies[i].link}};
  o["spans"] = nlohmann::ordered_json::array();
  for (const plan::Span& s : m.spans) o["spans"].push_back(json_of(r, m, s));
  return o;
}

}  // namespace

nlohmann::ordered_json json_of(const PlanReport& r) {
  nlohmann::ordered_json j;
  j["network"] = r.network.name;
  j["mode"] = r.mode;
  if (!r.config.empty()) {
    j["config"] = r.config;
    j["compress"] = r.compress;
  }
  j["capacity_bytes"] = r.capacity_bytes;
  j["batch"] = r.batch;
  j["planning_ms"] = r.planning_ms;
  j["methods"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < r.methods.size(); i++) j["methods"].push_back(json_of(r, i));
  for (const plan::SectionWork& s : r.sections) {
    j["sections"].push_back({{"cycles", s.cycles},
                             {"traffic_bytes", s.traffic_bytes},
                             {"host_written_bytes", s.host_written_bytes},
                             {"host_read_bytes", s.host_read_bytes},
                             {"host_operators", s.host_operators}});
  }
  if (!r.sweep.empty()) {
    j["sweep"] = nlohmann::ordered_json::array();
    for (const SweepPoint& p : r.sweep) {
      nlohmann::ordered_json traffic = nlohmann::ordered_json::array();
      for (const auto& t : p.traffic_bytes)
        traffic.push_back(t ? nlohmann::ordered_json(*t) : nlohmann::ordered_json());
      j["sweep"].push_back({{"capacity_bytes", p.capacity_bytes}, {"traffic_bytes", std::move(traffic)}});
    }
  }
  if (r.pipeline) {
    const plan::Pipeline& p = *r.pipeline;
    j["pipeline"] = {{"stage_cycles", p.times},
                     {"replicas", p.replicas},
                     {"chips", p.chips},
                     {"period_cycles", p.period},
                     {"latency_cycles", p.latency},
                     {"link_bytes", plan::link_bytes(r.network, r.methods.front(), r.batch)}};
  }
  j["notes"] = r.notes;
  return j;
}

}  // namespace kaiten
