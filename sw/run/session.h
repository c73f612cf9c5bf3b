// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A model on the simulated accelerator in a few lines: compile it, run it, compare every tensor with the
/// reference, report.
///
///   kaiten::Session session(kaiten::require_graph(kaiten::import_file("model.tflite")), {.config = "nano"});
///   const kaiten::RunResult result = session.run(inputs);
///   std::cout << kaiten::to_text(result.report, 0);
///
/// What is wrong with model, inputs or options is an InputError, what the hardware reports a DeviceError
/// (base/error.h).
#ifndef KAITEN_RUN_SESSION_H
#define KAITEN_RUN_SESSION_H

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compile/spans/compression.h"
#include "graph/graph.h"
#include "graph/rounding_style.h"
#include "graph/values.h"
#include "observe/comparison.h"
#include "report/run_report.h"

namespace kaiten {

struct Program;  ///< program/program.h, not a public header

/// Who computes the sums of the expected convolutions: multiply-accumulates, or Fourier transforms
/// (docs/software/fft.md).
enum class Oracle { Direct, Fft };

struct SessionOptions {
  std::string config = "base";  ///< of rtl/configs.json, with a simulator in this build
  RoundingStyle rounding = RoundingStyle::LiteRt;
  Oracle oracle = Oracle::Direct;
  int block_pixels = 0;  ///< output pixels of a command; 0: a number that suits the array
  /// Every run after the first finds the weights that fit on chip there (WB, VWB) instead of loading them.
  bool keep_weights = false;
  /// Images of a run. The weights of layers that share the chip are loaded once for all of them, or for as
  /// many as move fewest bytes.
  int batch = 1;
  /// Every map goes through memory, to measure what that costs.
  bool spill = false;
  /// Maps that are spilled and weights cross the memory bus compressed: none, all that can, or those that become
  /// smaller, of maps in a reference run with these inputs, of all images of the batch. For them the predicted
  /// bytes are exact, and a first run with them does not compute the reference again.
  Compress compress = Compress::kOff;
  std::vector<Int8Values> calibration = {};
  /// Called now and then while the model is compiled; what it throws ends that.
  std::function<void()> before_each = {};
  /// The simulated memory.
  unsigned latency = 100;       ///< cycles
  double bytes_per_cycle = -1;  ///< both directions together; 0: no limit, below 0: the width of the bus
  unsigned stall = 0;           ///< percent of the cycles, on every channel of the bus
  std::uint64_t seed = 1;       ///< of the stalls, and of the initial state of debug models
  /// Debug models: assertions, random initial state, rows of SB and VB destroyed when they are dead, and an
  /// FST file of the first run's cycles from..to - 1. The file appears when the session ends after a complete
  /// run.
  bool debug = false;
  std::string wave = {};
  std::uint64_t wave_from = 0;
  std::uint64_t wave_to = std::numeric_limits<std::uint64_t>::max();
};

struct RunOptions {
  bool check = true;   ///< compare every tensor with the reference
  bool trace = false;  ///< record the queues (observe/trace.h)
  double seconds = 0;  ///< repeat the run until it has been simulated for so long, to measure the speed
  std::vector<std::string> labels = {};  ///< names of the classes
};

struct RunResult {
  std::vector<Int8Values> outputs;  ///< in the order of graph.outputs, image by image
  RunReport report;                 ///< exact and difference say whether all tensors are equal
  std::vector<TensorComparison>
      comparisons;    ///< with check: one a tensor that the device computed or that is an output
  std::string trace;  ///< JSON
};

/// Inputs from the model's own bytes, one input after the other in the order of graph.inputs, image by image.
/// Throws InputError where there are more or fewer bytes; `name` says whose.
std::vector<Int8Values> raw_inputs(const Graph& graph, std::span<const char> bytes,
                                   const std::string& name = "the input", int batch = 1);

class Session {
 public:
  /// Called a few times a second at most, with what is going on; may throw to give up.
  using Progress = std::function<void(const std::string& what)>;

  explicit Session(Graph graph, SessionOptions options = {});
  ~Session();
  Session(Session&&) noexcept;

  const Graph& graph() const;
  const Program& program() const;
  void set_progress(Progress progress);

  /// Inputs in the order of graph.inputs, image by image, stored values (raw_inputs()). Throws DeviceError
  /// also where the bytes the device counted are not those that the compiler predicts.
  RunResult run(std::span<const Int8Values> inputs, const RunOptions& options = {});

  /// Inverts a bit of the constants (weights, parameters) in the device's memory: to see what a difference
  /// looks like.
  void flip_constant_bit(std::size_t byte, int bit);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kaiten

#endif  // KAITEN_RUN_SESSION_H
