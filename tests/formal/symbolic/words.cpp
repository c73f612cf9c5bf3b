// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/formal/symbolic/words.h"

#include <algorithm>

namespace kaiten::symbolic {

Word constant(std::uint64_t number, std::size_t width) {
  Word w(width, kFalse);
  for (std::size_t i = 0; i < std::min<std::size_t>(width, 64); i++) w[i] = Literal(number >> i & 1);
  return w;
}

std::optional<std::uint64_t> known(Bits word) {
  std::uint64_t n = 0;
  for (std::size_t i = 0; i < word.size(); i++) {
    if (!is_constant(word[i])) return std::nullopt;
    if (i < 64)
      n |= std::uint64_t(word[i]) << i;
    else if (word[i] == kTrue)
      return std::nullopt;
  }
  return n;
}

Word extended(Bits word, std::size_t width, bool is_signed) {
  Word w(word.begin(), word.end());
  w.resize(width, is_signed && !word.empty() && width > word.size() ? word.back() : kFalse);
  return w;
}

Word inverted(Bits word) {
  Word w(word.begin(), word.end());
  for (Literal& l : w) l = negated(l);
  return w;
}

Word sum(Nodes& nodes, Bits a, Bits b, Literal carry) {
  Word s(a.size());
  for (std::size_t i = 0; i < a.size(); i++) {
    const Literal one = nodes.differ(a[i], b[i]);
    s[i] = nodes.differ(one, carry);
    carry = nodes.either(nodes.both(a[i], b[i]), nodes.both(one, carry));
  }
  return s;
}

Word difference(Nodes& nodes, Bits a, Bits b) { return sum(nodes, a, inverted(b), kTrue); }

Literal equal(Nodes& nodes, Bits a, Bits b) {
  Literal same = kTrue;
  for (std::size_t i = 0; i < a.size() && same != kFalse; i++)
    same = nodes.both(same, negated(nodes.differ(a[i], b[i])));
  return same;
}

Literal less(Nodes& nodes, Bits a, Bits b, bool is_signed) {
  Literal is = kFalse;
  for (std::size_t i = 0; i < a.size(); i++) {
    const bool sign = is_signed && i + 1 == a.size();
    is = nodes.choose(nodes.differ(a[i], b[i]), sign ? a[i] : b[i], is);
  }
  return is;
}

Literal any(Nodes& nodes, Bits word) {
  Literal is = kFalse;
  for (const Literal l : word) is = nodes.either(is, l);
  return is;
}

Literal all(Nodes& nodes, Bits word) {
  Literal is = kTrue;
  for (const Literal l : word) is = nodes.both(is, l);
  return is;
}

Literal odd(Nodes& nodes, Bits word) {
  Literal is = kFalse;
  for (const Literal l : word) is = nodes.differ(is, l);
  return is;
}

Word choose(Nodes& nodes, Literal select, Bits one, Bits zero) {
  if (is_constant(select))
    return select == kTrue ? Word(one.begin(), one.end()) : Word(zero.begin(), zero.end());
  Word w(one.size());
  for (std::size_t i = 0; i < w.size(); i++) w[i] = nodes.choose(select, one[i], zero[i]);
  return w;
}

Word shifted(Nodes& nodes, Bits word, Bits places, bool left, Literal fill) {
  Word w(word.begin(), word.end());
  for (std::size_t k = 0; k < places.size(); k++) {
    if (places[k] == kFalse) continue;
    const std::size_t by = k < 31 ? std::min(std::size_t(1) << k, w.size()) : w.size();
    Word moved(w.size(), fill);
    for (std::size_t i = by; i < w.size(); i++) {
      if (left)
        moved[i] = w[i - by];
      else
        moved[i - by] = w[i];
    }
    w = choose(nodes, places[k], moved, w);
  }
  return w;
}

Word entry(Nodes& nodes, Bits entries, Bits index, std::size_t width) {
  if (index.empty()) return {entries.begin(), entries.begin() + std::ptrdiff_t(width)};
  // the highest bit of the index first: a half is left
  const std::size_t half = width << (index.size() - 1);
  const Bits low = entries.first(half), high = entries.subspan(half);
  const Bits rest = index.first(index.size() - 1);
  if (index.back() == kFalse) return entry(nodes, low, rest, width);
  if (index.back() == kTrue) return entry(nodes, high, rest, width);
  return choose(nodes, index.back(), entry(nodes, high, rest, width), entry(nodes, low, rest, width));
}

Word remainder(Nodes& nodes, Bits a, Bits b) {
  const std::size_t width = a.size();
  const Word divisor = extended(b, width + 1, false);
  Word rest(width + 1, kFalse);
  for (std::size_t i = width; i-- > 0;) {
    rest.pop_back();
    rest.insert(rest.begin(), a[i]);
    const Word less_one = difference(nodes, rest, divisor);
    rest = choose(nodes, less(nodes, rest, divisor, false), rest, less_one);
  }
  rest.pop_back();
  return rest;
}

}  // namespace kaiten::symbolic
