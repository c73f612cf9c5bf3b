// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What a run found: compared, confirmed, measured.
#include <algorithm>

#include "observe/watcher.h"
#include "run/session_state.h"

namespace kaiten {

// The commands of all sections, one section after the other.
void Session::State::add_timeline(std::span<const std::unique_ptr<TraceRecorder>> traces,
                                  RunReport& report) const {
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < traces.size(); i++) {
    for (const TraceRecorder::Slice& s : traces[i]->slices()) {
      const int op = parts[i].program().meta[s.command].op;
      report.timeline.push_back(
          {int(s.queue), parts[i].section.ops[std::size_t(op)], first + s.from, first + s.to});
    }
    first += traces[i]->cycles();
  }
}

// The speed of the simulation alone, without watchers.
void Session::State::measure_speed(double seconds, RunReport& report) {
  const double before = device->loop_seconds();
  const std::uint64_t cycles = device->loop_cycles();
  for (PreparedSection& part : parts)
    part.driver->set_progress([this](std::uint64_t) { say(title() + "repeating"); });
  while (device->loop_seconds() - before < seconds) {
    for (PreparedSection& part : parts) part.driver->execute();
    say(title() + "repeating");
  }
  report.seconds = device->loop_seconds() - before;
  report.loop_cycles = device->loop_cycles() - cycles;
}

// What the compressed maps take in the device's memory.
void Session::State::add_packed_sizes(PreparedSection& part, RunReport& report) {
  for (const CompressedMap& map : part.program().compressed) {
    const MemoryLayout& m = map.layout;
    LayerReport& layer = report.layers[std::size_t(map.op)];
    const std::uint64_t raw = std::uint64_t(m.height) * std::uint64_t(m.width) *
                              std::uint64_t((m.segments - 1) * m.pixel_bytes + m.last_pixel_bytes);
    const Driver::PackedMap packed = part.driver->read_packed(map);
    layer.zvc_raw += raw;
    layer.zvc_packed += packed.bytes;
    layer.zvc_limit += raw / 8 + packed.nonzeros;
  }
}

void Session::State::add_outputs(const std::vector<std::string>& labels, RunResult& result) const {
  const std::size_t each = graph.outputs.size();
  for (std::size_t i = 0; i < result.outputs.size(); i++) {
    const Tensor& tensor = graph.tensors[std::size_t(graph.outputs[i % each])];
    result.report.outputs.push_back(output_report(tensor, result.outputs[i], labels));
    result.report.outputs.back().image = int(i / each);
  }
}

// The verdict on a section: what the watcher saw, and its outputs, those that the host computed element by element.
void Session::State::compare(const PreparedSection& part, const Watcher& watcher, const Tensors& tensors,
                             std::span<const Int8Values> expected, RunResult& result) const {
  RunReport& report = result.report;
  const Graph& g = *part.section.graph;
  const auto op_of = [&](int op) { return part.section.ops[std::size_t(op)]; };
  report.checked += watcher.checked();
  if (report.difference.empty()) report.difference = watcher.verdict();
  for (TensorComparison c : watcher.comparisons()) {
    c.op = op_of(c.op);
    result.comparisons.push_back(c);
  }
  for (const LayerInfo& layer : part.program().layers) {
    const auto output = std::size_t(g.ops[std::size_t(layer.op)].output);
    if (std::find(g.outputs.begin(), g.outputs.end(), int(output)) == g.outputs.end()) continue;
    TensorComparison compared;
    for (std::size_t image = 0; image < tensors.size(); image++) {
      const Int8Values& found = tensors[image][output];
      const Int8Values& wanted = expected[image * graph.tensors.size() + output];
      if (layer.on_host) compare_values(g, layer.op, int(image), found, wanted, compared);
      if (found != wanted && report.difference.empty())
        report.difference = "output '" + graph.tensors[output].name + "' differs";
    }
    compared.op = op_of(layer.op);
    if (layer.on_host) result.comparisons.push_back(compared);
  }
}

