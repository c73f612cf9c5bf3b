// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "report/json_report.h"
#include "report/table.h"

namespace kaiten {

namespace {

constexpr std::size_t kBar = 30;

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string bytes_text(std::int64_t n) { return grouped(static_cast<unsigned long long>(n)); }

// The span of the layer; its size where there is none.
std::size_t span_of(const Explanation& e) {
  const auto& spans = e.analysis.spans;
  const auto it = std::find_if(spans.begin(), spans.end(), [&](const SpanInfo& s) {
    return std::find(s.ops.begin(), s.ops.end(), int(e.layer)) != s.ops.end();
  });
  return std::size_t(it - spans.begin());
}

std::string causes_text(const LayerReport& l, std::size_t width) {
  Table table({{"its time", false, 0, false}, {"share", true, 0, false}, {"", false, 1, false}});
  const auto add = [&](const std::string& name, double share) {
    table.add({name, percent(share),
               std::string(std::size_t(std::lround(double(kBar) * std::clamp(share, 0.0, 1.0))), '#')});
  };
  if (l.macs > 0) add("computing", l.utilization);
  for (const auto& [name, share] : l.losses) add(name, share);
  return table.text(width);
}

std::string roofline_text(const RunReport& r, const LayerReport& l) {
  const double peak = l.on_array ? r.config.array_multipliers() : r.config.vector_multipliers();
  const double bytes = double(std::max<std::int64_t>(1, l.bytes_read + l.bytes_written));
  const double intensity = double(l.macs) / bytes;
  const double roof = std::min(peak, intensity * r.config.axi_bytes);
  return fmt::format(
      "roofline: {:.4g} MACs per byte off chip; {:.4g} MACs a cycle of the {:.4g} that {} allows\n",
      intensity, l.utilization * peak, roof,
      roof < peak  ? "the bus"
      : l.on_array ? "the array"
                   : "the vector engine");
}

std::string span_text(const Explanation& e) {
  const std::size_t index = span_of(e);
  if (index == e.analysis.spans.size()) return "";
  const SpanInfo& s = e.analysis.spans[index];
  std::string text = fmt::format("span {} of {}: {} layers share the chip; {} bytes of weights, {} of rows\n",
                                 index, e.analysis.spans.size(), s.ops.size(), bytes_text(s.weights_bytes),
                                 bytes_text(s.rows_bytes));
  const Op& op = e.graph.ops[e.layer];
  for (const SpanInfo::Kept& k : s.kept) {
    const bool input = std::find(op.inputs.begin(), op.inputs.end(), k.tensor) != op.inputs.end();
    if (!input && k.tensor != op.output) continue;
    text += fmt::format("{}: {} rows in {}, {} bytes\n", input ? "input" : "output", k.rows,
                        k.in_vb ? "VB" : "SB", bytes_text(k.bytes));
  }
  return text;
}

std::string changes_text(const Explanation& e, std::size_t width) {
  Table table({{"with", false, 0, true},
               {"cycles", true, 0, false},
               {"saved", true, 2, false},
               {"network", true, 3, false},
               {"saved", true, 1, false}});
  const auto saved = [](double now, double then) { return then > 0 ? percent(1 - now / then) : "-"; };
  const double layer = double(e.analysis.layer_cycles[e.layer]), network = double(e.analysis.cycles);
  table.add(
      {"what there is", grouped(e.analysis.layer_cycles[e.layer]), "-", bytes_text(e.analysis.cycles), "-"});
  for (const Change& c : e.analysis.changes) {
    table.add({c.name, grouped(c.layer_cycles[e.layer]), saved(double(c.layer_cycles[e.layer]), layer),
               bytes_text(c.cycles), saved(double(c.cycles), network)});
  }
  return "by the cycle model:\n" + table.text(width);
}

}  // namespace

std::size_t layer_called(const Graph& graph, const std::string& name) {
  std::vector<std::size_t> ends, parts;
  for (std::size_t i = 0; i < graph.ops.size(); i++) {
    const std::string& known = graph.ops[i].name;
    if (known == name) return i;
    if (known.ends_with(name)) ends.push_back(i);
    if (known.find(name) != std::string::npos) parts.push_back(i);
  }
  if (!name.empty() && name.size() < 7 && name.find_first_not_of("0123456789") == std::string::npos) {
    const std::size_t number = std::stoul(name);
    if (number < graph.ops.size()) return number;
    throw InputError(fmt::format("layers are numbered 0 to {}, there is no {}", graph.ops.size() - 1, name));
  }
  for (const auto& [found, how] : {std::pair(&ends, fmt::format("end with '{}'", name)),
                                   {&parts, fmt::format("have '{}' in their names", name)}}) {
    if (found->size() == 1) return found->front();
    if (found->size() > 1)
      throw InputError(fmt::format("{} layers {}, such as '{}' and '{}'", found->size(), how,
                                   graph.ops[(*found)[0]].name, graph.ops[(*found)[1]].name));
  }
  throw InputError(fmt::format("no layer '{}' in {} (see kaiten inspect)", name, graph.name));
}

std::string to_text(const Explanation& e, std::size_t width) {
  const RunReport& r = e.run;
  const LayerReport& l = r.layers[e.layer];
  std::string text =
      fmt::format("layer {} of {} in {}: {}\n{}, {} to {}, {} MACs\n", e.layer, r.layers.size(), r.model,
                  l.name, l.op, l.shape_in, l.shape_out, grouped(l.macs));
  if (l.on_host) return text + "runs on the host processor\n";
  if (l.nothing_to_do) return text + "nothing to do: a view of what exists, or done by the layer before\n";
  text += fmt::format("{} cycles on the {} of {}, {} of the network's {}", grouped(l.cycles),
                      l.on_array ? "array" : "vector engine", r.config.name,
                      percent(double(l.cycles) / double(std::max<std::uint64_t>(1, r.cycles))),
                      grouped(r.cycles));
  if (r.clock_mhz > 0) text += fmt::format("; {:.4g} ms at {:g} MHz", r.milliseconds(l.cycles), r.clock_mhz);
  text +=
      fmt::format("\nlimited by {}\n\n", l.limited_by.empty() ? "nothing: no time is its own" : l.limited_by);
  if (!l.losses.empty() || l.macs > 0) text += causes_text(l, width) + "\n";
  if (l.macs > 0) text += roofline_text(r, l);
  text += fmt::format("bytes off chip: {} read, {} written\n", bytes_text(l.bytes_read),
                      bytes_text(l.bytes_written));
  if (l.zvc_raw > 0)
    text += fmt::format("compressed: {} bytes as {}, {} at best\n", grouped(l.zvc_raw), grouped(l.zvc_packed),
                        grouped(l.zvc_limit));
  return text + span_text(e) + "\n" + changes_text(e, width);
}

nlohmann::ordered_json json_of(const Explanation& e) {
  nlohmann::ordered_json run = json_of(e.run), network = json_of(e.graph, e.analysis);
  nlohmann::ordered_json j{{"model", e.run.model}, {"config", e.run.config.name}, {"exact", run["exact"]}};
  j["index"] = e.layer;
  j["layer"] = run["layers"][e.layer];
  j["cycles"] = e.run.cycles;
  if (e.run.clock_mhz > 0) {
    j["clock_mhz"] = e.run.clock_mhz;
    j["milliseconds"] = e.run.milliseconds(e.run.layers[e.layer].cycles);
  }
  const std::size_t span = span_of(e);
  j["span"] = span < e.analysis.spans.size() ? network["spans"][span] : nlohmann::ordered_json();
  j["modelled_cycles"] = e.analysis.layer_cycles[e.layer];
  j["what_if"] = nlohmann::ordered_json::array();
  for (const Change& c : e.analysis.changes)
    j["what_if"].push_back(
        {{"change", c.name}, {"cycles", c.layer_cycles[e.layer]}, {"network_cycles", c.cycles}});
  return j;
}

}  // namespace kaiten
