// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "run/session.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/output.h"
#include "compile/compiler.h"
#include "compile/emit/cycle_model.h"
#include "compile/sections.h"
#include "device/driver.h"
#include "program/program.h"
#include "reference/reference.h"
#include "run/compile_options.h"
#include "run/session_state.h"
#include "sim/sim_device.h"

namespace kaiten {

namespace {

constexpr std::uint64_t kLeastMemory = 1 << 16;

sim::SimOptions sim_options(const SessionOptions& o, std::uint64_t bytes, const std::string& wave_file) {
  sim::SimOptions sim;
  sim.memory.bytes = std::max(bytes, kLeastMemory);
  sim.memory.read_latency = sim.memory.write_latency = o.latency;
  sim.memory.bytes_per_cycle = o.bytes_per_cycle < 0 ? preset(o.config).axi_bytes : o.bytes_per_cycle;
  sim.memory.seed = o.seed;
  sim.memory.stall_all(o.stall);
  sim.debug = is_debug(o);
  sim.wave_file = wave_file;
  sim.wave_from = o.wave_from;
  sim.wave_to = o.wave_to;
  return sim;
}

// The cycles that the model says, of the memory that the options ask for.
void adapt_model(PreparedSection& part, const SessionOptions& o) {
  limit_bandwidth(part.section.program, o.bytes_per_cycle);
  if (part.again) limit_bandwidth(*part.again, o.bytes_per_cycle);
}

// `calibration`: what the reference makes of the options' inputs, or nothing. The parts have no drivers yet.
std::vector<PreparedSection> compiled(const Graph& graph, const SessionOptions& o,
                                      const std::vector<Int8Values>& calibration) {
  CompileOptions options = compile_options(o);
  options.known_values = calibration;
  std::vector<PreparedSection> parts;
  for (Section& section : compile_sections(graph, preset(o.config), options))
    parts.push_back({std::move(section), std::nullopt, std::nullopt});
  if (!o.keep_weights) return parts;
  if (parts.size() != 1) {
    throw InputError("weights stay on chip for networks of one program, this one has " +
                     std::to_string(parts.size()) + " with operators on the host between them");
  }
  KeptPrograms kept = compile_kept(*parts[0].section.graph, preset(o.config), options);
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

std::uint64_t memory_needed(const std::vector<PreparedSection>& parts) {
  std::uint64_t bytes = 0;
  for (const PreparedSection& part : parts) bytes += memory_needed(part.section.program);
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

std::vector<std::uint8_t> raw_bytes(const Graph& graph, std::span<const Int8Values> outputs) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < outputs.size(); i++) {
    const int output = graph.outputs[i % graph.outputs.size()];
    const auto part = to_model(graph.tensors[std::size_t(output)], outputs[i]);
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return bytes;
}

Session::State::State(Graph g, SessionOptions o) : graph(std::move(g)), options(std::move(o)) {
  require_sound(options);
  if (options.compress != Compress::kOff && !options.calibration.empty())
    reference = compute(options.calibration, options.cancellation_check);
  parts = compiled(graph, options, reference);
  for (PreparedSection& part : parts) adapt_model(part, options);
  if (!options.wave.empty()) {
    require_writable(options.wave);
    wave.emplace(options.wave);
  }
  device = sim::make_sim_device(
      options.config, sim_options(options, memory_needed(parts), wave ? wave->path().string() : ""));
  std::uint64_t offset = 0;
  for (PreparedSection& part : parts) {
    const std::uint64_t bytes = kaiten::memory_needed(part.section.program);
    part.driver.emplace(*device, *part.section.graph, std::move(part.section.program), options.rounding,
                        offset);
    part.driver->set_slowness(slowness(options));
    offset += bytes;
  }
}

void Session::State::next_run() {
  PreparedSection& first = parts.front();
  if (ran && first.again) {
    first.driver.emplace(*device, *first.section.graph, std::move(*first.again), options.rounding);
    first.driver->set_slowness(slowness(options));
    first.again.reset();
  }
}

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
  for (const PreparedSection& p : state().parts) total += p.program().constants.size();
  const PreparedSection* part = nullptr;
  for (const PreparedSection& p : state().parts) {
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

void Session::State::expect(Run& run) {
  if (!reference.empty() && run.inputs == options.calibration)
    run.expected = std::exchange(reference, {});
  else if (options.oracle != Oracle::Fft && ReferenceRun::pays(graph, options.batch))
    run.reference.emplace(graph, options.batch, run.inputs, options.rounding);
  else
    run.expected = compute(run.inputs, [this] { say(title() + "computing the reference"); });
}

void Session::State::begin_part(Run& run) {
  PreparedSection& part = parts[run.reports.size()];
  const Graph& g = *part.section.graph;
  if (run.options.check) {
    const auto computed = [&run](int image, int tensor) { return run.reference->values(image, tensor); };
    run.watchers.push_back(run.reference ? std::make_unique<Watcher>(g, part.program(), computed)
                                         : std::make_unique<Watcher>(g, part.program(), run.expected));
  }
  if (run.options.trace) run.traces.push_back(std::make_unique<TraceRecorder>(g, part.program()));
  run.part.emplace(*this, part, run.tensors, run.options.check ? run.watchers.back().get() : nullptr,
                   run.options.trace ? run.traces.back().get() : nullptr);
}

void Session::State::end_part(Run& run) {
  PreparedSection& part = parts[run.reports.size()];
  run.reports.push_back({run.part->finish(), part.section.ops});
  run.part.reset();
  RunReport& report = run.reports.back().report;
  if (run.inputs == options.calibration) report.exactly_predicted |= part.program().sizes_known();
  if (const std::string difference = bytes_difference(report); !difference.empty())
    throw DeviceError(difference);
}

void Session::begin(std::span<const Int8Values> inputs, const RunOptions& options) {
  State& s = state();
  auto run = std::make_unique<State::Run>(s, inputs, options);
  if ((options.interpreter || !options.golden.empty()) && !options.check)
    throw InputError("an interpreter and a golden are compared with checked runs only");
  run->tensors = tensors_with(s.graph, s.options.batch, inputs);
  s.next_run();
  if (options.check) s.expect(*run);
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

std::array<BufferView, 5> Session::State::PartRun::buffers() const {
  const Config& c = part_.program().config;
  if (!fill_) fill_.emplace(part_.program());
  const BufferFill::Held held = fill_->held(observer_->completed());
  const std::int64_t row = 9 * std::int64_t(c.cp);   // of SB and VB an address, of WB and VWB a row
  const std::int64_t sums = 4 * std::int64_t(c.kp);  // of a pixel
  return {{{c.sb_depth * row, held.sb * row},
           {c.vb_depth * row, held.vb * row},
           {c.wb_rows * row, held.wb * row},
           {c.vwb_rows * row, held.vwb * row},
           {c.ob_pixels * sums, state_.device->partial_sums() * sums}}};
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
  view.buffers = part.buffers();
  return view;
}

RunResult Session::run(std::span<const Int8Values> inputs, const RunOptions& options) {
  begin(inputs, options);
  while (!step(Driver::kProgressCycles)) {
  }
  return finish();
}

}  // namespace kaiten
