// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Batches whose maps do not fit the chips' memories: part of them spills to the host's memory and comes back, over links that
// all chips share, by the plans of swap/policy.h.
//
// Every chip works on a batch of its own as a training step does: segment by segment forward, each for all images of the
// batch, keeping the map that each segment reads; then the segments in reverse order, each again for all images from the map
// that was kept. What a gradient would compute there, an inference accelerator cannot: the segment's own operators stand for
// it, and must give what they gave before.
#ifndef KAITEN_CLUSTER_SPILL_H
#define KAITEN_CLUSTER_SPILL_H

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "cluster/fabric.h"
#include "cluster/pipeline.h"
#include "cluster/spill_runner.h"
#include "swap/policy.h"

namespace kaiten::cluster {

struct SpillOptions {
  std::uint64_t limit = 0;  // bytes of maps in a chip's memory
  int batch = 1;            // images of a chip
  swap::Policy policy = swap::Policy::kBest;
  bool compress = false;  // maps on links, by zero-value compression
  RoundingStyle rounding = RoundingStyle::LiteRt;
  std::function<void()> cancellation_check = {};
};

struct SpillPlan {
  std::vector<Stage> segments;
  swap::Scenario scenario;  // what the policy saw, in seconds of the topology's clock
  swap::Choice choice;
  SpillOptions options;
  std::uint64_t held_bytes = 0;  // of all maps of a chip that wait, images among them
};

// `sample`: the inputs of an image, by which compression is judged. Throws InputError where the network does not run on the
// chips' configuration, or the policy needs more memory than the limit.
SpillPlan plan_spilling(const Graph& graph, const Topology& topology, std::span<const Int8Values> sample,
                        const SpillOptions& options);

struct SpillResult {
  bool exact = true;  // with check
  std::string difference;
  std::uint64_t cycles = 0;  // until the last chip is done
  std::vector<SpillRunner::Counts> chips;
  std::vector<LinkCount> uplinks;  // towards the host, then back, by switch
  LinkCount host;                  // its memory
  double seconds = 0;              // that the simulation took
};

// `inputs`: those of all chips' images, chip by chip. As run_cluster().
SpillResult run_spilling(const Graph& graph, const SpillPlan& plan, const Topology& topology,
                         std::span<const Int8Values> inputs, const RunOptions& options);

}  // namespace kaiten::cluster

#endif  // KAITEN_CLUSTER_SPILL_H
