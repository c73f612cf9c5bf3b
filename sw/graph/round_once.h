// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// LiteRT's fully connected layers round the product of sum and factor in double, halves away from zero. Rule Single rounds a
// product with 31 bits of the factor. The two agree where these bits are chosen so that each result begins at the same sum.
#ifndef KAITEN_GRAPH_ROUND_ONCE_H
#define KAITEN_GRAPH_ROUND_ONCE_H

#include "graph/quantize.h"

namespace kaiten {

// The multiplier nearest to quantize_multiplier(real) with which requantize_single(x) is round(x * real) wherever that is
// -reach to reach, for every x of 32 bits. Where none of 31 bits is (sums of millions), quantize_multiplier(real): results
// next to a tie may then be off by one. Throws what quantize_multiplier() throws.
Multiplier round_once(double real, int reach);

}  // namespace kaiten

#endif  // KAITEN_GRAPH_ROUND_ONCE_H
