// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/model_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/page.h"
#include "report/table.h"

namespace kaiten {

namespace {

using html::escaped;

std::string bytes_text(std::int64_t n) { return grouped(static_cast<unsigned long long>(n)); }
std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string paragraph(const std::string& text) { return "<p>" + escaped(text) + "</p>\n"; }
std::string heading(const std::string& text) { return "<h2>" + escaped(text) + "</h2>\n"; }

std::string summary(const RunReport& r) {
  std::string text = fmt::format("{} cycles for {} MACs", grouped(r.cycles), grouped(r.macs));
  if (r.batch > 1) text += fmt::format(", {} images", r.batch);
  if (r.clock_mhz > 0)
    text += fmt::format("; at {:g} MHz {:.4g} ms, {:.4g} frames/s", r.clock_mhz, r.milliseconds(r.cycles),
                        r.frames_per_second());
  text += fmt::format(". Multipliers of the array in use: {}; of all: {}.", percent(r.array_utilization()),
                      percent(r.mac_utilization()));
  std::string out = paragraph(text);
  if (!r.exact) return out + paragraph("Not compared with the reference.");
  if (*r.exact && r.checked == 0) return out + paragraph("No operator runs on the accelerator.");
  return out +
         paragraph(*r.exact ? fmt::format(
                                  "Exact: all {} elements that the accelerator computed equal the reference.",
                                  grouped(r.checked))
                            : "Not exact: " + r.difference);
}

std::string spans_table(const Graph& graph, const Analysis& a) {
  html::Table table({"#span", "layers", "#weights", "#rows", "#maps over the bus", "output", "rows kept"});
  for (std::size_t i = 0; i < a.spans.size(); i++) {
    const SpanInfo& s = a.spans[i];
    std::string kept;
    for (const SpanInfo::Kept& k : s.kept)
      kept += fmt::format("{}{} {}", kept.empty() ? "" : ", ", k.rows, k.in_vb ? "VB" : "SB");
    if (kept.size() > 60) kept = kept.substr(0, kept.rfind(',', 56)) + " ...";
    const std::string first = graph.ops[std::size_t(s.first_op)].name;
    const std::string last = graph.ops[std::size_t(s.last_op)].name;
    table.add({std::to_string(i), s.ops.size() > 1 ? fmt::format("{} to {}", first, last) : first,
               bytes_text(s.weights_bytes), bytes_text(s.rows_bytes), bytes_text(s.activation_bytes),
               s.boundary == SpanInfo::Boundary::kOutput ? "output"
               : s.boundary == SpanInfo::Boundary::kHeld ? "held"
                                                         : "spilled",
               kept});
  }
  return table.text();
}

std::string changes_table(const RunReport& r, const Analysis& a) {
  std::string out = paragraph(
      fmt::format("The compiler's cycle model, on the network compiled anew for each change alone. It says "
                  "{} cycles for the "
                  "accelerator as it is, {:.1f} % {} than were counted.",
                  bytes_text(a.cycles),
                  100 * std::abs(double(a.cycles) / double(std::max<std::uint64_t>(1, r.cycles)) - 1),
                  a.cycles < std::int64_t(r.cycles) ? "fewer" : "more"));
  html::Table table({"with", "#cycles", "#saved", "#speed"});
  for (const Change& c : a.changes) {
    table.add({c.name, bytes_text(c.cycles), percent(1 - double(c.cycles) / double(a.cycles)),
               fmt::format("{:.3f} x", double(a.cycles) / double(c.cycles))});
  }
  return out + table.text();
}

std::string bytes_table(const RunReport& r, const Analysis& a) {
  html::Table table({"bytes", "#counted", "#predicted", "#bound"});
  const auto row = [&](const char* name, std::uint64_t counted, std::uint64_t predicted, std::int64_t bound) {
    table.add({name, grouped(counted), grouped(predicted), bytes_text(bound)});
  };
  row("weights", r.bytes.weights, r.predicted.weights, a.bound.weights);
  row("parameters", r.bytes.parameters, r.predicted.parameters, a.bound.parameters);
  row("commands", r.bytes.commands, r.predicted.commands, a.bound.commands);
  row("maps read", r.bytes.activations, r.predicted.activations, a.bound.input);
  row("maps written", r.bytes.written, r.predicted.written, a.bound.output);
  row("all", r.bytes.read() + r.bytes.written, r.predicted.read() + r.predicted.written, a.bound.total());
  return table.text();
}

std::string compression(const RunReport& r) {
  if (r.zvc.raw() == 0)
    return paragraph(
        "Nothing crossed the bus compressed. --compress auto or on does that to maps and weights that "
        "become smaller.");
  std::string out = paragraph(
      fmt::format("{} bytes moved as {}: ratio {:.2f}.", grouped(r.zvc.raw()), grouped(r.zvc.packed()),
                  double(r.zvc.raw()) / double(std::max<std::uint64_t>(1, r.zvc.packed()))));
  html::Table table({"layer", "#raw bytes", "#packed", "#ratio", "#limit"});
  bool any = false;
  for (const LayerReport& l : r.layers) {
    if (l.zvc_raw == 0) continue;
    any = true;
    const auto ratio = [&](std::uint64_t packed) {
      return fmt::format("{:.2f}", double(l.zvc_raw) / double(std::max<std::uint64_t>(1, packed)));
    };
    table.add({l.name, grouped(l.zvc_raw), grouped(l.zvc_packed), ratio(l.zvc_packed), ratio(l.zvc_limit)});
  }
  return any ? out + table.text() : out;
}

std::string memory(const Footprint& f) {
  html::Table table({"memory", "#bytes"});
  table.add({"weights and parameters, as packed", bytes_text(f.weights)});
  table.add({"commands", bytes_text(f.commands)});
  table.add({"inputs", bytes_text(f.inputs)});
  table.add({"outputs", bytes_text(f.outputs)});
  table.add({"maps that leave the chip", bytes_text(f.activations)});
  table.add({"off chip together", bytes_text(f.total())});
  table.add({"on chip: weights of the largest span", bytes_text(f.span_weights)});
  table.add({"on chip: rows of the largest span", bytes_text(f.span_rows)});
  return table.text();
}

std::string configuration(const Config& c) {
  const auto kib = [](long long bytes) { return fmt::format("{:.4g} KiB", double(bytes) / 1024); };
  const long long row = 9LL * c.cp;
  html::Table table({"configuration", c.name});
  table.add({"array", fmt::format("{} x {} DPEs of 9 multipliers, {} MACs a cycle", c.kp, c.cp,
                                  c.array_multipliers())});
  table.add({"vector engine", fmt::format("{} lanes, {} MACs a cycle", c.cp, c.vector_multipliers())});
  table.add({"bus", fmt::format("{} bytes a cycle", c.axi_bytes)});
  table.add({"weight buffers WB and VWB", kib(row * c.wb_rows) + " and " + kib(row * c.vwb_rows)});
  table.add({"row buffers SB and VB", kib(row * c.sb_depth) + " and " + kib(row * c.vb_depth)});
  table.add({"output buffer OB", fmt::format("{} pixels", c.ob_pixels)});
  return table.text();
}

std::string layers_table(const RunReport& r) {
  std::vector<std::string> headings{"layer", "operator", "input", "output", "#MACs", "#cycles", "#modelled"};
  if (r.clock_mhz > 0) headings.emplace_back("#ms");
  headings.insert(headings.end(), {"#utilisation", "limited by", "#bytes read", "#written"});
  html::Table table(headings);
  for (const LayerReport& l : r.layers) {
    const bool timed = !l.on_host && !l.nothing_to_do;
    std::vector<std::string> row{l.name,
                                 l.op,
                                 l.shape_in,
                                 l.shape_out,
                                 grouped(l.macs),
                                 timed ? grouped(l.cycles) : "-",
                                 timed ? grouped(l.predicted_cycles) : "-"};
    if (r.clock_mhz > 0) row.push_back(timed ? fmt::format("{:.5f}", r.milliseconds(l.cycles)) : "-");
    row.insert(row.end(), {l.macs && l.cycles ? percent(l.utilization) : "-",
                           l.on_host         ? "host"
                           : l.nothing_to_do ? "-"
                                             : l.limited_by,
                           bytes_text(l.bytes_read), bytes_text(l.bytes_written)});
    table.add(row);
  }
  return table.text();
}

}  // namespace

std::string model_page(const Graph& graph, const RunReport& r, const Analysis& a) {
  std::string out = summary(r);
  for (const std::string& note : r.notes) out += paragraph(note);
  out += heading("Network and spans") + network_drawing(graph, r.config, a) +
         paragraph(
             "A bar for each operator's output in the order they run; height: bytes, logarithmic; colours: "
             "spans, whose rows share the chip; grey: host, or nothing to do. Arcs: edges that skip "
             "operators. Red "
             "lines: maps that go through memory. Below: how full each span's weights and rows make the "
             "buffers.") +
         spans_table(graph, a);
  out += heading("Where the cycles go") + cycles_drawing(r) +
         paragraph(
             "Cycles of each layer and their share of all. Computing: multipliers at work; padding: the "
             "engine works on "
             "channels or taps that do not exist; the others: what the engine waited for.");
  out += heading("What would help most") + changes_table(r, a);
  out += heading("Roofline") + roofline_drawing(r) +
         paragraph(
             "A circle for each layer, its area after its cycles, its height after the time in which its "
             "engine works "
             "or waits for it, hidden behind the other engine or not. Left of the slope's end a layer needs "
             "more bytes "
             "than the bus brings in time; its distance below its engine's roof is what it could gain.");
  out +=
      heading("Timeline of the queues") + timeline_drawing(r) +
      paragraph(
          "Height: how busy the queue was with the commands of the layer that has most of the time there.");
  out += heading("Bytes against the bound") + bytes_drawing(r, a) + bytes_table(r, a);
  out += heading("Compression") + compression(r);
  out += heading("Memory") + memory(a.footprint);
  out += heading("Configuration") + configuration(r.config);
  out += heading("Layers") + layers_table(r);
  return html::page(r.model + " on " + r.config.name, out);
}

}  // namespace kaiten
