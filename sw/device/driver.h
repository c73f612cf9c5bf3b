// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The driver: puts a program and its inputs into the memory of a device, runs it, fetches outputs and
// counters. What the device reports as an error becomes a DeviceError that names cause, command and layer;
// the device is reset by then and works again.
#ifndef KAITEN_DEVICE_DRIVER_H
#define KAITEN_DEVICE_DRIVER_H

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "device/counters.h"
#include "device/device.h"
#include "graph/graph.h"
#include "graph/rounding_style.h"
#include "graph/values.h"
#include "program/program.h"

namespace kaiten {

// The configuration a device tells in its registers; the name is that of the preset it equals, else "custom".
// Throws DeviceError where the device is no Kaiten or of another version.
Config read_config(Device& device);

constexpr std::uint64_t kMemoryAlign = 4096;
// Memory a program needs, its commands included; a multiple of kMemoryAlign.
std::uint64_t memory_needed(const Program& program);
// Stops whatever a device does; it works again then. Throws DeviceError where it does not come out of its reset.
void reset(Device& device);
// Cycles after which a device that runs the program and has not raised its interrupt hangs; `slowness` as in
// Driver::set_slowness().
std::uint64_t patience(const Program& program, double slowness = 1);

// What is known of the tensors during a run, under the graph's indices, image by image; empty: nothing yet.
using Tensors = std::vector<std::vector<Int8Values>>;
// Inputs in the order of graph.inputs, one image behind the other, in their places. Throws InputError for a wrong number or
// size.
Tensors tensors_with(const Graph& graph, int images, std::span<const Int8Values> inputs);

// The other way: the inputs of a graph among what is known, and what a run of it gave as outputs known from then on.
std::vector<Int8Values> inputs_of(const Graph& graph, const Tensors& tensors);
void take_outputs(const Graph& graph, std::vector<Int8Values> outputs, Tensors& tensors);

class Driver {
 public:
  // Cycles between two calls of the progress function.
  static constexpr std::uint64_t kProgressCycles = 10'000;
  // Called while the device works, with the cycles waited for so far; may throw to give up the run: the
  // device is then reset.
  using Progress = std::function<void(std::uint64_t cycles)>;

  // The device and the graph must outlive the driver. `offset`: where in the device's memory the program begins, a multiple of
  // kMemoryAlign; several drivers may share a device, each with a region of its own. Compares the program's configuration with
  // the device's, its commands with the modes, kinds and rounding rules the device has, and checks its rules. Throws
  // DeviceError where they do not fit or the memory is too small.
  Driver(Device& device, const Graph& graph, Program program, RoundingStyle rounding,
         std::uint64_t offset = 0);

  const Program& program() const { return program_; }
  // Bus address of the program's constants (weights, parameters).
  std::uint64_t constants_address() const { return base_at_[std::size_t(Base::kConstants)]; }
  void set_progress(Progress progress) { progress_ = std::move(progress); }
  // Stop after so many cycles without a completed command; 0: never.
  void set_watchdog(std::uint32_t cycles) { watchdog_ = cycles; }

  // How many times as long as the model says a run may take, at least once (default 1): for slow memories. Beyond 1 the
  // device's own watchdog is off.
  void set_slowness(double times);

  // Inputs in the order of graph.inputs, dense, one image after the other. Returns the outputs in the order
  // of graph.outputs, image by image; operators on the host are done, before and after the device's. Throws
  // InputError for wrong sizes.
  std::vector<Int8Values> run(std::span<const Int8Values> inputs);

  // The same in two steps, to repeat or to time the device alone.
  void write_inputs(std::span<const Int8Values> inputs);
  void execute();
  std::vector<Int8Values> read_outputs();

  // execute() in two steps, for a caller that lets several devices work at once: start(), wait_interrupt() of the device
  // until it is raised, finish(). The caller sees to progress and patience.
  void start();
  void finish();
  // Likewise step by step: after start(), lets the device work for so many cycles and, once its interrupt is raised, finishes
  // and returns true. Sees to progress and patience; after an exception the device is reset.
  bool advance(std::uint64_t cycles);

  // Where inputs and outputs (Base::kInputs, kOutputs) lie from now on, an address in the device's memory, a multiple of
  // kMemoryAlign: the next inputs may arrive, and results leave, while the device works with others.
  void place(Base base, std::uint64_t address);

  // Rows of the input may arrive while the device works, where the program waits for them (program/arrivals.h): begin_rows()
  // instead of write_inputs() before start(), with those that are there, and arrived() as often as more of them, counted from the first, are in memory.
  // Whoever brings them writes them behind Base::kInputs. Of the output, rows may leave when they are stored: stored() is the
  // number of STORE commands that are complete.
  void begin_rows(int rows);
  std::uint64_t inputs_at() const { return base_at_[std::size_t(Base::kInputs)]; }
  void arrived(int rows);
  std::uint32_t stored();
  Int8Values read_output_rows(int first_row, int rows);

  // Of the last run.
  Counters read_counters();
  // What a map that the device compressed takes in memory: bytes that move, its size surface among them, and values that
  // differ from the zero point.
  struct PackedMap {
    std::uint64_t bytes = 0;
    std::uint64_t nonzeros = 0;
  };
  PackedMap read_packed(const CompressedMap& map);

 private:
  void load(std::uint64_t offset);
  void select();
  void run_host(std::vector<Int8Values>& tensors);
  [[noreturn]] void fail();
  void write_address(std::uint32_t low, std::uint64_t address);

  Device& device_;
  const Graph& graph_;
  Program program_;
  RoundingStyle rounding_;
  Progress progress_;
  std::uint32_t watchdog_ = 1'000'000;
  double slowness_ = 1;
  bool waits_for_rows_ = false;
  std::uint32_t arrived_ = 0;  // at the start of the next run
  std::uint64_t waited_ = 0;   // cycles since start()
  std::uint64_t commands_at_ = 0;
  std::array<std::uint64_t, kBases> base_at_{};
  Tensors tensors_;  // of the current run, as far as the host knows them
};

}  // namespace kaiten

#endif  // KAITEN_DEVICE_DRIVER_H
