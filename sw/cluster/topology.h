// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Accelerators (chips) behind switches behind a host, in cycles of their clock. Every chip has a link to its switch, every
// switch an uplink to the host; each carries its bandwidth in both directions at once. The host's memory is shared by both.
// From the JSON file of a machine (swap/machine.h).
#ifndef KAITEN_CLUSTER_TOPOLOGY_H
#define KAITEN_CLUSTER_TOPOLOGY_H

#include <cstdint>
#include <string>
#include <vector>

#include "swap/machine.h"

namespace kaiten::cluster {

// Chips by number; the host is the number after the last.
using Endpoint = int;

struct Chip {
  std::string name;
  std::string config;  // of rtl/configs.json
  int of_switch = 0;
  double bytes_per_cycle = 0;  // of its link; no more than of its memory
  std::uint64_t memory_bytes = 0;
};

struct Topology {
  std::uint64_t latency = 1;  // cycles of each link; 1 at least
  double clock_mhz = 100;
  double host_bytes_per_cycle = 0;  // of its memory
  std::vector<double> uplinks;      // bytes a cycle, by switch
  std::vector<Chip> chips;
};

inline constexpr int kMostChips = 64;

// The first `chips` devices of a machine (0: all), `config` where they name none. Throws InputError where there are fewer,
// for configurations that do not exist and for a latency beyond 1 to 10^6 cycles.
Topology topology_of(const swap::Machine& machine, int chips, const std::string& config);
// One switch; links and uplink of a quarter of the bandwidth of a chip's memory, the host's memory of twice as much as that; 500
// cycles of latency, 100 MHz.
Topology one_switch(int chips, const std::string& config);

}  // namespace kaiten::cluster

#endif  // KAITEN_CLUSTER_TOPOLOGY_H
