// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A small network, its program as the compiler makes it, and what a chip must leave in memory after it, byte by byte, as a
// function of bytes that are free: inputs, weights, parameters of requantisation. Sums of products are formed here, in the order
// of docs/formats/weights.md; requantisation is the netlist of one lane, which proofs compare with the specification.
#ifndef KAITEN_TESTS_FORMAL_SYMBOLIC_NETWORK_H
#define KAITEN_TESTS_FORMAL_SYMBOLIC_NETWORK_H

#include <array>
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
  const Netlist& lane;
};

class Network {
 public:
  // "conv", "conv_conv". Throws InputError for another one.
  explicit Network(const std::string& name);

  const Program& program() const { return program_; }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> registers() const;

  // Commands, and `free` bits where inputs, weights and parameters lie.
  void place(Contents& contents, const std::function<Literal()>& free) const;
  // Every byte that the chip writes.
  std::map<std::uint64_t, Byte> expected(Nodes& nodes, Contents& contents, const SharedModules& shared) const;

  // Values within what the specification allows, for the places of place(), by address.
  std::map<std::uint64_t, std::uint8_t> random_values(std::mt19937_64& random) const;
  // What the reference executor makes of them: as expected().
  std::map<std::uint64_t, std::uint8_t> reference(const std::map<std::uint64_t, std::uint8_t>& values) const;

 private:
  struct Layer {
    const Op* op = nullptr;
    LoadWeightsCommand weights;
    LoadParamsCommand params;
  };
  using Tensors = std::vector<std::vector<Byte>>;

  Layer layer(const Op& op) const;
  std::uint64_t weight_at(const Layer& layer, int kernel, int row, int column, int channel) const;
  std::uint64_t param_at(const Layer& layer, int kernel) const;
  std::vector<Byte> convolved(Nodes& nodes, Contents& contents, const SharedModules& shared, const Op& op,
                              const std::vector<Byte>& input) const;
  Int8Values convolved(const Op& op, const std::map<std::uint64_t, std::uint8_t>& values, const Int8Values& input) const;
  // The places of a tensor's values in memory.
  std::vector<std::uint64_t> places(const MemoryLayout& layout) const;

  Graph graph_;
  Program program_;
};

}  // namespace kaiten::symbolic

#endif  // KAITEN_TESTS_FORMAL_SYMBOLIC_NETWORK_H
