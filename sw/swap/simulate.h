// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A training step on all devices of a machine, event by event: what is computed when, what crosses which link at what rate,
// what each memory holds.
//
// A device computes its layers forward, then backward, one at a time. A map that is swapped leaves when its layer has been
// computed and is freed when it has arrived at the host and its last consumer of the forward pass is done; it comes back
// when its trigger fires: the start of the backward pass of a layer, so when the layer before that is done, whether or not
// its own data is there. A device has one DMA engine in each direction, which transfers in order of request; transfers of
// all devices share links, switches' uplinks and the host's memory by max-min fairness, solved again whenever one starts or
// ends, and cost a fixed time each.
//
// An allocation that does not fit waits while a map of the device is on its way out; when none is, memory is exhausted and
// the run ends. A map leaves once the host has pinned memory for it.
//
// Gradients of weights leave as they are computed. When a job's devices are done, the host's CPU reads all of them and
// updates the weights (n gradients and the weights read, the weights written), which go back to all devices; then the step
// is over. As an option the devices sum among themselves in a ring, each sending 2 (n - 1) / n of the gradients to the next.
#ifndef KAITEN_SWAP_SIMULATE_H
#define KAITEN_SWAP_SIMULATE_H

#include <string>
#include <vector>

#include "swap/machine.h"
#include "swap/training.h"

namespace kaiten::swap {

struct Swap {
  int map = 0;
  int trigger = 0;  // layer, at least the map's first_backward, where it is just in time
  bool operator==(const Swap&) const = default;
};

struct Plan {
  std::vector<std::vector<Swap>> devices;
  std::vector<double> offsets;  // seconds after which a device starts; empty: none
};

enum class Sum { kHost, kAllReduce };

struct Scenario {
  Machine machine;
  std::vector<Training> training;  // by device
  Sum sum = Sum::kHost;
  bool independent = false;  // a job on each device instead of one on all
};

enum class Lane { kCompute, kOut, kIn, kHost };

struct Slice {
  Lane lane = Lane::kCompute;
  int device = 0;
  std::string name;
  double start = 0, end = 0;  // seconds
};

struct DeviceResult {
  double finish = 0;   // seconds, of the whole step
  double compute = 0;  // seconds of computation
  double stall = 0;    // seconds in which it waited for maps or memory, without the sum of gradients
  double peak_bytes = 0;
  double out_bytes = 0, in_bytes = 0;  // of maps
};

struct LinkResult {
  std::string name;
  double bytes = 0;
  double share = 0;  // of what it could have carried
};

struct Result {
  std::string failure;  // empty: the step fits
  double seconds = 0;   // until the last device is done
  double pinned_bytes = 0;
  std::vector<DeviceResult> devices;
  std::vector<LinkResult> links;  // each direction
  std::vector<Slice> timeline;    // where it is wanted

  bool fits() const { return failure.empty(); }
};

Result simulate(const Scenario& scenario, const Plan& plan, bool timeline = false);

}  // namespace kaiten::swap

#endif  // KAITEN_SWAP_SIMULATE_H
