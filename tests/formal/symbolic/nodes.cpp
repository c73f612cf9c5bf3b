// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/formal/symbolic/nodes.h"

#include <algorithm>
#include <stdexcept>

namespace kaiten::symbolic {
namespace {

constexpr Literal kNone = 0xffffffffU;

std::size_t hash_of(std::uint32_t a, std::uint32_t b) {
  std::uint64_t h = (std::uint64_t(a) << 32 | b) * 0x9e3779b97f4a7c15ULL;
  return std::size_t(h ^ h >> 29);
}

bool all_constant(const Word& w) { return std::all_of(w.begin(), w.end(), is_constant); }

std::uint64_t number(const Word& w) {
  std::uint64_t n = 0;
  for (std::size_t i = 0; i < w.size(); i++) n |= std::uint64_t(w[i]) << i;
  return n;
}

Word word(std::uint64_t n, std::size_t width) {
  Word w(width);
  for (std::size_t i = 0; i < width; i++) w[i] = Literal(n >> i & 1);
  return w;
}

}  // namespace

Nodes::Nodes() : nodes_(1), table_(std::size_t(1) << 16) {}

Literal Nodes::variable() {
  nodes_.push_back({});
  return Literal(2 * (nodes_.size() - 1));
}

Word Nodes::variables(std::size_t width) {
  Word w(width);
  for (Literal& l : w) l = variable();
  return w;
}

void Nodes::grow() {
  std::vector<std::uint32_t> old(table_.size() * 2);
  old.swap(table_);
  const std::size_t mask = table_.size() - 1;
  for (const std::uint32_t n : old) {
    if (n == 0) continue;
    std::size_t at = hash_of(nodes_[n].a, nodes_[n].b) & mask;
    while (table_[at] != 0) at = (at + 1) & mask;
    table_[at] = n;
  }
}

Literal Nodes::made(std::uint32_t a, std::uint32_t b) {
  if (nodes_.size() * 2 > table_.size()) grow();
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hash_of(a, b) & mask;
  while (table_[at] != 0) {
    const Node& n = nodes_[table_[at]];
    if (n.a == a && n.b == b) return 2 * table_[at];
    at = (at + 1) & mask;
  }
  if (nodes_.size() >= 0x7ffffff0U) throw std::length_error("too many nodes");
  nodes_.push_back({a, b});
  table_[at] = std::uint32_t(nodes_.size() - 1);
  return 2 * table_[at];
}

// What the conjunction of a and of b, itself one, is without a node of its own.
Literal Nodes::simplified(Literal a, Literal b) const {
  if (!is_and(b)) return kNone;
  if ((b & 1) == 0) {
    if (has(b, a)) return b;
    if (has(b, negated(a))) return kFalse;
    return kNone;
  }
  return has(b, negated(a)) ? a : kNone;
}

Literal Nodes::both(Literal a, Literal b) {
  if (a > b) std::swap(a, b);
  if (a == kFalse || a == negated(b)) return kFalse;
  if (a == kTrue || a == b) return b;
  if (const Literal s = simplified(a, b); s != kNone) return s;
  if (const Literal s = simplified(b, a); s != kNone) return s;
  if (is_and(a) && is_and(b) && ((a | b) & 1) == 0) {
    const Node& n = nodes_[a >> 1];
    if (has(b, negated(n.a)) || has(b, negated(n.b))) return kFalse;
  }
  // a and not (a and c) = a and not c
  for (int i = 0; i < 2; i++, std::swap(a, b)) {
    if (!is_and(b) || (b & 1) == 0 || !has(b, a)) continue;
    const Node n = nodes_[b >> 1];
    return both(a, negated(n.a == a ? n.b : n.a));
  }
  if (a > b) std::swap(a, b);
  return made(a, b);
}

Literal Nodes::differ(Literal a, Literal b) {
  const Literal odd = (a ^ b) & 1;
  a &= ~1U;
  b &= ~1U;
  if (a < b) std::swap(a, b);
  if (a == b) return odd;
  if (b == kFalse) return a ^ odd;
  for (int i = 0; i < 2; i++, std::swap(a, b)) {
    if (!is_xor(a)) continue;
    const Node& n = nodes_[a >> 1];
    if (n.a == b) return n.b ^ odd;
    if (n.b == b) return n.a ^ odd;
  }
  if (a < b) std::swap(a, b);
  return made(a, b) ^ odd;
}

Literal Nodes::choose(Literal select, Literal one, Literal zero) {
  if (select == kTrue || one == zero) return one;
  if (select == kFalse) return zero;
  if (one == negated(zero)) return differ(select, zero);
  return either(both(select, one), both(negated(select), zero));
}

Word Nodes::product(Word a, Word b) {
  const std::size_t width = a.size();
  if (width != b.size() || width > 64) throw std::invalid_argument("a product of other widths");
  if (b < a) std::swap(a, b);
  if (all_constant(a) && all_constant(b)) return word(number(a) * number(b), width);
  for (const Word* w : {&a, &b}) {
    if (!all_constant(*w)) continue;
    if (number(*w) == 0) return *w;
    if (number(*w) == 1) return w == &a ? b : a;
  }
  Word& bits = known_[{a, b}];
  if (bits.empty()) {
    for (std::uint32_t i = 0; i < width; i++) {
      bits_.emplace_back(std::uint32_t(products_.size()), i);
      nodes_.push_back({kProduct, std::uint32_t(bits_.size() - 1)});
      bits.push_back(Literal(2 * (nodes_.size() - 1)));
    }
    products_.push_back({std::move(a), std::move(b)});
  }
  return bits;
}

std::vector<bool> Nodes::evaluate(std::span<const Literal> roots,
                                  const std::function<bool(std::uint32_t)>& value) const {
  // operands have lower numbers than what is made of them
  std::vector<bool> needed(nodes_.size()), is(nodes_.size());
  for (const Literal l : roots) needed[l >> 1] = true;
  for (std::size_t n = nodes_.size(); n-- > 1;) {
    if (!needed[n] || nodes_[n].a == kVariable) continue;
    if (nodes_[n].a == kProduct) {
      const Product& p = products_[bits_[nodes_[n].b].first];
      for (const Literal l : p.a) needed[l >> 1] = true;
      for (const Literal l : p.b) needed[l >> 1] = true;
    } else {
      needed[nodes_[n].a >> 1] = needed[nodes_[n].b >> 1] = true;
    }
  }
  const auto of = [&](Literal l) { return is[l >> 1] != bool(l & 1); };
  const auto number_of = [&](const Word& w) {
    std::uint64_t x = 0;
    for (std::size_t i = 0; i < w.size(); i++) x |= std::uint64_t(of(w[i])) << i;
    return x;
  };
  for (std::size_t n = 1; n < nodes_.size(); n++) {
    if (!needed[n]) continue;
    const Node& node = nodes_[n];
    if (node.a == kVariable) {
      is[n] = value(std::uint32_t(n));
    } else if (node.a == kProduct) {
      const auto& [product, place] = bits_[node.b];
      is[n] = number_of(products_[product].a) * number_of(products_[product].b) >> place & 1;
    } else {
      is[n] = node.a < node.b ? of(node.a) && of(node.b) : of(node.a) != of(node.b);
    }
  }
  std::vector<bool> result;
  for (const Literal l : roots) result.push_back(of(l));
  return result;
}

}  // namespace kaiten::symbolic
