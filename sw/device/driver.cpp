// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "device/driver.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/arithmetic.h"
#include "base/error.h"
#include "codec/zvc.h"
#include "device/csr.h"
#include "device/options.h"
#include "graph/rounding.h"
#include "program/arrivals.h"
#include "reference/reference.h"

namespace kaiten {

namespace {

// Register reads: a reset waits for answers of the memory, which may be a million cycles away.
constexpr int kResetLimit = 1'000'000;
// A program whose modelled time is exceeded by this factor does not come back (the device's watchdog should
// know first).
constexpr std::uint64_t kPatience = 1000;
constexpr std::uint64_t kLeastPatience = 100'000'000;

// Start of the commands and of the region of each base register, counted from the start of the memory;
// the last is the end of all.
std::array<std::uint64_t, kBases + 2> memory_map(const Program& p) {
  const std::uint64_t sizes[] = {p.command_blocks() * kCommandBytes, p.constants.size(),
                                 std::uint64_t(p.activation_bytes), std::uint64_t(p.input_bytes),
                                 std::uint64_t(p.output_bytes)};
  std::array<std::uint64_t, kBases + 2> map{};
  for (std::size_t i = 0; i < std::size(sizes); i++) map[i + 1] = map[i] + align_up(sizes[i], kMemoryAlign);
  return map;
}

std::string_view text_of(csr::ErrorCause cause) {
  const auto i = std::size_t(cause);
  return i < std::size(csr::kErrorCauseTexts) ? csr::kErrorCauseTexts[i] : "unknown cause";
}

// " of layer 'dense'", where the command belongs to one.
std::string layer_of(const Program& program, const Graph& graph, std::size_t command) {
  const int op = program.meta[command].op;
  return op < 0 ? "" : " of layer '" + graph.ops[std::size_t(op)].name + "'";
}

// What the details register adds to the cause.
std::string details(csr::ErrorCause cause, std::uint32_t info) {
  const auto listed = [&](std::size_t bits, auto name) {
    std::string text;
    for (std::size_t i = 0; i < bits; i++) {
      if (info >> i & 1U) text += (text.empty() ? "" : ", ") + std::string(name(i));
    }
    return text;
  };
  switch (cause) {
    case csr::ErrorCause::kIllegal:
      return listed(std::size(csr::kIllegalBitTexts), [](std::size_t i) { return csr::kIllegalBitTexts[i]; });
    case csr::ErrorCause::kFetchRead:
    case csr::ErrorCause::kLoadRead:
    case csr::ErrorCause::kStoreWrite:
      return info == 2 ? "slave error" : info == 3 ? "decode error" : "response " + std::to_string(info);
    case csr::ErrorCause::kDeadlock:
    case csr::ErrorCause::kTimeout:
      if (info == 0) return "";
      return "queues " + listed(kQueues, [](std::size_t i) { return name_of(Queue(i)); });
    default:
      return "";
  }
}

// Throws DeviceError for the first command that the device, with these bits of its register `options`, cannot run.
void require_capabilities(const Program& program, const Graph& graph, std::uint32_t options) {
  for (std::size_t i = 0; i < program.commands.size(); i++) {
    const std::string text = lacking(options_of(program.commands[i]), options);
    if (text.empty()) continue;
    throw DeviceError("command " + std::to_string(i) + " (" + std::string(program.commands[i].name()) + ")" +
                      layer_of(program, graph, i) + " needs " + text);
  }
}

}  // namespace

std::uint64_t Counters::operator[](std::string_view name) const {
  for (std::size_t i = 0; i < kCount; i++) {
    if (name == csr::kCounters[i].name) return values[i];
  }
  throw std::out_of_range("no counter named " + std::string(name));
}

Config read_config(Device& device) {
  const auto read = [&](std::uint32_t address) { return int(device.read_register(address)); };
  if (std::uint32_t(read(csr::kId)) != csr::kIdValue)
    throw DeviceError("the device is not a Kaiten: wrong identity");
  const std::uint32_t version = std::uint32_t(read(csr::kVersion));
  if (csr::kVersionMajor.get(version) != 0) {
    throw DeviceError("the device has version " + std::to_string(csr::kVersionMajor.get(version)) +
                      ", this driver knows 0");
  }
  Config c;
  c.kp = read(csr::kKp);
  c.cp = read(csr::kCp);
  c.stage_rows = read(csr::kStageRows);
  c.axi_bytes = read(csr::kAxiBytes);
  c.wb_rows = read(csr::kWbRows);
  c.vwb_rows = read(csr::kVwbRows);
  c.sb_depth = read(csr::kSbDepth);
  c.vb_depth = read(csr::kVbDepth);
  c.ob_pixels = read(csr::kObPixels);
  c.zsb_array = read(csr::kZsbArray);
  c.zsb_vector = read(csr::kZsbVector);
  const std::uint32_t options = std::uint32_t(read(csr::kOptions));
  const std::uint32_t features = csr::kOptionsFeatures.get(options);
  c.sum_row = features >> int(csr::FeatureBit::kSumRow) & 1;
  c.add_pair = features >> int(csr::FeatureBit::kPair) & 1;
  c.two_pixels = features >> int(csr::FeatureBit::kTwoPixels) & 1;
  c.resident = features >> int(csr::FeatureBit::kResident) & 1;
  c.float_rule = csr::kOptionsRules.get(options) >> int(Rounding::Float) & 1;
  c.average = csr::kOptionsWindowKinds.get(options) >> int(WindowKind::kAverage) & 1;
  c.large_windows = csr::kOptionsLargeWindows.get(options) != 0;
  c.conv_table = csr::kOptionsConvTables.get(options) != 0;
  c.table = csr::kOptionsTables.get(options) != 0;
  c.zvc_beats = read(csr::kZvcBeats);
  for (const Config& p : presets()) {
    c.name = p.name;
    if (c == p) return c;
  }
  c.name = "custom";
  return c;
}

std::uint64_t patience(const Program& program, double slowness) {
  std::uint64_t modelled = 0;
  for (const CommandMeta& m : program.meta) modelled += std::uint64_t(m.cycles);
  return std::uint64_t(double(kLeastPatience + kPatience * modelled) * slowness);
}

void reset(Device& device) {
  device.write_register(csr::kControl, csr::kControlSoftReset.mask() | csr::kControlIrqEnable.mask());
  for (int i = 0; i < kResetLimit; i++) {
    if (!csr::kStatusResetting.get(device.read_register(csr::kStatus))) {
      device.write_register(csr::kIrqStatus, csr::kIrqStatusDone.mask() | csr::kIrqStatusError.mask());
      return;
    }
  }
  throw DeviceError("the device does not come out of its reset");
}

std::uint64_t memory_needed(const Program& program) { return memory_map(program).back(); }

Driver::Driver(Device& device, const Graph& graph, Program program, RoundingStyle rounding,
               std::uint64_t offset)
    : device_(device), graph_(graph), program_(std::move(program)), rounding_(rounding) {
  const Config config = read_config(device_);
  if (!config.same_sizes(program_.config)) {
    throw DeviceError("the program was made for configuration '" + program_.config.name +
                      "', the device is '" + config.name + "'");
  }
  require_capabilities(program_, graph_, device_.read_register(csr::kOptions));
  check_rules(program_.commands);
  waits_for_rows_ = waits_for_rows(program_);
  load(offset);
}

void Driver::write_address(std::uint32_t low, std::uint64_t address) {
  device_.write_register(low, std::uint32_t(address));
  device_.write_register(low + 4, std::uint32_t(address >> 32));
}

void Driver::load(std::uint64_t offset) {
  const auto map = memory_map(program_);
  if (offset + map.back() > device_.memory_bytes()) {
    throw DeviceError("the program needs " + std::to_string(offset + map.back()) +
                      " bytes of memory, the device has " + std::to_string(device_.memory_bytes()));
  }
  const std::uint64_t start = device_.memory_base() + offset;
  commands_at_ = start;
  for (int i = 0; i < kBases; i++) base_at_[std::size_t(i)] = start + map[std::size_t(i) + 1];
  device_.write_memory(commands_at_, program_.command_bytes());
  device_.write_memory(base_at_[std::size_t(Base::kConstants)], program_.constants);
  select();
}

// Tells the device which program is next.
void Driver::select() {
  for (int i = 0; i < kBases; i++) write_address(csr::kBaseLo(std::uint32_t(i)), base_at_[std::size_t(i)]);
  write_address(csr::kProgramLo, commands_at_);
  device_.write_register(csr::kCommandCount, std::uint32_t(program_.command_blocks()));
  device_.write_register(csr::kWbSplit, std::uint32_t(program_.wb_split));
}

Tensors tensors_with(const Graph& graph, int images, std::span<const Int8Values> inputs) {
  const std::size_t each = graph.inputs.size(), all = std::size_t(images) * each;
  if (inputs.size() != all) {
    throw InputError(
        "the model has " + std::to_string(each) + " inputs" +
        (images > 1 ? ", a batch of " + std::to_string(images) + " images " + std::to_string(all) : "") +
        ", not " + std::to_string(inputs.size()));
  }
  Tensors tensors(std::size_t(images), std::vector<Int8Values>(graph.tensors.size()));
  for (std::size_t i = 0; i < inputs.size(); i++) {
    const std::size_t input = std::size_t(graph.inputs[i % each]);
    const Tensor& tensor = graph.tensors[input];
    if (inputs[i].size() != tensor.bytes()) {
      throw InputError("input '" + tensor.name + "' has " + std::to_string(tensor.bytes()) + " bytes, not " +
                       std::to_string(inputs[i].size()));
    }
    tensors[i / each][input] = inputs[i];
  }
  return tensors;
}

std::vector<Int8Values> inputs_of(const Graph& graph, const Tensors& tensors) {
  std::vector<Int8Values> inputs;
  for (const auto& image : tensors) {
    for (const int t : graph.inputs) inputs.push_back(image[std::size_t(t)]);
  }
  return inputs;
}

void take_outputs(const Graph& graph, std::vector<Int8Values> outputs, Tensors& tensors) {
  const std::size_t each = graph.outputs.size();
  for (std::size_t i = 0; i < outputs.size(); i++)
    tensors[i / each][std::size_t(graph.outputs[i % each])] = std::move(outputs[i]);
}

void Driver::write_inputs(std::span<const Int8Values> inputs) {
  tensors_ = tensors_with(graph_, program_.images, inputs);
  arrived_ = kMostRows;
  for (std::size_t image = 0; image < tensors_.size(); image++) {
    run_host(tensors_[image]);
    for (const MemoryTensor& t : program_.inputs) {
      const MemoryLayout m = t.layout.of_image(int(image));
      const Int8Values& values = tensors_[image][std::size_t(t.tensor)];
      device_.write_memory(base_at_[std::size_t(m.base)] + std::uint64_t(m.offset),
                           {reinterpret_cast<const std::uint8_t*>(values.data()), values.size()});
    }
  }
}

// The operators on the host whose operands are known and whose result is not. Reshapes in the middle of the
// network are the device's.
void Driver::run_host(std::vector<Int8Values>& tensors) {
  for (const LayerInfo& layer : program_.layers) {
    const Op& op = graph_.ops[std::size_t(layer.op)];
    const bool ready = std::all_of(op.inputs.begin(), op.inputs.end(), [&](int t) {
      return graph_.tensors[std::size_t(t)].is_constant() || !tensors[std::size_t(t)].empty();
    });
    if (layer.on_host && ready && tensors[std::size_t(op.output)].empty())
      run_operator(graph_, op, rounding_, tensors);
  }
}

void Driver::set_slowness(double times) {
  slowness_ = std::max(1.0, times);
  if (slowness_ > 1) watchdog_ = 0;
}

void Driver::place(Base base, std::uint64_t address) { base_at_[std::size_t(base)] = address; }

void Driver::start() {
  waited_ = 0;
  device_.write_register(csr::kIrqStatus, csr::kIrqStatusDone.mask() | csr::kIrqStatusError.mask());
  select();
  device_.write_register(csr::kWatchdog, watchdog_);
  if (waits_for_rows_) device_.write_register(csr::kArrived, arrived_);
  device_.write_register(csr::kControl, csr::kControlStart.mask() | csr::kControlIrqEnable.mask());
}

void Driver::finish() {
  const std::uint32_t status = device_.read_register(csr::kStatus);
  if (csr::kStatusError.get(status)) fail();
  if (!csr::kStatusDone.get(status)) throw DeviceError("the device raised its interrupt without a reason");
  device_.write_register(csr::kIrqStatus, csr::kIrqStatusDone.mask());
}

bool Driver::advance(std::uint64_t cycles) {
  try {
    if (!device_.wait_interrupt(cycles)) {
      waited_ += cycles;
      if (progress_) progress_(waited_);
      if (waited_ > patience(program_, slowness_))
        throw DeviceError("the device did not answer for " + std::to_string(waited_) + " cycles");
      return false;
    }
  } catch (...) {
    reset(device_);
    throw;
  }
  finish();
  return true;
}

void Driver::execute() {
  if (program_.commands.empty()) return;
  start();
  while (!advance(kProgressCycles)) {
  }
}

void Driver::fail() {
  const auto cause = csr::ErrorCause(device_.read_register(csr::kErrorCause) & 15U);
  const std::uint32_t index = device_.read_register(csr::kErrorIndex) & 0xffffffU;
  const std::uint32_t word = device_.read_register(csr::kErrorInfo);
  const std::uint32_t info = csr::kErrorInfoInfo.get(word);
  std::string text = "the hardware stopped: " + std::string(text_of(cause));
  const std::string more = details(cause, info);
  if (!more.empty()) text += " (" + more + ")";
  text += ", command " + std::to_string(index);
  if (index < program_.commands.size()) {
    text += " (" + std::string(program_.commands[index].name()) + ")";
    const CommandMeta& meta = program_.meta[index];
    if (cause == csr::ErrorCause::kCorrupt && meta.kind == CommandMeta::Bytes::kActivations)
      text += ", row " + std::to_string(std::uint32_t(meta.first_row) + csr::kErrorInfoRow.get(word)) +
              " of '" + graph_.tensors[std::size_t(meta.tensor)].name + "',";
    text += layer_of(program_, graph_, index);
    if (const std::uint32_t rows = program_.commands[index].arrived; rows > arrived_)
      text += " waits for row " + std::to_string(rows) + " of its input, " + std::to_string(arrived_) +
              " have arrived";
  }
  reset(device_);
  throw DeviceError(text);
}

std::vector<Int8Values> Driver::read_outputs() {
  std::vector<std::uint8_t> bytes(std::size_t(program_.output_bytes));
  device_.read_memory(base_at_[std::size_t(Base::kOutputs)], bytes);
  std::vector<Int8Values> outputs;
  for (std::size_t image = 0; image < tensors_.size(); image++) {
    std::vector<Int8Values>& tensors = tensors_[image];
    for (const MemoryOutput& t : program_.outputs)
      tensors[std::size_t(t.tensor)] = t.gather(bytes, int(image));
    run_host(tensors);
    for (int t : graph_.outputs) outputs.push_back(tensors[std::size_t(t)]);
  }
  return outputs;
}

std::vector<Int8Values> Driver::run(std::span<const Int8Values> inputs) {
  write_inputs(inputs);
  execute();
  return read_outputs();
}

void Driver::begin_rows(int rows) {
  tensors_.assign(std::size_t(program_.images), std::vector<Int8Values>(graph_.tensors.size()));
  arrived_ = std::uint32_t(rows);
}

void Driver::arrived(int rows) {
  arrived_ = std::uint32_t(rows);
  device_.write_register(csr::kArrived, arrived_);
}

std::uint32_t Driver::stored() { return device_.read_register(csr::kCompletedStore); }

Int8Values Driver::read_output_rows(int first_row, int rows) {
  const MemoryOutput& output = program_.outputs.front();
  const MemoryLayout& map = output.parts.front().layout;
  std::vector<std::uint8_t> bytes(std::size_t(rows * map.row_pitch));
  device_.read_memory(base_at_[std::size_t(map.base)] + std::uint64_t(map.offset + first_row * map.row_pitch),
                      bytes);
  return output.gather_rows(bytes, first_row, rows);
}

Counters Driver::read_counters() {
  Counters c;
  for (std::size_t i = 0; i < Counters::kCount; i++) {
    const std::uint64_t low = device_.read_register(csr::kCounters[i].offset);
    c.values[i] = low | std::uint64_t(device_.read_register(csr::kCounters[i].offset + 4)) << 32;
  }
  return c;
}

Driver::PackedMap Driver::read_packed(const CompressedMap& map) {
  const MemoryLayout& m = map.layout;
  const std::size_t beat = std::size_t(program_.config.axi_bytes);
  const auto read = [&](std::int64_t offset, std::size_t bytes) {
    std::vector<std::uint8_t> data(bytes);
    device_.read_memory(base_at_[std::size_t(m.base)] + std::uint64_t(offset), data);
    return data;
  };
  const std::vector<std::uint8_t> units = read(m.surface(0), std::size_t(m.surface_bytes()));
  const codec::ZvcFormat format = codec::accelerator_format(program_.config.axi_bytes, m.packing->zero);
  PackedMap p;
  p.bytes = units.size();
  for (std::size_t i = 0; i < units.size(); i++) {
    const int row = int(i) / m.segments;
    const int segment = int(i) % m.segments;
    std::vector<std::uint8_t> raw(
        std::size_t(m.width) * std::size_t(segment + 1 == m.segments ? m.last_pixel_bytes : m.pixel_bytes));
    const std::vector<std::uint8_t> data = read(m.offset + row * m.row_pitch + segment * m.segment_pitch,
                                                units[i] == 0 ? raw.size() : units[i] * beat);
    p.bytes += data.size();
    try {
      codec::zvc_load(format, data, units[i], raw);
    } catch (const codec::CorruptStream& e) {
      throw DeviceError("row " + std::to_string(row) + ", segment " + std::to_string(segment) +
                        " was stored wrong: " + e.what());
    }
    p.nonzeros += raw.size() - std::size_t(std::count(raw.begin(), raw.end(), std::uint8_t(format.zero)));
  }
  return p;
}

}  // namespace kaiten
