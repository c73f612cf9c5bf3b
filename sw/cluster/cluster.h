// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Several simulated accelerators that work on one network (windows.h says how they are simulated).
#ifndef KAITEN_CLUSTER_CLUSTER_H
#define KAITEN_CLUSTER_CLUSTER_H

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cluster/exchange.h"
#include "cluster/pipeline.h"
#include "cluster/stage_runner.h"

namespace kaiten::cluster {

struct RunOptions {
  MemoryOptions memory;
  RoundingStyle rounding = RoundingStyle::LiteRt;
  int threads = 1;               // of this process
  Exchange* exchange = nullptr;  // with other ranks; null: there are none
  bool check = true;             // outputs against the reference executor
  // Outputs of the first images, image by image, that an earlier run left: those are compared and not run. Ranks that are not
  // the first need their number alone.
  std::vector<Int8Values> kept = {};
  // Rank 0, once for each image that is run, when its outputs are there; may throw to end the run.
  std::function<void(std::size_t image, const std::vector<Int8Values>& outputs)> received = {};
  // Called now and then with the images whose outputs are there and all of them; may throw to end the run.
  std::function<void(std::size_t received, std::size_t images)> progress = {};
};

struct ChipResult {
  std::size_t stage = 0;
  int replica = 0;
  StageRunner::Counts counts;
};

struct ClusterResult {
  std::vector<std::vector<Int8Values>> outputs;  // by image
  std::size_t kept = 0;          // of these from an earlier run: cycles, bytes and times are the others'
  bool exact = true;             // with check
  std::string difference;        // the first
  std::uint64_t cycles = 0;      // until the last output
  std::size_t warm_up = 0;       // images that load weights
  double period = 0;             // between images that stream, 0: too few
  double latency = 0;            // of an image alone, 0: too few
  std::uint64_t link_bytes = 0;  // that crossed links, counted at each
  double seconds = 0;            // that the simulation took
  std::vector<ChipResult> chips;
};

// `inputs` as for HostRunner. All ranks call it with the same arguments; the result is rank 0's, the others' is empty. Throws DeviceError naming the chip where one fails, or where the bytes it counted are not those
// that its programs announce.
ClusterResult run_cluster(const Graph& graph, const Pipeline& pipeline, const Topology& topology,
                          std::span<const Int8Values> inputs, const RunOptions& options);

}  // namespace kaiten::cluster

#endif  // KAITEN_CLUSTER_CLUSTER_H
