// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What a session is made of: its sections, the device they share, and the run that is under way.
#ifndef KAITEN_RUN_SESSION_STATE_H
#define KAITEN_RUN_SESSION_STATE_H

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/output.h"
#include "base/text.h"
#include "compile/sections.h"
#include "device/driver.h"
#include "observe/buffer_fill.h"
#include "observe/layer_clock.h"
#include "observe/row_poison.h"
#include "observe/trace.h"
#include "observe/watcher.h"
#include "reference/fft_oracle.h"
#include "reference/reference.h"
#include "report/make_report.h"
#include "run/reference_run.h"
#include "run/session.h"
#include "sim/sim_device.h"

namespace kaiten {

// Shows the results of the simulated device to the watcher, what it does to the clock of the layers and to
// the trace.
class Observer : public sim::ResultWatcher, public sim::QueueWatcher {
 public:
  Observer(const Program& program, Watcher* watcher, TraceRecorder* trace, RowPoison* poison)
      : clock_(program), watcher_(watcher), trace_(trace), poison_(poison) {}

  void result(const sim::ResultWord& r) override {
    if (watcher_ != nullptr) watcher_->result({r.command, int(r.tiles), int(r.rows), int(r.columns)}, r.data);
    if ((r.tiles | r.rows | r.columns) == 0) clock_.last_result(r.command);
  }
  void events(std::uint32_t flags) override {
    clock_.events(flags);
    if (trace_ != nullptr) trace_->events(flags);
  }
  void queues(std::uint32_t heads, std::span<const std::uint32_t, 4> completed) override {
    if (trace_ != nullptr) trace_->queues(heads, completed);
    if (poison_ != nullptr) poison_->completed(completed);
    heads_ = heads;
    std::copy(completed.begin(), completed.end(), completed_.begin());
  }
  std::uint32_t heads() const { return heads_; }
  const Counts& completed() const { return completed_; }
  LayerClock& clock() { return clock_; }

 private:
  LayerClock clock_;
  Watcher* watcher_;
  TraceRecorder* trace_;
  RowPoison* poison_;
  std::uint32_t heads_ = 0;
  Counts completed_{};
};

// Looks at a device for as long as it lives.
class Watching {
 public:
  Watching(sim::SimDevice& device, Observer& observer, bool queues) : device_(device) {
    device_.watch(&observer);
    device_.watch_queues(queues ? &observer : nullptr);
  }
  ~Watching() {
    device_.watch(nullptr);
    device_.watch_queues(nullptr);
  }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

 private:
  sim::SimDevice& device_;
};

inline bool is_debug(const SessionOptions& o) { return o.debug || !o.wave.empty(); }

// A section of the network and where it runs. `again` is for the runs after the first, with kept weights only.
struct PreparedSection {
  Section section;  // without its program
  std::optional<Program> again;
  std::optional<Driver> driver;

  // The driver's: with its constants it may be the largest thing there is.
  const Program& program() const { return driver->program(); }
};

// A run that is under way; there is one at a time.
class Running {
 public:
  explicit Running(std::atomic<bool>& running) : running_(running) {
    if (running_.exchange(true))
      throw InputError("the session is running, in another thread or around this call");
  }
  ~Running() { running_ = false; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  std::atomic<bool>& running_;
};

struct Session::State {
  class PartRun;
  struct Run;

  State(Graph g, SessionOptions o);

  // All tensors of all images.
  std::vector<Int8Values> compute(std::span<const Int8Values> inputs,
                                  const std::function<void()>& cancellation_check) {
    if (options.oracle == Oracle::Fft) oracle.emplace();
    return run_reference_batch(graph, options.batch, inputs, options.rounding, cancellation_check,
                               oracle ? &*oracle : nullptr);
  }

  void next_run();  // after the first one the weights are there

  void say(const std::string& what) const {
    if (progress) progress(what);
  }

  std::string title() const { return graph.name + " on " + options.config + ": "; }

  // What the reference makes of the inputs of a run: computed, or begun.
  void expect(Run& run);

  void begin_part(Run& run);
  void end_part(Run& run);
  RunResult result_of(Run& run);
  void measure_speed(double seconds, RunReport& report);
  void add_packed_sizes(PreparedSection& part, RunReport& report);
  void add_outputs(const std::vector<std::string>& labels, RunResult& result) const;
  std::vector<bool> compare_golden(std::span<const Int8Values> golden, RunResult& result) const;
  void add_timeline(std::span<const std::unique_ptr<TraceRecorder>> traces, RunReport& report) const;
  void confirm(std::span<const Int8Values> expected, const std::optional<Interpretation>& shown,
               std::span<const Int8Values> golden, RunResult& result) const;
  void compare(const PreparedSection& part, const Watcher& watcher, const Tensors& tensors,
               std::span<const Int8Values> expected, RunResult& result) const;

