// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "run/session.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/output.h"
#include "base/text.h"
#include "compile/compiler.h"
#include "compile/sections.h"
#include "device/driver.h"
#include "observe/layer_clock.h"
#include "observe/row_poison.h"
#include "observe/trace.h"
#include "observe/watcher.h"
#include "program/program.h"
#include "reference/fft_oracle.h"
#include "reference/reference.h"
#include "report/make_report.h"
#include "sim/sim_device.h"

namespace kaiten {

namespace {

constexpr std::uint64_t kLeastMemory = 1 << 16;

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

bool is_debug(const SessionOptions& o) { return o.debug || !o.wave.empty(); }

sim::SimOptions sim_options(const SessionOptions& o, std::uint64_t bytes, const std::string& wave_file) {
  sim::SimOptions sim;
  sim.memory.bytes = std::max(bytes, kLeastMemory);
  sim.memory.read_latency = sim.memory.write_latency = o.latency;
  sim.memory.bytes_per_cycle = o.bytes_per_cycle < 0 ? preset(o.config).axi_bytes : o.bytes_per_cycle;
  sim.memory.seed = o.seed;
  for (unsigned* s : {&sim.memory.stall_ar, &sim.memory.stall_r, &sim.memory.stall_aw, &sim.memory.stall_w,
                      &sim.memory.stall_b})
    *s = o.stall;
  sim.debug = is_debug(o);
  sim.wave_file = wave_file;
  sim.wave_from = o.wave_from;
  sim.wave_to = o.wave_to;
  return sim;
}

// A section of the network and where it runs. `again` is for the runs after the first, with kept weights only.
struct Part {
  Section section;  // without its program
  std::optional<Program> again;
  std::optional<Driver> driver;

