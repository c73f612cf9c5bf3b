// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// SubNets of one SuperNet on the simulated accelerator, with a SubGraph in PB: what kaiten serve --rtl runs. Every result is
// compared with the reference executor's, every query's bytes of weights with what its program announces.
#ifndef KAITEN_RUN_SUBNET_RUNNER_H
#define KAITEN_RUN_SUBNET_RUNNER_H

#include <cstdint>
#include <map>
#include <memory>
#include <random>

#include "device/driver.h"
#include "run/subnet_plans.h"
#include "sim/sim_device.h"

namespace kaiten {

class SubNetRunner {
 public:
  struct Options {
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

  // The plans must outlive the runner.
  SubNetRunner(const SubNetPlans& plans, Options options);

  // Puts into PB what was planned of a SubGraph. After a DeviceError the next query tries again before it runs.
  Result load(const ResidentWeights& resident);
  // A query on a random image, 0 <= subnet < the SubNets of the family. After a DeviceError others may follow.
  Result run(std::size_t subnet);
  sim::SimDevice& device() { return *device_; }

 private:
  Result load();
  Result execute(Driver& driver);

  const SubNetPlans& plans_;
  std::mt19937_64 random_;
  std::unique_ptr<sim::SimDevice> device_;
  std::map<std::size_t, Program> programs_;  // for what PB holds
  ResidentWeights resident_;
  bool loaded_ = true;  // PB has it
};

}  // namespace kaiten

#endif  // KAITEN_RUN_SUBNET_RUNNER_H
