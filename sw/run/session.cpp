// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "run/session.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/output.h"
#include "compile/compiler.h"
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
  }
  LayerClock& clock() { return clock_; }

 private:
  LayerClock clock_;
  Watcher* watcher_;
  TraceRecorder* trace_;
  RowPoison* poison_;
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

std::vector<float> numbers_of(ElementType type, const Int8Values& values) {
  if (type == ElementType::Float32) return floats_of(values);
  if (type == ElementType::Int8) return {values.begin(), values.end()};
  const auto width = std::size_t(element_bytes(type));
  std::vector<float> numbers;
  for (std::size_t i = 0; i < values.size(); i += width) {
    std::int64_t position = 0;  // never negative
    std::memcpy(&position, values.data() + i, width);
    numbers.push_back(float(position));
  }
  return numbers;
}

// Adds an image's output that the host computed, element by element.
void compare_output(const Graph& graph, int op, int image, const Int8Values& found,
                    const Int8Values& expected, TensorComparison& c) {
  const int index = graph.ops[std::size_t(op)].output;
  const Tensor& tensor = graph.tensors[std::size_t(index)];
  c.tensor = index;
  c.op = op;
  c.seen += tensor.elements();
  const std::vector<float> a = numbers_of(tensor.type, found);
  const std::vector<float> b = numbers_of(tensor.type, expected);
  const Nhwc s = tensor.nhwc();
  const bool planes = tensor.type != ElementType::Int8 && tensor.model_layout == Layout::Nchw;
  for (std::size_t i = 0; i < a.size(); i++) {
    // Bit for bit: NaN is equal to itself, -0 differs from 0.
    if (std::bit_cast<std::uint32_t>(a[i]) == std::bit_cast<std::uint32_t>(b[i])) continue;
    const int n = int(i), w = planes ? n % s.w : n / s.c % s.w,
              h = planes ? n / s.w % s.h : n / s.c / s.w % s.h;
    const int channel = planes ? n / (s.w * s.h) % s.c : n % s.c;
    c.add({index, op, h, w, channel, b[i], a[i], image});
  }
}

bool is_debug(const SessionOptions& o) { return o.debug || !o.wave.empty(); }

sim::SimOptions sim_options(const SessionOptions& o, const Program& program, const std::string& wave_file) {
  sim::SimOptions sim;
  sim.memory.bytes = std::max<std::uint64_t>(memory_needed(program), kLeastMemory);
  sim.memory.read_latency = sim.memory.write_latency = o.latency;
  sim.memory.bytes_per_cycle = o.bytes_per_cycle < 0 ? program.config.axi_bytes : o.bytes_per_cycle;
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

// `again` is for the runs after the first, with kept weights only.
struct Programs {
  Program first;
  std::optional<Program> again;
};

// `calibration`: what the reference makes of the options' inputs, or nothing.
Programs compiled(const Graph& graph, const SessionOptions& o, const std::vector<Int8Values>& calibration) {
  CompileOptions options;
  options.rounding = o.rounding;
  options.block_pixels = o.block_pixels;
  options.images = o.batch;
  options.keep_on_chip = !o.spill;
  options.compress = o.compress;
  options.known_values = calibration;
  options.cancellation_check = o.cancellation_check;
  if (!o.keep_weights) return {compile(graph, preset(o.config), options), std::nullopt};
  KeptPrograms kept = compile_kept(graph, preset(o.config), options);
  return {std::move(kept.first), std::move(kept.again)};
}

}  // namespace

std::vector<Int8Values> raw_inputs(const Graph& graph, std::span<const char> bytes, const std::string& name,
                                   int batch) {
  std::size_t wanted = 0;
  for (int t : graph.inputs) wanted += std::size_t(batch) * graph.tensors[std::size_t(t)].bytes();
  if (bytes.size() != wanted) {
    throw InputError(name + " has " + std::to_string(bytes.size()) + " bytes, the model's inputs " +
                     (batch > 1 ? "for " + std::to_string(batch) + " images " : "") + "have " +
                     std::to_string(wanted));
  }
  std::vector<Int8Values> inputs;
  const std::uint8_t* at = reinterpret_cast<const std::uint8_t*>(bytes.data());
  for (int image = 0; image < batch; image++) {
    for (int t : graph.inputs) {
      const Tensor& tensor = graph.tensors[std::size_t(t)];
      inputs.push_back(from_model(tensor, {at, tensor.bytes()}));
      at += tensor.bytes();
    }
  }
  return inputs;
}

