// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "run/subnet_runner.h"

#include "reference/reference.h"

namespace kaiten {

namespace {

constexpr std::uint64_t kMemoryBytes = std::uint64_t(1) << 27;

}  // namespace

SubNetRunner::SubNetRunner(const SubNetPlans& plans, Options options) : plans_(plans), random_(options.seed) {
  const Config& config = plans.config();
  sim::SimOptions sim;
  sim.memory.bytes = kMemoryBytes;
  sim.memory.read_latency = sim.memory.write_latency = options.latency;
  sim.memory.bytes_per_cycle = options.bytes_per_cycle > 0 ? options.bytes_per_cycle : config.axi_bytes;
  device_ = sim::make_sim_device(config.name, sim);
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

SubNetRunner::Result SubNetRunner::load(const ResidentWeights& resident) {
  programs_.clear();
  resident_ = resident;
  loaded_ = resident_.layers.empty();
  return loaded_ ? Result{} : load();
}

SubNetRunner::Result SubNetRunner::load() {
  Driver driver(*device_, plans_.whole(), plans_.loader(resident_), RoundingStyle::LiteRt);
  const Result result = execute(driver);
  loaded_ = true;
  return result;
}

SubNetRunner::Result SubNetRunner::run(std::size_t subnet) {
  if (!loaded_) load();
  const Graph& graph = plans_.model(subnet);
  if (!programs_.contains(subnet)) programs_.emplace(subnet, plans_.program(subnet, resident_));
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
