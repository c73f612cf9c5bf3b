// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A program on the simulated device, run and checked in everything a run can tell: each result of each layer
// (watcher), with dead rows of SB and VB destroyed (observe/row_poison.h), the outputs, the counters against
// what the program says of itself, and memory the program has no business with. Any difference is a
// GoogleTest failure; errors of the hardware come out as exceptions.
#ifndef KAITEN_TESTS_SYSTEM_SESSION_H
#define KAITEN_TESTS_SYSTEM_SESSION_H

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compile/compiler.h"
#include "device/driver.h"
#include "graph/graph.h"
#include "program/program.h"
#include "reference/reference.h"
#include "sim/sim_device.h"

namespace kaiten::test {

// A device with so much memory that any program of these tests fits; the address of the memory is drawn from the seed,
// anywhere in the 40 bits of an address.
std::unique_ptr<sim::SimDevice> make_device(std::string_view config, std::uint64_t seed,
                                            sim::SimOptions options = {});

// Latencies, bandwidth, stalls and the order of answers, drawn at random and set on an idle device.
void draw_timing(sim::SimDevice& device, std::mt19937_64& random);
// "latency 7/3, 2 bytes/cycle, stalls 10 0 30 0 0 %, shuffled": for messages.
std::string timing_text(const sim::AxiMemoryOptions& o);

class Session {
 public:
  // Device and graph must outlive the session.
  Session(sim::SimDevice& device, const Graph& graph, const Config& config, const CompileOptions& options);

  struct Result {
    std::vector<Int8Values> outputs;
    Counters counters;
    std::uint64_t cycles() const { return counters["cycles"]; }
    bool operator==(const Result& other) const {
      return outputs == other.outputs && counters.values == other.counters.values;
    }
  };

  // Runs and checks. Throws what the driver throws.
  Result run(std::span<const Int8Values> inputs);

  Driver& driver() { return *driver_; }
  sim::SimDevice& device() { return device_; }
  const Program& program() const { return driver_->program(); }
  // Bus address of a command, and of what a base register points to.
  std::uint64_t command_address(std::size_t index) const;
  std::uint64_t base_address(int base);

 private:
  void check_counters(const Counters& c, bool exact);

  sim::SimDevice& device_;
  const Graph& graph_;
  CompileOptions options_;
  std::unique_ptr<Driver> driver_;
};

// Compiles, loads and runs one set of inputs.
Session::Result run_on(sim::SimDevice& device, const Graph& graph, const Config& config,
                       const CompileOptions& options, std::span<const Int8Values> inputs);

// Random values for all inputs of a graph.
std::vector<Int8Values> draw_inputs(const Graph& graph, std::mt19937_64& random);

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SYSTEM_SESSION_H
