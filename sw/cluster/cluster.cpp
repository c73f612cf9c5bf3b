// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cluster/cluster.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <numeric>

#include "base/error.h"
#include "cluster/host.h"
#include "cluster/windows.h"
#include "reference/reference.h"

namespace kaiten::cluster {

namespace {

// Of the images that stream, so many that each replica of each stage takes part alike; the last ones, which nothing follows,
// left out. 0 where there are fewer.
double period_of(const HostRunner& host, const Pipeline& pipeline) {
  std::size_t round = 1;
  for (const Stage& s : pipeline.stages) round = std::lcm(round, s.chips.size());
  if (host.streamed() < 2 * round + 1) return 0;
  const std::size_t end = host.streamed() - round;  // of the images that count
  const std::size_t span = std::max(round, (end - 1) / 2 / round * round);
  const auto received = [&](std::size_t image) {
    return host.images()[std::size_t(host.warm_up()) + image].received;
  };
  return double(received(end - 1) - received(end - 1 - span)) / double(span);
}

void compare(const Graph& graph, std::span<const Int8Values> inputs, const RunOptions& options,
             ClusterResult& result) {
  const std::size_t each = graph.inputs.size();
  for (std::size_t i = 0; i < result.outputs.size(); i++) {
    if (options.progress) options.progress(result.outputs.size(), result.outputs.size());
    const std::vector<Int8Values> expected =
        run_reference(graph, inputs.subspan(i * each, each), options.rounding);
    for (std::size_t o = 0; o < graph.outputs.size(); o++) {
      const auto tensor = std::size_t(graph.outputs[o]);
      if (result.outputs[i][o] == expected[tensor]) continue;
      result.exact = false;
      if (result.difference.empty())
        result.difference = "output '" + graph.tensors[tensor].name + "' of image " + std::to_string(i) +
                            " is not the reference executor's";
    }
  }
}

}  // namespace

ClusterResult run_cluster(const Graph& graph, const Pipeline& pipeline, const Topology& topology,
                          std::span<const Int8Values> inputs, const RunOptions& options) {
  Windows windows(topology, options.threads, options.exchange);
  const std::size_t outputs = graph.outputs.size(), kept = options.kept.size() / outputs;
  const auto received = [&](int image, const std::vector<Int8Values>& values) {
    if (options.received) options.received(kept + std::size_t(image), values);
  };
  HostRunner host(pipeline, topology, inputs.subspan(kept * graph.inputs.size()), received);
  const int images = int(host.images().size());
  std::vector<std::unique_ptr<StageRunner>> chips;
  std::vector<Node*> nodes;
  for (Endpoint c : windows.own()) {
    chips.push_back(windows.named(c, [&] {
      return std::make_unique<StageRunner>(pipeline, topology, c, images, options.rounding, options.memory);
    }));
    nodes.push_back(chips.back().get());
  }
  const auto start = std::chrono::steady_clock::now();
  windows.run(
      host, nodes, [&] { return host.done(); },
      [&] {
        if (options.progress) options.progress(kept + host.received(), kept + host.images().size());
      });
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  std::vector<StageRunner::Counts> own;
  std::transform(chips.begin(), chips.end(), std::back_inserter(own),
                 [](const auto& chip) { return chip->counts(); });
  const std::vector<StageRunner::Counts> counts = windows.gather(own);
  ClusterResult result;
  if (windows.rank() != 0) return result;
  result.warm_up = std::size_t(host.warm_up());
  result.kept = kept;
  for (auto o = options.kept.begin(); o != options.kept.end(); o += std::ptrdiff_t(outputs))
    result.outputs.emplace_back(o, o + std::ptrdiff_t(outputs));
  for (const HostRunner::Image& image : host.images()) {
    result.outputs.push_back(image.outputs);
    result.cycles = std::max(result.cycles, image.received);
  }
  result.period = period_of(host, pipeline);
  if (const HostRunner::Image* alone = host.alone()) result.latency = double(alone->received - alone->sent);
  result.seconds = taken.count();
  result.link_bytes = windows.fabric().link_bytes();
  for (std::size_t s = 0; s < pipeline.stages.size(); s++) {
    for (std::size_t r = 0; r < pipeline.stages[s].chips.size(); r++) {
      const auto chip = std::size_t(pipeline.stages[s].chips[r]);
      result.chips.push_back({s, int(r), counts[chip]});
      const StageRunner::Counts& c = result.chips.back().counts;
      if (c.bytes != c.predicted_bytes)
        throw DeviceError(topology.chips[chip].name + ": counted " + std::to_string(c.bytes) +
                          " bytes on its memory bus, its programs announce " +
                          std::to_string(c.predicted_bytes));
    }
  }
  if (options.check) compare(graph, inputs, options, result);
  return result;
}

}  // namespace kaiten::cluster