struct Session::State {
  State(Graph g, SessionOptions o) : graph(std::move(g)), options(std::move(o)) {
    if (options.compress != Compress::kOff && !options.calibration.empty())
      reference = compute(options.calibration, options.cancellation_check);
    Programs made = compiled(graph, options, reference);
    if (!options.wave.empty()) {
      require_writable(options.wave);
      wave.emplace(options.wave);
    }
    device = sim::make_sim_device(options.config,
                                  sim_options(options, made.first, wave ? wave->path().string() : ""));
    driver.emplace(*device, graph, std::move(made.first), options.rounding);
    again = std::move(made.again);
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
    if (!ran || !again) {
      ran = true;
      return;
    }
    driver.emplace(*device, graph, std::move(*again), options.rounding);
    again.reset();
  }

  // The driver's: with its constants it may be the largest thing there is.
  const Program& program() const { return driver->program(); }

  void say(const std::string& what) const {
    if (progress) progress(what);
  }

  std::string title() const { return graph.name + " on " + options.config + ": "; }

  // What the reference makes of the inputs of a run.
  std::vector<Int8Values> expect(std::span<const Int8Values> inputs) {
    if (!reference.empty() && std::ranges::equal(inputs, options.calibration))
      return std::exchange(reference, {});
    return compute(inputs, [this] { say(title() + "computing the reference"); });
  }

  void run_once(std::span<const Int8Values> inputs, Watcher* watcher, TraceRecorder* trace,
                RunResult& result);
  void measure_speed(double seconds, RunReport& report);
  void add_packed_sizes(RunReport& report);
  void add_outputs(const std::vector<std::string>& labels, RunResult& result) const;
  void compare(const Watcher& watcher, std::span<const Int8Values> expected, RunResult& result) const;

  Graph graph;
  SessionOptions options;
  std::vector<Int8Values> reference;  // of the calibration, until the first run
  std::optional<FftOracle> oracle;    // of the last reference
  std::optional<StagedOutput> wave;   // until the first run is over
  std::unique_ptr<sim::SimDevice> device;
  std::optional<Driver> driver;
  std::optional<Program> again;  // until the second run
  bool ran = false;
  Progress progress;
};

Session::Session(Graph graph, SessionOptions options)
    : state_(std::make_unique<State>(std::move(graph), std::move(options))) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;

const Graph& Session::graph() const { return state_->graph; }
const Program& Session::program() const { return state_->program(); }
void Session::set_progress(Progress progress) { state_->progress = std::move(progress); }

void Session::flip_constant_bit(std::size_t byte, int bit) {
  const std::size_t size = state_->program().constants.size();
  if (byte >= size) {
    throw InputError("the constants have " + std::to_string(size) + " bytes, there is no byte " +
                     std::to_string(byte));
  }
  if (bit < 0 || bit > 7) throw InputError("bits of a byte are 0 to 7, not " + std::to_string(bit));
  const std::uint64_t address = state_->driver->constants_address() + byte;
  std::uint8_t value = 0;
  state_->device->read_memory(address, {&value, 1});
  value ^= std::uint8_t(1U << bit);
  state_->device->write_memory(address, {&value, 1});
}

