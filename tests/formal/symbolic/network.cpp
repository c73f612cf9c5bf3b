// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/formal/symbolic/network.h"

#include <span>

#include "base/error.h"
#include "compile/compiler.h"
#include "device/csr.h"
#include "reference/kernels.h"
#include "tests/support/graph_builder.h"

namespace kaiten::symbolic {
namespace {

// Somewhere in 40 bits, each in pages of its own.
constexpr std::uint64_t kCommandsAt = 0x12'3456'7000;
constexpr std::array<std::uint64_t, kBases> kBaseAt{0xab'cd01'2000, 0x00'0000'4000, 0x7f'ffff'e000, 0x80'0123'4000};

std::uint64_t base_at(std::int64_t base) { return kBaseAt[std::size_t(base)]; }

Graph graph_of(const std::string& name) {
  test::GraphBuilder g(1);
  int map = g.input(4, 4, 2);
  if (name == "conv" || name == "conv_conv") {
    map = g.conv(map, 4, 3, 3, 1, {1, 1, 1, 1}, Activation::None);
    if (name == "conv_conv") map = g.conv(map, 4, 3, 3, 1, {1, 1, 1, 1}, Activation::Relu);
  } else {
    throw InputError("no network '" + name + "': conv, conv_conv");
  }
  g.output(map);
  return g.graph;
}

Word word_of(std::int64_t value, std::size_t width) { return constant(std::uint64_t(value), width); }

// One result of the lane: its pipeline holds one value in all of its stages.
Byte requantised(Simulation& lane, const Word& acc, std::span<const Byte> params, const OutputQuant& output) {
  const auto word = [&](std::size_t first, std::size_t bytes) {
    Word w;
    for (std::size_t i = first; i < first + bytes; i++) w.insert(w.end(), params[i].begin(), params[i].end());
    return w;
  };
  lane.set("valid_i", constant(15, 4));
  lane.set("acc_i", acc);
  lane.set("bias_i", word(0, 4));
  lane.set("mult_i", word(4, 4));
  lane.set("shift_i", word(8, 1));
  lane.set("zero_i", word_of(output.zero_point, 8));
  lane.set("low_i", word_of(output.low, 8));
  lane.set("high_i", word_of(output.high, 8));
  lane.set("rule_i", word_of(int(output.rule), 2));
  for (int i = 0; i < 4; i++) {
    lane.settle();
    lane.clock();
  }
  const Word result = lane.get("data_o");
  Byte byte;
  std::copy(result.begin(), result.end(), byte.begin());
  return byte;
}

}  // namespace

Config smallest_config() {
  Config c;
  c.name = "smallest";
  c.kp = 4;
  c.cp = 2;
  c.stage_rows = 2;
  c.axi_bytes = 16;
  c.wb_rows = 32;
  c.vwb_rows = 8;
  c.sb_depth = c.vb_depth = 16;
  c.ob_pixels = 16;
  c.zsb_array = c.zsb_vector = 16;
  c.sum_row = c.float_rule = c.average = c.table = false;
  return c;
}

Network::Network(const std::string& name) : graph_(graph_of(name)), program_(compile(graph_, smallest_config())) {}

std::vector<std::pair<std::uint32_t, std::uint32_t>> Network::registers() const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> writes;
  const auto address = [&](std::uint32_t low, std::uint64_t at) {
    writes.emplace_back(low, std::uint32_t(at));
    writes.emplace_back(low + 4, std::uint32_t(at >> 32));
  };
  for (std::uint32_t i = 0; i < kBases; i++) address(csr::kBaseLo(i), kBaseAt[i]);
  address(csr::kProgramLo, kCommandsAt);
  writes.emplace_back(csr::kCommandCount, std::uint32_t(program_.command_blocks()));
  writes.emplace_back(csr::kWbSplit, std::uint32_t(program_.wb_split));
  writes.emplace_back(csr::kControl, csr::kControlStart.mask() | csr::kControlIrqEnable.mask());
  return writes;
}

std::vector<std::uint64_t> Network::places(const MemoryLayout& m) const {
  if (m.segments != 1 || m.packing) throw InputError("a map of several segments");
  std::vector<std::uint64_t> at;
  for (int y = 0; y < m.height; y++)
    for (int x = 0; x < m.width; x++)
      for (int c = 0; c < m.channels; c++)
        at.push_back(base_at(m.base) +
                     std::uint64_t(m.offset + y * m.row_pitch + std::int64_t(x) * m.last_pixel_bytes + c));
  return at;
}

