// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A network as stages on chips (staggered asynchronous pipelines, Occam section III-E): stage after stage of consecutive
// operators, each with its weights where they fit, slow stages on several chips. Image i goes to replica i mod r of a stage.
// A network is cut where one int8 tensor and nothing else crosses.
#ifndef KAITEN_CLUSTER_PIPELINE_H
#define KAITEN_CLUSTER_PIPELINE_H

#include <cstdint>
#include <functional>
#include <vector>

#include "cluster/row_stream.h"
#include "cluster/topology.h"
#include "graph/graph.h"
#include "graph/rounding_style.h"
#include "program/optimise.h"
#include "program/program.h"

namespace kaiten::cluster {

enum class Mode : std::uint8_t {
  kStap,  // two stages at least, where the network can be cut
  kData,  // the whole network on every chip
  kAuto,  // whichever has the shorter period by the model
};

struct Stage {
  std::vector<int> ops;  // of the network
  Graph graph;
  Program first;                // loads its weights; by stage, run once by each of its chips
  Program again;                // finds those that fit on chip
  std::vector<Endpoint> chips;  // its replicas, in order
  RowStream input = {};         // how its input comes

  std::uint64_t input_bytes() const;  // of an image
  std::uint64_t output_bytes() const;
};

struct Pipeline {
  std::vector<Stage> stages;
  bool data = false;    // the whole network on every chip
  double period = 0;    // modelled cycles between images
  double latency = 0;   // of an image alone
  double reloaded = 0;  // bytes of weights that an image loads again, in all stages

  const Stage& stage_of(Endpoint chip) const;
  int replicas(std::size_t stage) const { return int(stages[stage].chips.size()); }
};

struct PipelineOptions {
  Mode mode = Mode::kAuto;
  int stages = 0;  // of kStap; 0: as many as suit
  // Stages are ranked by the bytes of weights that an image loads again, then by the period, or the other way round.
  Optimise optimise = Optimise::kBytes;
  RoundingStyle rounding = RoundingStyle::LiteRt;
  bool rows = true;  // rows cross to the next chip as they are made, where they can
  std::function<void()> cancellation_check = {};
};

// Positions after operators where the network may be cut: operator i is the last of its part.
std::vector<int> cuts_of(const Graph& graph);

// Throws InputError where the network does not run on the chips' configuration, which must be the same, or cannot be cut
// into so many stages.
Pipeline plan_pipeline(const Graph& graph, const Topology& topology, const PipelineOptions& options);

}  // namespace kaiten::cluster

#endif  // KAITEN_CLUSTER_PIPELINE_H
