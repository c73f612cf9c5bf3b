// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// ONNX's additions and products of quantised tensors as integers. The frameworks compute them step by step in
// float32; the vector engine adds scaled integers and requantises the sum once. Each step of the float chain
// rounds in its own way, so that the two may differ where the exact result lies next to a tie. There are
// 65,536 pairs of operands only: a short search among neighbouring multipliers looks for those that agree on
// every pair, and counts what is left where there are none. Of three and four operands there are so many
// (2^24, 2^32) that some of those next to a tie are left whatever the multipliers; these are counted.
#ifndef KAITEN_GRAPH_FLOAT_PAIRS_H
#define KAITEN_GRAPH_FLOAT_PAIRS_H

#include <cstdint>
#include <span>

#include "graph/quantize.h"

namespace kaiten {

// The float chains on stored values, half to even; spans of one length, as many operands as the parameters
// have.
void float_add(const AddParams& params, std::span<const std::span<const int8_t>> operands,
               std::span<int8_t> out);  // Sub too
void float_multiply(const MulParams& params, std::span<const int8_t> a, std::span<const int8_t> b,
                    std::span<int8_t> out);
// The same as the vector engine does it, by the integer fields of the parameters (rule Float).
void integer_add(const AddParams& params, std::span<const std::span<const int8_t>> operands,
                 std::span<int8_t> out);
void integer_multiply(const MulParams& params, std::span<const int8_t> a, std::span<const int8_t> b,
                      std::span<int8_t> out);

// Fill the integer fields of parameters whose rule is Float, and differing_pairs. Deterministic; a few
// milliseconds, at most some tens where nothing agrees.
void fit_integers(AddParams& params);
void fit_integers(MulParams& params);

// Of sums of three and more: the combinations of stored values for which the integers differ from the float
// chain, by 1 each. Up to half a second for four operands.
struct DifferingSums {
  int64_t count = 0;
  bool at_most = false;  // too many ties to compare them all: their number
};
DifferingSums differing_sums(const AddParams& params);

}  // namespace kaiten

#endif  // KAITEN_GRAPH_FLOAT_PAIRS_H
