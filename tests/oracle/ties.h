// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Whether two results of a float32 sum may differ by the order of its additions: where the exact result lies so near to a tie
// that the rounding errors of one order reach over it.
#ifndef KAITEN_TESTS_ORACLE_TIES_H
#define KAITEN_TESTS_ORACLE_TIES_H

#include <span>

#include "graph/graph.h"
#include "graph/values.h"

namespace kaiten::test {

// True if `ours` and `theirs`, both results of an operator of the ONNX graph that read these stored tensors, differ by 1 at most
// and only next to ties. False for kinds of operators that sum nothing.
bool differ_at_ties(const Graph& graph, const Op& op, std::span<const Int8Values> tensors,
                    const Int8Values& theirs);

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_ORACLE_TIES_H