Network::Layer Network::layer(const Op& op) const {
  Layer l;
  l.op = &op;
  int found = 0;
  for (std::size_t i = 0; i < program_.commands.size(); i++) {
    if (program_.meta[i].op != int(&op - graph_.ops.data())) continue;
    if (const auto* w = std::get_if<LoadWeightsCommand>(&program_.commands[i].body)) {
      l.weights = *w;
      found++;
    } else if (const auto* p = std::get_if<LoadParamsCommand>(&program_.commands[i].body)) {
      l.params = *p;
      found += 16;
    }
  }
  if (found != 17) throw InputError("weights or parameters in several commands");
  return l;
}

std::uint64_t Network::weight_at(const Layer& l, int kernel, int row, int column, int channel) const {
  const int cp = program_.config.cp;
  const std::int64_t line = (channel / cp) * l.weights.rows + kernel;
  return base_at(l.weights.base) +
         std::uint64_t(l.weights.offset + line * 9 * cp + (3 * column + row) * cp + channel % cp);
}

std::uint64_t Network::param_at(const Layer& l, int kernel) const {
  return base_at(l.params.base) + std::uint64_t(l.params.offset + 9 * kernel);
}

void Network::place(Contents& contents, const std::function<Literal()>& free) const {
  const auto put = [&](std::uint64_t at) {
    Byte b;
    for (Literal& l : b) l = free();
    contents.put(at, b);
  };
  contents.put(kCommandsAt, program_.command_bytes());
  for (std::size_t i = 0; i < program_.constants.size(); i++) put(base_at(int(Base::kConstants)) + i);
  for (const MemoryTensor& t : program_.inputs)
    for (const std::uint64_t at : places(t.layout)) put(at);
}

std::vector<Byte> Network::convolved(Nodes& nodes, Contents& contents, const SharedModules& shared, const Op& op,
                                     const std::vector<Byte>& input) const {
  const Layer l = layer(op);
  const ConvParams params = conv_params(graph_, op, RoundingStyle::LiteRt);
  const Nhwc in = graph_.tensors[std::size_t(op.inputs[0])].nhwc();
  const Nhwc out = graph_.tensors[std::size_t(op.output)].nhwc();
  const int cp = program_.config.cp;
  Simulation lane(shared.lane, nodes, [&](const std::string&) { return nodes.variable(); });
  Word pad = word_of(params.zp_in, 8);
  std::vector<Byte> result;
  for (int pixel = 0; pixel < out.h * out.w; pixel++) {
    for (int k = 0; k < out.c; k++) {
      Word total;
      for (int group = 0; group < in.c / cp; group++) {
        Word acc = constant(0, 32);
        for (int tap = 0; tap < 9; tap++) {
          const int y = pixel / out.w * op.window.stride_h - op.window.pad.top + tap % 3;
          const int x = pixel % out.w * op.window.stride_w - op.window.pad.left + tap / 3;
          for (int c = group * cp; c < (group + 1) * cp; c++) {
            const bool inside = y >= 0 && y < in.h && x >= 0 && x < in.w;
            const Bits a = inside ? Bits(input[std::size_t((y * in.w + x) * in.c + c)]) : Bits(pad);
            const Byte weight = contents.get(weight_at(l, k, tap % 3, tap / 3, c));
            acc = sum(nodes, acc, nodes.product(extended(a, 32, true), extended(weight, 32, true)));
          }
        }
        total = group == 0 ? acc : sum(nodes, acc, total);
      }
      std::array<Byte, 9> word;
      for (std::size_t i = 0; i < 9; i++) word[i] = contents.get(param_at(l, k) + i);
      result.push_back(requantised(lane, total, word, params.output));
    }
  }
  return result;
}