// Simulates one run and reports what the device counted.
void Session::State::run_once(std::span<const Int8Values> inputs, Watcher* watcher, TraceRecorder* trace,
                              RunResult& result) {
  std::optional<RowPoison> poison;
  if (is_debug(options)) {
    poison.emplace(program(), [&](Buffer buffer, int begin, int end) {
      device->spoil(buffer == Buffer::kVb, begin, end);
    });
  }
  Observer observer(program(), watcher, trace, poison ? &*poison : nullptr);
  const std::uint64_t modelled = std::max<std::uint64_t>(1, std::uint64_t(program().modelled_cycles));
  driver->set_progress([&](std::uint64_t cycles) {
    say(title() + std::to_string(cycles) + " cycles, about " +
        std::to_string(std::min<std::uint64_t>(99, 100 * cycles / modelled)) + " %");
  });
  const double seconds_before = device->loop_seconds();
  const std::uint64_t cycles_before = device->loop_cycles();
  {
    const Watching watching(*device, observer, trace != nullptr || poison.has_value());
    result.outputs = driver->run(inputs);
  }
  RunReport& report = result.report;
  report = make_report(graph, program(), driver->read_counters(), observer.clock().finish());
  add_packed_sizes(report);
  if (std::ranges::equal(inputs, options.calibration)) report.exactly_predicted |= program().sizes_known();
  if (const std::string difference = bytes_difference(report); !difference.empty())
    throw DeviceError(difference);
  report.seconds = device->loop_seconds() - seconds_before;
  report.loop_cycles = device->loop_cycles() - cycles_before;
}

// The speed of the simulation alone, without watchers.
void Session::State::measure_speed(double seconds, RunReport& report) {
  const double before = device->loop_seconds();
  const std::uint64_t cycles = device->loop_cycles();
  while (device->loop_seconds() - before < seconds) {
    driver->execute();
    say(title() + "repeating");
  }
  report.seconds = device->loop_seconds() - before;
  report.loop_cycles = device->loop_cycles() - cycles;
}

// What the compressed maps take in the device's memory.
void Session::State::add_packed_sizes(RunReport& report) {
  for (const CompressedMap& map : program().compressed) {
    const MemoryLayout& m = map.layout;
    LayerReport& layer = report.layers[std::size_t(map.op)];
    const std::uint64_t raw = std::uint64_t(m.height) * std::uint64_t(m.width) *
                              std::uint64_t((m.segments - 1) * m.pixel_bytes + m.last_pixel_bytes);
    const Driver::PackedMap packed = driver->read_packed(map);
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

// The verdict: what the watcher saw, and the outputs, those that the host computed element by element.
void Session::State::compare(const Watcher& watcher, std::span<const Int8Values> expected,
                             RunResult& result) const {
  RunReport& report = result.report;
  report.checked = watcher.checked();
  report.difference = watcher.verdict();
  result.comparisons = watcher.comparisons();
  const std::size_t each = graph.outputs.size();
  for (const LayerInfo& layer : program().layers) {
    const int output = graph.ops[std::size_t(layer.op)].output;
    const auto at = std::find(graph.outputs.begin(), graph.outputs.end(), output);
    if (at == graph.outputs.end()) continue;
    TensorComparison compared;
    for (int image = 0; image < options.batch; image++) {
      const Int8Values& found =
          result.outputs[std::size_t(image) * each + std::size_t(at - graph.outputs.begin())];
      const Int8Values& wanted = expected[std::size_t(image) * graph.tensors.size() + std::size_t(output)];
      if (layer.on_host) compare_output(graph, layer.op, image, found, wanted, compared);
      if (found != wanted && report.difference.empty())
        report.difference = "output '" + graph.tensors[std::size_t(output)].name + "' differs";
    }
    if (layer.on_host) result.comparisons.push_back(compared);
  }
  report.exact = report.difference.empty();
}

RunResult Session::run(std::span<const Int8Values> inputs, const RunOptions& options) {
  State& s = *state_;
  s.next_run();
  std::vector<Int8Values> expected;
  std::optional<Watcher> watcher;
  if (options.check) {
    expected = s.expect(inputs);
    watcher.emplace(s.graph, s.program(), expected);
  }
  std::optional<TraceRecorder> trace;
  if (options.trace) trace.emplace(s.graph, s.program());
  RunResult result;
  s.run_once(inputs, watcher ? &*watcher : nullptr, trace ? &*trace : nullptr, result);
  if (options.seconds > 0) s.measure_speed(options.seconds, result.report);
  s.add_outputs(options.labels, result);
  if (watcher) s.compare(*watcher, expected, result);
  if (options.check && s.oracle) {
    for (const std::string& note : s.oracle->notes()) result.report.notes.push_back(note);
  }
  if (trace) result.trace = trace->json();
  if (s.wave) {
    s.device->close_waves();
    s.wave->commit();
    s.wave.reset();
  }
  return result;
}

}  // namespace kaiten
