// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A model on the simulated accelerator in a few lines: compile it, run it, compare every tensor with the
/// reference, report.
///
/// @code
///   kaiten::Session session(kaiten::require_graph(kaiten::import_file("model.tflite")), {.config = "nano"});
///   const kaiten::RunResult result = session.run(inputs);
///   std::cout << kaiten::to_text(result.report, 0);
/// @endcode
///
/// What is wrong with model, inputs or options is an InputError, what the hardware reports a DeviceError
/// (base/error.h).
#ifndef KAITEN_RUN_SESSION_H
#define KAITEN_RUN_SESSION_H

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/rounding_style.h"
#include "graph/values.h"
#include "observe/comparison.h"
#include "observe/interpretation.h"
#include "program/compress_mode.h"
#include "program/config.h"
#include "program/optimise.h"
#include "report/run_report.h"

namespace kaiten {

struct Program;  ///< program/program.h, not a public header

/// Who computes the sums of the expected convolutions: multiply-accumulates, or Fourier transforms
/// (docs/software/fft.md).
enum class Oracle { Direct, Fft };

/// Ranges of SessionOptions, ends included.
inline constexpr unsigned kMostLatency = 1'000'000;  ///< cycles, from 1
inline constexpr unsigned kMostStall = 99;           ///< percent
inline constexpr double kLeastBytesPerCycle = 0.01;  ///< but for 0
inline constexpr double kMostBytesPerCycle = 1e6;    ///< the bus never limits

/// How a session compiles and simulates; the defaults suit a first run.
struct SessionOptions {
  std::string config = "base";                     ///< of rtl/configs.json, with a simulator in this build
  RoundingStyle rounding = RoundingStyle::LiteRt;  ///< of device and reference alike
  Oracle oracle = Oracle::Direct;                  ///< of the reference's convolutions
  int block_pixels = 0;  ///< output pixels of a command; 0: a number that suits the array
  /// Every run after the first finds the weights that fit on chip there (WB, VWB) instead of loading them.
  bool keep_weights = false;
  /// Images of a run. The weights of layers that share the chip are loaded once for all of them, or for as
  /// many as move fewest bytes.
  int batch = 1;
  /// Every map goes through memory, to measure what that costs.
  bool spill = false;
  /// Plans are ranked by bytes that cross the memory bus, or by modelled cycles.
  Optimise optimise = Optimise::kBytes;
  /// Maps that are spilled and weights cross the memory bus compressed: none, all that can, or those that become
  /// smaller, of maps in a reference run with these inputs, of all images of the batch. For them the predicted
  /// bytes are exact, and a first run with them does not compute the reference again.
  Compress compress = Compress::kOff;
  std::vector<Int8Values> calibration = {};  ///< these inputs, as run() takes them; empty: none
  /// Called now and then while the model is compiled; what it throws ends that.
  std::function<void()> cancellation_check = {};
  /// The simulated memory.
  unsigned latency = 100;       ///< cycles
  double bytes_per_cycle = -1;  ///< both directions together; 0: no limit, below 0: the width of the bus
  unsigned stall = 0;           ///< percent of the cycles, on every channel of the bus
  std::uint64_t seed = 1;       ///< of the stalls, and of the initial state of debug models
  /// Debug models: assertions, random initial state, rows of SB and VB destroyed when they are dead, and an
  /// FST file of the first run's cycles from..to - 1. The file appears when the session ends after a complete
  /// run.
  bool debug = false;
  std::string wave = {};        ///< name of the FST file, implies `debug`; empty: none
  std::uint64_t wave_from = 0;  ///< first cycle in it
  std::uint64_t wave_to = std::numeric_limits<std::uint64_t>::max();  ///< cycle after the last
};

/// Of one run.
struct RunOptions {
  bool check = true;   ///< compare every tensor with the reference
  bool trace = false;  ///< record the queues (observe/trace.h)
  double seconds = 0;  ///< repeat the run until it has been simulated for so long, to measure the speed
  std::vector<std::string> labels = {};  ///< names of the classes
  /// With check: what somebody else's interpreter makes of the inputs of the run; empty: none.
  std::function<Interpretation(std::span<const Int8Values> inputs)> interpreter = {};
  /// With check: the outputs as somebody else computed them, like RunResult::outputs; empty: none.
  std::vector<Int8Values> golden = {};
};

/// What a run gave.
struct RunResult {
  std::vector<Int8Values> outputs;  ///< in the order of graph.outputs, image by image
  RunReport report;                 ///< exact and difference say whether all tensors are equal
  /// With check: one a tensor that the device computed or that is an output.
  std::vector<TensorComparison> comparisons;
  std::vector<TensorComparison> interpreted;  ///< with an interpreter: one an operator's output that it shows
  std::string trace;                          ///< with trace: JSON of trace events
};

/// Inputs from the model's own bytes, one input after the other in the order of graph.inputs, image by image.
/// Throws InputError where there are more or fewer bytes; `name` says whose.
std::vector<Int8Values> raw_inputs(const Graph& graph, std::span<const char> bytes,
                                   const std::string& name = "the input", int batch = 1);

/// Outputs likewise, for RunOptions::golden.
std::vector<Int8Values> raw_outputs(const Graph& graph, std::span<const char> bytes,
                                    const std::string& name = "the golden", int batch = 1);

/// Outputs, image by image, as the bytes that raw_outputs() takes.
std::vector<std::uint8_t> raw_bytes(const Graph& graph, std::span<const Int8Values> outputs);

/// One of the four queues during a run.
struct QueueView {
  std::uint32_t commands = 0;   ///< of the section
  std::uint32_t completed = 0;  ///< of them
  bool waiting = false;         ///< the command at its head has not started
  int op = -1;  ///< of the graph, that the first command that is not complete works for; -1: all are
};

/// One of the memories on chip during a run.
struct BufferView {
  std::int64_t bytes = 0;  ///< it has
  /// Bytes that are there and still read: rows of maps in SB and VB, in whole slots from their first part on,
  /// weights in WB and VWB, sums in OB that wait for another pass.
  std::int64_t held = 0;
};

/// A run that was begun and is not over, between two steps. Queues and buffers move in runs with RunOptions::trace.
struct RunView {
  int section = 0;                         ///< under way, counted from 0
  std::uint64_t cycles = 0;                ///< of the section so far
  std::uint64_t modelled_cycles = 0;       ///< of the section, by the compiler's model
  std::array<QueueView, 4> queues = {};    ///< LOAD, CONV, VECTOR, STORE
  std::array<BufferView, 5> buffers = {};  ///< SB, VB, WB, VWB, OB
};

/// A compiled model and a simulator that runs it. One thread at a time: run() in a second one is an InputError, other calls
/// during a run are not allowed. Sessions do not share anything: each thread may have its own. After an exception the
/// session runs again. Members of a session that was moved from throw InputError.
class Session {
 public:
  /// Called a few times a second at most, with what is going on; may throw to give up.
  using Progress = std::function<void(const std::string& what)>;

