// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/make_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "base/arithmetic.h"
#include "graph/values.h"
#include "program/bus_beats.h"

namespace kaiten {

namespace {

constexpr std::size_t kTop = 5;

void add_losses(LayerReport& l, const LayerTime& t, double time) {
  // A layer that hides behind the other engine has less time of its own than work: then only padding is lost.
  const double busy = double(t.cycles >= t.engine_cycles ? t.busy_cycles : t.engine_cycles);
  l.losses.emplace_back("padding", std::max(0.0, busy / time - l.utilization));
  if (t.cycles >= t.engine_cycles) {
    for (std::size_t w = 0; w < kWaits; w++)
      l.losses.emplace_back(name_of(Wait(w)), double(t.waits[w]) / time);
  }
  std::erase_if(l.losses, [](const auto& loss) { return loss.second <= 0; });
  std::stable_sort(l.losses.begin(), l.losses.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
}

void add_bytes(BytesReport& b, CommandMeta::Bytes kind, std::int64_t read, std::int64_t written) {
  switch (kind) {
    case CommandMeta::Bytes::kWeights:
      b.weights += std::uint64_t(read);
      break;
    case CommandMeta::Bytes::kParameters:
      b.parameters += std::uint64_t(read);
      break;
    case CommandMeta::Bytes::kActivations:
      b.activations += std::uint64_t(read);
      b.written += std::uint64_t(written);
      break;
    case CommandMeta::Bytes::kNone:
      break;
  }
}

LayerReport layer_report(const Graph& graph, const Program& program, const LayerInfo& info,
                         const std::vector<LayerTime>& times, std::uint64_t predicted_cycles) {
  const Op& op = graph.ops[std::size_t(info.op)];
  LayerReport l;
  l.name = op.name;
  l.op = std::string(name_of(op.kind));
  l.predicted_cycles = predicted_cycles;
  l.shape_in = shape_text(graph.input_of(op).shape);
  l.shape_out = shape_text(graph.output_of(op).shape);
  l.on_host = info.place == Place::kHost;
  l.nothing_to_do = info.place == Place::kNothing;
  l.on_array = info.place == Place::kArray;
  l.macs = std::uint64_t(program.images) * (info.array_macs + info.vector_macs);
  if (std::size_t(info.op) >= times.size() || l.on_host || l.nothing_to_do) return l;
  const LayerTime& t = times[std::size_t(info.op)];
  l.cycles = t.cycles;
  const int multipliers =
      l.on_array ? program.config.array_multipliers() : program.config.vector_multipliers();
  // Results that wait for a bank blur by a few cycles whose an engine's cycles were; it needed this many at
  // least.
  const std::uint64_t least = ceil_div(l.macs, std::uint64_t(multipliers));
  const std::uint64_t time = std::max({t.cycles, t.engine_cycles, least});
  if (time > 0 && l.macs > 0) {
    l.utilization = double(l.macs) / (double(time) * multipliers);
    add_losses(l, t, double(time));
  }
  l.limited_by = limited_by(l.on_array, t);
  return l;
}

// Real values of a float32 tensor, NaN below all others; else integers as the model has them.
std::vector<double> scores_of(const Tensor& tensor, const std::vector<std::int8_t>& values) {
  std::vector<double> scores;
  if (tensor.type == ElementType::Float32) {
    for (const float v : floats_of(values))
      scores.push_back(std::isnan(v) ? -std::numeric_limits<double>::infinity() : double(v));
    return scores;
  }
  const int offset = tensor.model_type == ElementType::UInt8 ? 128 : 0;
  for (const std::int8_t v : values) scores.push_back(v + offset);
  return scores;
}

}  // namespace

RunReport make_report(const Graph& graph, const Program& program, const Counters& counters,
                      const std::vector<LayerTime>& times) {
  RunReport r;
  r.model = graph.name;
  r.config = program.config;
  r.batch = program.images;
  r.counters = counters;
  r.cycles = counters["cycles"];
  r.notes = program.notes;
  r.bytes = {counters["read_weights"], counters["read_parameters"], counters["read_activations"],
             counters["read_commands"], counters["written_activations"]};
  r.zvc = {counters["zvc_read_raw"], counters["zvc_read_packed"], counters["zvc_written_raw"],
           counters["zvc_written_packed"]};
  r.predicted.commands = r.uncompressed.commands = program.command_blocks() * kCommandBytes;
  const std::uint64_t width = std::uint64_t(program.config.axi_bytes);
  r.bus = {counters["beats_read"] * width, counters["beats_written"] * width};
  const BusBeats beats = bus_beats(program);
  r.predicted_bus = {std::uint64_t(beats.read) * width, std::uint64_t(beats.written) * width};
  r.predicted_cycles = std::uint64_t(program.modelled_cycles);
  const std::vector<LayerTime> predicted = modelled_layer_times(program);
  for (const LayerInfo& info : program.layers) {
    r.layers.push_back(layer_report(graph, program, info, times, predicted[std::size_t(info.op)].cycles));
    r.macs += r.layers.back().macs;
    r.array_macs += std::uint64_t(program.images) * info.array_macs;
  }
  for (const CommandMeta& m : program.meta) {
    LayerReport& l = r.layers[std::size_t(m.op)];
    l.bytes_read += m.bytes_read();
    l.bytes_written += m.bytes_written();
    add_bytes(r.predicted, m.kind, m.bytes_read(), m.bytes_written());
    add_bytes(r.uncompressed, m.kind, m.read_bytes, m.written_bytes);
    if (!m.packed) continue;
    r.zvc_read_raw += std::uint64_t(m.read_bytes);
    r.zvc_written_raw += std::uint64_t(m.written_bytes);
    if (m.kind != CommandMeta::Bytes::kWeights) continue;
    r.zvc_weights_raw += std::uint64_t(m.read_bytes);
    r.zvc_weights_packed += std::uint64_t(m.packed->bytes);
  }
  r.exactly_predicted = program.compressed.empty();
  return r;
}

RunReport joined(const Graph& graph, std::vector<PartOfReport> parts) {
  RunReport all = std::move(parts.front().report);
  std::vector<LayerReport> layers(graph.ops.size());
  const auto place_layers = [&](std::vector<LayerReport>& from, const std::vector<int>& ops) {
    for (std::size_t i = 0; i < ops.size(); i++) layers[std::size_t(ops[i])] = std::move(from[i]);
  };
  place_layers(all.layers, parts.front().ops);
  for (std::size_t i = 1; i < parts.size(); i++) {
    RunReport& r = parts[i].report;
    place_layers(r.layers, parts[i].ops);
    all.cycles += r.cycles;
    all.predicted_cycles += r.predicted_cycles;
    all.macs += r.macs;
    all.array_macs += r.array_macs;
    for (std::size_t c = 0; c < Counters::kCount; c++) all.counters.values[c] += r.counters.values[c];
    all.bytes += r.bytes;
    all.predicted += r.predicted;
    all.uncompressed += r.uncompressed;
    all.bus += r.bus;
    all.predicted_bus += r.predicted_bus;
    all.zvc += r.zvc;
    all.zvc_read_raw += r.zvc_read_raw;
    all.zvc_written_raw += r.zvc_written_raw;
    all.zvc_weights_raw += r.zvc_weights_raw;
    all.zvc_weights_packed += r.zvc_weights_packed;
    all.exactly_predicted = all.exactly_predicted && r.exactly_predicted;
    for (std::string& note : r.notes) all.notes.push_back(std::move(note));
  }
  all.layers = std::move(layers);
  all.sections = int(parts.size());
  return all;
}

std::string bytes_difference(const RunReport& r) {
  struct Kind {
    const char* what;
    std::uint64_t counted;
    std::uint64_t predicted;
  };
  // The counters of compression do not tell weights and maps apart.
  const std::uint64_t maps_raw = r.zvc.read_raw - r.zvc_weights_raw;
  const std::uint64_t maps_packed = r.zvc.read_packed - r.zvc_weights_packed;
  std::vector<Kind> kinds{
      {"weights read", r.bytes.weights, r.predicted.weights},
      {"activations read", r.bytes.activations - maps_packed + maps_raw, r.uncompressed.activations},
      {"compressed bytes read", r.zvc.read_raw, r.zvc_read_raw},
      {"compressed bytes written", r.zvc.written_raw, r.zvc_written_raw},
      {"parameters read", r.bytes.parameters, r.uncompressed.parameters},
      {"commands read", r.bytes.commands, r.uncompressed.commands},
      {"activations written", r.bytes.written - r.zvc.written_packed + r.zvc.written_raw,
       r.uncompressed.written}};
  if (r.exactly_predicted) {
    kinds.push_back({"activations read", r.bytes.activations, r.predicted.activations});
    kinds.push_back({"activations written", r.bytes.written, r.predicted.written});
    kinds.push_back({"whole words of the bus read", r.bus.read, r.predicted_bus.read});
    kinds.push_back({"whole words of the bus written", r.bus.written, r.predicted_bus.written});
  }
  for (const Kind& k : kinds) {
    if (k.counted != k.predicted)
      return fmt::format("{}: the device counted {} bytes, the compiler predicts {}", k.what, k.counted,
                         k.predicted);
  }
  return {};
}

OutputReport output_report(const Tensor& tensor, const std::vector<std::int8_t>& values,
                           const std::vector<std::string>& labels) {
  OutputReport o{tensor.name, shape_text(tensor.shape), std::string(name_of(tensor.model_type))};
  if (tensor.type == ElementType::Int32 || tensor.type == ElementType::Int64) {
    // Positions of an argmax: a single one is a class.
    if (tensor.elements() != 1) return o;
    std::int64_t position = 0;
    std::memcpy(&position, values.data(), tensor.bytes());
    const auto c = std::size_t(position);
    o.top5.push_back({int(position), double(position), c < labels.size() ? labels[c] : ""});
    return o;
  }
  // Scores stand along one dimension.
  const auto longest = std::max_element(tensor.shape.begin(), tensor.shape.end());
  if (longest == tensor.shape.end() || std::size_t(*longest) != tensor.elements()) return o;
  const std::vector<double> scores = scores_of(tensor, values);
  std::vector<int> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  const std::size_t n = std::min(kTop, order.size());
  std::partial_sort(order.begin(), order.begin() + std::ptrdiff_t(n), order.end(), [&](int a, int b) {
    const double x = scores[std::size_t(a)];
    const double y = scores[std::size_t(b)];
    return x != y ? x > y : a < b;
  });
  for (std::size_t i = 0; i < n; i++) {
    const std::size_t c = std::size_t(order[i]);
    o.top5.push_back({order[i], scores[c], c < labels.size() ? labels[c] : ""});
  }
  return o;
}

}  // namespace kaiten
