// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "device/program_image.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>

#include "base/arithmetic.h"
#include "base/error.h"
#include "device/csr.h"
#include "device/options.h"

namespace kaiten {

namespace {

constexpr std::uint32_t kVersion = 1;
// Sizes of the format, bytes.
constexpr std::size_t kChecksumEnd = 12;
constexpr std::size_t kImageBytesAt = 12;
constexpr std::size_t kConfigBytes = 24;
constexpr std::size_t kNameBytes = 48;
constexpr std::size_t kRank = 6;
constexpr std::size_t kAlign = 64;  // of commands and constants
constexpr std::size_t kTensorBytes = 112;

class Writer {
 public:
  void word(std::uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8) bytes_.push_back(std::uint8_t(value >> shift));
  }
  void size(std::int64_t value, const char* what) {
    if (value < 0 || value > std::int64_t(UINT32_MAX))
      throw InputError("program image: " + std::string(what) + " is " + std::to_string(value) +
                       ", at most 4294967295 fits");
    word(std::uint32_t(value));
  }
  // Cut where it is too long; the last byte is 0.
  void name(const std::string& text, std::size_t size) {
    const std::size_t length = std::min(text.size(), size - 1);
    bytes_.insert(bytes_.end(), text.begin(), text.begin() + std::ptrdiff_t(length));
    bytes_.resize(bytes_.size() + size - length);
  }
  void append(std::span<const std::uint8_t> data) { bytes_.insert(bytes_.end(), data.begin(), data.end()); }
  void align() { bytes_.resize(align_up(bytes_.size(), kAlign)); }
  // A word that is known later.
  std::size_t later() {
    word(0);
    return bytes_.size() - 4;
  }
  void set(std::size_t at, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; i++) bytes_[at + i] = std::uint8_t(value >> 8 * i);
  }
  void set_here(std::size_t at) { set(at, std::uint32_t(bytes_.size())); }
  std::vector<std::uint8_t>& bytes() { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

bool is_compressed(const CommandBody& command) {
  return std::visit(
      [](const auto& c) {
        if constexpr (requires { c.zvc; }) return c.zvc != 0;
        if constexpr (requires { c.zvc_beats; }) return c.zvc_beats != 0;
        return false;
      },
      command);
}

// Offset, mask and value of registers, as a device must have them.
std::vector<std::array<std::uint32_t, 3>> requirements(const Program& program) {
  const Config& c = program.config;
  std::vector<std::array<std::uint32_t, 3>> list;
  for (const auto& [offset, value] : {std::pair{csr::kKp, c.kp},
                                      {csr::kCp, c.cp},
                                      {csr::kStageRows, c.stage_rows},
                                      {csr::kAxiBytes, c.axi_bytes},
                                      {csr::kWbRows, c.wb_rows},
                                      {csr::kVwbRows, c.vwb_rows},
                                      {csr::kSbDepth, c.sb_depth},
                                      {csr::kVbDepth, c.vb_depth},
                                      {csr::kObPixels, c.ob_pixels},
                                      {csr::kZsbArray, c.zsb_array},
                                      {csr::kZsbVector, c.zsb_vector}})
    list.push_back({offset, ~std::uint32_t{0}, std::uint32_t(value)});
  std::uint32_t options = 0;
  for (const Command& command : program.commands) options |= options_of(command);
  list.push_back({csr::kOptions, options, options});
  if (std::ranges::any_of(program.commands,
                          [](const Command& command) { return is_compressed(command.body); }))
    list.push_back({csr::kZvcBeats, ~std::uint32_t{0}, std::uint32_t(c.zvc_beats)});
  return list;
}

using Parts = std::vector<MemoryPart>;

// All tensors of a direction, then their parts.
void write_tensors(Writer& out, std::size_t at_word, const Graph& graph,
                   const std::vector<std::pair<int, Parts>>& tensors) {
  out.set_here(at_word);
  std::vector<std::size_t> places;
  for (const auto& [index, parts] : tensors) {
    const Tensor& tensor = graph.tensors[std::size_t(index)];
    if (tensor.type != ElementType::Int8 || tensor.shape.size() > kRank)
      throw InputError("program image: tensor '" + tensor.name + "' is no int8 tensor of at most " +
                       std::to_string(kRank) + " dimensions");
    const std::size_t start = out.bytes().size();
    out.name(tensor.name, kNameBytes);
    out.word(tensor.model_type == ElementType::UInt8 ? 1 : 0);
    out.word(std::uint32_t(tensor.shape.size()));
    for (std::size_t i = 0; i < kRank; i++)
      out.word(i < tensor.shape.size() ? std::uint32_t(tensor.shape[i]) : 0);
    const Quantization& q = tensor.quantization;
    out.word(std::bit_cast<std::uint32_t>(q.empty() ? 0.0F : q.scale.front()));
    out.word(std::uint32_t(tensor.zero_point()));
    out.size(std::int64_t(tensor.bytes()), "a tensor's size");
    out.word(std::uint32_t(parts.size()));
    places.push_back(out.later());
    out.bytes().resize(start + kTensorBytes);
  }
  for (std::size_t i = 0; i < tensors.size(); i++) {
    out.set_here(places[i]);
    for (const MemoryPart& part : tensors[i].second) {
      const MemoryLayout& m = part.layout;
      for (const auto& [value, what] : {std::pair<std::int64_t, const char*>{m.offset, "an offset"},
                                        {m.height, "a height"},
                                        {m.width, "a width"},
                                        {part.lane, "a lane"},
                                        {part.channels, "a number of channels"},
                                        {m.segments, "a number of segments"},
                                        {m.pixel_bytes, "a pixel"},
                                        {m.last_pixel_bytes, "a pixel"},
                                        {m.segment_pitch, "a segment pitch"},
                                        {m.row_pitch, "a row pitch"},
                                        {m.image_pitch, "an image pitch"}})
        out.size(value, what);
    }
  }
}

}  // namespace

std::vector<std::uint8_t> program_image(const Program& program, const Graph& graph) {
  if (program.commands.empty())
    throw InputError("program image: the device has nothing to do for this network");
  std::vector<std::pair<int, Parts>> inputs, outputs;
  for (const MemoryTensor& t : program.inputs) {
    if (t.layout.base != int(Base::kInputs))
      throw InputError("program image: input '" + graph.tensors[std::size_t(t.tensor)].name +
                       "' is not an input of the device");
    inputs.emplace_back(t.tensor, Parts{{t.layout, 0, t.layout.channels}});
  }
  for (const MemoryOutput& t : program.outputs) outputs.emplace_back(t.tensor, t.parts);
  const std::vector<std::array<std::uint32_t, 3>> needs = requirements(program);
  const std::vector<std::uint8_t> commands = program.command_bytes();

  Writer out;
  for (const char letter : {'K', 'I', 'M', 'G'}) out.bytes().push_back(std::uint8_t(letter));
  out.word(kVersion);
  const std::size_t checksum_at = out.later();
  out.later();  // kImageBytesAt
  out.word(csr::kVersionMajor.put(csr::kVersionMajorValue) | csr::kVersionMinor.put(csr::kVersionMinorValue));
  out.word(std::uint32_t(needs.size()));
  const std::size_t needs_at = out.later();
  out.word(std::uint32_t(program.command_blocks()));
  const std::size_t commands_at = out.later();
  const std::size_t constants_at = out.later();
  out.size(std::int64_t(program.constants.size()), "the size of the constants");
  out.size(program.activation_bytes, "the size of the activations");
  out.size(program.input_bytes, "the size of the inputs");
  out.size(program.output_bytes, "the size of the outputs");
  out.word(std::uint32_t(program.wb_split));
  out.word(std::uint32_t(program.images));
  out.word(std::uint32_t(program.modelled_cycles));
  out.word(std::uint32_t(std::uint64_t(program.modelled_cycles) >> 32));
  out.word(std::uint32_t(inputs.size()));
  const std::size_t inputs_at = out.later();
  out.word(std::uint32_t(outputs.size()));
  const std::size_t outputs_at = out.later();
  out.name(program.config.name, kConfigBytes);
  out.name(graph.name, kNameBytes);

  out.set_here(needs_at);
  for (const auto& need : needs) std::ranges::for_each(need, [&](std::uint32_t value) { out.word(value); });
  write_tensors(out, inputs_at, graph, inputs);
  write_tensors(out, outputs_at, graph, outputs);
  out.align();
  out.set_here(commands_at);
  out.append(commands);
  out.align();
  out.set_here(constants_at);
  out.append(program.constants);
  std::vector<std::uint8_t>& bytes = out.bytes();
  if (bytes.size() > UINT32_MAX)
    throw InputError("program image: it has " + std::to_string(bytes.size()) +
                     " bytes, at most 4294967295 fit");
  out.set(kImageBytesAt, std::uint32_t(bytes.size()));
  out.set(checksum_at, std::uint32_t(crc32_z(0, bytes.data() + kChecksumEnd, bytes.size() - kChecksumEnd)));
  return std::move(bytes);
}

}  // namespace kaiten
