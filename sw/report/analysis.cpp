// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "compile/emit/cycle_model.h"
#include "observe/layer_clock.h"
#include "target_plan/sections_plan.h"

namespace kaiten {

namespace {

struct Timing {
  std::int64_t cycles = 0;
  std::vector<std::uint64_t> layer_cycles;
};

Timing timing_of(const Graph& graph, const std::vector<Section>& sections) {
  Timing t;
  t.layer_cycles.resize(graph.ops.size());
  for (const Section& s : sections) {
    t.cycles += s.program.modelled_cycles;
    const std::vector<LayerTime> times = modelled_layer_times(s.program);
    for (std::size_t i = 0; i < times.size(); i++) t.layer_cycles[std::size_t(s.ops[i])] = times[i].cycles;
  }
  return t;
}

Change change_of(std::string name, const Graph& graph, const std::vector<Section>& sections) {
  Timing t = timing_of(graph, sections);
  return {std::move(name), t.cycles, std::move(t.layer_cycles)};
}

Change compiled_change(std::string name, const Graph& graph, const Config& config,
                       const CompileOptions& options) {
  CompileOptions no_bytes = options;
  no_bytes.constants = false;
  return change_of(std::move(name), graph, try_compile_sections(graph, config, no_bytes).sections);
}

std::vector<Change> changes_of(const Graph& graph, const Config& config, const CompileOptions& options,
                               std::vector<Section> sections, const std::function<void()>& step) {
  std::vector<Change> all;
  const auto compiled = [&](const std::string& name, auto&& more) {
    Config changed = config;
    more(changed);
    all.push_back(compiled_change(name, graph, changed, options));
    step();
  };
  compiled(fmt::format("a bus of {} bytes instead of {}", 2 * config.axi_bytes, config.axi_bytes),
           [](Config& c) { c.axi_bytes *= 2; });
  compiled(fmt::format("an array of {} rows instead of {}", 2 * config.kp, config.kp), [](Config& c) {
    c.kp *= 2;
    c.stage_rows *= 2;
  });
  compiled("a weight buffer (WB) twice as large", [](Config& c) { c.wb_rows *= 2; });
  compiled("row buffers (SB, VB) twice as large", [](Config& c) {
    c.sb_depth *= 2;
    c.vb_depth *= 2;
  });
  compiled("an output buffer (OB) twice as large", [](Config& c) { c.ob_pixels *= 2; });
  for (Section& s : sections) halve_vector_cycles(s.program);
  all.push_back(
      change_of(fmt::format("{} vector lanes instead of {}", 2 * config.cp, config.cp), graph, sections));
  std::erase_if(all, [](const Change& c) { return c.cycles == 0; });
  std::stable_sort(all.begin(), all.end(),
                   [](const Change& a, const Change& b) { return a.cycles < b.cycles; });
  return all;
}

nlohmann::ordered_json json_of(const plan::Bytes& b) {
  return {{"weights", b.weights}, {"parameters", b.parameters}, {"commands", b.commands}, {"input", b.input},
          {"output", b.output},   {"spilled", b.spilled},       {"residual", b.residual}};
}

const char* name_of(SpanInfo::Boundary b) {
  return b == SpanInfo::Boundary::kOutput ? "output" : b == SpanInfo::Boundary::kHeld ? "held" : "spilled";
}

}  // namespace

Footprint footprint_of(const std::vector<Section>& sections) {
  Footprint f;
  for (const Section& s : sections) {
    const Program& p = s.program;
    f.weights += p.constant_bytes;
    f.commands += std::int64_t(p.commands.size()) * kCommandBytes;
    f.inputs += p.input_bytes;
    f.outputs += p.output_bytes;
    f.activations += p.activation_bytes;
    for (const SpanInfo& span : p.spans) {
      f.span_weights = std::max(f.span_weights, span.weights_bytes);
      f.span_rows = std::max(f.span_rows, span.rows_bytes);
    }
  }
  return f;
}

Analysis analyse(const Graph& graph, const Config& config, const CompileOptions& options,
                 const std::function<void(double done)>& progress) {
  // Compilations: of the network, of its plan, of the accelerators with more of something.
  constexpr double kSteps = 7;
  double steps = 0;
  const auto step = [&] {
    steps++;
    if (progress) progress(steps / kSteps);
  };
  Analysis a;
  std::vector<Section> sections = compile_sections(graph, config, options);
  Timing t = timing_of(graph, sections);
  a.cycles = t.cycles;
  a.layer_cycles = std::move(t.layer_cycles);
  a.footprint = footprint_of(sections);
  for (const Section& s : sections) {
    for (SpanInfo span : s.program.spans) {
      const auto of_network = [&](int& op) { op = s.ops[std::size_t(op)]; };
      std::for_each(span.ops.begin(), span.ops.end(), of_network);
      of_network(span.first_op);
      of_network(span.last_op);
      a.spans.push_back(std::move(span));
    }
  }
  step();
  SectionsPlanner planner(graph, config, options);
  a.bytes = planner.run(plan::MethodKind::kOptimal).bytes;
  a.bound = planner.run(plan::MethodKind::kBound).bytes;
  step();
  a.changes = changes_of(graph, config, options, std::move(sections), step);
  return a;
}

nlohmann::ordered_json json_of(const Footprint& f) {
  return {{"weights", f.weights},
          {"commands", f.commands},
          {"inputs", f.inputs},
          {"outputs", f.outputs},
          {"activations", f.activations},
          {"total", f.total()},
          {"largest_span_weights", f.span_weights},
          {"largest_span_rows", f.span_rows}};
}

nlohmann::ordered_json json_of(const Graph& graph, const Analysis& a) {
  nlohmann::ordered_json j;
  j["modelled_cycles"] = a.cycles;
  j["what_if"] = nlohmann::ordered_json::array();
  for (const Change& c : a.changes) j["what_if"].push_back({{"change", c.name}, {"cycles", c.cycles}});
  j["spans"] = nlohmann::ordered_json::array();
  for (const SpanInfo& s : a.spans) {
    nlohmann::ordered_json layers = nlohmann::ordered_json::array(), kept = nlohmann::ordered_json::array();
    for (int op : s.ops) layers.push_back(op);
    for (const SpanInfo::Kept& k : s.kept)
      kept.push_back({{"map", graph.tensors[std::size_t(k.tensor)].name},
                      {"buffer", k.in_vb ? "VB" : "SB"},
                      {"rows", k.rows},
                      {"bytes", k.bytes}});
    j["spans"].push_back({{"layers", layers},
                          {"weights_bytes", s.weights_bytes},
                          {"rows_bytes", s.rows_bytes},
                          {"activation_bytes", s.activation_bytes},
                          {"boundary", name_of(s.boundary)},
                          {"kept", kept}});
  }
  j["bound_bytes"] = json_of(a.bound);
  j["footprint"] = json_of(a.footprint);
  return j;
}

}  // namespace kaiten
