// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/system/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>

#include "device/csr.h"
#include "observe/row_poison.h"
#include "observe/watcher.h"
#include "program/bus_beats.h"
#include "tests/support/model_builder.h"
#include "tests/system/cover.h"

namespace kaiten::test {

namespace {

constexpr std::size_t kMemoryBytes = std::size_t(24) << 20;
constexpr std::uint64_t kAddressBits = 40;
constexpr std::uint64_t kPage = 4096;
// What stands in memory before a run, and behind the program after it.
constexpr std::uint8_t kFill = 0x55;
constexpr std::size_t kGuardBytes = 4096;

// Shows the watcher what leaves the engines and destroys rows that are dead, as long as it lives.
class Watching : public sim::ResultWatcher, public sim::QueueWatcher {
 public:
  Watching(sim::SimDevice& device, Watcher& watcher, const Program& program)
      : device_(device), watcher_(watcher), poison_(program, [&](Buffer buffer, int begin, int end) {
          device.spoil(buffer == Buffer::kVb, begin, end);
        }) {
    device_.watch(this);
    device_.watch_queues(this);
    if (cover_) cover_->start();
  }
  ~Watching() override {
    device_.watch(nullptr);
    device_.watch_queues(nullptr);
  }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;
  void result(const sim::ResultWord& r) override {
    watcher_.result({r.command, int(r.tiles), int(r.rows), int(r.columns)}, r.data);
  }
  void events(std::uint32_t flags) override {
    if (cover_) cover_->events(flags);
  }
  void queues(std::uint32_t heads, std::span<const std::uint32_t, 4> completed) override {
    poison_.completed(completed);
    if (cover_) cover_->queues(heads, completed);
  }