  /// Compiles the graph and makes the simulator. Throws InputError for unknown configurations, options out of range, a
  /// wave file that cannot be written and a model that does not fit.
  explicit Session(Graph graph, SessionOptions options = {});
  ~Session();
  Session(Session&&) noexcept;  ///< what is left throws InputError

  const Graph& graph() const;  ///< as given
  int sections() const;        ///< programs that a run takes: operators on the host may stand between them
  /// As compiled; with keep_weights, that of the last run. InputError unless 0 <= section < sections().
  const Program& program(int section = 0) const;
  void set_progress(Progress progress);  ///< for the runs from now on; empty: none

  /// Inputs in the order of graph.inputs, image by image, stored values (raw_inputs()); InputError where their number or
  /// size is wrong. Throws DeviceError for errors of the device, and where the bytes it counted are not those that the
  /// compiler predicts.
  RunResult run(std::span<const Int8Values> inputs, const RunOptions& options = {});

  /// The same in steps, for callers that show what goes on or do something in between: begin(), step() until it says that
  /// the run is over, finish(). After an exception there is no run. A step ends with its section, if that is earlier.
  void begin(std::span<const Int8Values> inputs, const RunOptions& options = {});
  bool step(std::uint64_t cycles);  ///< InputError without a run or with 0 cycles; what run() throws
  RunResult finish();               ///< InputError before the run is over
  RunView look() const;             ///< zeros where no section is under way

  /// Inverts a bit of the constants (weights, parameters) in the device's memory: to see what a difference
  /// looks like. Throws InputError where there is no such byte, or bit (0 to 7). Says what was inverted.
  std::string flip_constant_bit(std::size_t byte, int bit);

 private:
  struct State;
  State& state() const;
  std::unique_ptr<State> state_;
};

}  // namespace kaiten

#endif  // KAITEN_RUN_SESSION_H
