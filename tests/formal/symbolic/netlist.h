// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A flat module as yosys writes it in JSON after `proc; flatten; memory_collect; async2sync`: cells of whole words, flip-flops
// of one clock, memories that are read without a clock. A simulation of it has literals for values; what a reset does not
// define begins as a free variable, and so does every bit that the design leaves undefined (x).
#ifndef KAITEN_TESTS_FORMAL_SYMBOLIC_NETLIST_H
#define KAITEN_TESTS_FORMAL_SYMBOLIC_NETLIST_H

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tests/formal/symbolic/nodes.h"
#include "tests/formal/symbolic/words.h"

namespace kaiten::symbolic {

using Wires = std::vector<std::uint32_t>;  // numbers of bits

// Cells of yosys, without the $; kReduceOr is reduce_bool, too. kRead is a read port of a memory.
enum CellKind : int {
  kNot,
  kNeg,
  kPos,
  kAnd,
  kOr,
  kXor,
  kXnor,
  kAdd,
  kSub,
  kMul,
  kMod,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kReduceAnd,
  kReduceOr,
  kReduceXor,
  kLogicNot,
  kLogicAnd,
  kLogicOr,
  kShl,
  kShr,
  kSshr,
  kMux,
  kPmux,
  kBmux,
  kDemux,
  kBwmux,
  kRead,
  kFlipFlop
};

struct Cell {
  std::string type;  // without the $
  int kind = 0;
  bool is_signed = false, must_be_known = false;
  std::uint32_t memory = 0;  // of a read
  Wires a, b, s, y;
};

struct Memory {
  struct Write {
    Wires address, data, enable;
    bool whole = false;  // one enable for all bits
  };

  std::string name;
  std::size_t width = 0, size = 0, address_bits = 0;
  std::string init;  // highest bit first: 0, 1, x
  std::vector<Write> writes;
  std::vector<std::uint32_t> reads;  // cells
};

class Netlist {
 public:
  // What the ports `observed` depend on; everything else is left away. Registers whose names end in one of `freed` may hold
  // anything at any time, and no cell that reads them may let that through. Throws InputError for a cell that is not known.
  Netlist(const std::string& file, const std::vector<std::string>& observed,
          const std::vector<std::string>& freed = {});

  const Wires& port(const std::string& name) const;
  bool has(const std::string& name) const { return ports_.contains(name); }
  // Name of what holds the bit, for messages.
  std::string name_of(std::uint32_t bit) const;

  static constexpr std::uint32_t kZero = 0, kOne = 1;

 private:
  friend class Simulation;
  void read_ports(const nlohmann::json& module);
  void read_cell(const std::string& name, const nlohmann::json& cell);
  void read_memory(const std::string& name, const nlohmann::json& cell);
  Wires wires(const nlohmann::json& connection);
  void free_registers(const std::vector<std::string>& freed);
  void keep(const std::vector<std::string>& observed);
  void renumber();
  void order();

  std::string file_;
  std::uint32_t bits_ = 2;
  std::map<int, std::uint32_t> numbers_;  // of yosys' bits
  std::vector<std::uint32_t> unknown_;    // bits that are x, and those of freed registers
  std::vector<bool> freed_;               // by bit
  std::map<std::string, Wires> ports_;
  std::map<std::uint32_t, std::string> names_;
  std::vector<Cell> cells_;  // in the order in which they settle, flip-flops behind them
  std::vector<Memory> memories_;
  std::size_t settled_ = 0;                          // cells before the flip-flops
  std::vector<std::uint32_t> readers_at_, readers_;  // cells that read a bit
};

// Values of a netlist's bits in a cycle. Copies go on apart and share nodes.
class Simulation {
 public:
  // Undefined bits are what `unknown` gives; it is told what holds them.
  using Unknown = std::function<Literal(const std::string& holder)>;
  Simulation(const Netlist& netlist, Nodes& nodes, const Unknown& unknown);

  void set(const std::string& port, Bits value);
  void settle();
  void clock();
  Word get(const std::string& port) const { return gather(netlist_->port(port)); }
  // The number that a port holds; throws std::domain_error where it depends on variables.
  std::uint64_t number(const std::string& port) const;
  // Equal for equal states: what flip-flops and memories hold.
  const std::array<std::uint64_t, 2>& state() const { return state_; }

 private:
  Word gather(const Wires& wires) const;
  void put(std::uint32_t bit, Literal value);
  void drive(const Wires& wires, Bits value);
  Word value_of(const Cell& cell) const;
  Word read(const Memory& memory, std::uint32_t number, Bits address) const;
  void write(std::uint32_t number, const Memory::Write& port);
  void store(std::uint32_t number, std::size_t place, Literal value);
  void account(std::uint64_t place, Literal before, Literal after);

  const Netlist* netlist_;
  Nodes* nodes_;
  std::vector<Literal> values_;
  std::vector<Word> contents_;
  std::vector<std::uint64_t> waiting_;  // a bit for each cell: an operand has changed
  std::array<std::uint64_t, 2> state_{};
  Literal outside_ = kFalse;  // what a memory gives beyond its end
};

}  // namespace kaiten::symbolic

#endif  // KAITEN_TESTS_FORMAL_SYMBOLIC_NETLIST_H
