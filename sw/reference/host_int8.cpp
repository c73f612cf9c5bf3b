// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "reference/host_int8.h"

#include <algorithm>

#include "graph/tables.h"

namespace kaiten::reference {

namespace {

size_t results(const std::vector<size_t>& positions) {
  return *std::max_element(positions.begin(), positions.end()) + 1;
}

}  // namespace

Int8Values rearrange(const std::vector<int>& dims, const Int8Values& input, size_t elements) {
  Int8Values output(elements);
  const size_t rank = dims.size() / 2;
  for (size_t i = 0; i < elements; i++) {
    size_t rest = i;
    int64_t from = dims[0];
    for (size_t d = rank; d-- > 0;) {
      const auto size = size_t(dims[1 + 2 * d]);
      from += int64_t(rest % size) * dims[2 + 2 * d];
      rest /= size;
    }
    output[i] = input[size_t(from)];
  }
  return output;
}

std::vector<size_t> reduced_positions(const std::vector<int>& shape, const std::vector<int>& axes) {
  std::vector<size_t> strides(shape.size(), 0);
  size_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    if (std::find(axes.begin(), axes.end(), int(d)) != axes.end()) continue;
    strides[d] = stride;
    stride *= size_t(shape[d]);
  }
  std::vector<size_t> positions{0};
  for (size_t d = 0; d < shape.size(); d++) {
    std::vector<size_t> next;
    next.reserve(positions.size() * size_t(shape[d]));
    for (const size_t position : positions) {
      for (size_t i = 0; i < size_t(shape[d]); i++) next.push_back(position + i * strides[d]);
    }
    positions = std::move(next);
  }
  return positions;
}

int8_t prelu(const PReluParams& params, int8_t value, int8_t slope) {
  const int32_t x = value - params.zp_in;
  return params.output.stored(x >= 0 ? requantize_double(x, params.positive)
                                     : requantize_double(x * (slope - params.zp_slope), params.negative));
}

Int8Values reduce_max(const std::vector<int>& shape, const std::vector<int>& axes, const Int8Values& input) {
  const std::vector<size_t> positions = reduced_positions(shape, axes);
  Int8Values output(results(positions), INT8_MIN);
  for (size_t i = 0; i < input.size(); i++) output[positions[i]] = std::max(output[positions[i]], input[i]);
  return output;
}

Int8Values reduce_mean(const MeanParams& params, const std::vector<int>& shape, const std::vector<int>& axes,
                       const Int8Values& input) {
  const std::vector<size_t> positions = reduced_positions(shape, axes);
  std::vector<int32_t> sums(results(positions), -params.count * params.zp_in);
  for (size_t i = 0; i < input.size(); i++) sums[positions[i]] += input[i];
  Int8Values output(sums.size());
  for (size_t i = 0; i < sums.size(); i++)
    output[i] = params.output.stored(requantize(sums[i], params.multiplier, params.output.rule));
  return output;
}

Int8Values reduce_min(const std::vector<int>& shape, const std::vector<int>& axes, const Int8Values& input) {
  const std::vector<size_t> positions = reduced_positions(shape, axes);
  Int8Values output(results(positions), INT8_MAX);
  for (size_t i = 0; i < input.size(); i++) output[positions[i]] = std::min(output[positions[i]], input[i]);
  return output;
}

int8_t squared_difference(const AddParams& params, int8_t a, int8_t b) {
  const auto scaled = [&](int i, int8_t value) {
    return requantize_double((value - params.zp_in[i]) * (1 << params.left_shift), params.in[i]);
  };
  const int32_t difference = scaled(0, a) - scaled(1, b);
  return params.output.stored(requantize_double(difference * difference, params.out));
}

Int8Values gather(const std::vector<int>& positions, int axis, const std::vector<int>& shape,
                  const Int8Values& input) {
  size_t lines = 1;
  for (int d = 0; d < axis; d++) lines *= size_t(shape[size_t(d)]);
  const size_t cells = size_t(shape[size_t(axis)]);
  const size_t length = input.size() / lines / cells;
  Int8Values output;
  output.reserve(lines * positions.size() * length);
  for (size_t line = 0; line < lines; line++) {
    for (const int position : positions) {
      const auto begin = input.begin() + ptrdiff_t((line * cells + size_t(position)) * length);
      output.insert(output.end(), begin, begin + ptrdiff_t(length));
    }
  }
  return output;
}

Int8Values l2_norm(int zero_point, bool is_uint8, size_t depth, const Int8Values& input) {
  constexpr int kBits = 7;  // of the scale
  Int8Values output(input.size());
  for (size_t line = 0; line < input.size(); line += depth) {
    int32_t sum = 0;
    for (size_t i = line; i < line + depth; i++) sum += (input[i] - zero_point) * (input[i] - zero_point);
    Multiplier root = inverse_root(sum);
    if (!is_uint8) root.shift += kBits;
    for (size_t i = line; i < line + depth; i++) {
      const int32_t value = (input[i] - zero_point) * (is_uint8 ? 1 << kBits : 1);
      output[i] = int8_t(std::clamp(requantize_double(value, root), -128, 127));
    }
  }
  return output;
}

void multiply(const MulParams& params, const Matrix& a, const Matrix& b, size_t depth, size_t rows,
              size_t columns, int8_t* output) {
  for (size_t r = 0; r < rows; r++) {
    for (size_t c = 0; c < columns; c++) {
      int32_t sum = 0;
      for (size_t k = 0; k < depth; k++) {
        sum += (a.values[a.first + r * a.row_step + k * a.column_step] - params.zp_in[0]) *
               (b.values[b.first + k * b.row_step + c * b.column_step] - params.zp_in[1]);
      }
      output[r * columns + c] = params.output.stored(requantize(sum, params.multiplier, params.output.rule));
    }
  }
}

}  // namespace kaiten::reference