  // The driver's: with its constants it may be the largest thing there is.
  const Program& program() const { return driver->program(); }
};

// `calibration`: what the reference makes of the options' inputs, or nothing. The parts have no drivers yet.
std::vector<Part> compiled(const Graph& graph, const SessionOptions& o,
                           const std::vector<Int8Values>& calibration) {
  CompileOptions options;
  options.rounding = o.rounding;
  options.block_pixels = o.block_pixels;
  options.images = o.batch;
  options.keep_on_chip = !o.spill;
  options.optimise = o.optimise;
  options.compress = o.compress;
  options.known_values = calibration;
  options.cancellation_check = o.cancellation_check;
  std::vector<Part> parts;
  for (Section& section : compile_sections(graph, preset(o.config), options))
    parts.push_back({std::move(section), std::nullopt, std::nullopt});
  if (!o.keep_weights) return parts;
  if (parts.size() != 1) {
    throw InputError("weights stay on chip for networks of one program, this one has " +
                     std::to_string(parts.size()) + " with operators on the host between them");
  }
  KeptPrograms kept = compile_kept(parts[0].section.graph, preset(o.config), options);
  parts[0].section.program = std::move(kept.first);
  parts[0].again = std::move(kept.again);
  return parts;
}

// Throws InputError for what is out of range.
void require_sound(const SessionOptions& o) {
  const auto require = [](bool sound, const std::string& range, const auto& found) {
    if (!sound) throw InputError(range + ", not " + std::to_string(found));
  };
  require(o.batch >= 1 && o.batch <= kMostBatch, "batch is 1 to " + std::to_string(kMostBatch), o.batch);
  require(o.latency >= 1 && o.latency <= kMostLatency, "latency is 1 to " + std::to_string(kMostLatency),
          o.latency);
  require(o.stall <= kMostStall, "stall is 0 to " + std::to_string(kMostStall), o.stall);
  require(o.bytes_per_cycle <= 0
              ? true
              : o.bytes_per_cycle >= kLeastBytesPerCycle && o.bytes_per_cycle <= kMostBytesPerCycle,
          "bytes_per_cycle is 0 or 0.01 to 1000000", o.bytes_per_cycle);
  require(o.block_pixels >= 0, "block_pixels is 0 or more", o.block_pixels);
  require(o.wave.empty() || o.wave_from < o.wave_to, "wave_from is before wave_to", o.wave_from);
}

// How many times as long as with the memory that the compiler assumes a run may take.
double slowness(const SessionOptions& o) {
  const double bus = preset(o.config).axi_bytes;
  const double bandwidth = o.bytes_per_cycle > 0 ? std::max(1.0, bus / o.bytes_per_cycle) : 1;
  return bandwidth * std::max(1.0, o.latency / 10'000.0);
}

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

std::uint64_t memory_needed(const std::vector<Part>& parts) {
  std::uint64_t bytes = 0;
  for (const Part& part : parts) bytes += memory_needed(part.section.program);
  return bytes;
}

}  // namespace

namespace {

// Values of these tensors from a user's bytes, image by image. `whose` completes the message.
std::vector<Int8Values> raw_values(const Graph& graph, std::span<const int> tensors,
                                   std::span<const char> bytes, const std::string& name,
                                   const std::string& whose, int batch) {
  std::size_t wanted = 0;
  for (int t : tensors) wanted += std::size_t(batch) * graph.tensors[std::size_t(t)].bytes();
  if (bytes.size() != wanted) {
    throw InputError(name + " has " + std::to_string(bytes.size()) + " bytes, the model's " + whose + " " +
                     (batch > 1 ? "for " + std::to_string(batch) + " images " : "") + "have " +
                     std::to_string(wanted));
  }
  std::vector<Int8Values> values;
  const std::uint8_t* at = reinterpret_cast<const std::uint8_t*>(bytes.data());
  for (int image = 0; image < batch; image++) {
    for (int t : tensors) {
      const Tensor& tensor = graph.tensors[std::size_t(t)];
      values.push_back(from_model(tensor, {at, tensor.bytes()}));
      at += tensor.bytes();
    }
  }
  return values;
}

}  // namespace

std::vector<Int8Values> raw_inputs(const Graph& graph, std::span<const char> bytes, const std::string& name,
                                   int batch) {
  return raw_values(graph, graph.inputs, bytes, name, "inputs", batch);
}

std::vector<Int8Values> raw_outputs(const Graph& graph, std::span<const char> bytes, const std::string& name,
                                    int batch) {
  return raw_values(graph, graph.outputs, bytes, name, "outputs", batch);
}

struct Session::State {
  State(Graph g, SessionOptions o) : graph(std::move(g)), options(std::move(o)) {
    require_sound(options);
    if (options.compress != Compress::kOff && !options.calibration.empty())
      reference = compute(options.calibration, options.cancellation_check);
    parts = compiled(graph, options, reference);
    if (!options.wave.empty()) {
      require_writable(options.wave);
      wave.emplace(options.wave);
    }
    device = sim::make_sim_device(
        options.config, sim_options(options, memory_needed(parts), wave ? wave->path().string() : ""));
    std::uint64_t offset = 0;
    for (Part& part : parts) {
      const std::uint64_t bytes = kaiten::memory_needed(part.section.program);
      part.driver.emplace(*device, part.section.graph, std::move(part.section.program), options.rounding,
                          offset);
      part.driver->set_slowness(slowness(options));
      offset += bytes;
    }
  }

  // All tensors of all images.
  std::vector<Int8Values> compute(std::span<const Int8Values> inputs,
                                  const std::function<void()>& cancellation_check) {
    if (options.oracle == Oracle::Fft) oracle.emplace();
    return run_reference_batch(graph, options.batch, inputs, options.rounding, cancellation_check,
                               oracle ? &*oracle : nullptr);
  }

  // After the first run the weights are there.
  void next_run() {
    Part& first = parts.front();
    if (ran && first.again) {
      first.driver.emplace(*device, first.section.graph, std::move(*first.again), options.rounding);
      first.driver->set_slowness(slowness(options));
      first.again.reset();
    }
  }

  void say(const std::string& what) const {
    if (progress) progress(what);
  }

  std::string title() const { return graph.name + " on " + options.config + ": "; }

  // What the reference makes of the inputs of a run.
  std::vector<Int8Values> expect(std::span<const Int8Values> inputs) {
    if (!reference.empty() &&
        std::equal(inputs.begin(), inputs.end(), options.calibration.begin(), options.calibration.end()))
      return std::exchange(reference, {});
    return compute(inputs, [this] { say(title() + "computing the reference"); });
  }

