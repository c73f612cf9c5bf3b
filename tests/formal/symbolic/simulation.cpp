// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include "tests/formal/symbolic/netlist.h"

namespace kaiten::symbolic {
namespace {

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
  return x ^ x >> 31;
}

}  // namespace

Simulation::Simulation(const Netlist& netlist, Nodes& nodes, const Unknown& unknown)
    : netlist_(&netlist),
      nodes_(&nodes),
      values_(netlist.bits_, kFalse),
      waiting_(netlist.cells_.size() / 64 + 1) {
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
  const auto part = [&](Literal l, std::uint64_t salt) {
    return l == kFalse ? 0 : mixed((place << 32 | l) + salt);
  };
  for (std::uint64_t i = 0; i < 2; i++)
    state_[i] ^= part(before, i * 0x9e3779b97f4a7c15ULL) ^ part(after, i * 0x9e3779b97f4a7c15ULL);
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
  const std::size_t bits =
      std::min<std::size_t>(memory.address_bits, std::size_t(std::bit_width(memory.size - 1)));
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
    case kNot:
      return inverted(wide(a));
    case kPos:
      return wide(a);
    case kNeg:
      return difference(n, Word(width, kFalse), wide(a));
    case kAnd:
      return each([&](Literal x, Literal y) { return n.both(x, y); });
    case kOr:
      return each([&](Literal x, Literal y) { return n.either(x, y); });
    case kXor:
      return each([&](Literal x, Literal y) { return n.differ(x, y); });
    case kXnor:
      return each([&](Literal x, Literal y) { return negated(n.differ(x, y)); });
    case kAdd:
      return sum(n, wide(a), wide(b));
    case kSub:
      return difference(n, wide(a), wide(b));
    case kMul:
      return n.product(wide(a), wide(b));
    case kMod:
      return extended(remainder(n, extended(a, most, false), extended(b, most, false)), width, false);
    case kEq:
      return compared([&](const Word& x, const Word& y) { return equal(n, x, y); });
    case kNe:
      return compared([&](const Word& x, const Word& y) { return negated(equal(n, x, y)); });
    case kLt:
      return compared([&](const Word& x, const Word& y) { return less(n, x, y, c.is_signed); });
    case kGe:
      return compared([&](const Word& x, const Word& y) { return negated(less(n, x, y, c.is_signed)); });
    case kGt:
      return compared([&](const Word& x, const Word& y) { return less(n, y, x, c.is_signed); });
    case kLe:
      return compared([&](const Word& x, const Word& y) { return negated(less(n, y, x, c.is_signed)); });
    case kReduceAnd:
      return bit(all(n, a));
    case kReduceOr:
      return bit(any(n, a));
    case kReduceXor:
      return bit(odd(n, a));
    case kLogicNot:
      return bit(negated(any(n, a)));
    case kLogicAnd:
      return bit(n.both(any(n, a), any(n, b)));
    case kLogicOr:
      return bit(n.either(any(n, a), any(n, b)));
    case kShl:
      return shifted(n, wide(a), b, true, kFalse);
    case kShr:
    case kSshr: {
      const std::size_t all = std::max(width, a.size());
      const Literal fill = c.kind == kSshr && c.is_signed ? a.back() : kFalse;
      return extended(shifted(n, extended(a, all, c.is_signed), b, false, fill), all, false);
    }
    case kMux:
      return symbolic::choose(n, s[0], b, a);
    case kPmux: {
      if (std::count(s.begin(), s.end(), kTrue) > 1) throw std::domain_error("a choice of two at once");
      Word w = a;
      for (std::size_t i = 0; i < s.size(); i++)
        w = symbolic::choose(n, s[i], Bits(b).subspan(i * width, width), w);
      return w;
    }
    case kBmux:
      return entry(n, a, s, width);
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
    case kRead:
      return read(netlist_->memories_[c.memory], c.memory, a);
    default:
      throw std::logic_error(c.type);
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
  for (const std::uint32_t c : netlist_->memories_[number].reads)
    waiting_[c / 64] |= std::uint64_t(1) << (c % 64);
}

void Simulation::write(std::uint32_t number, const Memory::Write& port) {
  const Memory& memory = netlist_->memories_[number];
  const Word enable = gather(port.enable);
  const Literal some = port.whole ? enable[0] : any(*nodes_, enable);
  if (some == kFalse) return;
  const Word address = gather(port.address), data = gather(port.data);
  const auto at = known(address);
  for (std::size_t word = at.value_or(0);
       word < (at ? std::min<std::size_t>(*at + 1, memory.size) : memory.size); word++) {
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