 private:
  sim::SimDevice& device_;
  Watcher& watcher_;
  RowPoison poison_;
  Cover* cover_ = Cover::table();
};

}  // namespace

std::unique_ptr<sim::SimDevice> make_device(std::string_view config, std::uint64_t seed,
                                            sim::SimOptions options) {
  std::mt19937_64 random(seed);
  options.memory.bytes = kMemoryBytes;
  options.memory.base = random() % (((std::uint64_t(1) << kAddressBits) - kMemoryBytes) / kPage) * kPage;
  options.memory.seed = random();
  return sim::make_sim_device(config, options);
}

void draw_timing(sim::SimDevice& device, std::mt19937_64& random) {
  const auto below = [&](unsigned n) { return unsigned(random() % n); };
  sim::AxiMemoryOptions o = device.memory().options();
  const unsigned latencies[] = {1, 2, 1 + below(20), 1 + below(200)};
  o.read_latency = latencies[below(4)];
  o.write_latency = latencies[below(4)];
  // A third without a bound, the others down to a quarter of a byte per cycle and column of the smallest
  // array.
  o.bytes_per_cycle = below(3) == 0 ? 0 : double(1 + below(128)) / 2;
  o.separate_directions = below(2) != 0;
  o.max_reads = 1 + below(20);
  o.max_writes = 1 + below(10);
  for (unsigned* stall : {&o.stall_ar, &o.stall_r, &o.stall_aw, &o.stall_w, &o.stall_b}) {
    *stall = below(2) ? below(70) : 0;
  }
  o.shuffle_ids = below(2) != 0;
  o.seed = random();
  o.data_first = o.seed % 4 == 0;
  device.memory().set_options(o);
}

std::string timing_text(const sim::AxiMemoryOptions& o) {
  std::string text = "latency " + std::to_string(o.read_latency) + "/" + std::to_string(o.write_latency) +
                     ", " + std::to_string(o.bytes_per_cycle) + " bytes/cycle, outstanding " +
                     std::to_string(o.max_reads) + "/" + std::to_string(o.max_writes) + ", stalls";
  for (unsigned s : {o.stall_ar, o.stall_r, o.stall_aw, o.stall_w, o.stall_b})
    text += " " + std::to_string(s);
  return text + " %" + (o.separate_directions ? ", separate" : "") + (o.shuffle_ids ? ", shuffled" : "") +
         (o.data_first ? ", data first" : "");
}

Session::Session(sim::SimDevice& device, const Graph& graph, const Config& config,
                 const CompileOptions& options)
    : device_(device), graph_(graph), options_(options) {
  Program program = compile(graph, config, options);
  const std::size_t used = std::min<std::size_t>(memory_needed(program) + kGuardBytes, device.memory_bytes());
  const auto memory = device.memory().at(device.memory_base(), used);
  std::fill(memory.begin(), memory.end(), kFill);
  driver_ = std::make_unique<Driver>(device, graph, std::move(program), options.rounding);
}

std::uint64_t Session::command_address(std::size_t index) const {
  return device_.memory_base() + index * std::size_t(kCommandBytes);
}

std::uint64_t Session::base_address(int base) {
  const std::uint32_t low = device_.read_register(csr::kBaseLo(std::uint32_t(base)));
  return low | std::uint64_t(device_.read_register(csr::kBaseHi(std::uint32_t(base)))) << 32;
}

Session::Result Session::run(std::span<const Int8Values> inputs) {
  const std::vector<Int8Values> expected =
      run_reference_batch(graph_, program().images, inputs, options_.rounding);
  Watcher watcher(graph_, program(), expected);
  std::optional<Watching> watching;
  if (device_.watchable()) watching.emplace(device_, watcher, program());
  const auto words = [&](std::uint64_t address, std::size_t bytes) {
    const auto view = device_.memory().at(address, bytes);
    return std::vector<std::uint8_t>(view.begin(), view.end());
  };
  const std::size_t command_bytes = program().command_blocks() * std::size_t(kCommandBytes);
  const std::uint64_t constants = base_address(int(Base::kConstants));
  const std::uint64_t guard = device_.memory_base() + memory_needed(program());
  const auto before = std::array{words(command_address(0), command_bytes),
                                 words(constants, program().constants.size()), words(guard, kGuardBytes)};

  if (Cover* cover = Cover::table()) cover->network(graph_, program().config);
  Result result;
  result.outputs = driver_->run(inputs);
  result.counters = driver_->read_counters();

  if (watching) EXPECT_EQ(watcher.verdict(), "");
  const std::size_t outputs = graph_.outputs.size();
  EXPECT_EQ(result.outputs.size(), std::size_t(program().images) * outputs);
  for (std::size_t i = 0; i < result.outputs.size(); i++) {
    const std::size_t tensor = std::size_t(graph_.outputs[i % outputs]);
    EXPECT_TRUE(result.outputs[i] == expected[i / outputs * graph_.tensors.size() + tensor])
        << "output '" << graph_.tensors[tensor].name << "' of image " << i / outputs << " differs";
  }
  EXPECT_TRUE(words(command_address(0), command_bytes) == before[0]) << "commands were overwritten";
  EXPECT_TRUE(words(constants, program().constants.size()) == before[1]) << "constants were overwritten";
  EXPECT_TRUE(words(guard, kGuardBytes) == before[2]) << "memory behind the program was overwritten";
  EXPECT_TRUE(device_.memory().idle()) << "the bus has something outstanding after the run";
  // Of these values the compiler knew what they pack into.
  const bool exact = program().sizes_known() && std::ranges::equal(expected, options_.known_values);
  check_counters(result.counters, exact || program().compressed.empty());
  return result;
}

// What the program says of itself is what the hardware counts.
void Session::check_counters(const Counters& c, bool exact) {
  if (program().commands.empty()) return;  // all on the host: the registers are the last program's
  std::uint64_t weights = 0, raw_weights = 0, parameters = 0, activations = 0, written = 0, windows = 0;
  std::uint64_t moved = 0, stored = 0;          // of activations, compressed where they are
  std::uint64_t zvc_read = 0, zvc_written = 0;  // that compression stands for
  std::array<std::uint32_t, kQueues> commands{};
  for (std::size_t i = 0; i < program().commands.size(); i++) {
    const CommandMeta& m = program().meta[i];
    commands[std::size_t(program().commands[i].queue())]++;
    written += std::uint64_t(m.written_bytes);
    stored += std::uint64_t(m.bytes_written());
    if (m.kind == CommandMeta::Bytes::kActivations) moved += std::uint64_t(m.bytes_read());
    if (m.packed) {
      zvc_read += std::uint64_t(m.read_bytes);
      zvc_written += std::uint64_t(m.written_bytes);
    }
    switch (m.kind) {
      case CommandMeta::Bytes::kWeights:
        weights += std::uint64_t(m.bytes_read());
        raw_weights += std::uint64_t(m.read_bytes);
        break;
      case CommandMeta::Bytes::kParameters:
        parameters += std::uint64_t(m.read_bytes);
        break;
      case CommandMeta::Bytes::kActivations:
        activations += std::uint64_t(m.read_bytes);
        break;
      case CommandMeta::Bytes::kNone:
        EXPECT_EQ(m.read_bytes, 0);
        break;
    }
    if (const auto* conv = std::get_if<ConvCommand>(&program().commands[i].body)) {
      const std::int64_t kernel_tiles =
          (conv->more_kernel_tile_rows + 1) * (conv->more_kernel_tile_columns + 1);
      // Slots of the array: a pass takes each window alone, the last one two at once where told.
      const std::int64_t last = conv->pair_groups > 0 ? ceil_div(conv->columns, 2) : conv->columns;
      const std::int64_t row = (conv->passes - 1) * conv->columns + last;
      windows += std::uint64_t(conv->rows * row * conv->tiles * kernel_tiles);
    }
  }
  const std::uint64_t read_commands = program().command_blocks() * std::uint64_t(kCommandBytes);
  // Counted as if nothing were compressed; where nothing is, kind by kind.
  EXPECT_EQ(c["zvc_read_raw"], zvc_read);
  EXPECT_EQ(c["zvc_written_raw"], zvc_written);
  const std::uint64_t read = c["read_weights"] + c["read_activations"];
  EXPECT_EQ(read - c["zvc_read_packed"] + zvc_read, raw_weights + activations);
  EXPECT_EQ(c["read_weights"], weights);
  EXPECT_EQ(c["written_activations"] - c["zvc_written_packed"] + zvc_written, written);
  EXPECT_EQ(c["read_parameters"], parameters);
  EXPECT_EQ(c["read_commands"], read_commands);
  EXPECT_EQ(c["array_busy"], windows);
  // In each cycle the array either works or waits for one thing.
  EXPECT_EQ(c["cycles"], c["array_busy"] + c["array_no_command"] + c["array_no_rows"] +
                             c["array_no_weights"] + c["array_no_output"]);
  const std::uint64_t beat = std::uint64_t(program().config.axi_bytes);
  EXPECT_GE(c["beats_read"] * beat, read + parameters + read_commands);
  EXPECT_GE(c["beats_written"] * beat, c["written_activations"]);
  const BusBeats beats = bus_beats(program());
  if (exact) {
    EXPECT_EQ(c["beats_read"], std::uint64_t(beats.read));
    EXPECT_EQ(c["beats_written"], std::uint64_t(beats.written));
    EXPECT_EQ(c["read_activations"], moved);
    EXPECT_EQ(c["written_activations"], stored);
  }
  const std::uint32_t completed[] = {csr::kCompletedLoad, csr::kCompletedConv, csr::kCompletedVector,
                                     csr::kCompletedStore};
  for (int q = 0; q < kQueues; q++) {
    EXPECT_EQ(device_.read_register(completed[q]), commands[std::size_t(q)]) << name_of(Queue(q));
  }
}

Session::Result run_on(sim::SimDevice& device, const Graph& graph, const Config& config,
                       const CompileOptions& options, std::span<const Int8Values> inputs) {
  return Session(device, graph, config, options).run(inputs);
}

std::vector<Int8Values> draw_inputs(const Graph& graph, std::mt19937_64& random) {
  std::vector<Int8Values> inputs;
  for (int t : graph.inputs)
    inputs.push_back(random_values(graph.tensors[std::size_t(t)].elements(), random));
  return inputs;
}

}  // namespace kaiten::test
