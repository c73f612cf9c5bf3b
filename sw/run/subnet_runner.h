// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// SubNets of one SuperNet on the simulated accelerator, with a SubGraph in PB: what kaiten serve --rtl runs. Every result is
// compared with the reference executor's, every query's bytes of weights with what its program announces.
#ifndef KAITEN_RUN_SUBNET_RUNNER_H
#define KAITEN_RUN_SUBNET_RUNNER_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "compile/resident.h"
#include "device/driver.h"
#include "graph/graph.h"
#include "sim/sim_device.h"
#include "supernet/families.h"

namespace kaiten {

class SubNetRunner {
 public:
  // The model of a SubNet; layers with weights bear the names of the SuperNet's slots, weights are prefixes of its.
  using Models = std::function<Graph(const supernet::SubNet&)>;

  struct Options {
    std::string config = "base";
    int pb_rows = 0;             // most rows of WB for PB
    unsigned latency = 100;      // of the memory, cycles
    double bytes_per_cycle = 0;  // 0: the bus's width
    std::uint64_t seed = 1;      // of the images
  };

  struct Result {
    std::uint64_t cycles = 0;
    std::int64_t weight_bytes = 0;     // read
    std::int64_t predicted_bytes = 0;  // as the program announces
    bool exact = true;                 // the outputs are the reference executor's
  };

  // The family must outlive the runner. `whole`: a network with all weights of the SuperNet, for any size of image. Throws
  // InputError where the configuration has no PB.
  SubNetRunner(const supernet::Family& family, Graph whole, Models models, Options options);

  // Puts a SubGraph into PB: its layers in the order of the network, those that PB has no room for left out.
  Result load(const supernet::Encoding& subgraph);
  // A query on a random image, 0 <= subnet < family.subnets.size().
  Result run(std::size_t subnet);
  // What PB holds.
  const ResidentWeights& resident() const { return resident_; }

 private:
  const Graph& model(std::size_t subnet);
  supernet::Extent useful(std::size_t slot, supernet::Extent e) const;
  Result execute(Driver& driver);

  const supernet::Family& family_;
  Graph whole_;
  Models models_;
  Options options_;
  const Config& config_;
  std::mt19937_64 random_;
  std::unique_ptr<sim::SimDevice> device_;
  std::map<std::size_t, Graph> graphs_;
  std::map<std::size_t, Program> programs_;  // for what PB holds
  ResidentWeights resident_;
};

}  // namespace kaiten

#endif  // KAITEN_RUN_SUBNET_RUNNER_H
