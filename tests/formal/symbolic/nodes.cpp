// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/formal/symbolic/nodes.h"

#include <algorithm>
#include <stdexcept>

namespace kaiten::symbolic {
namespace {

constexpr Literal kNone = 0xffffffffU;
constexpr std::size_t kAsked = std::size_t(1) << 16;

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

std::size_t Nodes::SmallHash::operator()(const Small& s) const {
  std::uint64_t h = s.table;
  for (const std::uint32_t v : s.variables) h = (h ^ h >> 31 ^ v) * 0x9e3779b97f4a7c15ULL;
  return std::size_t(h ^ h >> 32);
}

Nodes::Nodes() : table_(std::size_t(1) << 16), asked_(kAsked) { added({}, nullptr); }

Literal Nodes::added(Node node, const Small* function) {
  if (nodes_.size() >= 0x7ffffff0U) throw std::length_error("too many nodes");
  const Literal l = Literal(2 * nodes_.size());
  nodes_.push_back(node);
  small_of_.push_back(0);
  if (function != nullptr) {
    small_.push_back(*function);
    small_of_.back() = std::uint32_t(small_.size());
    by_function_.emplace(*function, l);
  }
  return l;
}

Literal Nodes::variable() {
  Small s;
  s.variables[0] = std::uint32_t(nodes_.size());
  s.table = 0xaaaaaaaaaaaaaaaaULL;
  return added({}, &s);
}

// The table of the same function over more variables, which contain its own.
std::uint64_t Nodes::spread(const Small& from, const std::array<std::uint32_t, kFew>& to, std::size_t count) {
  if (from.variables == to) return from.table;
  std::array<unsigned, kFew> place{};
  for (std::size_t k = 0, j = 0; k < count; k++)
    if (j < kFew && from.variables[j] == to[k]) place[k] = 1U << j++;
  std::uint64_t table = 0;
  for (unsigned i = 0; i < (1U << count); i++) {
    unsigned at = 0;
    for (std::size_t k = 0; k < count; k++)
      if ((i >> k & 1) != 0) at |= place[k];
    table |= (from.table >> at & 1) << i;
  }
  for (std::size_t k = count; k < kFew; k++) table |= table << (1U << k);
  return table;
}

// Leaves away variables that do not matter; how many do.
std::size_t Nodes::reduced(Small& s) {
  static constexpr std::array<std::uint64_t, kFew> kOff{0x5555555555555555ULL, 0x3333333333333333ULL,
                                                        0x0f0f0f0f0f0f0f0fULL, 0x00ff00ff00ff00ffULL,
                                                        0x0000ffff0000ffffULL, 0x00000000ffffffffULL};
  Small kept;
  std::size_t count = 0;
  for (std::size_t k = 0; k < kFew && s.variables[k] != 0; k++)
    if ((s.table & kOff[k]) != (s.table >> (1U << k) & kOff[k])) kept.variables[count++] = s.variables[k];
  if (kept.variables == s.variables) return count;
  // the others may have any value
  std::array<unsigned, kFew> place{};
  for (std::size_t k = 0, j = 0; k < kFew && j < count; k++)
    if (s.variables[k] == kept.variables[j]) place[j++] = 1U << k;
  for (unsigned i = 0; i < 64; i++) {
    unsigned at = 0;
    for (std::size_t j = 0; j < count; j++)
      if ((i >> j & 1) != 0) at |= place[j];
    kept.table |= (s.table >> at & 1) << i;
  }
  s = kept;
  return count;
}

Literal Nodes::small_one(Literal a, Literal b, bool conjunction, Small& made) const {
  const std::uint32_t i = small_of_[a >> 1], j = small_of_[b >> 1];
  if (i == 0 || j == 0) return kNone;
  const Small& x = small_[i - 1];
  const Small& y = small_[j - 1];
  std::array<std::uint32_t, 2 * kFew> all;
  const auto end = [](const Small& s) { return std::find(s.variables.begin(), s.variables.end(), 0U); };
  const auto last = std::set_union(x.variables.begin(), end(x), y.variables.begin(), end(y), all.begin());
  const auto count = std::size_t(last - all.begin());
  if (count > kFew) return kNone;
  Small s;
  std::copy(all.begin(), last, s.variables.begin());
  const std::uint64_t p = spread(x, s.variables, count) ^ ((a & 1) != 0 ? ~0ULL : 0);
  const std::uint64_t q = spread(y, s.variables, count) ^ ((b & 1) != 0 ? ~0ULL : 0);
  s.table = conjunction ? p & q : p ^ q;
  if (s.table == 0) return kFalse;
  if (s.table == ~0ULL) return kTrue;
  reduced(s);
  made = s;
  if (const auto found = by_function_.find(s); found != by_function_.end()) return found->second;
  Small complement = s;
  complement.table = ~s.table;
  if (const auto found = by_function_.find(complement); found != by_function_.end())
    return negated(found->second);
  return kNone;
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
  Small function;
  if (const Literal known = small_one(a, b, a < b, function); known != kNone) return known;
  if (nodes_.size() * 2 > table_.size()) grow();
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hash_of(a, b) & mask;
  while (table_[at] != 0) {
    const Node& n = nodes_[table_[at]];
    if (n.a == a && n.b == b) return 2 * table_[at];
    at = (at + 1) & mask;
  }
  const Literal l = added({a, b}, function.variables[0] != 0 ? &function : nullptr);
  table_[at] = l >> 1;
  return l;
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
  Asked& asked = asked_[hash_of(a, b) % kAsked];
  if (asked.a != a || asked.b != b) {
    const Literal answer = conjunction(a, b);
    asked_[hash_of(a, b) % kAsked] = {a, b, answer};
    return answer;
  }
  return asked.answer;
}

// Of two different nodes, a < b.
Literal Nodes::conjunction(Literal a, Literal b) {
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
  return made(a, b);
}

Literal Nodes::differ(Literal a, Literal b) {
  const Literal odd = (a ^ b) & 1;
  a &= ~1U;
  b &= ~1U;
  if (a < b) std::swap(a, b);
  if (a == b) return odd;
  if (b == kFalse) return a ^ odd;
  Asked& asked = asked_[hash_of(a, b) % kAsked];
  if (asked.a != a || asked.b != b) asked = {a, b, difference(a, b)};
  return asked.answer ^ odd;
}

// Of two different nodes, a > b, neither complemented.
Literal Nodes::difference(Literal a, Literal b) {
  for (int i = 0; i < 2; i++, std::swap(a, b)) {
    if (!is_xor(a)) continue;
    const Node& n = nodes_[a >> 1];
    if (n.a == b) return n.b;
    if (n.b == b) return n.a;
  }
  return made(a, b);
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
      bits.push_back(added({kProduct, std::uint32_t(bits_.size() - 1)}, nullptr));
    }
    products_.push_back({std::move(a), std::move(b)});
  }
  return bits;
}

std::vector<std::uint32_t> Nodes::support(Literal root) const {
  std::vector<std::uint32_t> found, open{root >> 1};
  std::vector<bool> seen(nodes_.size());
  while (!open.empty()) {
    const std::uint32_t n = open.back();
    open.pop_back();
    if (n == 0 || seen[n]) continue;
    seen[n] = true;
    if (nodes_[n].a == kVariable) {
      found.push_back(n);
    } else if (nodes_[n].a == kProduct) {
      const Product& p = products_[bits_[nodes_[n].b].first];
      for (const Word* w : {&p.a, &p.b})
        for (const Literal l : *w) open.push_back(l >> 1);
    } else {
      open.push_back(nodes_[n].a >> 1);
      open.push_back(nodes_[n].b >> 1);
    }
  }
  return found;
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
