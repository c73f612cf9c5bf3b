// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The Verilated Kaiten as a Device: one model of rtl/kaiten_top.sv per configuration, an AXI4 memory with timing, protocol
// monitors on every port in every run, and a watcher that sees every result the engines deliver.
#ifndef KAITEN_SIM_SIM_DEVICE_H
#define KAITEN_SIM_SIM_DEVICE_H

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "sim/axi_memory.h"

namespace kaiten::sim {

struct SimOptions {
  AxiMemoryOptions memory;  // base, size, latency, bandwidth, stalls, seed
  bool debug = false;       // assertions and random initial state; slower
  std::string wave_file;    // FST, debug only; empty: none
  // Cycles of the runs, the one in which the first starts being 0; a cycle takes two units of the file's time. Nothing else is
  // in the file.
  std::uint64_t wave_from = 0;
  std::uint64_t wave_to = UINT64_MAX;
};

// One result pixel of a tile as it leaves an engine for its sinks. The counters run down to 0 inside the command.
struct ResultWord {
  std::uint32_t command;              // its number in the program
  unsigned columns, rows, tiles;      // left after this one
  std::span<const std::int8_t> data;  // channels of the tile, lane 0 first
  std::uint64_t cycle;
};

class ResultWatcher {
 public:
  virtual ~ResultWatcher() = default;
  virtual void result(const ResultWord& word) = 0;
  // Every cycle of a run: what is counted in it, bit i for counter i of docs/formats/registers.md (a cycle or two after it happened).
  virtual void events(std::uint32_t /*flags*/) {}
};

// Sees the four queues: bit or entry 0 to 3 for LOAD, CONV, VECTOR, STORE.
class QueueWatcher {
 public:
  virtual ~QueueWatcher() = default;
  // Every cycle, after the events of the cycle before. heads: a command stands at the head of the queue and has not started;
  // completed: commands of the queue that are complete since the start of the run.
  virtual void queues(std::uint32_t heads, std::span<const std::uint32_t, 4> completed) = 0;
};

class SimDevice : public Device {
 public:
  virtual AxiMemory& memory() = 0;
  // False for a netlist, which shows its ports only: the watchers and spoil() do not work.
  virtual bool watchable() const = 0;
  // Called for every result from now on; null: not called.
  virtual void watch(ResultWatcher* watcher) = 0;
  virtual void watch_queues(QueueWatcher* watcher) = 0;
  // Pixels of OB whose sums wait for another pass, of those that were seen while the queues are watched.
  virtual int partial_sums() const = 0;
  // Changes every byte of SB (or VB) at addresses [first, end) of all banks.
  virtual void spoil(bool vb, int first, int end) = 0;
  // Lets a number of cycles pass.
  virtual void step(std::uint64_t cycles) = 0;
  virtual std::uint64_t cycles() const = 0;  // since construction
  // Time spent in wait_interrupt() and the cycles it simulated: the simulation speed.
  virtual std::uint64_t loop_cycles() const = 0;
  virtual double loop_seconds() const = 0;
  virtual bool interrupt() const = 0;
  // Ends the file of waves, if there is one; from then on it is complete.
  virtual void close_waves() = 0;
};

// Names of the configurations built in, debug models included where they are; smallest first.
std::vector<std::string> sim_configs();
// Throws InputError when there is no such model: `config` as in rtl/configs.json.
std::unique_ptr<SimDevice> make_sim_device(std::string_view config, const SimOptions& options);
// "Verilator 5.048 ..." of the models.
std::string verilator_version();

}  // namespace kaiten::sim

#endif  // KAITEN_SIM_SIM_DEVICE_H