  class PartRun;
  struct Run;
  void begin_part(Run& run);
  void end_part(Run& run);
  RunResult result_of(Run& run);
  void measure_speed(double seconds, RunReport& report);
  void add_packed_sizes(Part& part, RunReport& report);
  void add_outputs(const std::vector<std::string>& labels, RunResult& result) const;
  std::vector<bool> compare_golden(std::span<const Int8Values> golden, RunResult& result) const;
  void add_timeline(std::span<const std::unique_ptr<TraceRecorder>> traces, RunReport& report) const;
  void confirm(std::span<const Int8Values> expected, const std::optional<Interpretation>& shown,
               std::span<const Int8Values> golden, RunResult& result) const;
  void compare(const Part& part, const Watcher& watcher, const Tensors& tensors,
               std::span<const Int8Values> expected, RunResult& result) const;

  Graph graph;
  SessionOptions options;
  std::vector<Int8Values> reference;  // of the calibration, until the first run
  std::optional<FftOracle> oracle;    // of the last reference
  std::optional<StagedOutput> wave;   // until the first run is over
  std::unique_ptr<sim::SimDevice> device;
  std::vector<Part> parts;  // fixed in place: their drivers refer to their graphs
  bool ran = false;         // whole: the weights that stay on chip are there
  std::atomic<bool> running = false;
  Progress progress;
  std::unique_ptr<Run> run;  // begun in steps
};

Session::Session(Graph graph, SessionOptions options)
    : state_(std::make_unique<State>(std::move(graph), std::move(options))) {}
Session::~Session() = default;
Session::State& Session::state() const {
  if (!state_) throw InputError("the session was moved from");
  return *state_;
}
Session::Session(Session&&) noexcept = default;

const Graph& Session::graph() const { return state().graph; }
int Session::sections() const { return int(state().parts.size()); }
const Program& Session::program(int section) const {
  if (section < 0 || section >= sections()) {
    throw InputError("the session has " + std::to_string(sections()) + " sections, there is no section " +
                     std::to_string(section));
  }
  return state().parts[std::size_t(section)].program();
}
void Session::set_progress(Progress progress) { state().progress = std::move(progress); }

std::string Session::flip_constant_bit(std::size_t byte, int bit) {
  std::size_t size = 0, before = 0, total = 0;
  for (const Part& p : state().parts) total += p.program().constants.size();
  const Part* part = nullptr;
  for (const Part& p : state().parts) {
    const std::size_t end = size + p.program().constants.size();
    if (byte >= size && byte < end) part = &p, before = size;
    size = end;
  }
  if (part == nullptr) {
    throw InputError("the constants have " + std::to_string(size) + " bytes, there is no byte " +
                     std::to_string(byte));
  }
  if (bit < 0 || bit > 7) throw InputError("bits of a byte are 0 to 7, not " + std::to_string(bit));
  const std::uint64_t address = part->driver->constants_address() + byte - before;
  std::uint8_t value = 0;
  state().device->read_memory(address, {&value, 1});
  const int before_value = value;
  value ^= std::uint8_t(1U << bit);
  state().device->write_memory(address, {&value, 1});
  return "bit " + std::to_string(bit) + " of byte " + std::to_string(byte) + " of the " +
         std::to_string(total) + " bytes of constants, which was " + std::to_string(before_value) +
         " and is " + std::to_string(value);
}

// A section under way: simulated step by step, then reported. `tensors` gain what it makes.
class Session::State::PartRun {
 public:
  PartRun(State& state, Part& part, Tensors& tensors, Watcher* watcher, TraceRecorder* trace)
      : state_(state), part_(part), tensors_(tensors) {
    sim::SimDevice& device = *state.device;
    if (is_debug(state.options)) {
      poison_.emplace(part.program(), [&device](Buffer buffer, int begin, int end) {
        device.spoil(buffer == Buffer::kVb, begin, end);
      });
    }
    observer_.emplace(part.program(), watcher, trace, poison_ ? &*poison_ : nullptr);
    part.driver->set_progress([this](std::uint64_t cycles) { state_.say(progress_text(cycles)); });
    std::vector<Int8Values> inputs;
    for (const auto& image : tensors) {
      for (int t : part.section.graph.inputs) inputs.push_back(image[std::size_t(t)]);
    }
    watching_.emplace(device, *observer_, trace != nullptr || poison_.has_value());
    part.driver->write_inputs(inputs);
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

  // After advance() has said true.
  RunReport finish() {
    watching_.reset();
    const Graph& g = part_.section.graph;
    const Program& program = part_.program();
    std::vector<Int8Values> outputs = part_.driver->read_outputs();
    for (std::size_t i = 0; i < outputs.size(); i++)
      tensors_[i / g.outputs.size()][std::size_t(g.outputs[i % g.outputs.size()])] = std::move(outputs[i]);
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
  Part& part_;
  Tensors& tensors_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double seconds_before_ = state_.device->loop_seconds();
  std::uint64_t cycles_before_ = state_.device->loop_cycles();
  std::optional<RowPoison> poison_;
  std::optional<Observer> observer_;
  std::optional<Watching> watching_;
};

// A run under way.
struct Session::State::Run {
  Run(State& s, std::span<const Int8Values> in, const RunOptions& o)
      : running(s.running), inputs(in.begin(), in.end()), options(o) {}

  Running running;
  std::vector<Int8Values> inputs;
  RunOptions options;
  Tensors tensors;
  std::vector<Int8Values> expected;
  std::optional<Interpretation> shown;
  std::vector<std::unique_ptr<TraceRecorder>> traces;
  std::vector<std::unique_ptr<Watcher>> watchers;
  std::vector<PartOfReport> reports;
  std::optional<PartRun> part;
};

// The commands of all sections, one section after the other.
void Session::State::add_timeline(std::span<const std::unique_ptr<TraceRecorder>> traces,
                                  RunReport& report) const {
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < traces.size(); i++) {
    for (const TraceRecorder::Slice& s : traces[i]->slices()) {
      const int op = parts[i].program().meta[s.command].op;
      report.timeline.push_back(
          {int(s.queue), parts[i].section.ops[std::size_t(op)], first + s.from, first + s.to});
    }
    first += traces[i]->cycles();
  }
}

// The speed of the simulation alone, without watchers.
void Session::State::measure_speed(double seconds, RunReport& report) {
  const double before = device->loop_seconds();
  const std::uint64_t cycles = device->loop_cycles();
  for (Part& part : parts) part.driver->set_progress([this](std::uint64_t) { say(title() + "repeating"); });
  while (device->loop_seconds() - before < seconds) {
    for (Part& part : parts) part.driver->execute();
    say(title() + "repeating");
  }
  report.seconds = device->loop_seconds() - before;
  report.loop_cycles = device->loop_cycles() - cycles;
}

// What the compressed maps take in the device's memory.
void Session::State::add_packed_sizes(Part& part, RunReport& report) {
  for (const CompressedMap& map : part.program().compressed) {
    const MemoryLayout& m = map.layout;
    LayerReport& layer = report.layers[std::size_t(map.op)];
    const std::uint64_t raw = std::uint64_t(m.height) * std::uint64_t(m.width) *
                              std::uint64_t((m.segments - 1) * m.pixel_bytes + m.last_pixel_bytes);
    const Driver::PackedMap packed = part.driver->read_packed(map);
    layer.zvc_raw += raw;
    layer.zvc_packed += packed.bytes;
    layer.zvc_limit += raw / 8 + packed.nonzeros;
  }
}

void Session::State::add_outputs(const std::vector<std::string>& labels, RunResult& result) const {
  const std::size_t each = graph.outputs.size();
  for (std::size_t i = 0; i < result.outputs.size(); i++) {
    const Tensor& tensor = graph.tensors[std::size_t(graph.outputs[i % each])];
    result.report.outputs.push_back(output_report(tensor, result.outputs[i], labels));
    result.report.outputs.back().image = int(i / each);
  }
}

// The verdict on a section: what the watcher saw, and its outputs, those that the host computed element by element.
void Session::State::compare(const Part& part, const Watcher& watcher, const Tensors& tensors,
                             std::span<const Int8Values> expected, RunResult& result) const {
  RunReport& report = result.report;
  const Graph& g = part.section.graph;
  const auto op_of = [&](int op) { return part.section.ops[std::size_t(op)]; };
  report.checked += watcher.checked();
  if (report.difference.empty()) report.difference = watcher.verdict();
  for (TensorComparison c : watcher.comparisons()) {
    c.op = op_of(c.op);
    result.comparisons.push_back(c);
  }
  for (const LayerInfo& layer : part.program().layers) {
    const auto output = std::size_t(g.ops[std::size_t(layer.op)].output);
    if (std::find(g.outputs.begin(), g.outputs.end(), int(output)) == g.outputs.end()) continue;
    TensorComparison compared;
    for (std::size_t image = 0; image < tensors.size(); image++) {
      const Int8Values& found = tensors[image][output];
      const Int8Values& wanted = expected[image * graph.tensors.size() + output];
      if (layer.on_host) compare_values(g, layer.op, int(image), found, wanted, compared);
      if (found != wanted && report.difference.empty())
        report.difference = "output '" + graph.tensors[output].name + "' differs";
    }
    compared.op = op_of(layer.op);
    if (layer.on_host) result.comparisons.push_back(compared);
  }
}

// The outputs against those that somebody else computed; which operators made them.
std::vector<bool> Session::State::compare_golden(std::span<const Int8Values> golden,
                                                 RunResult& result) const {
  std::vector<bool> made(graph.ops.size(), false);
  if (golden.empty()) return made;
  if (golden.size() != result.outputs.size()) {
    throw InputError("the golden holds " + std::to_string(golden.size()) + " tensors, the run gives " +
                     std::to_string(result.outputs.size()));
  }
  for (std::size_t i = 0; i < golden.size(); i++) {
    const int output = graph.outputs[i % graph.outputs.size()];
    const auto op = std::find_if(graph.ops.begin(), graph.ops.end(),
                                 [output](const Op& o) { return o.output == output; }) -
                    graph.ops.begin();
    if (std::size_t(op) == graph.ops.size()) continue;  // an input
    TensorComparison c;
    compare_values(graph, int(op), int(i / graph.outputs.size()), result.outputs[i], golden[i], c);
    made[std::size_t(op)] = true;
    result.report.confirmation.golden += c.seen;
    if (c.different > 0 && result.report.difference.empty())
      result.report.difference = "not what the golden holds: " + to_text(c.first, graph);
  }
  return made;
}

// What of the result something independent confirms: the reference, which shares no code with the accelerator, what the
// accelerator computed; the interpreter, which shares none with either, all that it shows.
void Session::State::confirm(std::span<const Int8Values> expected, const std::optional<Interpretation>& shown,
                             std::span<const Int8Values> golden, RunResult& result) const {
  RunReport& report = result.report;
  Confirmation& c = report.confirmation;
  c.reference = report.checked;
  std::vector<bool> confirmed = compare_golden(golden, result);
  for (const TensorComparison& t : result.comparisons) {
    if (t.op >= 0 && !report.layers[std::size_t(t.op)].on_host) confirmed[std::size_t(t.op)] = true;
  }
  if (shown) {
    c.interpreter = shown->name, c.version = shown->version;
    result.interpreted = compare_all(graph, options.batch, expected, *shown);
    for (const TensorComparison& t : result.interpreted) {
      confirmed[std::size_t(t.op)] = true;
      c.tensors++;
      c.interpreted += t.seen, c.different += t.different, c.close += t.close;
      if (t.different > 0 && report.difference.empty())
        report.difference = "not what " + c.title() + " gives: " + to_text(t.first, graph);
    }
  }
  for (std::size_t op = 0; op < graph.ops.size(); op++) {
    const LayerReport& layer = report.layers[op];
    if (confirmed[op] || layer.nothing_to_do) continue;
    c.unconfirmed.push_back(
        {layer.name, layer.op, graph.output_of(graph.ops[op]).elements() * std::uint64_t(report.batch)});
  }
}

void Session::State::begin_part(Run& run) {
  Part& part = parts[run.reports.size()];
  const Graph& g = part.section.graph;
  if (run.options.check) run.watchers.push_back(std::make_unique<Watcher>(g, part.program(), run.expected));
  if (run.options.trace) run.traces.push_back(std::make_unique<TraceRecorder>(g, part.program()));
  run.part.emplace(*this, part, run.tensors, run.options.check ? run.watchers.back().get() : nullptr,
                   run.options.trace ? run.traces.back().get() : nullptr);
}

void Session::State::end_part(Run& run) {
  Part& part = parts[run.reports.size()];
  run.reports.push_back({run.part->finish(), part.section.ops});
  run.part.reset();
  RunReport& report = run.reports.back().report;
  if (run.inputs == options.calibration) report.exactly_predicted |= part.program().sizes_known();
  if (const std::string difference = bytes_difference(report); !difference.empty())
    throw DeviceError(difference);
}

RunResult Session::State::result_of(Run& run) {
  ran = true;
  RunResult result;
  result.report = joined(graph, std::move(run.reports));
  for (const auto& image : run.tensors) {
    for (int t : graph.outputs) result.outputs.push_back(image[std::size_t(t)]);
  }
  if (run.options.seconds > 0) measure_speed(run.options.seconds, result.report);
  add_outputs(run.options.labels, result);
  for (std::size_t i = 0; i < run.watchers.size(); i++)
    compare(parts[i], *run.watchers[i], run.tensors, run.expected, result);
  confirm(run.expected, run.shown, run.options.golden, result);
  if (run.options.check) result.report.exact = result.report.difference.empty();
  if (run.options.check && oracle) {
    for (const std::string& note : oracle->notes()) result.report.notes.push_back(note);
  }
  if (run.options.trace) {
    result.trace = trace_json(run.traces, graph.name, options.config);
    add_timeline(run.traces, result.report);
  }
  if (wave) {
    device->close_waves();
    if (options.wave_from >= result.report.cycles) {
      throw InputError("the waves would be empty: they begin with cycle " +
                       std::to_string(options.wave_from) + ", the run has " +
                       std::to_string(result.report.cycles));
    }
    wave->commit();
    wave.reset();
  }
  return result;
}

void Session::begin(std::span<const Int8Values> inputs, const RunOptions& options) {
  State& s = state();
  auto run = std::make_unique<State::Run>(s, inputs, options);
  if ((options.interpreter || !options.golden.empty()) && !options.check)
    throw InputError("an interpreter and a golden are compared with checked runs only");
  run->tensors = tensors_with(s.graph, s.options.batch, inputs);
  s.next_run();
  if (options.check) run->expected = s.expect(inputs);
  if (options.interpreter) {
    s.say(s.title() + "running the interpreter");
    run->shown = options.interpreter(inputs);
  }
  s.begin_part(*run);
  s.run = std::move(run);
}

bool Session::step(std::uint64_t cycles) {
  State& s = state();
  if (!s.run) throw InputError("no run was begun");
  if (cycles == 0) throw InputError("a step has at least 1 cycle");
  try {
    if (s.run->part && s.run->part->advance(cycles)) {
      s.end_part(*s.run);
      if (s.run->reports.size() < s.parts.size()) s.begin_part(*s.run);
    }
  } catch (...) {
    s.run.reset();
    throw;
  }
  return !s.run->part;
}

RunResult Session::finish() {
  State& s = state();
  if (!s.run || s.run->part) throw InputError("the run is not over");
  const std::unique_ptr<State::Run> run = std::move(s.run);
  return s.result_of(*run);
}

RunView Session::look() const {
  const State& s = state();
  RunView view;
  if (!s.run || !s.run->part) return view;
  const State::PartRun& part = *s.run->part;
  const Program& program = s.parts[s.run->reports.size()].program();
  view.section = int(s.run->reports.size());
  view.cycles = part.cycles();
  view.modelled_cycles = std::uint64_t(program.modelled_cycles);
  const std::vector<int>& ops = s.parts[s.run->reports.size()].section.ops;
  for (std::size_t c = 0; c < program.commands.size(); c++) {
    const std::size_t queue = std::size_t(program.commands[c].queue());
    QueueView& q = view.queues[queue];
    if (q.commands++ == part.observer().completed()[queue]) q.op = ops[std::size_t(program.meta[c].op)];
  }
  for (std::size_t i = 0; i < view.queues.size(); i++) {
    view.queues[i].completed = part.observer().completed()[i];
    view.queues[i].waiting = (part.observer().heads() >> i & 1) != 0;
  }
  return view;
}

RunResult Session::run(std::span<const Int8Values> inputs, const RunOptions& options) {
  begin(inputs, options);
  while (!step(Driver::kProgressCycles)) {
  }
  return finish();
}

}  // namespace kaiten
