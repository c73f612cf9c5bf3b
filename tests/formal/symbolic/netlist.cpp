// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/formal/symbolic/netlist.h"

#include <algorithm>
#include <bit>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/error.h"

namespace kaiten::symbolic {
namespace {

const std::map<std::string, int>& kinds() {
  static const std::map<std::string, int> table{{"not", kNot},
                                                {"neg", kNeg},
                                                {"pos", kPos},
                                                {"and", kAnd},
                                                {"or", kOr},
                                                {"xor", kXor},
                                                {"xnor", kXnor},
                                                {"add", kAdd},
                                                {"sub", kSub},
                                                {"mul", kMul},
                                                {"mod", kMod},
                                                {"eq", kEq},
                                                {"ne", kNe},
                                                {"lt", kLt},
                                                {"le", kLe},
                                                {"gt", kGt},
                                                {"ge", kGe},
                                                {"reduce_and", kReduceAnd},
                                                {"reduce_or", kReduceOr},
                                                {"reduce_bool", kReduceOr},
                                                {"reduce_xor", kReduceXor},
                                                {"logic_not", kLogicNot},
                                                {"logic_and", kLogicAnd},
                                                {"logic_or", kLogicOr},
                                                {"shl", kShl},
                                                {"sshl", kShl},
                                                {"shr", kShr},
                                                {"sshr", kSshr},
                                                {"mux", kMux},
                                                {"pmux", kPmux},
                                                {"bmux", kBmux},
                                                {"demux", kDemux},
                                                {"bwmux", kBwmux},
                                                {"dff", kFlipFlop}};
  return table;
}

using nlohmann::json;

// A parameter: a text of bits.
std::uint64_t parameter(const json& cell, const char* name) {
  std::uint64_t n = 0;
  for (const char c : cell.at("parameters").at(name).get_ref<const std::string&>())
    n = n << 1 | std::uint64_t(c == '1');
  return n;
}

template <class Range>
Wires part(const Range& wires, std::size_t first, std::size_t count) {
  return {wires.begin() + std::ptrdiff_t(first), wires.begin() + std::ptrdiff_t(first + count)};
}

}  // namespace

Netlist::Netlist(const std::string& file, const std::vector<std::string>& observed,
                 const std::vector<std::string>& freed)
    : file_(file) {
  std::ifstream in(file);
  if (!in) throw InputError(file + ": cannot be read");
  const json text = json::parse(in);
  const json& modules = text.at("modules");
  if (modules.size() != 1) throw InputError(file + ": not one flat module");
  const json& module = *modules.begin();
  read_ports(module);
  for (const auto& [name, cell] : module.at("cells").items()) read_cell(name, cell);
  free_registers(freed);
  keep(observed);
  renumber();
  order();
}

void Netlist::free_registers(const std::vector<std::string>& freed) {
  freed_.resize(bits_);
  for (const std::string& name : freed) {
    const auto is_it = [&](const Cell& c) {
      return c.kind == kFlipFlop && names_.at(c.y[0]).ends_with(name);
    };
    const auto found = std::find_if(cells_.begin(), cells_.end(), is_it);
    if (found == cells_.end()) throw InputError(file_ + ": no register " + name);
    // its reset is a choice behind it
    const auto resets = [&](const Cell& c) {
      const Wires& other = c.a == found->y ? c.b : c.a;
      return c.kind == kMux && (c.a == found->y || c.b == found->y) &&
             std::all_of(other.begin(), other.end(), [](std::uint32_t bit) { return bit <= kOne; });
    };
    const auto reset = std::find_if(cells_.begin(), cells_.end(), resets);
    const Wires bits = reset == cells_.end() ? found->y : reset->y;
    for (const std::uint32_t bit : bits) {
      freed_[bit] = true;
      unknown_.push_back(bit);
    }
    if (reset != cells_.end()) {
      reset->kind = kPos;  // of nothing that anybody reads
      reset->y.assign(bits.size(), bits_);
      bits_++;
      freed_.push_back(false);
    }
    cells_.erase(std::find_if(cells_.begin(), cells_.end(), is_it));
  }
  for (Cell& c : cells_)
    for (const Wires* w : {&c.a, &c.b, &c.s})
      for (const std::uint32_t bit : *w) c.must_be_known = c.must_be_known || freed_[bit];
}

Wires Netlist::wires(const json& connection) {
  Wires w;
  for (const json& bit : connection) {
    if (bit.is_string()) {
      if (bit == "x" || bit == "z") {
        unknown_.push_back(bits_);
        w.push_back(bits_++);
      } else {
        w.push_back(bit == "1" ? kOne : kZero);
      }
      continue;
    }
    const auto [at, added] = numbers_.emplace(bit.get<int>(), bits_);
    if (added) bits_++;
    w.push_back(at->second);
  }
  return w;
}

void Netlist::read_ports(const json& module) {
  for (const auto& [name, port] : module.at("ports").items()) ports_[name] = wires(port.at("bits"));
}

void Netlist::read_cell(const std::string& name, const json& text) {
  Cell cell;
  cell.type = text.at("type");
  if (cell.type == "$mem_v2") return read_memory(name, text);
  if (!cell.type.empty() && cell.type[0] == '$') cell.type.erase(0, 1);
  const auto kind = kinds().find(cell.type);
  if (kind == kinds().end()) throw InputError(file_ + ": a cell $" + cell.type + " (" + name + ")");
  cell.kind = kind->second;
  const json& connections = text.at("connections");
  if (cell.kind == kFlipFlop) {
    if (parameter(text, "CLK_POLARITY") != 1 || wires(connections.at("CLK")) != ports_["clk_i"])
      throw InputError(file_ + ": " + name + " has another clock");
    cell.a = wires(connections.at("D"));
    cell.y = wires(connections.at("Q"));
    for (const std::uint32_t bit : cell.y) names_[bit] = name;
  } else {
    cell.a = wires(connections.at("A"));
    if (connections.contains("B")) cell.b = wires(connections.at("B"));
    if (connections.contains("S")) cell.s = wires(connections.at("S"));
    cell.y = wires(connections.at("Y"));
    const json& parameters = text.at("parameters");
    cell.is_signed = parameters.contains("A_SIGNED") && parameter(text, "A_SIGNED") == 1 &&
                     (!parameters.contains("B_SIGNED") || cell.kind == kShr || cell.kind == kSshr ||
                      cell.kind == kShl || parameter(text, "B_SIGNED") == 1);
  }
  cells_.push_back(std::move(cell));
}

void Netlist::read_memory(const std::string& name, const json& text) {
  Memory m;
  m.name = name;
  m.width = parameter(text, "WIDTH");
  m.size = parameter(text, "SIZE");
  m.address_bits = parameter(text, "ABITS");
  m.init = text.at("parameters").at("INIT");
  if (parameter(text, "RD_CLK_ENABLE") != 0 || parameter(text, "OFFSET") != 0)
    throw InputError(file_ + ": memory " + name + " is read with a clock");
  const json& connections = text.at("connections");
  const auto ports = [&](const char* port) { return wires(connections.at(port)); };
  const Wires read_address = ports("RD_ADDR"), read_data = ports("RD_DATA");
  for (std::size_t i = 0; i < parameter(text, "RD_PORTS"); i++) {
    Cell cell;
    cell.type = "read";
    cell.kind = kRead;
    cell.memory = std::uint32_t(memories_.size());
    cell.a = part(read_address, i * m.address_bits, m.address_bits);
    cell.y = part(read_data, i * m.width, m.width);
    cells_.push_back(std::move(cell));
  }
  const Wires address = ports("WR_ADDR"), data = ports("WR_DATA"), enable = ports("WR_EN");
  for (std::size_t i = 0; i < parameter(text, "WR_PORTS"); i++) {
    Memory::Write w;
    w.address = part(address, i * m.address_bits, m.address_bits);
    w.data = part(data, i * m.width, m.width);
    w.enable = part(enable, i * m.width, m.width);
    w.whole =
        std::all_of(w.enable.begin(), w.enable.end(), [&](std::uint32_t e) { return e == w.enable[0]; });
    m.writes.push_back(std::move(w));
  }
  memories_.push_back(std::move(m));
}

// Leaves away what no observed port depends on.
void Netlist::keep(const std::vector<std::string>& observed) {
  constexpr std::uint32_t kNobody = 0xffffffffU;
  std::vector<std::uint32_t> driver(bits_, kNobody);
  for (std::uint32_t c = 0; c < cells_.size(); c++)
    for (const std::uint32_t bit : cells_[c].y) driver[bit] = c;
  std::vector<bool> bit_kept(bits_), cell_kept(cells_.size()), memory_kept(memories_.size());
  std::vector<std::uint32_t> open;
  const auto want = [&](const Wires& wires) {
    for (const std::uint32_t bit : wires) {
      if (bit_kept[bit]) continue;
      bit_kept[bit] = true;
      if (driver[bit] != kNobody) open.push_back(driver[bit]);
    }
  };
  for (const std::string& name : observed) want(port(name));
  while (!open.empty()) {
    const std::uint32_t c = open.back();
    open.pop_back();
    if (cell_kept[c]) continue;
    cell_kept[c] = true;
    for (const Wires* w : {&cells_[c].a, &cells_[c].b, &cells_[c].s}) want(*w);
    if (cells_[c].kind != kRead || memory_kept[cells_[c].memory]) continue;
    memory_kept[cells_[c].memory] = true;
    for (const Memory::Write& w : memories_[cells_[c].memory].writes)
      for (const Wires* part : {&w.address, &w.data, &w.enable}) want(*part);
  }
  std::vector<Cell> kept;
  for (std::uint32_t c = 0; c < cells_.size(); c++)
    if (cell_kept[c]) kept.push_back(std::move(cells_[c]));
  cells_.swap(kept);
  for (std::size_t m = 0; m < memories_.size(); m++)
    if (!memory_kept[m]) memories_[m].writes.clear();
}

// Bits that are left get numbers without gaps.
void Netlist::renumber() {
  std::vector<std::uint32_t> number(bits_, 0xffffffffU);
  number[kZero] = kZero;
  number[kOne] = kOne;
  std::uint32_t next = 2;
  const auto visit = [&](Wires& wires) {
    for (std::uint32_t& bit : wires) {
      if (number[bit] == 0xffffffffU) number[bit] = next++;
      bit = number[bit];
    }
  };
  for (auto& [name, wires] : ports_) visit(wires);
  for (Cell& c : cells_)
    for (Wires* w : {&c.a, &c.b, &c.s, &c.y}) visit(*w);
  for (Memory& m : memories_)
    for (Memory::Write& w : m.writes)
      for (Wires* part : {&w.address, &w.data, &w.enable}) visit(*part);
  std::map<std::uint32_t, std::string> names;
  for (const auto& [bit, name] : names_)
    if (number[bit] != 0xffffffffU) names[number[bit]] = name;
  names_.swap(names);
  Wires unknown;
  for (const std::uint32_t bit : unknown_)
    if (number[bit] != 0xffffffffU) unknown.push_back(number[bit]);
  unknown_.swap(unknown);
  bits_ = next;
}

void Netlist::order() {
  std::vector<std::uint32_t> driver(bits_, 0xffffffffU);
  std::vector<Cell> flops, logic;
  for (Cell& c : cells_) (c.kind == kFlipFlop ? flops : logic).push_back(std::move(c));
  for (std::uint32_t c = 0; c < logic.size(); c++)
    for (const std::uint32_t bit : logic[c].y) driver[bit] = c;
  // depth first: 0 new, 1 on the way, 2 done
  std::vector<int> state(logic.size());
  std::vector<std::uint32_t> sorted;
  std::vector<std::pair<std::uint32_t, bool>> open;
  for (std::uint32_t root = 0; root < logic.size(); root++) {
    open.emplace_back(root, false);
    while (!open.empty()) {
      const auto [c, leave] = open.back();
      open.pop_back();
      if (leave) {
        state[c] = 2;
        sorted.push_back(c);
        continue;
      }
      if (state[c] == 2) continue;
      if (state[c] == 1) throw InputError(file_ + ": a loop through " + logic[c].type);
      state[c] = 1;
      open.emplace_back(c, true);
      for (const Wires* w : {&logic[c].a, &logic[c].b, &logic[c].s})
        for (const std::uint32_t bit : *w)
          if (driver[bit] != 0xffffffffU && state[driver[bit]] != 2) open.emplace_back(driver[bit], false);
    }
  }
  cells_.clear();
  for (const std::uint32_t c : sorted) cells_.push_back(std::move(logic[c]));
  settled_ = cells_.size();
  for (Cell& c : flops) cells_.push_back(std::move(c));
  std::vector<std::vector<std::uint32_t>> readers(bits_);
  for (std::uint32_t c = 0; c < cells_.size(); c++) {
    if (cells_[c].kind == kRead) memories_[cells_[c].memory].reads.push_back(c);
    for (const Wires* w : {&cells_[c].a, &cells_[c].b, &cells_[c].s})
      for (const std::uint32_t bit : *w)
        if (readers[bit].empty() || readers[bit].back() != c) readers[bit].push_back(c);
  }
  for (const auto& r : readers) {
    readers_at_.push_back(std::uint32_t(readers_.size()));
    readers_.insert(readers_.end(), r.begin(), r.end());
  }
  readers_at_.push_back(std::uint32_t(readers_.size()));
}

const Wires& Netlist::port(const std::string& name) const {
  const auto found = ports_.find(name);
  if (found == ports_.end()) throw InputError(file_ + ": no port " + name);
  return found->second;
}

std::string Netlist::name_of(std::uint32_t bit) const {
  const auto found = names_.find(bit);
  return found == names_.end() ? "bit " + std::to_string(bit) : found->second;
}

}  // namespace kaiten::symbolic
