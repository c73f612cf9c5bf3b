// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/formal/symbolic/netlist.h"

#include <algorithm>
#include <bit>
#include <fstream>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace kaiten::symbolic {
namespace {

enum Kind : int {
  kNot, kNeg, kPos, kAnd, kOr, kXor, kXnor, kAdd, kSub, kMul, kMod, kEq, kNe, kLt, kLe, kGt, kGe, kReduceAnd,
  kReduceOr, kReduceXor, kLogicNot, kLogicAnd, kLogicOr, kShl, kShr, kSshr, kMux, kPmux, kBmux, kDemux, kBwmux,
  kRead, kFlipFlop
};

const std::map<std::string, int>& kinds() {
  static const std::map<std::string, int> table{
      {"not", kNot},           {"neg", kNeg},           {"pos", kPos},           {"and", kAnd},
      {"or", kOr},             {"xor", kXor},           {"xnor", kXnor},         {"add", kAdd},
      {"sub", kSub},           {"mul", kMul},           {"mod", kMod},           {"eq", kEq},
      {"ne", kNe},             {"lt", kLt},             {"le", kLe},             {"gt", kGt},
      {"ge", kGe},             {"reduce_and", kReduceAnd}, {"reduce_or", kReduceOr}, {"reduce_bool", kReduceOr},
      {"reduce_xor", kReduceXor}, {"logic_not", kLogicNot}, {"logic_and", kLogicAnd}, {"logic_or", kLogicOr},
      {"shl", kShl},           {"sshl", kShl},          {"shr", kShr},           {"sshr", kSshr},
      {"mux", kMux},           {"pmux", kPmux},         {"bmux", kBmux},         {"demux", kDemux},
      {"bwmux", kBwmux},       {"dff", kFlipFlop}};
  return table;
}

using nlohmann::json;

// A parameter: a text of bits.
std::uint64_t parameter(const json& cell, const char* name) {
  std::uint64_t n = 0;
  for (const char c : cell.at("parameters").at(name).get_ref<const std::string&>()) n = n << 1 | std::uint64_t(c == '1');
  return n;
}

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
  return x ^ x >> 31;
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
    const auto is_it = [&](const Cell& c) { return c.kind == kFlipFlop && names_.at(c.y[0]).ends_with(name); };
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
    w.whole = std::all_of(w.enable.begin(), w.enable.end(), [&](std::uint32_t e) { return e == w.enable[0]; });
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

Simulation::Simulation(const Netlist& netlist, Nodes& nodes, const Unknown& unknown)
    : netlist_(&netlist), nodes_(&nodes), values_(netlist.bits_, kFalse), waiting_(netlist.cells_.size() / 64 + 1) {
  values_[Netlist::kOne] = kTrue;
  outside_ = unknown("beyond a memory");
  for (const std::uint32_t bit : netlist.unknown_) values_[bit] = unknown("x");
  for (std::size_t c = 0; c < netlist.cells_.size(); c++) {
    waiting_[c / 64] |= std::uint64_t(1) << (c % 64);
    if (c < netlist.settled_) continue;
    for (const std::uint32_t bit : netlist.cells_[c].y) {
      values_[bit] = unknown(netlist.name_of(bit));
      account(bit, kFalse, values_[bit]);
    }
  }
  for (std::uint32_t n = 0; n < netlist.memories_.size(); n++) {
    const Memory& m = netlist.memories_[n];
    Word& content = contents_.emplace_back(m.width * m.size, kFalse);
    if (m.reads.empty()) continue;
    for (std::size_t i = 0; i < content.size(); i++) {
      const char c = i < m.init.size() ? m.init[m.init.size() - 1 - i] : 'x';
      store(n, i, c == '0' ? kFalse : c == '1' ? kTrue : unknown(m.name));
    }
  }
}

Word Simulation::gather(const Wires& wires) const {
  Word w(wires.size());
  for (std::size_t i = 0; i < w.size(); i++) w[i] = values_[wires[i]];
  return w;
}

void Simulation::account(std::uint64_t place, Literal before, Literal after) {
  const auto part = [&](Literal l, std::uint64_t salt) { return l == kFalse ? 0 : mixed((place << 32 | l) + salt); };
  for (std::uint64_t i = 0; i < 2; i++) state_[i] ^= part(before, i * 0x9e3779b97f4a7c15ULL) ^ part(after, i * 0x9e3779b97f4a7c15ULL);
}

void Simulation::put(std::uint32_t bit, Literal value) {
  if (values_[bit] == value) return;
  values_[bit] = value;
  for (std::uint32_t i = netlist_->readers_at_[bit]; i < netlist_->readers_at_[bit + 1]; i++) {
    const std::uint32_t c = netlist_->readers_[i];
    waiting_[c / 64] |= std::uint64_t(1) << (c % 64);
  }
}

void Simulation::drive(const Wires& wires, Bits value) {
  for (std::size_t i = 0; i < wires.size(); i++) put(wires[i], value[i]);
}

void Simulation::set(const std::string& port, Bits value) {
  if (value.size() != netlist_->port(port).size()) throw std::invalid_argument("width of " + port);
  drive(netlist_->port(port), value);
}

std::uint64_t Simulation::number(const std::string& port) const {
  const auto n = known(get(port));
  if (!n) throw std::domain_error(port + " depends on data");
  return *n;
}

Word Simulation::read(const Memory& memory, std::uint32_t number, Bits address) const {
  const Word& content = contents_[number];
  if (const auto at = known(address)) {
    if (*at >= memory.size) return Word(memory.width, outside_);
    const auto first = content.begin() + std::ptrdiff_t(*at * memory.width);
    return {first, first + std::ptrdiff_t(memory.width)};
  }
  const std::size_t bits = std::min<std::size_t>(memory.address_bits, std::size_t(std::bit_width(memory.size - 1)));
  Word all = content;
  all.resize(memory.width << bits, outside_);
  return symbolic::choose(*nodes_, any(*nodes_, address.subspan(bits)), Word(memory.width, outside_),
                          entry(*nodes_, all, address.first(bits), memory.width));
}

Word Simulation::value_of(const Cell& c) const {
  Nodes& n = *nodes_;
  const std::size_t width = c.y.size();
  const Word a = gather(c.a), b = gather(c.b), s = gather(c.s);
  const auto bit = [&](Literal l) {
    Word w(width, kFalse);
    w[0] = l;
    return w;
  };
  const auto wide = [&](const Word& w) { return extended(w, width, c.is_signed); };
  const auto each = [&](auto&& function) {
    const Word x = wide(a), y = wide(b);
    Word w(width);
    for (std::size_t i = 0; i < width; i++) w[i] = function(x[i], y[i]);
    return w;
  };
  const std::size_t most = std::max(a.size(), b.size());
  const auto compared = [&](auto&& function) {
    return bit(function(extended(a, most, c.is_signed), extended(b, most, c.is_signed)));
  };
  switch (c.kind) {
    case kNot: return inverted(wide(a));
    case kPos: return wide(a);
    case kNeg: return difference(n, Word(width, kFalse), wide(a));
    case kAnd: return each([&](Literal x, Literal y) { return n.both(x, y); });
    case kOr: return each([&](Literal x, Literal y) { return n.either(x, y); });
    case kXor: return each([&](Literal x, Literal y) { return n.differ(x, y); });
    case kXnor: return each([&](Literal x, Literal y) { return negated(n.differ(x, y)); });
    case kAdd: return sum(n, wide(a), wide(b));
    case kSub: return difference(n, wide(a), wide(b));
    case kMul: return n.product(wide(a), wide(b));
    case kMod: return extended(remainder(n, extended(a, most, false), extended(b, most, false)), width, false);
    case kEq: return compared([&](const Word& x, const Word& y) { return equal(n, x, y); });
    case kNe: return compared([&](const Word& x, const Word& y) { return negated(equal(n, x, y)); });
    case kLt: return compared([&](const Word& x, const Word& y) { return less(n, x, y, c.is_signed); });
    case kGe: return compared([&](const Word& x, const Word& y) { return negated(less(n, x, y, c.is_signed)); });
    case kGt: return compared([&](const Word& x, const Word& y) { return less(n, y, x, c.is_signed); });
    case kLe: return compared([&](const Word& x, const Word& y) { return negated(less(n, y, x, c.is_signed)); });
    case kReduceAnd: return bit(all(n, a));
    case kReduceOr: return bit(any(n, a));
    case kReduceXor: return bit(odd(n, a));
    case kLogicNot: return bit(negated(any(n, a)));
    case kLogicAnd: return bit(n.both(any(n, a), any(n, b)));
    case kLogicOr: return bit(n.either(any(n, a), any(n, b)));
    case kShl: return shifted(n, wide(a), b, true, kFalse);
    case kShr:
    case kSshr: {
      const std::size_t all = std::max(width, a.size());
      const Literal fill = c.kind == kSshr && c.is_signed ? a.back() : kFalse;
      return extended(shifted(n, extended(a, all, c.is_signed), b, false, fill), all, false);
    }
    case kMux: return symbolic::choose(n, s[0], b, a);
    case kPmux: {
      Word w = a;
      for (std::size_t i = 0; i < s.size(); i++) w = symbolic::choose(n, s[i], Bits(b).subspan(i * width, width), w);
      return w;
    }
    case kBmux: return entry(n, a, s, width);
    case kDemux: {
      Word w;
      for (std::size_t i = 0; i < width / a.size(); i++) {
        const Word here = symbolic::choose(n, equal(n, s, constant(i, s.size())), a, Word(a.size(), kFalse));
        w.insert(w.end(), here.begin(), here.end());
      }
      return w;
    }
    case kBwmux: {
      Word w(width);
      for (std::size_t i = 0; i < width; i++) w[i] = n.choose(s[i], b[i], a[i]);
      return w;
    }
    case kRead: return read(netlist_->memories_[c.memory], c.memory, a);
    default: throw std::logic_error(c.type);
  }
}

void Simulation::settle() {
  for (std::size_t w = 0; w * 64 < netlist_->settled_; w++) {
    while (waiting_[w] != 0) {
      const std::size_t c = w * 64 + std::size_t(std::countr_zero(waiting_[w]));
      if (c >= netlist_->settled_) break;
      waiting_[w] &= ~(std::uint64_t(1) << (c % 64));
      const Cell& cell = netlist_->cells_[c];
      const Word value = value_of(cell);
      if (cell.must_be_known && !std::all_of(value.begin(), value.end(), is_constant))
        throw std::domain_error("a freed register is seen by " + cell.type);
      drive(cell.y, value);
    }
  }
}

void Simulation::store(std::uint32_t number, std::size_t place, Literal value) {
  Literal& held = contents_[number][place];
  if (held == value) return;
  account(std::uint64_t(number + 1) << 24 | place, held, value);
  held = value;
  for (const std::uint32_t c : netlist_->memories_[number].reads) waiting_[c / 64] |= std::uint64_t(1) << (c % 64);
}

void Simulation::write(std::uint32_t number, const Memory::Write& port) {
  const Memory& memory = netlist_->memories_[number];
  const Word enable = gather(port.enable);
  const Literal some = port.whole ? enable[0] : any(*nodes_, enable);
  if (some == kFalse) return;
  const Word address = gather(port.address), data = gather(port.data);
  const auto at = known(address);
  for (std::size_t word = at.value_or(0); word < (at ? std::min<std::size_t>(*at + 1, memory.size) : memory.size); word++) {
    const Literal here = at ? kTrue : equal(*nodes_, address, constant(word, address.size()));
    for (std::size_t i = 0; i < memory.width; i++) {
      const std::size_t place = word * memory.width + i;
      store(number, place, nodes_->choose(nodes_->both(here, enable[i]), data[i], contents_[number][place]));
    }
  }
}

void Simulation::clock() {
  // what flip-flops take, before any of them changes; memories read the values of this cycle too
  std::vector<std::pair<std::uint32_t, Literal>> next;
  for (std::size_t w = netlist_->settled_ / 64; w < waiting_.size(); w++) {
    std::uint64_t some = waiting_[w];
    for (; some != 0; some &= some - 1) {
      const std::size_t c = w * 64 + std::size_t(std::countr_zero(some));
      if (c < netlist_->settled_) throw std::logic_error("clocked before it has settled");
      const Cell& cell = netlist_->cells_[c];
      for (std::size_t i = 0; i < cell.y.size(); i++) next.emplace_back(cell.y[i], values_[cell.a[i]]);
    }
    waiting_[w] = 0;
  }
  for (std::uint32_t n = 0; n < netlist_->memories_.size(); n++)
    for (const Memory::Write& port : netlist_->memories_[n].writes) write(n, port);
  for (const auto& [bit, value] : next) {
    account(bit, values_[bit], value);
    put(bit, value);
  }
}

}  // namespace kaiten::symbolic
