// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "target_plan/program_method.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "observe/layer_clock.h"
#include "program/bus_beats.h"

namespace kaiten {

namespace {

int base_of(const Command& c) {
  if (const auto* l = std::get_if<LoadRowsCommand>(&c.body)) return int(l->base);
  if (const auto* s = std::get_if<StoreCommand>(&c.body)) return int(s->base);
  return -1;
}

// The kind of a command's bytes; of a map that goes through memory whether it is a boundary between spans or
// crosses one beside it.
std::int64_t plan::Bytes::*kind_of(const Command& command, const CommandMeta& meta, bool boundary) {
  switch (meta.kind) {
    case CommandMeta::Bytes::kWeights:
      return &plan::Bytes::weights;
    case CommandMeta::Bytes::kParameters:
      return &plan::Bytes::parameters;
    default:
      break;
  }
  const int base = base_of(command);
  if (base == int(Base::kInputs)) return &plan::Bytes::input;
  if (base == int(Base::kOutputs) && meta.written_bytes > 0) return &plan::Bytes::output;
  return boundary ? &plan::Bytes::spilled : &plan::Bytes::residual;
}

// Where the operators and maps of a graph are in the spans of a method, -1: nowhere.
struct SpanIndex {
  std::vector<int> of_op;
  std::vector<int> of_boundary;  // span whose boundary a tensor is

  explicit SpanIndex(const Graph& graph)
      : of_op(graph.ops.size(), -1), of_boundary(graph.tensors.size(), -1) {}
};

std::int64_t& busy_cycles(plan::Cycles& cycles, Queue queue) {
  switch (queue) {
    case Queue::kLoad:
      return cycles.load;
    case Queue::kConv:
      return cycles.array;
    case Queue::kVector:
      return cycles.vector;
    default:
      return cycles.store;
  }
}

class ProgramMethod {
 public:
  ProgramMethod(const Graph& graph, const std::vector<int>& layer_of, const Config& config,
                const Program& program)
      : graph_(graph),
        layer_of_(layer_of),
        config_(config),
        program_(program),
        index_(graph),
        layers_(graph.ops.size()) {}

  plan::Method run() {
    method_.cycles = program_.modelled_cycles;
    method_.exactly_predicted = program_.sizes_known();
    for (const SpanInfo& info : program_.spans) add_span(info);
    if (!method_.spans.empty()) method_.spans.back().boundary = plan::Boundary::kOutput;
    for (std::size_t i = 0; i < program_.commands.size(); i++)
      add_command(program_.commands[i], program_.meta[i]);
    for (plan::Span& s : method_.spans) add_totals(s);
    add_layers();
    return std::move(method_);
  }

 private:
  void add_span(const SpanInfo& info) {
    // The same operator again: its input is read once for each part of its weights.
    const bool seen = std::all_of(info.ops.begin(), info.ops.end(),
                                  [&](int op) { return index_.of_op[std::size_t(op)] >= 0; });
    if (seen) {
      plan::Span& s = method_.spans[std::size_t(index_.of_op[std::size_t(info.ops.front())])];
      s.weights_bytes += info.weights_bytes;
      return;
    }
    const int number = int(method_.spans.size());
    plan::Span s;
    s.weights_bytes = info.weights_bytes;
    s.streamed = info.streamed;
    s.boundary =
        info.boundary == SpanInfo::Boundary::kHeld ? plan::Boundary::kHeld : plan::Boundary::kSpilled;
    for (int op : info.ops) {
      // An operator may be several, for parts of its channels; it counts where the first of them is.
      if (index_.of_op[std::size_t(op)] >= 0) continue;
      index_.of_op[std::size_t(op)] = number;
      if (layer_of_[std::size_t(op)] >= 0) s.layers.push_back(layer_of_[std::size_t(op)]);
    }
    index_.of_boundary[std::size_t(graph_.ops[std::size_t(info.ops.back())].output)] = number;
    if (!s.layers.empty()) {
      s.first = *std::min_element(s.layers.begin(), s.layers.end());
      s.last = *std::max_element(s.layers.begin(), s.layers.end());
    }
    for (const SpanInfo::Kept& k : info.kept) {
      s.kept.push_back({map_of(k.tensor), k.rows, k.bytes, k.in_vb ? "VB" : "SB"});
      s.rows_bytes += k.bytes;
    }
    method_.spans.push_back(std::move(s));
  }

  // The plan's number of the map that a tensor is.
  int map_of(int tensor) const {
    int map = 0;
    for (std::size_t op = 0; op < graph_.ops.size(); op++) {
      if (graph_.ops[op].output == tensor && layer_of_[op] >= 0) map = layer_of_[op] + 1;
    }
    return map;
  }

  void add_command(const Command& command, const CommandMeta& meta) {
    plan::CommandWork work{.op = command.name(),
                           .layer = meta.op,
                           .image = meta.image,
                           .first_row = meta.first_row,
                           .rows = meta.rows,
                           .start = meta.start,
                           .complete = meta.complete,
                           .cycles = meta.cycles};
    work.bytes.commands = work.bus_bytes.commands = std::int64_t(command.blocks()) * kCommandBytes;
    const bool boundary = meta.tensor >= 0 && index_.of_boundary[std::size_t(meta.tensor)] >= 0;
    const auto kind = kind_of(command, meta, boundary);
    work.bytes.*kind += meta.bytes_read() + meta.bytes_written();
    const BusBeats beats = bus_beats(command.body, meta, config_);
    work.bus_bytes.*kind += (beats.read + beats.written) * config_.axi_bytes;
    if (meta.packed) {
      method_.zvc_raw_bytes += meta.read_bytes + meta.written_bytes;
      method_.zvc_packed_bytes += meta.packed->bytes;
    }
    plan::Span& s = method_.spans[std::size_t(std::max(0, index_.of_op[std::size_t(meta.op)]))];
    s.bytes += work.bytes;
    s.bus_bytes += work.bus_bytes;
    busy_cycles(s.cycles, command.queue()) += meta.cycles;
    plan::LayerWork& layer = layers_[std::size_t(meta.op)];
    layer.commands++;
    layer.bytes += work.bytes;
    layer.bus_bytes += work.bus_bytes;
    method_.commands.push_back(work);
  }

  void add_totals(plan::Span& s) {
    s.traffic_bytes = s.bytes.total() - s.bytes.residual;
    method_.penalty_bytes += s.bytes.residual;
    method_.traffic_bytes += s.bytes.total();
    method_.bytes += s.bytes;
    method_.bus_bytes += s.bus_bytes;
  }

  void add_layers() {
    const std::vector<LayerTime> times = modelled_layer_times(program_);
    for (const LayerInfo& info : program_.layers) {
      const std::size_t op = std::size_t(info.op);
      plan::LayerWork& layer = layers_[op];
      if (layer.commands == 0) continue;
      layer.number = info.op;
      layer.name = graph_.ops[op].name;
      layer.op = name_of(graph_.ops[op].kind);
      layer.cycles = std::int64_t(times[op].cycles);
      layer.limited_by = limited_by(info.place == Place::kArray, times[op]);
      method_.layers.push_back(std::move(layer));
    }
  }

  const Graph& graph_;
  const std::vector<int>& layer_of_;
  const Config& config_;
  const Program& program_;
  SpanIndex index_;
  std::vector<plan::LayerWork> layers_;  // by operator
  plan::Method method_;
};

}  // namespace

plan::Method method_of(const Graph& graph, const std::vector<int>& layer_of, const Config& config,
                       const Program& program) {
  return ProgramMethod(graph, layer_of, config, program).run();
}

}  // namespace kaiten
