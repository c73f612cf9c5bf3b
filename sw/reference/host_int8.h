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
Int8Values reduce_min(const std::vector<int>& shape, const std::vector<int>& axes, const Int8Values& input);
int8_t squared_difference(const AddParams& params, int8_t a, int8_t b);
// Op::dims and Op::axis of Gather, in a tensor of this shape.
Int8Values gather(const std::vector<int>& positions, int axis, const std::vector<int>& shape,
                  const Int8Values& input);
// Lines of `depth` values divided by their length: scale 1/128, zero point 0. LiteRT takes the scale into the value, not into
// the factor, where the model has uint8.
Int8Values l2_norm(int zero_point, bool is_uint8, size_t depth, const Int8Values& input);

// A matrix in memory, or several of one size.
struct Matrix {
  const Int8Values& values;
  size_t first = 0;  // of the matrix
  size_t row_step = 1;
  size_t column_step = 1;
};
// rows * columns values after `first` of the output, over `depth` products.
void multiply(const MulParams& params, const Matrix& a, const Matrix& b, size_t depth, size_t rows,
              size_t columns, int8_t* output);

Int8Values reduce_max(const std::vector<int>& shape, const std::vector<int>& axes, const Int8Values& input);
Int8Values reduce_mean(const MeanParams& params, const std::vector<int>& shape, const std::vector<int>& axes,
                       const Int8Values& input);

}  // namespace kaiten::reference

#endif  // KAITEN_REFERENCE_HOST_INT8_H