  Graph graph;
  SessionOptions options;
  std::vector<Int8Values> reference;  // of the calibration, until the first run
  std::optional<FftOracle> oracle;    // of the last reference
  std::optional<StagedOutput> wave;   // until the first run is over
  std::unique_ptr<sim::SimDevice> device;
  std::vector<PreparedSection> parts;  // fixed in place: their drivers refer to their graphs
  bool ran = false;                    // whole: the weights that stay on chip are there
  std::atomic<bool> running = false;
  Progress progress;
  std::unique_ptr<Run> run;  // begun in steps
};

// A section under way: simulated step by step, then reported. `tensors` gain what it makes.
class Session::State::PartRun {
 public:
  PartRun(State& state, PreparedSection& part, Tensors& tensors, Watcher* watcher, TraceRecorder* trace)
      : state_(state), part_(part), tensors_(tensors) {
    sim::SimDevice& device = *state.device;
    if (is_debug(state.options)) {
      poison_.emplace(part.program(), [&device](Buffer buffer, int begin, int end) {
        device.spoil(buffer == Buffer::kVb, begin, end);
      });
    }
    observer_.emplace(part.program(), watcher, trace, poison_ ? &*poison_ : nullptr);
    part.driver->set_progress([this](std::uint64_t cycles) { state_.say(progress_text(cycles)); });
    watching_.emplace(device, *observer_, trace != nullptr || poison_.has_value());
    part.driver->write_inputs(inputs_of(*part.section.graph, tensors));
    if (!part.program().commands.empty()) part.driver->start();
  }
  ~PartRun() { part_.driver->set_progress({}); }
  PartRun(const PartRun&) = delete;
  PartRun& operator=(const PartRun&) = delete;

  bool advance(std::uint64_t cycles) {
    return part_.program().commands.empty() || part_.driver->advance(cycles);
  }
  std::uint64_t cycles() const { return state_.device->loop_cycles() - cycles_before_; }
  const Observer& observer() const { return *observer_; }
  std::array<BufferView, 5> buffers() const;

  // After advance() has said true.
  RunReport finish() {
    watching_.reset();
    const Graph& g = *part_.section.graph;
    const Program& program = part_.program();
    take_outputs(g, part_.driver->read_outputs(), tensors_);
    const Counters counters = program.commands.empty() ? Counters{} : part_.driver->read_counters();
    RunReport report = make_report(g, program, counters, observer_->clock().finish());
    state_.add_packed_sizes(part_, report);
    report.seconds = state_.device->loop_seconds() - seconds_before_;
    report.loop_cycles = cycles();
    return report;
  }

 private:
  std::string progress_text(std::uint64_t cycles) const {
    const std::uint64_t modelled = std::max<std::uint64_t>(1, std::uint64_t(part_.program().modelled_cycles));
    std::string text = state_.title() + std::to_string(cycles) + " cycles, about " +
                       std::to_string(std::min<std::uint64_t>(99, 100 * cycles / modelled)) + " %";
    if (cycles > 0 && cycles < modelled) {
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
      text += ", " + duration_text(seconds * double(modelled - cycles) / double(cycles)) + " left";
    }
    return text;
  }

  State& state_;
  PreparedSection& part_;
  Tensors& tensors_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double seconds_before_ = state_.device->loop_seconds();
  std::uint64_t cycles_before_ = state_.device->loop_cycles();
  std::optional<RowPoison> poison_;
  std::optional<Observer> observer_;
  std::optional<Watching> watching_;
  mutable std::optional<BufferFill> fill_;  // once somebody looks
};

// A run under way.
struct Session::State::Run {
  Run(State& s, std::span<const Int8Values> in, const RunOptions& o)
      : running(s.running), inputs(in.begin(), in.end()), options(o) {}

  Running running;
  std::vector<Int8Values> inputs;
  RunOptions options;
  Tensors tensors;
  std::optional<ReferenceRun> reference;  // while it fills `expected`
  std::vector<Int8Values> expected;       // indexed like graph.tensors, one image after the other
  std::optional<Interpretation> shown;
  std::vector<std::unique_ptr<TraceRecorder>> traces;
  std::vector<std::unique_ptr<Watcher>> watchers;
  std::vector<PartOfReport> reports;
  std::optional<PartRun> part;
};

}  // namespace kaiten

#endif  // KAITEN_RUN_SESSION_STATE_H
