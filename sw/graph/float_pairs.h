// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// ONNX's additions and products of quantised tensors as integers. The frameworks compute them in
// float32; the vector engine adds scaled integers and requantises the sum once. Each step of the float chain
// rounds in its own way, so that the two may differ where the exact result lies next to a tie. There are
// 65,536 pairs of operands only: a short search among neighbouring multipliers looks for those that agree on
// every pair. Where there are none, as nearly always of three and four operands (2^24, 2^32 combinations, some of which lie
// next to a tie whatever the multipliers), the operator is the host's.
#ifndef KAITEN_GRAPH_FLOAT_PAIRS_H
#define KAITEN_GRAPH_FLOAT_PAIRS_H

#include <cstdint>
#include <span>

#include "graph/quantize.h"

namespace kaiten {

// The float32 arithmetic of the model on stored values, half to even; spans of one length, as many operands as the parameters
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

// Of sums of three and more: whether the integers agree with the float chain on every combination of stored values. Up to
// half a second for four operands; false too where there are too many ties to compare them all.
bool sums_agree(const AddParams& params);

}  // namespace kaiten

#endif  // KAITEN_GRAPH_FLOAT_PAIRS_H
