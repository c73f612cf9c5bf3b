// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "base/parallel.h"
#include "report/table.h"

namespace kaiten {

namespace {

std::string bytes_text(std::int64_t n) { return grouped(static_cast<unsigned long long>(n)); }

double milliseconds(const Estimate& e, const Estimate::Row& r) {
  return double(r.cycles) / (e.clock_mhz * 1e3);
}

double frames_per_second(const Estimate& e, const Estimate::Row& r) {
  return e.batch * e.clock_mhz * 1e6 / double(std::max<std::int64_t>(1, r.cycles));
}

Estimate::Row row_of(SectionCuts& cuts, const Config& config, const CompileOptions& options) {
  Estimate::Row row;
  row.config = config;
  CompileOptions no_bytes = options;
  no_bytes.constants = false;
  const CompiledSections compiled = try_compile_sections(cuts, config, no_bytes);
  if (!compiled.refusals.empty()) {
    row.refusal = compiled.refusals.front();
    return row;
  }
  for (const Section& s : compiled.sections) {
    row.cycles += s.program.modelled_cycles;
    row.bytes_read += std::int64_t(s.program.commands.size()) * kCommandBytes;
    for (const CommandMeta& m : s.program.meta) {
      row.bytes_read += m.bytes_read();
      row.bytes_written += m.bytes_written();
    }
    for (const LayerInfo& l : s.program.layers)
      row.array_macs += std::uint64_t(s.program.images) * l.array_macs;
  }
  row.footprint = footprint_of(compiled.sections);
  return row;
}

}  // namespace

double Estimate::Row::array_utilization() const {
  return cycles > 0 ? double(array_macs) / (double(cycles) * config.array_multipliers()) : 0;
}

Estimate estimate(const Graph& graph, std::span<const Config> configs, const CompileOptions& options,
                  const std::function<void(std::size_t done, std::size_t all)>& progress) {
  Estimate e;
  e.network = graph.name;
  e.macs = macs(graph);
  e.batch = options.images;
  e.rows.resize(configs.size());
  SectionCuts cuts(graph);
  std::mutex guard;
  std::size_t done = 0;
  // Small arrays have most commands: those that take longest begin first.
  std::vector<std::size_t> order(configs.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return configs[i].array_multipliers(); });
  parallel(configs.size(), int(std::max(1U, std::thread::hardware_concurrency())), [&](std::size_t at) {
    const std::size_t i = order[at];
    e.rows[i] = row_of(cuts, configs[i], options);
    const std::lock_guard lock(guard);
    if (progress) progress(++done, configs.size());
  });
  return e;
}

std::string to_text(const Estimate& e, std::size_t width) {
  std::vector<Column> columns{{"configuration", false, 0, false}, {"cycles", true, 0, false},
                              {"array", true, 8, false},          {"bytes read", true, 6, false},
                              {"written", true, 5, false},        {"weights", true, 4, false},
                              {"maps", true, 3, false},           {"memory", true, 7, false},
                              {"rows on chip", true, 2, false},   {"weights on chip", true, 1, false}};
  if (e.clock_mhz > 0)
    columns.insert(columns.begin() + 2, {{"ms", true, 9, false}, {"frames/s", true, 10, false}});
  Table table(columns);
  std::string refusals;
  for (const Estimate::Row& r : e.rows) {
    if (!r.refusal.empty()) {
      table.add({r.config.name, "-"});
      refusals += r.config.name + ": " + r.refusal + "\n";
      continue;
    }
    std::vector<std::string> row{r.config.name,
                                 bytes_text(r.cycles),
                                 fmt::format("{:.1f} %", 100 * r.array_utilization()),
                                 bytes_text(r.bytes_read),
                                 bytes_text(r.bytes_written),
                                 bytes_text(r.footprint.weights),
                                 bytes_text(r.footprint.activations),
                                 bytes_text(r.footprint.total()),
                                 bytes_text(r.footprint.span_rows),
                                 bytes_text(r.footprint.span_weights)};
    if (e.clock_mhz > 0)
      row.insert(row.begin() + 2,
                 {fmt::format("{:.4g}", milliseconds(e, r)), fmt::format("{:.4g}", frames_per_second(e, r))});
    table.add(std::move(row));
  }
  return table.text(width) + "\n" + refusals +
         fmt::format(
             "{}: {} MACs{}; by the cycle model, nothing was run. Bytes: memory is weights, commands, "
             "inputs, outputs and "
             "the maps that leave the chip; on chip: the most that a span takes.\n",
             e.network, grouped(e.macs), e.batch > 1 ? fmt::format(" an image, {} images", e.batch) : "");
}

nlohmann::ordered_json json_of(const Estimate& e) {
  nlohmann::ordered_json j{{"network", e.network}, {"macs", e.macs}, {"batch", e.batch}};
  j["configs"] = nlohmann::ordered_json::array();
  for (const Estimate::Row& r : e.rows) {
    nlohmann::ordered_json row{{"config", r.config.name}};
    if (!r.refusal.empty()) {
      row["refusal"] = r.refusal;
    } else {
      row["cycles"] = r.cycles;
      if (e.clock_mhz > 0) {
        row["milliseconds"] = milliseconds(e, r);
        row["frames_per_second"] = frames_per_second(e, r);
      }
      row["array_utilization"] = r.array_utilization();
      row["bytes"] = {{"read", r.bytes_read}, {"written", r.bytes_written}};
      row["footprint"] = json_of(r.footprint);
    }
    j["configs"].push_back(std::move(row));
  }
  return j;
}

}  // namespace kaiten
