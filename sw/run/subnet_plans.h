// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What becomes of a SubGraph in PB, by the compiler: which part of it is kept, and what every SubNet then costs. PB and DB
// share WB, so the part is sized by the cycle model: no SubNet takes longer than without PB.
#ifndef KAITEN_RUN_SUBNET_PLANS_H
#define KAITEN_RUN_SUBNET_PLANS_H

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compile/resident.h"
#include "graph/graph.h"
#include "serve/model.h"
#include "supernet/families.h"

namespace kaiten {

class SubNetPlans {
 public:
  // The model of a SubNet; layers with weights bear the names of the SuperNet's slots, weights are prefixes of its.
  using Models = std::function<Graph(const supernet::SubNet&)>;

  struct Options {
    std::string config = "base";
    int pb_rows = 0;             // most rows of WB for PB
    double bytes_per_cycle = 0;  // of the memory; 0: the bus's width
    int threads = 1;
    std::function<void()> cancellation_check = {};  // what it throws comes out; called by several threads
  };

  // What PB holds of a SubGraph.
  struct Plan {
    ResidentWeights resident;
    int most_rows = 0;               // that it was given
    std::int64_t load_cycles = 0;    // modelled, of its loading
    std::vector<serve::Cost> costs;  // modelled, of each SubNet of the family
  };

  // The family must outlive the plans. `whole`: a network with all weights of the SuperNet that PB can hold, for any size of
  // image. Throws InputError where the configuration has no PB.
  SubNetPlans(const supernet::Family& family, Graph whole, const Models& models, Options options);

  const supernet::Family& family() const { return family_; }
  const Config& config() const { return config_; }
  const Graph& whole() const { return whole_; }
  const Graph& model(std::size_t subnet) const { return models_[subnet]; }
  // Without PB.
  const Plan& nothing() const { return nothing_; }
  // Of each of these SubGraphs, by several threads.
  std::vector<Plan> plans(std::span<const supernet::Encoding> subgraphs) const;
  // Layers with the fewest output pixels come first, their weights being hidden least behind computing, and then others as
  // long as there is room; of several numbers of rows the one with the least time of all SubNets together, of those with
  // which no SubNet takes longer than without PB.
  Plan plan(const supernet::Encoding& subgraph) const;
  // A plan that another process made of this SubGraph: its weights are placed again in `most_rows` rows.
  Plan restored(const supernet::Encoding& subgraph, Plan plan) const;
  // `resident` must outlive the call only.
  Program program(std::size_t subnet, const ResidentWeights& resident) const;
  Program loader(const ResidentWeights& resident) const;

 private:
  std::vector<ResidentWish> wishes(const supernet::Encoding& subgraph) const;
  ResidentWeights placed(std::span<const ResidentWish> wishes, int rows) const;
  Plan costed(ResidentWeights resident) const;
  serve::Cost cost(const Program& program) const;
  Program timed(Program program) const;
  bool never_slower(const Plan& plan) const;

  const supernet::Family& family_;
  Graph whole_;
  Options options_;
  const Config& config_;
  std::vector<Graph> models_;  // of the family's SubNets
  std::set<std::string> layers_;
  Plan nothing_;
};

// Bytes of weights that a program reads.
std::int64_t announced_weights(const Program& program);

}  // namespace kaiten

#endif  // KAITEN_RUN_SUBNET_PLANS_H
