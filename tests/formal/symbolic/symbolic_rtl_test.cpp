// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The symbolic simulation of a netlist beside Verilator's of its source: known values cycle by cycle, and the functions of free
// inputs for values that are drawn afterwards.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "Vsymbolic_bench.h"
#include "tests/formal/symbolic/chip.h"
#include "tests/formal/symbolic/explorer.h"
#include "tests/formal/symbolic/netlist.h"
#include "tests/support/model.h"

namespace kaiten::symbolic {
namespace {

using Bench = test::Model<Vsymbolic_bench>;

struct Inputs {
  unsigned reset = 0, a = 0, b = 0, s = 0;
};

struct Output {
  std::string name;
  std::function<std::uint64_t(Vsymbolic_bench&)> get;
};

#define OUTPUT(pin)                                                \
  Output {                                                         \
#pin, [](Vsymbolic_bench & m) { return std::uint64_t(m.pin); } \
  }
const std::vector<Output>& outputs() {
  static const std::vector<Output> all{
      OUTPUT(not_o), OUTPUT(and_o),  OUTPUT(or_o),   OUTPUT(xor_o),   OUTPUT(xnor_o),    OUTPUT(add_o),
      OUTPUT(sub_o), OUTPUT(mod_o),  OUTPUT(neg_o),  OUTPUT(mul_o),   OUTPUT(smul_o),    OUTPUT(wide_o),
      OUTPUT(shl_o), OUTPUT(shr_o),  OUTPUT(sshr_o), OUTPUT(case_o),  OUTPUT(compare_o), OUTPUT(reduce_o),
      OUTPUT(sum_o), OUTPUT(held_o), OUTPUT(read_o), OUTPUT(index_o), OUTPUT(table_o)};
  return all;
}
#undef OUTPUT

Netlist bench() {
  std::vector<std::string> names;
  for (const Output& o : outputs()) names.push_back(o.name);
  return Netlist(KAITEN_NETLISTS "symbolic_bench.json", names);
}

// Every word of the memories is written while in reset.
std::vector<Inputs> drawn(int cycles) {
  std::mt19937_64 random(test::seed());
  std::vector<Inputs> all;
  for (unsigned i = 0; i < unsigned(cycles); i++) {
    Inputs in{i >= 16, unsigned(random() & 0xfff), unsigned(random() & 0xfff), unsigned(random() & 15)};
    if (i < 16) in.s = i;
    if (random() % 4 == 0) in.b = in.a;
    all.push_back(in);
  }
  return all;
}

std::vector<std::uint64_t> of_verilator(Bench& model, const Inputs& in) {
  model->rst_ni = std::uint8_t(in.reset);
  model->a_i = std::uint16_t(in.a);
  model->b_i = std::uint16_t(in.b);
  model->s_i = std::uint8_t(in.s);
  model.eval();
  std::vector<std::uint64_t> values;
  for (const Output& o : outputs()) values.push_back(o.get(model.top()));
  model.tick();
  return values;
}

TEST(SymbolicRtl, KnownValuesAreVerilators) {
  const Netlist netlist = bench();
  Nodes nodes;
  Simulation simulation(netlist, nodes, [&](const std::string&) { return nodes.variable(); });
  Bench model;
  int cycle = 0;
  for (const Inputs& in : drawn(3000)) {
    simulation.set("rst_ni", constant(in.reset, 1));
    simulation.set("a_i", constant(in.a, 12));
    simulation.set("b_i", constant(in.b, 12));
    simulation.set("s_i", constant(in.s, 4));
    simulation.settle();
    const auto right = of_verilator(model, in);
    if (cycle++ >= 18) {  // behind the reset, and the first read
      for (std::size_t i = 0; i < right.size(); i++)
        ASSERT_EQ(simulation.number(outputs()[i].name), right[i])
            << outputs()[i].name << " in cycle " << cycle;
    }
    simulation.clock();
  }
}

TEST(SymbolicRtl, FunctionsOfFreeInputsAreVerilators) {
  const Netlist netlist = bench();
  Nodes nodes;
  Simulation simulation(netlist, nodes, [&](const std::string&) { return nodes.variable(); });
  Bench model;
  std::map<std::uint32_t, bool> bits;
  const auto free = [&](const char* port, unsigned value, std::size_t width) {
    const Word word = nodes.variables(width);
    for (std::size_t i = 0; i < width; i++) bits[word[i] >> 1] = (value >> i & 1) != 0;
    simulation.set(port, word);
  };
  int cycle = 0;
  for (const Inputs& in : drawn(26)) {
    simulation.set("rst_ni", constant(in.reset, 1));
    free("a_i", in.a, 12);
    free("b_i", in.b, 12);
    if (cycle < 16)
      simulation.set("s_i", constant(in.s, 4));
    else
      free("s_i", in.s, 4);
    simulation.settle();
    const auto right = of_verilator(model, in);
    if (cycle++ >= 18) {
      for (std::size_t i = 0; i < right.size(); i++) {
        const Word word = simulation.get(outputs()[i].name);
        const auto found =
            nodes.evaluate(word, [&](std::uint32_t node) { return bits.contains(node) && bits.at(node); });
        std::uint64_t value = 0;
        for (std::size_t k = 0; k < found.size(); k++) value |= std::uint64_t(found[k]) << k;
        ASSERT_EQ(value, right[i]) << outputs()[i].name << " in cycle " << cycle;
      }
    }
    simulation.clock();
  }
}

TEST(SymbolicRtl, EqualStatesHaveEqualHashesAndOthersNot) {
  const Netlist netlist = bench();
  Nodes nodes;
  Simulation a(netlist, nodes, [&](const std::string&) { return nodes.variable(); });
  Simulation b = a;
  const auto cycle = [](Simulation& s, unsigned reset, unsigned x, unsigned y, unsigned place) {
    s.set("rst_ni", constant(reset, 1));
    s.set("a_i", constant(x, 12));
    s.set("b_i", constant(y, 12));
    s.set("s_i", constant(place, 4));
    s.settle();
    s.clock();
  };
  cycle(a, 1, 1, 8, 0);
  cycle(a, 1, 1, 16, 1);
  cycle(b, 1, 1, 16, 1);
  EXPECT_NE(a.state(), b.state());
  cycle(b, 1, 1, 8, 0);  // the same in another order
  EXPECT_EQ(a.state(), b.state());
  cycle(b, 1, 3, 8, 5);  // into the memory
  EXPECT_NE(a.state(), b.state());
  cycle(a, 1, 3, 8, 5);
  cycle(b, 1, 0, 0, 0);
  cycle(a, 1, 0, 0, 0);
  EXPECT_EQ(a.state(), b.state()) << "inputs are no state";
}

// A run of waiting_chip, which counts in so many bits up to the interrupt; what the explorer says of it.
std::string explored(unsigned bits, unsigned last) {
  const Netlist netlist(KAITEN_NETLISTS "waiting_chip.json", Chip::observed());
  Nodes nodes;
  Contents contents([&](const std::string&) { return nodes.variable(); });
  Chip chip(netlist, nodes, contents, 1);
  chip.write_registers({{0, bits << 16 | last}});
  Explorer explorer(0);
  try {
    return std::to_string(explorer.explore({{chip, 0}}, {}, true).size()) + " end";
  } catch (const RunError& e) {
    return e.what();
  }
}

TEST(Explorer, ARunEndsOrIsGivenUp) {
  EXPECT_EQ(explored(0xffff, 5), "1 end");
  EXPECT_EQ(explored(0xffff, kPatience - 100), "1 end");
  EXPECT_EQ(explored(0xffff, kPatience + 100), "no interrupt after 5000 cycles") << "no two states are equal";
  EXPECT_EQ(explored(3, 9), "a run does not end though the bus does not stall")
      << "after four states the first comes again";
}

}  // namespace
}  // namespace kaiten::symbolic
