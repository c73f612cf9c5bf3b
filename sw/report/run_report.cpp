// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/json_report.h"
#include "report/table.h"

namespace kaiten {

namespace {

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

// "padding 57 %, rows 12 %": what is worth a word.
std::string losses_text(const LayerReport& l) {
  constexpr double kWorthAWord = 0.02;
  std::string text;
  for (const auto& [name, share] : l.losses) {
    if (share < kWorthAWord) continue;
    text += (text.empty() ? "" : ", ") + fmt::format("{} {:.0f} %", name, 100 * share);
  }
  return text.empty() ? "-" : text;
}

// "1.43": before compression over after it.
std::string ratio_text(std::uint64_t raw, std::uint64_t packed) {
  return packed == 0 ? "-" : fmt::format("{:.2f}", double(raw) / double(packed));
}

nlohmann::ordered_json json_of(const BytesReport& b) {
  return {{"read",
           {{"weights", b.weights},
            {"parameters", b.parameters},
            {"activations", b.activations},
            {"commands", b.commands}}},
          {"written", {{"activations", b.written}}}};
}

nlohmann::ordered_json json_of(const Confirmation& c) {
  nlohmann::ordered_json j{
      {"reference", c.reference}, {"golden", c.golden}, {"interpreter", c.interpreted - c.different}};
  if (c.interpreter.empty()) return j;
  j["interpreter_name"] = c.interpreter;
  j["interpreter_version"] = c.version;
  j["interpreter_tensors"] = c.tensors;
  j["interpreter_different"] = c.different;
  j["interpreter_close"] = c.close;
  return j;
}

nlohmann::ordered_json json_of(const BusReport& b) { return {{"read", b.read}, {"written", b.written}}; }

// The last line: what was compared with what.
std::string verdict(const RunReport& r) {
  if (!r.exact) return "DONE, not checked\n";
  if (!*r.exact) return fmt::format("FAIL {} on {}: {}\n", r.model, r.config.name, r.difference);
  if (r.checked == 0 && r.confirmation.interpreted == 0)
    return fmt::format("DONE, nothing compared: {} has no operator for the accelerator {}\n", r.model,
                       r.config.name);
  std::string interpreter;
  if (!r.confirmation.interpreter.empty())
    interpreter = fmt::format(", {} equal {}", grouped(r.confirmation.interpreted), r.confirmation.title());
  return fmt::format("PASS {} on {}: all {} elements that the accelerator computed equal the reference{}\n",
                     r.model, r.config.name, grouped(r.checked), interpreter);
}

}  // namespace

std::string to_text(const Confirmation& c) {
  constexpr std::size_t kMostNamed = 4;
  std::string text =
      fmt::format("compared: {} elements of the accelerator with the reference", grouped(c.reference));
  if (c.golden > 0) text += fmt::format("; {} elements of the outputs with the golden", grouped(c.golden));
  if (!c.interpreter.empty()) {
    text += fmt::format("; {} elements of {} tensors with {}", grouped(c.interpreted), c.tensors, c.title());
    if (c.close > 0) text += fmt::format(", {} of float32 within 1e-5", grouped(c.close));
    if (c.different > 0) text += fmt::format(", {} differ", grouped(c.different));
  }
  text += "\n";
  if (c.unconfirmed.empty()) return text;
  std::uint64_t elements = 0;
  std::string names;
  for (std::size_t i = 0; i < c.unconfirmed.size(); i++) {
    elements += c.unconfirmed[i].elements;
    if (i < kMostNamed)
      names += fmt::format("{}{} '{}'", i > 0 ? ", " : "", c.unconfirmed[i].op, c.unconfirmed[i].layer);
  }
  if (c.unconfirmed.size() > kMostNamed)
    names += fmt::format(" and {} more", c.unconfirmed.size() - kMostNamed);
  return text +
         fmt::format("on the host, confirmed by nothing independent: {} elements of {} operators: {}{}\n",
                     grouped(elements), c.unconfirmed.size(), names,
                     c.interpreter.empty() ? " (see --oracle, --golden)" : "");
}

double RunReport::array_utilization() const {
  return cycles == 0 ? 0 : double(array_macs) / (double(cycles) * config.array_multipliers());
}

double RunReport::mac_utilization() const {
  return cycles == 0
             ? 0
             : double(macs) / (double(cycles) * (config.array_multipliers() + config.vector_multipliers()));
}

std::string to_text(const RunReport& r, std::size_t width) {
  std::vector<Column> columns{
      {"layer", false, 0, true},       {"operator", false, 0, false},    {"input", false, 4, false},
      {"output", false, 5, false},     {"MACs", true, 6, false},         {"cycles", true, 0, false},
      {"utilisation", true, 0, false}, {"limited by", false, 7, false},  {"lost to", false, 2, false},
      {"bytes read", true, 3, false},  {"bytes written", true, 1, false}};
  if (r.clock_mhz > 0) columns.insert(columns.begin() + 6, {"ms", true, 7, false});
  if (r.zvc.written_raw > 0) columns.push_back({"ratio", true, 8, false});
  Table table(std::move(columns));
  for (const LayerReport& l : r.layers) {
    const bool timed = !l.on_host && !l.nothing_to_do;
    std::vector<std::string> row{l.name,
                                 l.op,
                                 l.shape_in,
                                 l.shape_out,
                                 l.macs ? grouped(l.macs) : "-",
                                 timed ? grouped(l.cycles) : "-",
                                 l.macs && l.cycles ? percent(l.utilization) : "-",
                                 l.on_host         ? "host"
                                 : l.nothing_to_do ? "-"
                                                   : l.limited_by,
                                 losses_text(l),
                                 l.bytes_read ? grouped(std::uint64_t(l.bytes_read)) : "-",
                                 l.bytes_written ? grouped(std::uint64_t(l.bytes_written)) : "-",
                                 ratio_text(l.zvc_raw, l.zvc_packed)};
    if (r.clock_mhz > 0)
      row.insert(row.begin() + 6, timed ? fmt::format("{:.4g}", r.milliseconds(l.cycles)) : "-");
    table.add(std::move(row));
  }
  std::string out = table.text(width) + "\n";
  for (const std::string& note : r.notes) out += note + "\n";
  for (const OutputReport& o : r.outputs) {
    if (r.batch > 1) out += fmt::format("image {}: ", o.image);
    out += fmt::format("output {} ({} {})", o.name, o.type, o.shape);
    for (std::size_t i = 0; i < o.top5.size(); i++) {
      const auto& c = o.top5[i];
      out += fmt::format("{}{}{} = {:g}", i == 0 ? ": " : ", ", c.index, c.label.empty() ? "" : " " + c.label,
                         c.value);
    }
    out += "\n";
  }
  if (r.batch > 1)
    out += fmt::format("{} images, {} cycles each\n", r.batch, grouped(r.cycles / std::uint64_t(r.batch)));
  if (r.clock_mhz > 0)
    out += fmt::format("{:g} MHz: {:.4g} ms, {:.4g} frames/s\n", r.clock_mhz, r.milliseconds(r.cycles),
                       r.frames_per_second());
  if (r.sections > 1)
    out += fmt::format("{} programs one after the other, the host's work between them\n", r.sections);
  out += fmt::format("{} cycles on {}: array {}, all multipliers {}; {} MACs\n", grouped(r.cycles),
                     r.config.name, percent(r.array_utilization()), percent(r.mac_utilization()),
                     grouped(r.macs));
  out += fmt::format("bytes read {} (weights {}, parameters {}, activations {}, commands {}), written {}\n",
                     grouped(r.bytes.read()), grouped(r.bytes.weights), grouped(r.bytes.parameters),
                     grouped(r.bytes.activations), grouped(r.bytes.commands), grouped(r.bytes.written));
  if (r.zvc.raw() > 0) {
    out += fmt::format("compressed: {} bytes moved as {}, ratio {} (read {}, written {})\n",
                       grouped(r.zvc.raw()), grouped(r.zvc.packed()), ratio_text(r.zvc.raw(), r.zvc.packed()),
                       ratio_text(r.zvc.read_raw, r.zvc.read_packed),
                       ratio_text(r.zvc.written_raw, r.zvc.written_packed));
  }
  if (r.seconds > 0) {
    out +=
        fmt::format("simulated at {:.0f} kHz, {:.2f} GMAC/s\n", r.khz(),
                    double(r.macs) * (double(r.loop_cycles) / double(std::max<std::uint64_t>(r.cycles, 1))) /
                        r.seconds / 1e9);
  }
  if (r.exact) out += to_text(r.confirmation);
  return out + verdict(r);
}

namespace {

nlohmann::ordered_json json_of(const LayerReport& l) {
  nlohmann::ordered_json losses = nlohmann::ordered_json::object();
  for (const auto& [name, share] : l.losses) losses[name] = share;
  return {{"name", l.name},
          {"op", l.op},
          {"shape_in", l.shape_in},
          {"shape_out", l.shape_out},
          {"macs", l.macs},
          {"cycles", l.cycles},
          {"predicted_cycles", l.predicted_cycles},
          {"utilization", l.utilization},
          {"limited_by", l.limited_by},
          {"losses", losses},
          {"bytes_read", l.bytes_read},
          {"bytes_written", l.bytes_written},
          {"zvc", {{"raw_bytes", l.zvc_raw}, {"packed_bytes", l.zvc_packed}, {"limit_bytes", l.zvc_limit}}}};
}

nlohmann::ordered_json json_of(const OutputReport& o) {
  nlohmann::ordered_json top = nlohmann::ordered_json::array();
  for (const auto& c : o.top5) {
    nlohmann::ordered_json entry{{"index", c.index}};
    if (o.type == "float32") {
      entry["value"] = c.value;
    } else {
      entry["value"] = int(c.value);
    }
    if (!c.label.empty()) entry["label"] = c.label;
    top.push_back(std::move(entry));
  }
  return {
      {"name", o.name}, {"image", o.image}, {"shape", o.shape}, {"type", o.type}, {"top5", std::move(top)}};
}

}  // namespace

nlohmann::ordered_json json_of(const RunReport& r) {
  nlohmann::ordered_json j;
  j["model"] = r.model;
  j["config"] = r.config.name;
  j["batch"] = r.batch;
  j["sections"] = r.sections;
  if (r.exact) {
    j["exact"] = *r.exact;
  } else {
    j["exact"] = nullptr;
  }
  j["compared_with"] = json_of(r.confirmation);
  j["unconfirmed"] = nlohmann::ordered_json::array();
  for (const Confirmation::Unconfirmed& u : r.confirmation.unconfirmed)
    j["unconfirmed"].push_back({{"layer", u.layer}, {"op", u.op}, {"elements", u.elements}});
  j["cycles"] = r.cycles;
  j["predicted_cycles"] = r.predicted_cycles;
  if (r.clock_mhz > 0) {
    j["clock_mhz"] = r.clock_mhz;
    j["milliseconds"] = r.milliseconds(r.cycles);
    j["frames_per_second"] = r.frames_per_second();
  }
  j["macs"] = r.macs;
  j["array_utilization"] = r.array_utilization();
  j["mac_utilization"] = r.mac_utilization();
  j["seconds"] = r.seconds;
  j["khz"] = r.khz();
  j["bytes"] = json_of(r.bytes);
  j["bus_bytes"] = json_of(r.bus);
  j["predicted_bytes"] = json_of(r.predicted);
  j["predicted_bus_bytes"] = json_of(r.predicted_bus);
  nlohmann::ordered_json stalls;
  for (std::size_t i = 0; i < Counters::kCount; i++) {
    const std::string name = csr::kCounters[i].name;
    const bool stall = name.find("_no_") != std::string::npos || name.find("_wait_") != std::string::npos ||
                       name.find("_conflict") != std::string::npos;
    if (stall) stalls[name] = r.counters.values[i];
  }
  j["stalls"] = stalls;
  j["zvc"] = {{"raw_bytes", r.zvc.raw()},
              {"packed_bytes", r.zvc.packed()},
              {"predicted", r.exactly_predicted ? "exactly" : "expected"}};
  j["layers"] = nlohmann::ordered_json::array();
  for (const LayerReport& l : r.layers) j["layers"].push_back(json_of(l));
  j["outputs"] = nlohmann::ordered_json::array();
  for (const OutputReport& o : r.outputs) j["outputs"].push_back(json_of(o));
  return j;
}

std::string to_json(const RunReport& r) {
  nlohmann::ordered_json j{{"schema_version", kSchemaVersion}};
  j.update(json_of(r));
  return json_text(j);
}

}  // namespace kaiten
