// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Bits as functions of free variables: a graph of conjunctions, exclusive ors and products, in which equal functions of equal
// operands are one node, and equal functions of the same six or fewer variables. Two words are equal for all values of the
// variables when their literals are equal; the reverse does not hold. A product is any function of its two operands that is commutative, and the product where both are known: what is
// equal with it is equal with multiplication.
#ifndef KAITEN_TESTS_FORMAL_SYMBOLIC_NODES_H
#define KAITEN_TESTS_FORMAL_SYMBOLIC_NODES_H

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kaiten::symbolic {

// A node or its complement: 2 * node + complemented. Node 0 is the constant 0.
using Literal = std::uint32_t;
constexpr Literal kFalse = 0, kTrue = 1;
constexpr bool is_constant(Literal l) { return l <= kTrue; }
constexpr Literal negated(Literal l) { return l ^ 1; }

// Lowest bit first.
using Word = std::vector<Literal>;

class Nodes {
 public:
  Nodes();

  Literal variable();
  Word variables(std::size_t width);
  Literal both(Literal a, Literal b);
  Literal either(Literal a, Literal b) { return negated(both(negated(a), negated(b))); }
  Literal differ(Literal a, Literal b);
  Literal choose(Literal select, Literal one, Literal zero);
  // Modulo 2^width, of operands of that width, at most 64.
  Word product(Word a, Word b);

  std::size_t size() const { return nodes_.size(); }
  std::size_t products() const { return products_.size(); }

  // The variables, by node, that a literal is made of.
  std::vector<std::uint32_t> support(Literal root) const;

  // What literals are when the variables have the values that `value` gives their nodes.
  std::vector<bool> evaluate(std::span<const Literal> roots,
                             const std::function<bool(std::uint32_t node)>& value) const;

 private:
  // Conjunction: a < b. Exclusive or: a > b. A variable, or bit b of a product: a is one of these marks.
  static constexpr std::uint32_t kVariable = 0xffffffffU, kProduct = 0xfffffffeU;
  struct Node {
    std::uint32_t a = kVariable, b = 0;
  };
  struct Product {
    Word a, b;
  };

  // A function of up to six variables: bit i of `table` is its value where variable k has bit k of i.
  static constexpr std::size_t kFew = 6;
  struct Small {
    std::array<std::uint32_t, kFew> variables{};  // nodes, ascending, then 0
    std::uint64_t table = 0;
    auto operator<=>(const Small&) const = default;
  };
  struct SmallHash {
    std::size_t operator()(const Small& s) const;
  };

  static std::uint64_t spread(const Small& from, const std::array<std::uint32_t, kFew>& to,
                              std::size_t count);
  static std::size_t reduced(Small& s);
  // What a function of the two is, where it has few variables and is known already; else remembers it for the node made next.
  Literal small_one(Literal a, Literal b, bool conjunction, Small& made) const;

  // What was asked for not long ago.
  struct Asked {
    Literal a = kFalse, b = kFalse, answer = kFalse;
  };

  bool is_and(Literal l) const { return nodes_[l >> 1].a < nodes_[l >> 1].b; }
  bool is_xor(Literal l) const {
    const Node& n = nodes_[l >> 1];
    return n.a > n.b && n.a < kProduct;
  }
  bool has(Literal conjunction, Literal l) const {
    return nodes_[conjunction >> 1].a == l || nodes_[conjunction >> 1].b == l;
  }
  Literal simplified(Literal a, Literal b) const;
  Literal conjunction(Literal a, Literal b);
  Literal difference(Literal a, Literal b);
  Literal made(std::uint32_t a, std::uint32_t b);
  Literal added(Node node, const Small* function);
  void grow();

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> table_;  // node numbers by hash, 0: free
  std::vector<Asked> asked_;          // by hash
  std::vector<Product> products_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> bits_;  // of kProduct nodes: product, place
  std::map<std::pair<Word, Word>, Word> known_;
  std::vector<std::uint32_t> small_of_;  // by node: 1 + place in small_, 0: too many variables
  std::vector<Small> small_;
  std::unordered_map<Small, Literal, SmallHash> by_function_;
};

}  // namespace kaiten::symbolic

#endif  // KAITEN_TESTS_FORMAL_SYMBOLIC_NODES_H
