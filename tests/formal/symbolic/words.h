// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Arithmetic of words of literals. Operands of one operation have one width, unless said otherwise.
#ifndef KAITEN_TESTS_FORMAL_SYMBOLIC_WORDS_H
#define KAITEN_TESTS_FORMAL_SYMBOLIC_WORDS_H

#include <cstdint>
#include <optional>
#include <span>

#include "tests/formal/symbolic/nodes.h"

namespace kaiten::symbolic {

using Bits = std::span<const Literal>;

Word constant(std::uint64_t number, std::size_t width);
// Nothing where a bit is not known.
std::optional<std::uint64_t> known(Bits word);
Word extended(Bits word, std::size_t width, bool is_signed);
Word inverted(Bits word);

// a + b + carry
Word sum(Nodes& nodes, Bits a, Bits b, Literal carry = kFalse);
Word difference(Nodes& nodes, Bits a, Bits b);
Literal equal(Nodes& nodes, Bits a, Bits b);
Literal less(Nodes& nodes, Bits a, Bits b, bool is_signed);
Literal any(Nodes& nodes, Bits word);
Literal all(Nodes& nodes, Bits word);
Literal odd(Nodes& nodes, Bits word);
Word choose(Nodes& nodes, Literal select, Bits one, Bits zero);
// By any number of places; what comes in is `fill`.
Word shifted(Nodes& nodes, Bits word, Bits places, bool left, Literal fill);
// The entry of `entries`, each as wide as the first, lowest first.
Word entry(Nodes& nodes, Bits entries, Bits index, std::size_t width);
// of numbers without a sign
Word remainder(Nodes& nodes, Bits a, Bits b);

}  // namespace kaiten::symbolic

#endif  // KAITEN_TESTS_FORMAL_SYMBOLIC_WORDS_H
