// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "board/board.h"

#include <chrono>
#include <deque>
#include <utility>

#include "base/error.h"
#include "compile/sections.h"
#include "device/driver.h"
#include "linux_driver/linux_device.h"
#include "reference/reference.h"

namespace kaiten {

namespace {

struct Part {
  Section section;  // its program is the driver's
  Driver driver;

  Part(Section s, Device& device, RoundingStyle rounding, std::uint64_t offset)
      : section(std::move(s)), driver(device, *section.graph, std::move(section.program), rounding, offset) {}
};

}  // namespace

struct Board::State {
  State(Graph g, std::unique_ptr<Device> d, BoardOptions o)
      : graph(std::move(g)), device(std::move(d)), options(std::move(o)) {
    if (options.batch < 1 || options.batch > kMostBatch) {
      throw InputError("batch is 1 to " + std::to_string(kMostBatch) + ", not " +
                       std::to_string(options.batch));
    }
    config = read_config(*device);
    reset(*device);
    CompileOptions compile;
    compile.images = options.batch;
    compile.rounding = options.rounding;
    compile.cancellation_check = options.cancellation_check;
    for (Section& s : compile_sections(graph, config, compile)) {
      const std::uint64_t bytes = memory_needed(s.program);
      Part& part = parts.emplace_back(std::move(s), *device, options.rounding, memory_bytes);
      memory_bytes += bytes;
      if (options.cancellation_check)
        part.driver.set_progress([this](std::uint64_t) { options.cancellation_check(); });
    }
  }

  void run_part(Part& part, Tensors& tensors, BoardRun& result) const {
    const Graph& g = *part.section.graph;
    take_outputs(g, part.driver.run(inputs_of(g, tensors)), tensors);
    if (part.driver.program().commands.empty()) return;
    const Counters counters = part.driver.read_counters();
    result.cycles += counters["cycles"];
    result.array_busy += counters["array_busy"];
    for (const char* name : {"read_weights", "read_parameters", "read_activations", "read_commands"})
      result.bytes_read += counters[name];
    result.bytes_written += counters["written_activations"];
  }

  Graph graph;
  std::unique_ptr<Device> device;
  BoardOptions options;
  Config config;
  std::deque<Part> parts;  // fixed in place: their drivers refer to their graphs
  std::uint64_t memory_bytes = 0;
};

Board::Board(Graph graph, std::unique_ptr<Device> device, BoardOptions options)
    : state_(std::make_unique<State>(std::move(graph), std::move(device), std::move(options))) {}
Board::~Board() = default;
Board::Board(Board&&) noexcept = default;

const Graph& Board::graph() const { return state_->graph; }
const Config& Board::config() const { return state_->config; }
int Board::programs() const { return int(state_->parts.size()); }
std::uint64_t Board::memory_bytes() const { return state_->memory_bytes; }

std::uint64_t Board::modelled_cycles() const {
  std::uint64_t cycles = 0;
  for (const Part& part : state_->parts) cycles += std::uint64_t(part.driver.program().modelled_cycles);
  return cycles;
}

BoardRun Board::run(std::span<const Int8Values> inputs) {
  Tensors tensors = tensors_with(state_->graph, state_->options.batch, inputs);
  BoardRun result;
  const auto start = std::chrono::steady_clock::now();
  for (Part& part : state_->parts) state_->run_part(part, tensors, result);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (auto& image : tensors) {
    for (const int t : state_->graph.outputs) result.outputs.push_back(image[std::size_t(t)]);
  }
  return result;
}

std::vector<Int8Values> Board::expected(std::span<const Int8Values> inputs) const {
  const std::vector<Int8Values> all =
      run_reference_batch(state_->graph, state_->options.batch, inputs, state_->options.rounding,
                          state_->options.cancellation_check);
  const std::size_t tensors = state_->graph.tensors.size();
  std::vector<Int8Values> outputs;
  for (std::size_t image = 0; image < std::size_t(state_->options.batch); image++) {
    for (const int t : state_->graph.outputs) outputs.push_back(all[image * tensors + std::size_t(t)]);
  }
  return outputs;
}

std::unique_ptr<Device> open_device(const std::string& name) { return std::make_unique<LinuxDevice>(name); }

}  // namespace kaiten
