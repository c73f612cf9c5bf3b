// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cluster/spill.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "base/error.h"
#include "cluster/spill_host.h"
#include "cluster/windows.h"
#include "compile/compiler.h"
#include "graph/part.h"
#include "reference/reference.h"

namespace kaiten::cluster {

namespace {

// Register accesses around a run.
constexpr double kControlCycles = 60;

Stage segment_of(const Graph& graph, int first, int last, const Config& config,
                 const CompileOptions& options) {
  Stage s;
  s.ops.resize(std::size_t(last + 1 - first));
  std::iota(s.ops.begin(), s.ops.end(), first);
  s.graph = part_of(graph, s.ops);
  KeptPrograms programs = compile_kept(s.graph, config, options);
  s.first = std::move(programs.first);
  s.again = std::move(programs.again);
  return s;
}

// As many segments as there can be: each compiles by itself and has something to do for the accelerator. What follows the last
// of them belongs to it.
std::vector<Stage> segments_of(const Graph& graph, const Config& config, const CompileOptions& options) {
  std::vector<int> ends = cuts_of(graph);
  ends.push_back(int(graph.ops.size()) - 1);
  std::vector<Stage> out;
  int from = 0;
  for (const int end : ends) {
    const bool last = end == ends.back();
    try {
      Stage s = segment_of(graph, from, end, config, options);
      if (s.again.commands.empty()) throw InputError("limit: networks with work for the accelerator");
      out.push_back(std::move(s));
      from = end + 1;
    } catch (const InputError&) {
      if (!last) continue;
      // Longer ones, until it compiles.
      for (;;) {
        if (out.empty()) throw;
        from = out.back().ops.front();
        out.pop_back();
        try {
          out.push_back(segment_of(graph, from, end, config, options));
          break;
        } catch (const InputError&) {
          if (from == 0) throw;
        }
      }
    }
  }
  return out;
}

bool reads_by_convolution(const Stage& reader) {
  const int map = reader.graph.inputs.front();
  return std::any_of(reader.graph.ops.begin(), reader.graph.ops.end(), [&](const Op& op) {
    const bool convolution = op.kind == OpKind::Conv2D || op.kind == OpKind::DepthwiseConv2D;
    return convolution && op.inputs.front() == map;
  });
}

// Packed over raw bytes of each segment's output on a sample.
std::vector<double> shares_of(const Graph& graph, const std::vector<Stage>& segments,
                              std::span<const Int8Values> sample, const SpillOptions& options) {
  std::vector<double> shares(segments.size(), 1);
  if (!options.compress) return shares;
  const std::vector<Int8Values> values = run_reference(graph, sample, options.rounding);
  for (std::size_t s = 0; s + 1 < segments.size(); s++) {
    const auto tensor = std::size_t(segments[s].graph.outputs.front());
    const Int8Values packed = pack_map(values[tensor], segments[s].graph.tensors[tensor].zero_point());
    shares[s] = double(packed.size()) / double(values[tensor].size());
  }
  return shares;
}

// The step as swap/training.h describes one: no weights move, and in reverse a segment takes what it took forward.
swap::Training training_of(const std::string& name, const std::vector<Stage>& segments,
                           const std::vector<double>& shares, int batch, double hertz) {
  swap::Training t;
  t.network = name;
  t.batch = batch;
  t.input_bytes = double(batch) * double(segments.front().input_bytes());
  for (std::size_t s = 0; s < segments.size(); s++) {
    const Stage& segment = segments[s];
    const double cycles = double(segment.first.modelled_cycles) +
                          (batch - 1) * double(segment.again.modelled_cycles) + batch * kControlCycles;
    swap::Step step;
    step.name = fmt::format("segment {}", s);
    step.forward_seconds = step.backward_seconds = cycles / hertz;
    t.steps.push_back(step);
    swap::HeldMap map;
    map.name = segment.graph.tensors[std::size_t(segment.graph.outputs.front())].name;
    map.bytes = double(batch) * double(segment.output_bytes());
    map.wire_bytes = map.bytes * shares[s];
    map.producer = map.last_forward = int(s);
    if (s + 1 < segments.size()) {
      map.last_forward = map.first_backward = map.last_backward = int(s) + 1;
      map.feeds_convolution = reads_by_convolution(segments[s + 1]);
    }
    t.maps.push_back(map);
  }
  return t;
}

swap::Machine machine_of(const Topology& topology, std::uint64_t limit) {
  const double hertz = 1e6 * topology.clock_mhz;
  const auto host = Endpoint(topology.chips.size());
  swap::Machine m;
  m.name = "cluster";
  m.clock_mhz = topology.clock_mhz;
  m.host.memory_bytes_per_second = topology.host_bytes_per_cycle * hertz;
  m.host.pinned_bytes = 1e18;
  // A packet to the host and its answer, without the time that its bytes take.
  const auto there = double(Fabric::time_of(topology, 0, host, kCreditBytes));
  m.transfer_seconds = (there + double(Fabric::time_of(topology, host, 0, kCreditBytes))) / hertz;
  for (std::size_t s = 0; s < topology.uplinks.size(); s++)
    m.switches.push_back({fmt::format("switch{}", s), topology.uplinks[s] * hertz});
  for (const Chip& c : topology.chips) {
    swap::Device d;
    d.name = c.name;
    d.of_switch = c.of_switch;
    d.link_bytes_per_second = c.bytes_per_cycle * hertz;
    d.memory_bytes = double(limit);
    m.devices.push_back(d);
  }
  return m;
}

void judge(const SpillPlan& plan, const Topology& topology, SpillResult& result) {
  for (std::size_t c = 0; c < result.chips.size(); c++) {
    const SpillRunner::Counts& counts = result.chips[c];
    result.cycles = std::max(result.cycles, counts.finish);
    if (counts.bytes != counts.predicted_bytes)
      throw DeviceError(fmt::format("{}: counted {} bytes on its memory bus, its programs announce {}",
                                    topology.chips[c].name, counts.bytes, counts.predicted_bytes));
    if (counts.wrong == 0 || !result.exact) continue;
    result.exact = false;
    const Stage& segment = plan.segments[std::size_t(counts.first_wrong)];
    result.difference = fmt::format("{} maps on {} are not the reference executor's, first '{}'",
                                    counts.wrong, topology.chips[c].name,
                                    segment.graph.tensors[std::size_t(segment.graph.outputs.front())].name);
  }
}

}  // namespace

SpillPlan plan_spilling(const Graph& graph, const Topology& topology, std::span<const Int8Values> sample,
                        const SpillOptions& options) {
  const std::string& config = topology.chips.front().config;
  for (const Chip& chip : topology.chips) {
    if (chip.config != config)
      throw InputError(fmt::format("limit: chips of one configuration, found: {} is '{}', {} is '{}'",
                                   topology.chips.front().name, config, chip.name, chip.config));
  }
  CompileOptions compiling;
  compiling.rounding = options.rounding;
  compiling.cancellation_check = options.cancellation_check;
  SpillPlan plan;
  plan.options = options;
  plan.segments = segments_of(graph, preset(config), compiling);
  const std::vector<double> shares = shares_of(graph, plan.segments, sample, options);
  plan.scenario.machine = machine_of(topology, options.limit);
  plan.scenario.independent = true;
  const swap::Training training =
      training_of(graph.name, plan.segments, shares, options.batch, 1e6 * topology.clock_mhz);
  plan.scenario.training.assign(topology.chips.size(), training);
  for (const swap::HeldMap& m : training.maps)
    plan.held_bytes += std::uint64_t(m.first_backward >= 0 ? m.bytes : 0);
  plan.held_bytes += std::uint64_t(training.input_bytes);
  plan.choice = swap::choose(plan.scenario, options.policy);
  if (!plan.choice.result.fits())
    throw InputError(
        fmt::format("--spill-limit: {} bytes of maps wait: {}", plan.held_bytes, plan.choice.result.failure));
  return plan;
}

SpillResult run_spilling(const Graph& graph, const SpillPlan& plan, const Topology& topology,
                         std::span<const Int8Values> inputs, const RunOptions& options) {
  const SpillWork work{
      &graph,        plan.segments,        plan.options.limit, plan.options.batch, plan.options.compress,
      options.check, plan.options.rounding};
  Windows windows(topology, options.threads, options.exchange);
  SpillHost host(topology);
  const std::size_t each = std::size_t(work.batch) * graph.inputs.size();
  const double hertz = 1e6 * topology.clock_mhz;
  std::vector<std::unique_ptr<SpillRunner>> chips;
  std::vector<Node*> nodes;
  for (Endpoint c : windows.own()) {
    const std::vector<double>& offsets = plan.choice.plan.offsets;
    const double offset = offsets.empty() ? 0 : offsets[std::size_t(c)] * hertz;
    chips.push_back(windows.named(c, [&] {
      return std::make_unique<SpillRunner>(work, topology, c, inputs.subspan(std::size_t(c) * each, each),
                                           plan.choice.plan.devices[std::size_t(c)], std::uint64_t(offset),
                                           options.memory);
    }));
    nodes.push_back(chips.back().get());
  }
  const auto start = std::chrono::steady_clock::now();
  const auto tell = [&] {
    // Of this rank's chips.
    std::size_t runs = 0;
    for (const auto& chip : chips) runs += std::size_t(chip->counts().runs);
    if (options.progress)
      options.progress(runs, chips.size() * 2 * plan.segments.size() * std::size_t(work.batch));
  };
  windows.run(
      host, nodes, [&] { return host.working() == 0; }, tell);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  std::vector<SpillRunner::Counts> own;
  std::transform(chips.begin(), chips.end(), std::back_inserter(own),
                 [](const auto& c) { return c->counts(); });
  SpillResult result;
  result.chips = windows.gather(own);
  if (windows.rank() != 0) return {};
  result.seconds = taken.count();
  for (const bool back : {false, true}) {
    for (std::size_t s = 0; s < topology.uplinks.size(); s++)
      result.uplinks.push_back(windows.fabric().uplink(int(s), back));
  }
  result.host = windows.fabric().host_memory();
  judge(plan, topology, result);
  return result;
}

}  // namespace kaiten::cluster
