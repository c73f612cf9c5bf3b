// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/cluster_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/table.h"

namespace kaiten {

namespace {

using cluster::ChipResult;
using cluster::ClusterResult;
using cluster::Stage;

// Cycles of a run after the first, in the mean; 0 where there was none.
double cycles_of(const ChipResult& c) {
  return c.counts.images > 1 ? double(c.counts.again_cycles) / (c.counts.images - 1) : 0;
}

std::string percent_off(double measured, double modelled) {
  return fmt::format("{:+.2f} %", 100 * (modelled / measured - 1));
}

std::string operators_of(const Stage& stage) {
  const auto name = [&](const Op& op) { return stage.graph.tensors[std::size_t(op.output)].name; };
  return stage.ops.size() == 1 ? name(stage.graph.ops.front())
                               : name(stage.graph.ops.front()) + " to " + name(stage.graph.ops.back());
}

// "boundaries: rows as they are made; with 9 of 32, 5 of 8 rows there stage 0, 1 starts"
std::string boundaries_line(const cluster::Pipeline& p) {
  std::string stages, rows;
  for (std::size_t s = 0; s < p.stages.size(); s++) {
    const cluster::RowStream& input = p.stages[s].input;
    if (input.rows == 0) continue;
    stages += (stages.empty() ? "" : ", ") + std::to_string(s);
    rows += fmt::format("{}{} of {}", rows.empty() ? "" : ", ", input.start, input.rows);
  }
  if (stages.empty()) return "boundaries: whole maps\n";
  return fmt::format("boundaries: rows as they are made; with {} rows there stage {} starts\n", rows, stages);
}

std::string period_line(const ClusterReport& r, double mhz) {
  const ClusterResult& result = r.result;
  if (result.period <= 0)
    return fmt::format("period: {:.0f} cycles by the model; too few images to measure it\n",
                       r.pipeline.period);
  return fmt::format(
      "period: {:.0f} cycles an image ({:.1f} images/s at {:g} MHz), {:.0f} by the model ({})\n"
      "latency: {:.0f} cycles, {:.0f} by the model ({})\n",
      result.period, 1e6 * mhz / result.period, mhz, r.pipeline.period,
      percent_off(result.period, r.pipeline.period), result.latency, r.pipeline.latency,
      percent_off(result.latency, r.pipeline.latency));
}

}  // namespace

std::string to_text(const ClusterReport& r, std::size_t width) {
  const ClusterResult& result = r.result;
  Table table({{"chip", false, 0, true},
               {"stage", true, 0, false},
               {"replica", true, 2, false},
               {"operators", false, 4, true},
               {"images", true, 3, false},
               {"cycles/image", true, 0, false},
               {"modelled", true, 1, false},
               {"bytes", true, 1, false}});
  for (const ChipResult& c : result.chips) {
    const Stage& stage = r.pipeline.stages[c.stage];
    table.add({r.topology.chips[std::size_t(stage.chips[std::size_t(c.replica)])].name,
               std::to_string(c.stage), std::to_string(c.replica), operators_of(stage),
               std::to_string(c.counts.images),
               c.counts.images > 1 ? fmt::format("{:.0f}", cycles_of(c)) : "-",
               grouped(std::uint64_t(stage.again.modelled_cycles)), grouped(c.counts.bytes)});
  }
  std::string out = table.text(width) + "\n";
  out += fmt::format(
      "{} on {} chips ('{}'), {}: {} images in {} cycles, the first {} loading weights\n", r.model,
      r.topology.chips.size(), r.topology.chips.front().config,
      r.pipeline.data ? "the whole network on each" : fmt::format("{} stages", r.pipeline.stages.size()),
      result.outputs.size() - result.kept, grouped(result.cycles), result.warm_up);
  if (result.kept > 0) out += fmt::format("{} images before them are from an interrupted run\n", result.kept);
  out += period_line(r, r.clock_mhz > 0 ? r.clock_mhz : r.topology.clock_mhz);
  out += boundaries_line(r.pipeline);
  out += fmt::format("links: {} bytes; weights that each image loads again: {} bytes\n",
                     grouped(result.link_bytes), grouped(std::uint64_t(r.pipeline.reloaded)));
  if (!r.checked) return out + "not compared with the reference\n";
  return out +
         (result.exact
              ? fmt::format("PASS: outputs of {} images equal the reference executor's; bytes as announced\n",
                            result.outputs.size())
              : "FAIL: " + result.difference + "\n");
}

nlohmann::ordered_json json_of(const ClusterReport& r) {
  const ClusterResult& result = r.result;
  nlohmann::ordered_json j;
  j["model"] = r.model;
  j["exact"] = r.checked ? nlohmann::ordered_json(result.exact) : nlohmann::ordered_json();
  j["images"] = result.outputs.size();
  j["resumed"] = result.kept;
  j["cycles"] = result.cycles;
  const auto measured = [](double cycles) {
    return cycles > 0 ? nlohmann::ordered_json(cycles) : nlohmann::ordered_json();
  };
  j["period_cycles"] = measured(result.period);
  j["modelled_period_cycles"] = r.pipeline.period;
  j["latency_cycles"] = measured(result.latency);
  j["modelled_latency_cycles"] = r.pipeline.latency;
  j["link_bytes"] = result.link_bytes;
  j["reloaded_bytes"] = r.pipeline.reloaded;
  j["mode"] = r.pipeline.data ? "data" : "stap";
  j["seconds"] = result.seconds;
  j["chips"] = nlohmann::ordered_json::array();
  for (const ChipResult& c : result.chips) {
    const Stage& stage = r.pipeline.stages[c.stage];
    j["chips"].push_back({{"name", r.topology.chips[std::size_t(stage.chips[std::size_t(c.replica)])].name},
                          {"stage", c.stage},
                          {"replica", c.replica},
                          {"operators", {stage.ops.front(), stage.ops.back()}},
                          {"input_rows", stage.input.rows},
                          {"start_rows", stage.input.start},
                          {"images", c.counts.images},
                          {"cycles", c.counts.cycles},
                          {"cycles_per_image", measured(cycles_of(c))},
                          {"modelled_cycles_per_image", stage.again.modelled_cycles},
                          {"bytes", c.counts.bytes},
                          {"weights_reloaded", c.counts.weights}});
  }
  return j;
}

}  // namespace kaiten
