// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Operators on quantised values that no engine has, by TensorFlow Lite's reference arithmetic.
#ifndef KAITEN_REFERENCE_HOST_INT8_H
#define KAITEN_REFERENCE_HOST_INT8_H

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "graph/quantize.h"
#include "graph/values.h"

namespace kaiten::reference {

// Op::dims of Rearrange; `elements` of the output.
Int8Values rearrange(const std::vector<int>& dims, const Int8Values& input, size_t elements);

int8_t prelu(const PReluParams& params, int8_t value, int8_t slope);

// For each element of a tensor of this shape, in order, its position among the results of a reduction over the axes.
std::vector<size_t> reduced_positions(const std::vector<int>& shape, const std::vector<int>& axes);

// Over the axes, ascending, of a tensor of this shape.
Int8Values reduce_max(const std::vector<int>& shape, const std::vector<int>& axes, const Int8Values& input);
Int8Values reduce_mean(const MeanParams& params, const std::vector<int>& shape, const std::vector<int>& axes,
                       const Int8Values& input);

}  // namespace kaiten::reference

#endif  // KAITEN_REFERENCE_HOST_INT8_H
