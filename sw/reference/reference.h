// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The integer reference executor: the oracle every other way of running a graph is compared with. It is
// written for being right first (kernels.h); only the dot products of convolutions (dot_products.h) are
// written for speed: some 10 GMAC/s where the processor has wide vectors.
#ifndef KAITEN_REFERENCE_REFERENCE_H
#define KAITEN_REFERENCE_REFERENCE_H

#include <functional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "graph/rounding_style.h"
#include "graph/values.h"

namespace kaiten {

class FftOracle;

// Runs the graph on one set of inputs, in the order of graph.inputs. Returns the values of every tensor under
// its index; constants and unused tensors are empty. Throws InputError if the number or the sizes of the
// inputs are wrong, and what `cancellation_check`, called before each operator, throws. With an oracle it
// computes the convolutions (fft_oracle.h).
std::vector<Int8Values> run_reference(const Graph& graph, std::span<const Int8Values> inputs,
                                      RoundingStyle style = RoundingStyle::LiteRt,
                                      const std::function<void()>& cancellation_check = {},
                                      FftOracle* oracle = nullptr);

// Several images, one after the other: their inputs, and the values of every tensor for each of them.
std::vector<Int8Values> run_reference_batch(const Graph& graph, int images,
                                            std::span<const Int8Values> inputs,
                                            RoundingStyle style = RoundingStyle::LiteRt,
                                            const std::function<void()>& cancellation_check = {},
                                            FftOracle* oracle = nullptr);

// Runs one operator: reads its inputs from `tensors` (indexed like graph.tensors, of correct sizes) and
// writes its output there. A driver uses it for the operators that run on the host.
void run_operator(const Graph& graph, const Op& op, RoundingStyle style, std::vector<Int8Values>& tensors,
                  FftOracle* oracle = nullptr);

}  // namespace kaiten

#endif  // KAITEN_REFERENCE_REFERENCE_H
