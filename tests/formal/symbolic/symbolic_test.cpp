// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The graph of functions, its words, and what a netlist is refused for.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/formal/symbolic/netlist.h"
#include "tests/formal/symbolic/network.h"
#include "tests/formal/symbolic/words.h"
#include "tests/support/seed.h"

namespace kaiten::symbolic {
namespace {

std::uint64_t value_of(const Nodes& nodes, const Word& word, const Word& variables, std::uint64_t values) {
  const auto found = nodes.evaluate(word, [&](std::uint32_t node) {
    for (std::size_t i = 0; i < variables.size(); i++)
      if (variables[i] >> 1 == node) return (values >> i & 1) != 0;
    return false;
  });
  std::uint64_t n = 0;
  for (std::size_t i = 0; i < found.size(); i++) n |= std::uint64_t(found[i]) << i;
  return n;
}

TEST(Nodes, EqualFunctionsOfFewVariablesAreOneNode) {
  Nodes n;
  const Word v = n.variables(6);
  EXPECT_EQ(n.both(v[0], n.either(v[0], v[1])), v[0]);
  EXPECT_EQ(n.both(v[0], negated(v[0])), kFalse);
  EXPECT_EQ(n.differ(n.differ(v[0], v[1]), v[1]), v[0]);
  EXPECT_EQ(n.choose(v[0], v[1], v[1]), v[1]);
  // a majority in two ways
  const Literal one = n.either(n.both(v[0], v[1]), n.both(v[2], n.differ(v[0], v[1])));
  const Literal other = n.either(n.either(n.both(v[1], v[2]), n.both(v[0], v[2])), n.both(v[0], v[1]));
  EXPECT_EQ(one, other);
  // no sum of two bits and a carry is 4
  const Word s = sum(n, Word{v[3], kFalse, kFalse}, Word{v[4], kFalse, kFalse}, v[5]);
  EXPECT_EQ(s[2], kFalse);
  EXPECT_NE(n.both(v[0], v[1]), n.both(v[0], v[2]));
  EXPECT_NE(n.both(v[0], v[1]), n.either(v[0], v[1]));
}

TEST(Nodes, RandomFunctionsAreWhatTheyAreForKnownValues) {
  std::mt19937_64 random(test::seed());
  for (int round = 0; round < 300; round++) {
    Nodes n;
    const Word v = n.variables(9);
    const std::uint64_t values = random() & 0x1ff;
    Word free = v, fixed = constant(values, 9);
    for (int i = 0; i < 60; i++) {
      const std::size_t a = random() % free.size(), b = random() % free.size(), c = random() % free.size();
      const Literal flip = Literal(random() & 1);
      switch (random() % 3) {
        case 0:
          free.push_back(n.both(free[a] ^ flip, free[b]));
          fixed.push_back(n.both(fixed[a] ^ flip, fixed[b]));
          break;
        case 1:
          free.push_back(n.differ(free[a], free[b] ^ flip));
          fixed.push_back(n.differ(fixed[a], fixed[b] ^ flip));
          break;
        default:
          free.push_back(n.choose(free[a], free[b] ^ flip, free[c]));
          fixed.push_back(n.choose(fixed[a], fixed[b] ^ flip, fixed[c]));
      }
    }
    const auto found =
        n.evaluate(free, [&](std::uint32_t node) { return (values >> (node - (v[0] >> 1)) & 1) != 0; });
    for (std::size_t i = 0; i < free.size(); i++) {
      ASSERT_TRUE(is_constant(fixed[i]));
      ASSERT_EQ(found[i], fixed[i] == kTrue) << "function " << i << " of round " << round;
    }
  }
}

TEST(Nodes, ProductsAreFunctionsOfTheirOperands) {
  Nodes n;
  const Word v = n.variables(16);
  const Word a(v.begin(), v.begin() + 8), b(v.begin() + 8, v.end());
  EXPECT_EQ(n.product(a, b), n.product(b, a));
  EXPECT_NE(n.product(a, b), n.product(a, a));
  EXPECT_EQ(n.product(a, constant(0, 8)), constant(0, 8));
  EXPECT_EQ(n.product(constant(1, 8), a), a);
  EXPECT_EQ(n.product(constant(200, 8), constant(3, 8)), constant(600 & 255, 8));
  EXPECT_EQ(value_of(n, n.product(a, b), v, 0x1b2f), 0x1b * 0x2f & 255);
  EXPECT_EQ(n.products(), 2U);
}

TEST(Words, ArithmeticIsThatOfNumbers) {
  std::mt19937_64 random(test::seed());
  for (int round = 0; round < 200; round++) {
    Nodes n;
    const Word v = n.variables(16);
    const std::uint64_t values = random() & 0xffff, a = values & 127, b = values >> 7 & 127, s = values >> 14;
    const auto sign = [](std::uint64_t x) { return x < 64 ? std::int64_t(x) : std::int64_t(x) - 128; };
    for (const bool known_values : {false, true}) {
      const Word all = known_values ? constant(values, 16) : v;
      const Word x(all.begin(), all.begin() + 7), y(all.begin() + 7, all.begin() + 14),
          z(all.begin() + 14, all.end());
      const auto is = [&](const Word& word) { return value_of(n, word, v, values); };
      EXPECT_EQ(is(sum(n, x, y, kTrue)), (a + b + 1) & 127);
      EXPECT_EQ(is(difference(n, x, y)), (a - b) & 127);
      EXPECT_EQ(is({equal(n, x, y)}), a == b);
      EXPECT_EQ(is({less(n, x, y, false)}), a < b);
      EXPECT_EQ(is({less(n, x, y, true)}), sign(a) < sign(b));
      EXPECT_EQ(is(shifted(n, x, z, true, kFalse)), a << s & 127);
      EXPECT_EQ(is(shifted(n, x, z, false, x.back())), std::uint64_t(sign(a) >> s) & 127);
      EXPECT_EQ(is(extended(x, 10, true)), std::uint64_t(sign(a)) & 1023);
      EXPECT_EQ(is(entry(n, Bits(x).first(4), z, 1)), a >> s & 1);
      if (b != 0) {
        EXPECT_EQ(is(remainder(n, x, y)), a % b);
      }
    }
  }
  EXPECT_EQ(known(constant(77, 9)), 77U);
}

// A netlist of one module with these cells.
std::string file_of(const std::string& cells) {
  const std::string path = testing::TempDir() + "kaiten_symbolic_netlist.json";
  std::ofstream(path)
      << R"({"modules": {"m": {"ports": {"clk_i": {"bits": [2]}, "a_i": {"bits": [3]}, "y_o": {"bits": [4]}}, "cells": {)"
      << cells << "}}}}";
  return path;
}

const char* const kFlop =
    R"("q": {"type": "$dff", "parameters": {"CLK_POLARITY": "1"}, "connections": {"CLK": [2], "D": [3], "Q": [5]}},)";
std::string gate(const std::string& type, const std::string& a, const std::string& b) {
  return R"("g": {"type": ")" + type +
         R"(", "parameters": {"A_SIGNED": "0", "B_SIGNED": "0"}, "connections": {"A": [)" + a +
         R"(], "B": [)" + b + R"(], "Y": [4]}})";
}

TEST(Netlist, RefusesWhatItDoesNotKnow) {
  EXPECT_NO_THROW(Netlist(file_of(kFlop + gate("$and", "3", "5")), {"y_o"}));
  EXPECT_THROW(Netlist(file_of(gate("$div", "3", "3")), {"y_o"}), InputError);
  EXPECT_THROW(Netlist(file_of(gate("$and", "3", "4")), {"y_o"}), InputError) << "a loop";
  std::string clock = kFlop;
  clock.replace(clock.find("\"CLK\": [2]"), 10, "\"CLK\": [3]");
  EXPECT_THROW(Netlist(file_of(clock + gate("$and", "3", "5")), {"y_o"}), InputError);
  EXPECT_THROW(Netlist(file_of(gate("$and", "3", "3")), {"z_o"}), InputError);
}

TEST(Netlist, AFreedRegisterMustNotBeSeen) {
  const auto settled = [](const std::string& cells, unsigned a) {
    const Netlist netlist(file_of(cells), {"y_o"}, {"q"});
    Nodes nodes;
    Simulation s(netlist, nodes, [&](const std::string&) { return nodes.variable(); });
    s.set("a_i", constant(a, 1));
    s.settle();
    return s.number("y_o");
  };
  EXPECT_EQ(settled(kFlop + gate("$and", "3", "5"), 0), 0U);
  EXPECT_THROW(settled(kFlop + gate("$and", "3", "5"), 1), std::domain_error);
}

TEST(Network, SpecificationNamesItsNetworks) { EXPECT_THROW(Network("nothing"), InputError); }

}  // namespace
}  // namespace kaiten::symbolic