// The outputs against those that somebody else computed; which operators made them.
std::vector<bool> Session::State::compare_golden(std::span<const Int8Values> golden,
                                                 RunResult& result) const {
  std::vector<bool> made(graph.ops.size(), false);
  if (golden.empty()) return made;
  if (golden.size() != result.outputs.size()) {
    throw InputError("the golden holds " + std::to_string(golden.size()) + " tensors, the run gives " +
                     std::to_string(result.outputs.size()));
  }
  for (std::size_t i = 0; i < golden.size(); i++) {
    const int output = graph.outputs[i % graph.outputs.size()];
    const auto op = std::find_if(graph.ops.begin(), graph.ops.end(),
                                 [output](const Op& o) { return o.output == output; }) -
                    graph.ops.begin();
    if (std::size_t(op) == graph.ops.size()) continue;  // an input
    TensorComparison c;
    compare_values(graph, int(op), int(i / graph.outputs.size()), result.outputs[i], golden[i], c);
    made[std::size_t(op)] = true;
    result.report.confirmation.golden += c.seen;
    if (c.different > 0 && result.report.difference.empty())
      result.report.difference = "not what the golden holds: " + to_text(c.first, graph);
  }
  return made;
}

// What of the result something independent confirms: the reference, which shares no code with the accelerator, what the
// accelerator computed; the interpreter, which shares none with either, all that it shows.
void Session::State::confirm(std::span<const Int8Values> expected, const std::optional<Interpretation>& shown,
                             std::span<const Int8Values> golden, RunResult& result) const {
  RunReport& report = result.report;
  Confirmation& c = report.confirmation;
  c.reference = report.checked;
  std::vector<bool> confirmed = compare_golden(golden, result);
  for (const TensorComparison& t : result.comparisons) {
    if (t.op >= 0 && !report.layers[std::size_t(t.op)].on_host) confirmed[std::size_t(t.op)] = true;
  }
  if (shown) {
    c.interpreter = shown->name, c.version = shown->version;
    result.interpreted = compare_all(graph, options.batch, expected, *shown);
    for (const TensorComparison& t : result.interpreted) {
      confirmed[std::size_t(t.op)] = true;
      c.tensors++;
      c.interpreted += t.seen, c.different += t.different, c.close += t.close;
      if (t.different > 0 && report.difference.empty())
        report.difference = "not what " + c.title() + " gives: " + to_text(t.first, graph);
    }
  }
  // What an operator has done for the one that follows it is seen in its result alone.
  for (std::size_t op = graph.ops.size(); op-- > 0;) {
    if (!confirmed[op] || !report.layers[op].nothing_to_do) continue;
    const int input = graph.ops[op].inputs.front();
    for (std::size_t made = 0; made < op; made++) {
      if (graph.ops[made].output == input && !report.layers[made].on_host) confirmed[made] = true;
    }
  }
  for (std::size_t op = 0; op < graph.ops.size(); op++) {
    const LayerReport& layer = report.layers[op];
    if (confirmed[op] || layer.nothing_to_do) continue;
    c.unconfirmed.push_back(
        {layer.name, layer.op, graph.output_of(graph.ops[op]).elements() * std::uint64_t(report.batch)});
  }
}
RunResult Session::State::result_of(Run& run) {
  ran = true;
  if (run.reference) run.expected = run.reference->take();
  run.reference.reset();
  RunResult result;
  result.report = joined(graph, std::move(run.reports));
  for (const auto& image : run.tensors) {
    for (int t : graph.outputs) result.outputs.push_back(image[std::size_t(t)]);
  }
  if (run.options.seconds > 0) measure_speed(run.options.seconds, result.report);
  add_outputs(run.options.labels, result);
  for (std::size_t i = 0; i < run.watchers.size(); i++)
    compare(parts[i], *run.watchers[i], run.tensors, run.expected, result);
  confirm(run.expected, run.shown, run.options.golden, result);
  if (run.options.check) result.report.exact = result.report.difference.empty();
  if (run.options.check && oracle) {
    for (const std::string& note : oracle->notes()) result.report.notes.push_back(note);
  }
  if (run.options.trace) {
    result.trace = trace_json(run.traces, graph.name, options.config);
    add_timeline(run.traces, result.report);
  }
  if (wave) {
    device->close_waves();
    if (options.wave_from >= result.report.cycles) {
      throw InputError("the waves would be empty: they begin with cycle " +
                       std::to_string(options.wave_from) + ", the run has " +
                       std::to_string(result.report.cycles));
    }
    wave->commit();
    wave.reset();
  }
  return result;
}

}  // namespace kaiten
