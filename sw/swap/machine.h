// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The machine that trains, or the accelerators of a cluster: devices behind switches behind a host, as a JSON file describes
// them (docs/software/swap.md, cluster.md). Every link carries its bandwidth in each direction at once; the host's memory is shared by both directions.
#ifndef KAITEN_SWAP_MACHINE_H
#define KAITEN_SWAP_MACHINE_H

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kaiten::swap {

// What depends on network and framework and is calibrated, not known.
struct Calibration {
  double efficiency = 1;      // of the roofline of the device's data sheet
  double reserved_bytes = 0;  // of its memory: context, workspaces, fragments
};

struct Device {
  std::string name;
  std::string config;  // an accelerator's, of rtl/configs.json; empty: none is named
  int of_switch = 0;
  double link_bytes_per_second = 0;
  double memory_bytes = 0;
  double operations_per_second = 0;    // peak; a MAC is two; a configuration's at the machine's clock
  double memory_bytes_per_second = 0;  // of its own memory
  Calibration calibration;             // where none is known of the network
  std::map<std::string, Calibration> networks;

  const Calibration& of_network(const std::string& network) const;
};

struct Switch {
  std::string name;
  double uplink_bytes_per_second = 0;
};

struct Host {
  double memory_bytes_per_second = 0;
  double pinned_bytes = 0;            // most that swapped maps may take
  double sum_bytes_per_second = 3e9;  // of its memory, of a CPU that sums gradients and updates weights
};

struct Machine {
  std::string name;
  Host host;
  std::vector<Switch> switches;
  std::vector<Device> devices;
  double transfer_seconds = 0;  // fixed cost of a transfer
  double latency_cycles = 0;    // the same in cycles
  double clock_mhz = 1;         // of these and of the devices that are configurations of the accelerator
  double map_overhead =
      1;  // bytes of device memory for a byte of maps: alignment, fragments, temporary copies
};

// `file` is what errors call the text. Throws InputError "FILE:LINE:COLUMN: expected ..., found ...".
Machine read_machine(std::string_view text, const std::string& file);
// Those of the tool, by name: titanxp, p100x2, p100x4. Nothing for another name.
std::optional<Machine> known_machine(const std::string& name);
std::vector<std::string> known_machine_names();

}  // namespace kaiten::swap

#endif  // KAITEN_SWAP_MACHINE_H
