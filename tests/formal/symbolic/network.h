// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A small network, its program as the compiler makes it, and what a chip must leave in memory after it, byte by byte, as a
// function of bytes that are free: inputs, weights, parameters of requantisation. Sums of products are formed here, in the order
// of docs/formats/weights.md and ADR 26; requantisation of a sum and scaling of an operand are the netlists of a lane, which
// proofs compare with the specification (kt_requant_lane, kt_vector_operand).
#ifndef KAITEN_TESTS_FORMAL_SYMBOLIC_NETWORK_H
#define KAITEN_TESTS_FORMAL_SYMBOLIC_NETWORK_H

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/quantize.h"
#include "graph/values.h"
#include "program/program.h"
#include "tests/formal/symbolic/chip.h"

namespace kaiten::symbolic {

// The chip of the proofs; scripts/e2e.py gives the same numbers to yosys.
Config smallest_config();

// Netlists of what the specification shares with the chip.
struct SharedModules {
  const Netlist& lane;     // kt_requant_lane
  const Netlist& operand;  // kt_vector_operand
};

// By address.
using SymbolicBytes = std::map<std::uint64_t, Byte>;
using KnownBytes = std::map<std::uint64_t, std::uint8_t>;

class Network {
 public:
  // "conv": 3x3, 4 x 4 x 2 to 4 channels; "conv_conv": another one behind it; "conv_add": one to 2 channels, added to its input.
  // Networks of different places have nothing of memory in common. Throws InputError for another name.
  explicit Network(const std::string& name, unsigned place = 0);

  const Program& program() const { return program_; }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> registers() const;

  // Commands, and `free` bits where inputs, weights and parameters lie.
  void place(Contents& contents, const std::function<Literal()>& free) const;
  // Every byte that the chip writes.
  SymbolicBytes expected(Nodes& nodes, Contents& contents, const SharedModules& shared) const;

  // Values within what the specification allows, for the places of place().
  KnownBytes random_values(std::mt19937_64& random) const;
  // What the reference executor makes of them: as expected().
  KnownBytes reference(const KnownBytes& values) const;

 private:
  // Of a convolution: where its weights lie. Of every operator: its parameters.
  struct Layer {
    LoadWeightsCommand weights;
    LoadParamsCommand params;
  };
  struct Specification;  // network.cpp

  Layer layer(const Op& op) const;
  std::uint64_t at(std::int64_t base, std::int64_t offset) const;
  std::uint64_t weight_at(const Layer& layer, int kernel, int row, int column, int channel) const;
  std::uint64_t param_at(const Layer& layer, int word) const;
  // The places of a tensor's values in memory.
  std::vector<std::uint64_t> places(const MemoryLayout& layout) const;
  void random_params(const Op& op, KnownBytes& values, std::mt19937_64& random) const;
  Int8Values convolved(const Op& op, const KnownBytes& values, const Int8Values& input) const;
  Int8Values added(const Op& op, const KnownBytes& values, const Int8Values& a, const Int8Values& b) const;

  Graph graph_;
  Program program_;
  std::uint64_t place_;
};

}  // namespace kaiten::symbolic

#endif  // KAITEN_TESTS_FORMAL_SYMBOLIC_NETWORK_H