std::map<std::uint64_t, Byte> Network::expected(Nodes& nodes, Contents& contents, const SharedModules& shared) const {
  Tensors tensors(graph_.tensors.size());
  for (const MemoryTensor& t : program_.inputs)
    for (const std::uint64_t at : places(t.layout)) tensors[std::size_t(t.tensor)].push_back(contents.get(at));
  for (const Op& op : graph_.ops)
    tensors[std::size_t(op.output)] = convolved(nodes, contents, shared, op, tensors[std::size_t(op.inputs[0])]);
  std::map<std::uint64_t, Byte> bytes;
  for (const MemoryOutput& t : program_.outputs) {
    const auto at = places(t.parts.at(0).layout);
    for (std::size_t i = 0; i < at.size(); i++) bytes[at[i]] = tensors[std::size_t(t.tensor)][i];
  }
  return bytes;
}

std::map<std::uint64_t, std::uint8_t> Network::random_values(std::mt19937_64& random) const {
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  std::map<std::uint64_t, std::uint8_t> values;
  const auto any = [&](std::uint64_t at) { values[at] = std::uint8_t(between(0, 3) == 0 ? 127 + between(0, 1) : between(0, 255)); };
  for (std::size_t i = 0; i < program_.constants.size(); i++) any(base_at(int(Base::kConstants)) + i);
  for (const MemoryTensor& t : program_.inputs)
    for (const std::uint64_t at : places(t.layout)) any(at);
  for (const Op& op : graph_.ops) {
    const Layer l = layer(op);
    for (int k = 0; k < graph_.tensors[std::size_t(op.output)].nhwc().c; k++) {
      const std::uint64_t at = param_at(l, k);
      const std::uint64_t bias = std::uint64_t(between(-300'000, 300'000));
      const std::uint64_t mult = std::uint64_t(between(1 << 30, 0x7fffffff));
      for (unsigned i = 0; i < 4; i++) {
        values[at + i] = std::uint8_t(bias >> (8 * i));
        values[at + 4 + i] = std::uint8_t(mult >> (8 * i));
      }
      values[at + 8] = std::uint8_t(between(-14, -6));
    }
  }
  return values;
}

Int8Values Network::convolved(const Op& op, const std::map<std::uint64_t, std::uint8_t>& values,
                              const Int8Values& input) const {
  const Layer l = layer(op);
  ConvParams params = conv_params(graph_, op, RoundingStyle::LiteRt);
  const Nhwc in = graph_.tensors[std::size_t(op.inputs[0])].nhwc();
  const Nhwc out = graph_.tensors[std::size_t(op.output)].nhwc();
  Int8Values weights, output(out.elements());
  for (int k = 0; k < out.c; k++) {
    std::int32_t all = 0;
    for (int y = 0; y < 3; y++)
      for (int x = 0; x < 3; x++)
        for (int c = 0; c < in.c; c++) {
          weights.push_back(std::int8_t(values.at(weight_at(l, k, y, x, c))));
          all += weights.back();
        }
    const auto number = [&](std::uint64_t first) {
      std::uint32_t n = 0;
      for (unsigned i = 0; i < 4; i++) n |= std::uint32_t(values.at(first + i)) << (8 * i);
      return std::int32_t(n);
    };
    // the reference takes the input's zero point off each value
    const std::uint64_t at = param_at(l, k);
    params.bias[std::size_t(k)] = number(at) + params.zp_in * all;
    params.multiplier[std::size_t(k)] = number(at + 4);
    params.shift[std::size_t(k)] = std::int8_t(values.at(at + 8));
  }
  reference::conv2d({params, op.window, in, out, 1}, input, weights, output);
  return output;
}

std::map<std::uint64_t, std::uint8_t> Network::reference(const std::map<std::uint64_t, std::uint8_t>& values) const {
  std::vector<Int8Values> tensors(graph_.tensors.size());
  for (const MemoryTensor& t : program_.inputs)
    for (const std::uint64_t at : places(t.layout)) tensors[std::size_t(t.tensor)].push_back(std::int8_t(values.at(at)));
  for (const Op& op : graph_.ops)
    tensors[std::size_t(op.output)] = convolved(op, values, tensors[std::size_t(op.inputs[0])]);
  std::map<std::uint64_t, std::uint8_t> bytes;
  for (const MemoryOutput& t : program_.outputs) {
    const auto at = places(t.parts.at(0).layout);
    for (std::size_t i = 0; i < at.size(); i++) bytes[at[i]] = std::uint8_t(tensors[std::size_t(t.tensor)][i]);
  }
  return bytes;
}

}  // namespace kaiten::symbolic
