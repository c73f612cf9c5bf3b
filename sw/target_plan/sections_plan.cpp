// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "target_plan/sections_plan.h"

#include <set>
#include <utility>

#include "base/error.h"
#include "plan/from_graph.h"
#include "target_plan/target_plan.h"

namespace kaiten {

struct SectionsPlanner::Part {
  Part(Section s, const Config& config, const CompileOptions& options, double bytes_per_cycle)
      : section(std::move(s)),
        network(plan::network_of(*section.graph, plan::Inputs::kAny)),
        planner(*section.graph, network, false, config, options, bytes_per_cycle) {}

  Section section;
  plan::Network network;
  TargetPlanner planner;
  int first = 0;                        // of its layers in the whole network
  std::vector<plan::SectionWork> work;  // by method
};

namespace {

// Bytes of these tensors of the section.
template <class Tensors>
std::int64_t bytes_of(const Section& s, const Tensors& tensors) {
  std::set<int> all;
  for (const auto& t : tensors) all.insert(t.tensor);
  std::int64_t bytes = 0;
  for (int t : all) bytes += std::int64_t(s.graph->tensors[std::size_t(t)].bytes());
  return bytes;
}

plan::SectionWork work_of(const Section& s, const plan::Method& m, int images) {
  plan::SectionWork w;
  w.cycles = m.cycles;
  w.traffic_bytes = m.traffic_bytes;
  w.host_written_bytes = images * bytes_of(s, s.program.inputs);
  w.host_read_bytes = images * bytes_of(s, s.program.outputs);
  for (const LayerInfo& layer : s.program.layers) {
    const Op& op = s.graph->ops[std::size_t(layer.op)];
    if (layer.on_host && op.kind != OpKind::Reshape) w.host_operators.push_back(op.name);
  }
  return w;
}

// Numbers of a section to those of the whole: layers from `first` on, operators by `ops`, time from `start` on.
void renumber(plan::Method& m, int first, const std::vector<int>& ops, std::int64_t start) {
  for (plan::Span& s : m.spans) {
    s.first += first;
    s.last += first;
    for (int& layer : s.layers) layer += first;
    for (plan::KeptRows& k : s.kept) k.map += first;
  }
  for (plan::LayerWork& l : m.layers) l.number = ops[std::size_t(l.number)];
  for (plan::CommandWork& c : m.commands) {
    c.layer = ops[std::size_t(c.layer)];
    c.start += start;
    c.complete += start;
  }
}

template <class T>
void append(std::vector<T>& to, std::vector<T>&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

void append(plan::Method& to, plan::Method&& from) {
  append(to.spans, std::move(from.spans));
  append(to.layers, std::move(from.layers));
  append(to.commands, std::move(from.commands));
  to.penalty_bytes += from.penalty_bytes;
  to.traffic_bytes += from.traffic_bytes;
  to.bytes += from.bytes;
  to.bus_bytes += from.bus_bytes;
  to.cycles += from.cycles;
  to.macs += from.macs;
  to.zvc_raw_bytes += from.zvc_raw_bytes;
  to.zvc_packed_bytes += from.zvc_packed_bytes;
  to.exactly_predicted = to.exactly_predicted && from.exactly_predicted;
}

}  // namespace

SectionsPlanner::SectionsPlanner(const Graph& graph, const Config& config, const CompileOptions& options,
                                 double bytes_per_cycle)
    : images_(options.images) {
  network_.name = graph.name;
  network_.source = "model";
  for (Section& s : compile_sections(graph, config, options)) {
    if (s.program.commands.empty()) continue;  // the host's alone
    parts_.push_back(std::make_unique<Part>(std::move(s), config, options, bytes_per_cycle));
    add_network(*parts_.back());
  }
}

SectionsPlanner::~SectionsPlanner() = default;

void SectionsPlanner::add_network(Part& part) {
  part.first = network_.layer_count();
  if (network_.maps.empty()) network_.maps.push_back(part.network.maps.front());
  if (part.first > 0) network_.outputs.push_back(part.first);
  for (int map : part.network.outputs) network_.outputs.push_back(part.first + map);
  for (int m = 0; m < part.network.layer_count(); m++) {
    plan::Layer l = part.network.layers[std::size_t(m)];
    l.number = part.section.ops[std::size_t(l.number)];
    for (int& map : l.inputs) map += part.first;
    for (int& map : l.adds) map += part.first;
    network_.layers.push_back(std::move(l));
    network_.maps.push_back(part.network.out(m));
  }
}

plan::Method SectionsPlanner::run(plan::MethodKind kind) {
  plan::Method all;
  for (const auto& part : parts_) {
    plan::Method m = part->planner.run(kind);
    part->work.push_back(work_of(part->section, m, images_));
    renumber(m, part->first, part->section.ops, all.cycles);
    if (all.name.empty()) {
      all = std::move(m);
    } else {
      append(all, std::move(m));
    }
  }
  return all;
}

std::vector<plan::SectionWork> SectionsPlanner::sections(std::size_t method) const {
  std::vector<plan::SectionWork> all;
  for (const auto& part : parts_) all.push_back(part->work[method]);
  return all;
}

}  // namespace kaiten
