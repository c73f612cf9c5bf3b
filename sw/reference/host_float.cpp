// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "reference/host_float.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "reference/host_int8.h"

namespace kaiten::reference {
namespace {

using Values = std::vector<float>;
using Shape = std::vector<int>;

size_t product(const Shape& shape, size_t begin, size_t end) {
  size_t result = 1;
  for (size_t d = begin; d < end; d++) result *= size_t(shape[d]);
  return result;
}

// Element of an operand of `shape` that numpy broadcasting pairs with element i of an output of shape `out`.
size_t broadcast_index(size_t i, const Shape& out, const Shape& shape) {
  size_t index = 0;
  size_t stride = 1;
  for (size_t d = 0; d < out.size(); d++) {
    const size_t dim = size_t(out[out.size() - 1 - d]);
    const size_t coordinate = i % dim;
    i /= dim;
    if (d >= shape.size()) continue;
    const size_t own = size_t(shape[shape.size() - 1 - d]);
    if (own != 1) index += coordinate * stride;
    stride *= own;
  }
  return index;
}

template <typename F>
Values binary(const Graph& graph, const Op& op, const Values& a, const Values& b, F f) {
  const Shape& out = graph.output_of(op).shape;
  Values result(graph.output_of(op).elements());
  for (size_t i = 0; i < result.size(); i++) {
    result[i] = f(a[broadcast_index(i, out, graph.input_of(op, 0).shape)],
                  b[broadcast_index(i, out, graph.input_of(op, 1).shape)]);
  }
  return result;
}

template <typename F>
Values each(const Values& values, F f) {
  Values result(values.size());
  std::transform(values.begin(), values.end(), result.begin(), f);
  return result;
}

Values transpose(const Graph& graph, const Op& op, const Values& input) {
  const Shape& from = graph.input_of(op).shape;
  const Shape& to = graph.output_of(op).shape;
  Values result(input.size());
  for (size_t i = 0; i < result.size(); i++) {
    size_t rest = i;
    size_t index = 0;
    for (size_t d = to.size(); d-- > 0;) {
      const size_t coordinate = rest % size_t(to[d]);
      rest /= size_t(to[d]);
      const auto source = size_t(op.dims[d]);
      index += coordinate * product(from, source + 1, from.size());
    }
    result[i] = input[index];
  }
  return result;
}

Values gemm(const Graph& graph, const Op& op, const std::vector<Values>& operands) {
  const Shape& out = graph.output_of(op).shape;
  const size_t columns = size_t(out.back());
  const size_t rows = graph.output_of(op).elements() / columns;
  const size_t depth = operands[0].size() / rows;
  Values result(rows * columns);
  for (size_t r = 0; r < rows; r++) {
    for (size_t c = 0; c < columns; c++) {
      double sum = 0.0;
      for (size_t k = 0; k < depth; k++) {
        const float a = operands[0][op.transpose_a ? k * rows + r : r * depth + k];
        const float b = operands[1][op.transpose_b ? c * depth + k : k * columns + c];
        sum += double(a) * double(b);
      }
      const size_t i = r * columns + c;
      float value = op.alpha * float(sum);
      if (operands.size() > 2) {
        value += op.beta * operands[2][broadcast_index(i, out, graph.input_of(op, 2).shape)];
      }
      result[i] = value;
    }
  }
  return result;
}

Values softmax(const Graph& graph, const Op& op, const Values& input) {
  const Shape& shape = graph.output_of(op).shape;
  const auto axis = size_t(op.axis);
  const size_t depth = size_t(shape[axis]);
  const size_t inner = product(shape, axis + 1, shape.size());
  Values result(input.size());
  for (size_t line = 0; line < input.size() / depth; line++) {
    const size_t first = line / inner * inner * depth + line % inner;
    float largest = input[first];
    for (size_t k = 0; k < depth; k++) largest = std::max(largest, input[first + k * inner]);
    double sum = 0.0;
    for (size_t k = 0; k < depth; k++) {
      result[first + k * inner] = std::exp(input[first + k * inner] - largest);
      sum += double(result[first + k * inner]);
    }
    for (size_t k = 0; k < depth; k++) result[first + k * inner] = float(result[first + k * inner] / sum);
  }
  return result;
}

// Over all dimensions after the second.
Values global_pool(const Graph& graph, const Op& op, const Values& input, bool average) {
  Values result(graph.output_of(op).elements());
  const size_t cells = input.size() / result.size();
  for (size_t i = 0; i < result.size(); i++) {
    const auto begin = input.begin() + ptrdiff_t(i * cells);
    if (average) {
      double sum = 0.0;
      for (size_t k = 0; k < cells; k++) sum += double(begin[ptrdiff_t(k)]);
      result[i] = float(sum / double(cells));
    } else {
      result[i] = *std::max_element(begin, begin + ptrdiff_t(cells));
    }
  }
  return result;
}

// AveragePool and MaxPool of maps in NCHW.
Values pool(const Graph& graph, const Op& op, const Values& input, bool average) {
  const Shape& from = graph.input_of(op).shape;
  const Shape& to = graph.output_of(op).shape;
  const Window& w = op.window;
  Values result(graph.output_of(op).elements());
  for (size_t i = 0; i < result.size(); i++) {
    const int x = int(i % size_t(to[3]));
    const int y = int(i / size_t(to[3]) % size_t(to[2]));
    const size_t plane = i / size_t(to[3]) / size_t(to[2]) * size_t(from[2]) * size_t(from[3]);
    double sum = 0.0;
    float largest = -std::numeric_limits<float>::infinity();
    int cells = 0;
    for (int row = 0; row < w.kernel_h; row++) {
      for (int column = 0; column < w.kernel_w; column++) {
        const int iy = y * w.stride_h - w.pad.top + row * w.dilation_h;
        const int ix = x * w.stride_w - w.pad.left + column * w.dilation_w;
        if (iy < 0 || ix < 0 || iy >= from[2] || ix >= from[3]) continue;
        const float value = input[plane + size_t(iy) * size_t(from[3]) + size_t(ix)];
        sum += double(value);
        largest = std::max(largest, value);
        cells++;
      }
    }
    if (op.count_pad) cells = w.kernel_h * w.kernel_w;
    result[i] = average ? float(sum / std::max(cells, 1)) : largest;
  }
  return result;
}

Values reduce_mean(const Graph& graph, const Op& op, const Values& input) {
  const std::vector<size_t> positions = reduced_positions(graph.input_of(op).shape, op.dims);
  std::vector<double> sums(graph.output_of(op).elements());
  for (size_t i = 0; i < input.size(); i++) sums[positions[i]] += double(input[i]);
  Values result(sums.size());
  for (size_t i = 0; i < sums.size(); i++)
    result[i] = float(sums[i] * double(sums.size()) / double(input.size()));
  return result;
}

Values concat(const Graph& graph, const Op& op, const std::vector<Values>& operands) {
  const Shape& out = graph.output_of(op).shape;
  const auto axis = size_t(op.axis);
  const size_t outer = product(out, 0, axis);
  Values result;
  result.reserve(graph.output_of(op).elements());
  for (size_t o = 0; o < outer; o++) {
    for (const Values& values : operands) {
      const size_t length = values.size() / outer;
      result.insert(result.end(), values.begin() + ptrdiff_t(o * length),
                    values.begin() + ptrdiff_t((o + 1) * length));
    }
  }
  return result;
}

}  // namespace

std::vector<float> host_float(const Graph& graph, const Op& op,
                              const std::vector<std::vector<float>>& operands) {
  const Values& x = operands.front();
  switch (op.host_kind) {
    case HostKind::None:
    case HostKind::Reshape:
      return x;
    case HostKind::Transpose:
      return transpose(graph, op, x);
    case HostKind::Add:
      return binary(graph, op, x, operands[1], [](float a, float b) { return a + b; });
    case HostKind::Sub:
      return binary(graph, op, x, operands[1], [](float a, float b) { return a - b; });
    case HostKind::Mul:
      return binary(graph, op, x, operands[1], [](float a, float b) { return a * b; });
    case HostKind::Div:
      return binary(graph, op, x, operands[1], [](float a, float b) { return a / b; });
    case HostKind::Gemm:
      return gemm(graph, op, operands);
    case HostKind::Softmax:
      return softmax(graph, op, x);
    case HostKind::GlobalAveragePool:
      return global_pool(graph, op, x, true);
    case HostKind::GlobalMaxPool:
      return global_pool(graph, op, x, false);
    case HostKind::AveragePool:
      return pool(graph, op, x, true);
    case HostKind::MaxPool:
      return pool(graph, op, x, false);
    case HostKind::ReduceMean:
      return reduce_mean(graph, op, x);
    case HostKind::Clip:
      // Not std::clamp: ONNX allows lo > hi, and hi wins.
      return each(x, [&](float v) { return std::min(std::max(v, op.lo), op.hi); });
    case HostKind::LeakyRelu:
      return each(x, [&](float v) { return v < 0 ? op.alpha * v : v; });
    case HostKind::Sigmoid:
      return each(x, [](float v) { return 1.0F / (1.0F + std::exp(-v)); });
    case HostKind::Tanh:
      return each(x, [](float v) { return std::tanh(v); });
    case HostKind::HardSigmoid:
      return each(x, [&](float v) { return std::clamp(op.alpha * v + op.beta, 0.0F, 1.0F); });
    case HostKind::HardSwish:
      return each(x, [](float v) { return v * std::clamp(v / 6.0F + 0.5F, 0.0F, 1.0F); });
    case HostKind::Concat:
      return concat(graph, op, operands);
  }
  return x;
}

}  // namespace kaiten::reference
