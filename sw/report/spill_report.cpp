// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/spill_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/table.h"

namespace kaiten {

namespace {

using cluster::LinkCount;
using ChipCounts = cluster::SpillRunner::Counts;

double hertz(const SpillReport& r) { return 1e6 * r.topology.clock_mhz; }

double modelled_cycles(const SpillReport& r, std::size_t chip) {
  return r.plan.choice.result.devices[chip].finish * hertz(r);
}

double modelled_stall(const SpillReport& r, std::size_t chip) {
  return r.plan.choice.result.devices[chip].stall * hertz(r);
}

double offset_cycles(const SpillReport& r, std::size_t chip) {
  const std::vector<double>& offsets = r.plan.choice.plan.offsets;
  return offsets.empty() ? 0 : offsets[chip] * hertz(r);
}

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "-";
}

// Cycles, in the mean of the packets.
double delay_of(const LinkCount& link) {
  return link.packets > 0 ? double(link.delay) / double(link.packets) : 0;
}

std::string link_line(const std::string& name, const LinkCount& link, std::uint64_t cycles) {
  return fmt::format("{}: {} bytes, busy {} of the time; others delay a packet by {:.0f} cycles\n", name,
                     grouped(link.bytes), percent(double(link.busy), double(cycles)), delay_of(link));
}

// Each way of each switch.
template <class Tell>
void for_uplinks(const SpillReport& r, const Tell& tell) {
  const std::size_t n = r.topology.uplinks.size();
  for (std::size_t i = 0; i < r.result.uplinks.size(); i++)
    tell(i % n, i < n ? "to the host" : "from the host", r.result.uplinks[i]);
}

}  // namespace

std::string to_text(const SpillReport& r, std::size_t width) {
  Table table({{"chip", false, 0, true},
               {"spilled", true, 1, false},
               {"out bytes", true, 3, false},
               {"in bytes", true, 2, false},
               {"peak bytes", true, 4, false},
               {"cycles", true, 0, false},
               {"modelled", true, 6, false},
               {"stalled", true, 0, false},
               {"modelled", true, 5, false}});
  for (std::size_t c = 0; c < r.result.chips.size(); c++) {
    const ChipCounts& counts = r.result.chips[c];
    table.add({r.topology.chips[c].name, std::to_string(r.plan.choice.plan.devices[c].size()),
               grouped(counts.out_bytes), grouped(counts.in_bytes), grouped(counts.peak_bytes),
               grouped(counts.finish), grouped(std::uint64_t(std::llround(modelled_cycles(r, c)))),
               grouped(counts.stall), grouped(std::uint64_t(std::llround(modelled_stall(r, c))))});
  }
  std::string out = table.text(width) + "\n";
  out += fmt::format(
      "{} on {} chips ('{}'), each a batch of {} forward and in reverse in {} segments: {} cycles\n", r.model,
      r.topology.chips.size(), r.topology.chips.front().config, r.plan.options.batch, r.plan.segments.size(),
      grouped(r.result.cycles));
  out += fmt::format("maps: {} bytes wait on a chip, limit {}; policy {}{}{}\n", grouped(r.plan.held_bytes),
                     grouped(r.plan.options.limit), r.policy, r.plan.choice.note.empty() ? "" : ", ",
                     r.plan.choice.note);
  for_uplinks(r, [&](std::size_t s, const char* way, const LinkCount& link) {
    out += link_line(fmt::format("uplink of switch {} {}", s, way), link, r.result.cycles);
  });
  if (!r.checked) return out + "not compared with the reference\n";
  int runs = 0;
  for (const ChipCounts& c : r.result.chips) runs += c.runs;
  return out + (r.result.exact
                    ? fmt::format("PASS: outputs of {} runs of segments, half of them on maps that were "
                                  "kept, equal the reference executor's; bytes as announced\n",
                                  runs)
                    : "FAIL: " + r.result.difference + "\n");
}

nlohmann::ordered_json json_of(const SpillReport& r) {
  nlohmann::ordered_json j;
  j["model"] = r.model;
  j["mode"] = "spill";
  j["exact"] = r.checked ? nlohmann::ordered_json(r.result.exact) : nlohmann::ordered_json();
  j["policy"] = r.policy;
  j["note"] = r.plan.choice.note;
  j["batch"] = r.plan.options.batch;
  j["limit_bytes"] = r.plan.options.limit;
  j["held_bytes"] = r.plan.held_bytes;
  j["segments"] = r.plan.segments.size();
  j["cycles"] = r.result.cycles;
  j["modelled_cycles"] = r.plan.choice.result.seconds * hertz(r);
  j["seconds"] = r.result.seconds;
  j["chips"] = nlohmann::ordered_json::array();
  for (std::size_t c = 0; c < r.result.chips.size(); c++) {
    const ChipCounts& counts = r.result.chips[c];
    nlohmann::ordered_json swaps = nlohmann::ordered_json::array();
    for (const swap::Swap& s : r.plan.choice.plan.devices[c])
      swaps.push_back({{"map", r.plan.scenario.training[c].maps[std::size_t(s.map)].name},
                       {"segment", s.map},
                       {"trigger", s.trigger}});
    j["chips"].push_back({{"name", r.topology.chips[c].name},
                          {"offset_cycles", offset_cycles(r, c)},
                          {"swaps", swaps},
                          {"runs", counts.runs},
                          {"cycles", counts.finish},
                          {"modelled_cycles", modelled_cycles(r, c)},
                          {"busy_cycles", counts.busy},
                          {"stall_cycles", counts.stall},
                          {"modelled_stall_cycles", modelled_stall(r, c)},
                          {"raw_bytes", counts.raw_bytes},
                          {"out_bytes", counts.out_bytes},
                          {"in_bytes", counts.in_bytes},
                          {"peak_bytes", counts.peak_bytes},
                          {"bus_bytes", counts.bytes}});
  }
  j["uplinks"] = nlohmann::ordered_json::array();
  for_uplinks(r, [&](std::size_t s, const char* way, const LinkCount& link) {
    j["uplinks"].push_back({{"switch", s},
                            {"direction", way},
                            {"bytes", link.bytes},
                            {"busy_cycles", link.busy},
                            {"delay_cycles", delay_of(link)}});
  });
  return j;
}

}  // namespace kaiten
