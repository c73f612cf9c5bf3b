// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cluster/topology.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "program/config.h"

namespace kaiten::cluster {

namespace {

constexpr double kMostLatency = 1e6;
constexpr double kLeastBytesPerCycle = 1e-3;
constexpr std::uint64_t kMostMemory = std::uint64_t(1) << 32;  // of a simulated chip

double bytes_per_cycle(double bytes_per_second, const swap::Machine& machine, const std::string& what) {
  const double bytes = bytes_per_second / (1e6 * machine.clock_mhz);
  if (bytes < kLeastBytesPerCycle)
    throw InputError(fmt::format("{}: limit: {} bytes a cycle of {} MHz, found {:g}", what,
                                 kLeastBytesPerCycle, machine.clock_mhz, bytes));
  return bytes;
}

}  // namespace

Topology topology_of(const swap::Machine& machine, int chips, const std::string& config) {
  const int there = int(machine.devices.size());
  if (chips > there)
    throw InputError(
        fmt::format("--chips: limit: the {} devices of {}, found {}", there, machine.name, chips));
  if (machine.latency_cycles < 1 || machine.latency_cycles > kMostLatency)
    throw InputError(fmt::format("{}: latency_cycles: limit: 1 to {:.0f}, found {:g}", machine.name,
                                 kMostLatency, machine.latency_cycles));
  Topology t;
  t.latency = std::uint64_t(machine.latency_cycles);
  t.clock_mhz = machine.clock_mhz;
  t.host_bytes_per_cycle =
      bytes_per_cycle(machine.host.memory_bytes_per_second, machine, "the host's memory");
  for (const swap::Switch& s : machine.switches)
    t.uplinks.push_back(bytes_per_cycle(s.uplink_bytes_per_second, machine, "the uplink of " + s.name));
  for (int i = 0; i < (chips > 0 ? chips : there); i++) {
    const swap::Device& d = machine.devices[std::size_t(i)];
    Chip chip{d.name, d.config.empty() ? config : d.config, d.of_switch,
              bytes_per_cycle(d.link_bytes_per_second, machine, "the link of " + d.name),
              std::uint64_t(std::min(d.memory_bytes, double(kMostMemory)))};
    chip.bytes_per_cycle = std::min(chip.bytes_per_cycle, double(preset(chip.config).axi_bytes));
    t.chips.push_back(std::move(chip));
  }
  return t;
}

Topology one_switch(int chips, const std::string& config) {
  constexpr double kMegahertz = 100, kLatency = 500;
  const double bus = preset(config).axi_bytes;
  constexpr double kPerSecond = 1e6 * kMegahertz;
  swap::Machine m;
  m.name = "one switch";
  m.latency_cycles = kLatency;
  m.clock_mhz = kMegahertz;
  m.host.memory_bytes_per_second = 2 * bus * kPerSecond;
  m.switches.push_back({"switch0", bus / 4 * kPerSecond});
  for (int i = 0; i < chips; i++) {
    swap::Device d;
    d.name = fmt::format("chip{}", i);
    d.link_bytes_per_second = bus / 4 * kPerSecond;
    d.memory_bytes = double(kMostMemory);
    m.devices.push_back(d);
  }
  return topology_of(m, chips, config);
}

}  // namespace kaiten::cluster
