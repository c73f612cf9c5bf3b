// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "run/subnet_runner.h"

#include <algorithm>

#include "base/error.h"
#include "reference/reference.h"

namespace kaiten {

namespace {

constexpr std::uint64_t kMemoryBytes = std::uint64_t(1) << 27;

std::int64_t announced_weights(const Program& program) {
  std::int64_t bytes = 0;
  for (const CommandMeta& m : program.meta) {
    if (m.kind == CommandMeta::Bytes::kWeights) bytes += m.read_bytes;
  }
  return bytes;
}

}  // namespace

SubNetRunner::SubNetRunner(const supernet::Family& family, Graph whole, Models models, Options options)
    : family_(family),
      whole_(std::move(whole)),
      models_(std::move(models)),
      options_(std::move(options)),
      config_(preset(options_.config)),
      random_(options_.seed) {
  if (!config_.resident) throw InputError("configuration '" + config_.name + "' keeps no SubGraph in PB");
  sim::SimOptions sim;
  sim.memory.bytes = kMemoryBytes;
  sim.memory.read_latency = sim.memory.write_latency = options_.latency;
  sim.memory.bytes_per_cycle = options_.bytes_per_cycle > 0 ? options_.bytes_per_cycle : config_.axi_bytes;
  device_ = sim::make_sim_device(config_.name, sim);
}

SubNetRunner::Result SubNetRunner::execute(Driver& driver) {
  driver.execute();
  const Counters counters = driver.read_counters();
  Result result;
  result.cycles = counters["cycles"];
  result.weight_bytes = std::int64_t(counters["read_weights"]);
  result.predicted_bytes = announced_weights(driver.program());
  return result;
}

// As much of a slot as some SubNet can use: PB serves whole tiles of kernels and whole passes of channels, unless a SubNet ends
// there.
supernet::Extent SubNetRunner::useful(std::size_t slot, supernet::Extent e) const {
  const int pass = (family_.net.slots[slot].kernel == 1 ? 9 : 1) * config_.cp;
  supernet::Extent most{e.kernels / config_.kp * config_.kp, e.channels / pass * pass};
  for (const supernet::SubNet& s : family_.subnets) {
    const supernet::Extent& has = s.encoding[slot];
    if (has.kernels <= e.kernels) most.kernels = std::max(most.kernels, has.kernels);
    if (has.channels <= e.channels) most.channels = std::max(most.channels, has.channels);
  }
  return most.channels > 0 ? most : supernet::Extent{};
}

SubNetRunner::Result SubNetRunner::load(const supernet::Encoding& subgraph) {
  std::vector<ResidentWish> wishes;
  for (std::size_t i = 0; i < subgraph.size(); i++) {
    const supernet::Extent e = useful(i, subgraph[i]);
    if (e.kernels > 0) wishes.push_back({family_.net.slots[i].name, e.kernels, e.channels});
  }
  programs_.clear();
  resident_ = place_resident(whole_, config_, wishes, options_.pb_rows, NoRoom::kLeaveOut);
  if (resident_.layers.empty()) return {};
  Driver driver(*device_, whole_, load_resident(whole_, config_, resident_), RoundingStyle::LiteRt);
  return execute(driver);
}

const Graph& SubNetRunner::model(std::size_t subnet) {
  const auto known = graphs_.find(subnet);
  if (known != graphs_.end()) return known->second;
  return graphs_.emplace(subnet, models_(family_.subnets[subnet])).first->second;
}

SubNetRunner::Result SubNetRunner::run(std::size_t subnet) {
  const Graph& graph = model(subnet);
  if (!programs_.contains(subnet)) {
    CompileOptions options;
    options.resident = &resident_;
    programs_.emplace(subnet, compile(graph, config_, options));
  }
  Driver driver(*device_, graph, programs_.at(subnet), RoundingStyle::LiteRt);
  std::vector<Int8Values> inputs;
  for (const int input : graph.inputs) {
    Int8Values& values = inputs.emplace_back(graph.tensors[std::size_t(input)].elements());
    for (auto& v : values) v = std::int8_t(random_());
  }
  driver.write_inputs(inputs);
  Result result = execute(driver);
  const std::vector<Int8Values> expected = run_reference(graph, inputs);
  const std::vector<Int8Values> outputs = driver.read_outputs();
  for (std::size_t i = 0; i < graph.outputs.size(); i++)
    result.exact = result.exact && outputs[i] == expected[std::size_t(graph.outputs[i])];
  return result;
}

}  // namespace kaiten
