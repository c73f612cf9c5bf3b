// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/formal/symbolic/network.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "base/error.h"
#include "compile/compiler.h"
#include "device/csr.h"
#include "reference/kernels.h"
#include "tests/support/graph_builder.h"

namespace kaiten::symbolic {
namespace {

// Somewhere in 40 bits, each in pages of its own, which networks at other places have elsewhere.
constexpr std::uint64_t kCommandsAt = 0x12'3456'7000;
constexpr std::array<std::uint64_t, kBases> kBaseAt{0xab'cd01'2000, 0x00'0000'4000, 0x7f'ffff'e000,
                                                    0x80'0123'4000};
constexpr std::uint64_t kPlace = 0x1000'0000;

Graph graph_of(const std::string& name) {
  test::GraphBuilder g(1);
  const int in = g.input(4, 4, 2);
  const auto conv = [&](int from, int channels, Activation a) {
    return g.conv(from, channels, 3, 3, 1, {1, 1, 1, 1}, a);
  };
  if (name == "conv") {
    g.output(conv(in, 4, Activation::None));
  } else if (name == "conv_conv") {
    g.output(conv(conv(in, 4, Activation::None), 4, Activation::Relu));
  } else if (name == "conv_add") {
    g.output(g.add(in, conv(in, 2, Activation::None), Activation::None));
  } else {
    throw InputError("no network '" + name + "': conv, conv_conv, conv_add");
  }
  return g.graph;
}

Word word_of(std::int64_t value, std::size_t width) { return constant(std::uint64_t(value), width); }

// One lane of a word of parameters.
struct Params {
  Word bias, mult, shift;
};

std::uint32_t number(const KnownBytes& values, std::uint64_t at) {
  std::uint32_t n = 0;
  for (unsigned i = 0; i < 4; i++) n |= std::uint32_t(values.at(at + i)) << (8 * i);
  return n;
}

void put_number(KnownBytes& values, std::uint64_t at, std::int64_t n) {
  for (unsigned i = 0; i < 4; i++) values[at + i] = std::uint8_t(std::uint64_t(n) >> (8 * i));
}

Multiplier multiplier(const KnownBytes& values, std::uint64_t word) {
  return {std::int32_t(number(values, word + 4)), std::int8_t(values.at(word + 8))};
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

// Operators on literals.
struct Network::Specification {
  Specification(const Network& of, Nodes& graph, Contents& memory, const SharedModules& shared)
      : network(of),
        nodes(graph),
        contents(memory),
        lane(shared.lane, graph, [&](const std::string&) { return graph.variable(); }),
        scale(shared.operand, graph, [&](const std::string&) { return graph.variable(); }) {}

  const Network& network;
  Nodes& nodes;
  Contents& contents;
  Simulation lane, scale;

  Params params(const Layer& l, int word) {
    const auto bytes = [&](unsigned first, unsigned count) {
      Word w;
      for (unsigned i = first; i < first + count; i++) {
        const Byte& b = contents.get(network.param_at(l, word) + i);
        w.insert(w.end(), b.begin(), b.end());
      }
      return w;
    };
    return {bytes(0, 4), bytes(4, 4), bytes(8, 1)};
  }

  // One result of the lane: its pipeline holds one value in all of its stages.
  Byte requantised(const Word& acc, const Params& p, const OutputQuant& output) {
    constexpr std::size_t kStages = 6;
    lane.set("valid_i", constant((1U << kStages) - 1, kStages));
    lane.set("acc_i", acc);
    lane.set("bias_i", p.bias);
    lane.set("mult_i", p.mult);
    lane.set("shift_i", p.shift);
    lane.set("zero_i", word_of(output.zero_point, 8));
    lane.set("low_i", word_of(output.low, 8));
    lane.set("high_i", word_of(output.high, 8));
    lane.set("rule_i", word_of(int(output.rule), 2));
    for (std::size_t i = 0; i < kStages; i++) {
      lane.settle();
      lane.clock();
    }
    const Word result = lane.get("data_o");
    Byte byte;
    std::copy(result.begin(), result.end(), byte.begin());
    return byte;
  }

  // An operand of an addition, as all lanes give it.
  Word scaled(const Byte& value, const Params& p) {
    Word word = p.bias, cells;
    word.insert(word.end(), p.mult.begin(), p.mult.end());
    word.insert(word.end(), p.shift.begin(), p.shift.end());
    for (std::size_t i = 0; i < scale.get("cell_i").size(); i++) cells.push_back(value[i % 8]);
    scale.set("we_operand_i", constant(0, 2));
    scale.set("next_operand_i", constant(0, 2));
    scale.set("next_element_i", constant(0, 2));
    scale.set("word_i", word);
    scale.set("cell_i", cells);
    for (const char* port : {"we_i", "swap_i", "valid_i", "valid1_i"}) scale.set(port, constant(1, 1));
    for (const char* port : {"pair_i", "pair1_i", "negate1_i", "negate_second1_i"})
      scale.set(port, constant(0, 1));
    for (int i = 0; i < 3; i++) {
      scale.settle();
      scale.clock();
    }
    scale.settle();
    Word sums = scale.get("sum_o");
    sums.resize(32);
    return sums;
  }

  Word sum_of_products(const Op& op, const Layer& l, const std::vector<Byte>& input, int pixel, int kernel,
                       int group) {
    const Nhwc in = network.graph_.tensors[std::size_t(op.inputs[0])].nhwc();
    const int width = network.graph_.tensors[std::size_t(op.output)].nhwc().w;
    const int cp = network.program_.config.cp;
    const Word pad = word_of(network.graph_.tensors[std::size_t(op.inputs[0])].zero_point(), 8);
    // As a row adds: the products of a chain in as many bits as they need, then the chains.
    const int chain = network.program_.config.chain();
    const std::size_t bits = 16 + std::bit_width(unsigned(chain - 1));
    Word acc = constant(0, 32), part;
    int place = 0;  // of the product in the row
    for (int tap = 0; tap < 9; tap++) {
      const int y = pixel / width * op.window.stride_h - op.window.pad.top + tap % 3;
      const int x = pixel % width * op.window.stride_w - op.window.pad.left + tap / 3;
      for (int c = group * cp; c < (group + 1) * cp; c++) {
        const bool inside = y >= 0 && y < in.h && x >= 0 && x < in.w;
        const Bits a = inside ? Bits(input[std::size_t((y * in.w + x) * in.c + c)]) : Bits(pad);
        const Byte weight = contents.get(network.weight_at(l, kernel, tap % 3, tap / 3, c));
        const Word product =
            extended(nodes.product(extended(a, 16, true), extended(weight, 16, true)), bits, true);
        part = place % chain == 0 ? product : sum(nodes, part, product);
        if (++place % chain == 0) acc = sum(nodes, acc, extended(part, 32, true));
      }
    }
    return acc;
  }

  std::vector<Byte> convolved(const Op& op, const std::vector<Byte>& input) {
    const Layer l = network.layer(op);
    const OutputQuant output = conv_params(network.graph_, op, RoundingStyle::LiteRt).output;
    const int groups =
        network.graph_.tensors[std::size_t(op.inputs[0])].nhwc().c / network.program_.config.cp;
    const Nhwc out = network.graph_.tensors[std::size_t(op.output)].nhwc();
    std::vector<Byte> result;
    for (int pixel = 0; pixel < out.h * out.w; pixel++) {
      for (int k = 0; k < out.c; k++) {
        Word total = sum_of_products(op, l, input, pixel, k, 0);
        for (int group = 1; group < groups; group++)
          total = sum(nodes, sum_of_products(op, l, input, pixel, k, group), total);
        result.push_back(requantised(total, params(l, k), output));
      }
    }
    return result;
  }

  std::vector<Byte> added(const Op& op, const std::vector<Byte>& a, const std::vector<Byte>& b) {
    const Layer l = network.layer(op);
    const OutputQuant output = add_params(network.graph_, op).output;
    std::vector<Byte> result;
    for (std::size_t i = 0; i < a.size(); i++) {
      const Word x = scaled(a[i], params(l, 0)), y = scaled(b[i], params(l, 1));
      result.push_back(requantised(sum(nodes, x, y), params(l, 2), output));
    }
    return result;
  }
};

Network::Network(const std::string& name, unsigned place)
    : graph_(graph_of(name)), program_(compile(graph_, smallest_config())), place_(place * kPlace) {}

std::uint64_t Network::at(std::int64_t base, std::int64_t offset) const {
  return kBaseAt[std::size_t(base)] + place_ + std::uint64_t(offset);
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> Network::registers() const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> writes;
  const auto address = [&](std::uint32_t low, std::uint64_t to) {
    writes.emplace_back(low, std::uint32_t(to));
    writes.emplace_back(low + 4, std::uint32_t(to >> 32));
  };
  writes.emplace_back(csr::kIrqStatus, csr::kIrqStatusDone.mask() | csr::kIrqStatusError.mask());
  for (std::uint32_t i = 0; i < kBases; i++) address(csr::kBaseLo(i), at(i, 0));
  address(csr::kProgramLo, kCommandsAt + place_);
  writes.emplace_back(csr::kCommandCount, std::uint32_t(program_.command_blocks()));
  writes.emplace_back(csr::kWbSplit, std::uint32_t(program_.wb_split));
  writes.emplace_back(csr::kControl, csr::kControlStart.mask() | csr::kControlIrqEnable.mask());
  return writes;
}

std::vector<std::uint64_t> Network::places(const MemoryLayout& m) const {
  if (m.segments != 1 || m.packing) throw InputError("a map of several segments");
  std::vector<std::uint64_t> all;
  for (int y = 0; y < m.height; y++)
    for (int x = 0; x < m.width; x++)
      for (int c = 0; c < m.channels; c++)
        all.push_back(at(m.base, m.offset + y * m.row_pitch + std::int64_t(x) * m.last_pixel_bytes + c));
  return all;
}

Network::Layer Network::layer(const Op& op) const {
  Layer l;
  int weights = 0, params = 0;
  for (std::size_t i = 0; i < program_.commands.size(); i++) {
    if (program_.meta[i].op != int(&op - graph_.ops.data())) continue;
    if (const auto* w = std::get_if<LoadWeightsCommand>(&program_.commands[i].body)) {
      l.weights = *w;
      weights++;
    } else if (const auto* p = std::get_if<LoadParamsCommand>(&program_.commands[i].body)) {
      l.params = *p;
      params++;
    }
  }
  if (weights != (op.kind == OpKind::Conv2D ? 1 : 0) || params != 1)
    throw InputError("weights or parameters in several commands");
  return l;
}

std::uint64_t Network::weight_at(const Layer& l, int kernel, int row, int column, int channel) const {
  const int cp = program_.config.cp;
  const std::int64_t line = (channel / cp) * l.weights.rows + kernel;
  return at(l.weights.base, l.weights.offset + line * 9 * cp + (3 * column + row) * cp + channel % cp);
}

std::uint64_t Network::param_at(const Layer& l, int word) const {
  return at(l.params.base, l.params.offset + 9 * word);
}

void Network::place(Contents& contents, const std::function<Literal()>& free) const {
  const auto put = [&](std::uint64_t where) {
    Byte b;
    for (Literal& l : b) l = free();
    contents.put(where, b);
  };
  contents.put(kCommandsAt + place_, program_.command_bytes());
  for (std::size_t i = 0; i < program_.constants.size(); i++) put(at(int(Base::kConstants), std::int64_t(i)));
  for (const MemoryTensor& t : program_.inputs)
    for (const std::uint64_t where : places(t.layout)) put(where);
}

SymbolicBytes Network::expected(Nodes& nodes, Contents& contents, const SharedModules& shared) const {
  Specification specification(*this, nodes, contents, shared);
  std::vector<std::vector<Byte>> tensors(graph_.tensors.size());
  for (const MemoryTensor& t : program_.inputs)
    for (const std::uint64_t where : places(t.layout))
      tensors[std::size_t(t.tensor)].push_back(contents.get(where));
  for (const Op& op : graph_.ops) {
    const auto input = [&](std::size_t i) -> const std::vector<Byte>& {
      return tensors[std::size_t(op.inputs[i])];
    };
    tensors[std::size_t(op.output)] = op.kind == OpKind::Add ? specification.added(op, input(0), input(1))
                                                             : specification.convolved(op, input(0));
  }
  SymbolicBytes bytes;
  for (const MemoryOutput& t : program_.outputs) {
    const auto where = places(t.parts.at(0).layout);
    for (std::size_t i = 0; i < where.size(); i++) bytes[where[i]] = tensors[std::size_t(t.tensor)][i];
  }
  return bytes;
}

// Sums stay within 32 bits, and results within reach of a byte.
void Network::random_params(const Op& op, KnownBytes& values, std::mt19937_64& random) const {
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  const Layer l = layer(op);
  const bool add = op.kind == OpKind::Add;
  const int words = add ? 3 : graph_.tensors[std::size_t(op.output)].nhwc().c;
  for (int word = 0; word < words; word++) {
    const std::uint64_t where = param_at(l, word);
    const bool operand = add && word < 2;
    put_number(values, where, operand ? between(-127, 128) : add ? 0 : between(-300'000, 300'000));
    put_number(values, where + 4, between(1 << 30, 0x7fffffff));
    values[where + 8] = std::uint8_t(operand ? between(-4, 0) : add ? between(-19, -16) : between(-14, -6));
  }
}

KnownBytes Network::random_values(std::mt19937_64& random) const {
  KnownBytes values;
  const auto any = [&](std::uint64_t where) {
    values[where] = std::uint8_t(random() % 4 == 0 ? 127 + random() % 2 : random() % 256);
  };
  for (std::size_t i = 0; i < program_.constants.size(); i++) any(at(int(Base::kConstants), std::int64_t(i)));
  for (const MemoryTensor& t : program_.inputs)
    for (const std::uint64_t where : places(t.layout)) any(where);
  for (const Op& op : graph_.ops) random_params(op, values, random);
  return values;
}

Int8Values Network::convolved(const Op& op, const KnownBytes& values, const Int8Values& input) const {
  const Layer l = layer(op);
  ConvParams params = conv_params(graph_, op, RoundingStyle::LiteRt);
  const Nhwc in = graph_.tensors[std::size_t(op.inputs[0])].nhwc();
  const Nhwc out = graph_.tensors[std::size_t(op.output)].nhwc();
  Int8Values weights, output(out.elements());
  for (int k = 0; k < out.c; k++) {
    std::int32_t all = 0;
    for (int i = 0; i < 9 * in.c; i++) {  // row, column, channel
      weights.push_back(std::int8_t(values.at(weight_at(l, k, i / in.c / 3, i / in.c % 3, i % in.c))));
      all += weights.back();
    }
    // the reference takes the input's zero point off each value
    params.bias[std::size_t(k)] = std::int32_t(number(values, param_at(l, k))) + params.zp_in * all;
    const Multiplier m = multiplier(values, param_at(l, k));
    params.multiplier[std::size_t(k)] = m.m;
    params.shift[std::size_t(k)] = m.shift;
  }
  reference::conv2d({params, op.window, in, out, 1}, input, weights, output);
  return output;
}

Int8Values Network::added(const Op& op, const KnownBytes& values, const Int8Values& a,
                          const Int8Values& b) const {
  const Layer l = layer(op);
  AddParams params = add_params(graph_, op);
  for (int i = 0; i < 2; i++) {
    params.zp_in[i] = -std::int32_t(number(values, param_at(l, i)));
    params.in[i] = multiplier(values, param_at(l, i));
  }
  params.out = multiplier(values, param_at(l, 2));
  Int8Values output(a.size());
  const std::array<reference::Input, 2> operands{a, b};
  reference::add(params, operands, output);
  return output;
}

KnownBytes Network::reference(const KnownBytes& values) const {
  std::vector<Int8Values> tensors(graph_.tensors.size());
  for (const MemoryTensor& t : program_.inputs)
    for (const std::uint64_t where : places(t.layout))
      tensors[std::size_t(t.tensor)].push_back(std::int8_t(values.at(where)));
  for (const Op& op : graph_.ops) {
    const auto input = [&](std::size_t i) -> const Int8Values& { return tensors[std::size_t(op.inputs[i])]; };
    tensors[std::size_t(op.output)] =
        op.kind == OpKind::Add ? added(op, values, input(0), input(1)) : convolved(op, values, input(0));
  }
  KnownBytes bytes;
  for (const MemoryOutput& t : program_.outputs) {
    const auto where = places(t.parts.at(0).layout);
    for (std::size_t i = 0; i < where.size(); i++)
      bytes[where[i]] = std::uint8_t(tensors[std::size_t(t.tensor)][i]);
  }
  return bytes;
}

}  // namespace kaiten::symbolic
