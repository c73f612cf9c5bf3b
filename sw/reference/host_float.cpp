// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "reference/host_float.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "graph/float_average.h"
#include "graph/real_functions.h"
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

// As OpKind::Rearrange.
Values rearrange_floats(const Op& op, const Values& input, size_t elements) {
  Values result(elements);
  const size_t rank = op.dims.size() / 2;
  for (size_t i = 0; i < elements; i++) {
    size_t rest = i;
    int64_t from = op.dims[0];
    for (size_t d = rank; d-- > 0;) {
      const auto size = size_t(op.dims[1 + 2 * d]);
      from += int64_t(rest % size) * op.dims[2 + 2 * d];
      rest /= size;
    }
    result[i] = input[size_t(from)];
  }
  return result;
}

Values pad(const Graph& graph, const Op& op, const Values& input) {
  const Shape& from = graph.input_of(op).shape;
  const Shape& to = graph.output_of(op).shape;
  Values result(graph.output_of(op).elements(), op.lo);
  for (size_t i = 0; i < input.size(); i++) {
    size_t rest = i, at = 0, stride = 1;
    for (size_t d = to.size(); d-- > 0;) {
      at += (rest % size_t(from[d]) + size_t(op.dims[2 * d])) * stride;
      rest /= size_t(from[d]);
      stride *= size_t(to[d]);
    }
    result[at] = input[i];
  }
  return result;
}

// Matrices in the last two dimensions; those before are repeated like numpy's.
Values gemm(const Graph& graph, const Op& op, const std::vector<Values>& operands) {
  const Shape& out = graph.output_of(op).shape;
  const Shape& a_shape = graph.input_of(op, 0).shape;
  const Shape& b_shape = graph.input_of(op, 1).shape;
  const size_t columns = size_t(out.back());
  const size_t rows = out.size() < 2 ? 1 : size_t(out[out.size() - 2]);
  const size_t depth = size_t(op.transpose_a ? a_shape[0] : a_shape.back());
  const auto matrices = [](const Shape& s) {
    return Shape(s.begin(), s.end() - std::min<ptrdiff_t>(2, ptrdiff_t(s.size())));
  };
  const Shape many = matrices(out), many_a = matrices(a_shape), many_b = matrices(b_shape);
  Values result(graph.output_of(op).elements());
  for (size_t i = 0; i < result.size(); i++) {
    const size_t matrix = i / (rows * columns), r = i / columns % rows, c = i % columns;
    const float* a = &operands[0][broadcast_index(matrix, many, many_a) * rows * depth];
    const float* b = &operands[1][broadcast_index(matrix, many, many_b) * depth * columns];
    double sum = 0.0;
    for (size_t k = 0; k < depth; k++) {
      sum += double(a[op.transpose_a ? k * rows + r : r * depth + k]) *
             double(b[op.transpose_b ? c * depth + k : k * columns + c]);
    }
    result[i] = op.alpha * float(sum);
    if (operands.size() > 2)
      result[i] += op.beta * operands[2][broadcast_index(i, out, graph.input_of(op, 2).shape)];
  }
  return result;
}

// Every input value, times the weights, is added to the window of the output that it stands for. Weights: input channel,
// output channel of the group, row, column.
Values conv_transpose(const Graph& graph, const Op& op, const std::vector<Values>& operands) {
  const Shape& in = graph.input_of(op, 0).shape;
  const Shape& kernel = graph.input_of(op, 1).shape;
  const Shape& out = graph.output_of(op).shape;
  const Window& w = op.window;
  const int depth = in[1] / op.groups;
  std::vector<double> sums(graph.output_of(op).elements());
  const auto add = [&](int c, int y, int x, int m, int i, int j) {
    const int row = y * w.stride_h - w.pad.top + i * w.dilation_h;
    const int column = x * w.stride_w - w.pad.left + j * w.dilation_w;
    if (row < 0 || column < 0 || row >= out[2] || column >= out[3]) return;
    const int channel = c / depth * kernel[1] + m;
    sums[(size_t(channel) * size_t(out[2]) + size_t(row)) * size_t(out[3]) + size_t(column)] +=
        double(operands[0][(size_t(c) * size_t(in[2]) + size_t(y)) * size_t(in[3]) + size_t(x)]) *
        double(operands[1][((size_t(c) * size_t(kernel[1]) + size_t(m)) * size_t(kernel[2]) + size_t(i)) *
                               size_t(kernel[3]) +
                           size_t(j)]);
  };
  for (int c = 0; c < in[1]; c++) {
    for (int pixel = 0; pixel < in[2] * in[3]; pixel++) {
      for (int m = 0; m < kernel[1]; m++) {
        for (int tap = 0; tap < kernel[2] * kernel[3]; tap++)
          add(c, pixel / in[3], pixel % in[3], m, tap / kernel[3], tap % kernel[3]);
      }
    }
  }
  Values result(sums.size());
  const size_t pixels = size_t(out[2]) * size_t(out[3]);
  for (size_t i = 0; i < sums.size(); i++)
    result[i] = float(sums[i]) + (operands.size() > 2 ? operands[2][i / pixels] : 0.0F);
  return result;
}

// Its logarithm too.
Values softmax(const Graph& graph, const Op& op, const Values& input, bool logarithm) {
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
    for (size_t k = 0; k < depth; k++) {
      float& value = result[first + k * inner];
      value = logarithm ? input[first + k * inner] - largest - float(std::log(sum)) : float(value / sum);
    }
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

// Means and sums: of neighbouring values in onnxruntime's order.
Values reduce_sum(const Graph& graph, const Op& op, const Values& input) {
  const std::vector<size_t> positions = reduced_positions(graph.input_of(op).shape, op.dims);
  if (std::is_sorted(positions.begin(), positions.end())) {
    Values result(graph.output_of(op).elements());
    const size_t length = input.size() / result.size();
    for (size_t i = 0; i < result.size(); i++) {
      const float sum = sum_in_packets({&input[i * length], length}, i * length);
      result[i] = op.host_kind == HostKind::ReduceMean ? sum / float(length) : sum;
    }
    return result;
  }
  std::vector<double> sums(graph.output_of(op).elements());
  for (size_t i = 0; i < input.size(); i++) sums[positions[i]] += double(input[i]);
  const double parts =
      op.host_kind == HostKind::ReduceMean ? double(input.size()) / double(sums.size()) : 1.0;
  Values result(sums.size());
  for (size_t i = 0; i < sums.size(); i++) result[i] = float(sums[i] / parts);
  return result;
}

Values reduce_extreme(const Graph& graph, const Op& op, const Values& input) {
  const float sign = op.host_kind == HostKind::ReduceMax ? 1.0F : -1.0F;
  const std::vector<size_t> positions = reduced_positions(graph.input_of(op).shape, op.dims);
  Values result(graph.output_of(op).elements(), -sign * std::numeric_limits<float>::infinity());
  for (size_t i = 0; i < input.size(); i++) {
    float& best = result[positions[i]];
    best = sign * std::max(sign * best, sign * input[i]);
  }
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

// x / (bias + alpha / size * sum of x^2 over the channels around it)^beta. The sum goes from channel to channel: in float32 the
// newest square is added, the oldest taken off, as onnxruntime does.
Values local_response(const Graph& graph, const Op& op, const Values& input) {
  const Shape& shape = graph.input_of(op).shape;
  const int channels = shape[1], before = (op.groups - 1) / 2;
  const size_t cells = product(shape, 2, shape.size());
  const float factor = op.alpha / float(op.groups);
  Values result(input.size());
  for (size_t i = 0; i < cells; i++) {
    const auto square = [&](int c) {
      const float x = c < 0 || c >= channels ? 0.0F : input[size_t(c) * cells + i];
      return factor * (x * x);
    };
    float sum = op.lo;
    for (int c = -before; c < op.groups - before; c++) sum += square(c);
    for (int c = 0; c < channels; c++) {
      result[size_t(c) * cells + i] = input[size_t(c) * cells + i] * std::pow(sum, -op.beta);
      sum += square(c + op.groups - before);
      sum -= square(c - before);
    }
  }
  return result;
}

// Lines of neighbours, normalised; the factor and offset of cell k of line i stand at position(i, k). onnxruntime's kernels add
// up in an order that depends on the processor; here sums are of double precision.
template <typename F>
Values normalised(const Op& op, const std::vector<Values>& operands, size_t length, F position) {
  const Values& x = operands[0];
  Values result(x.size());
  for (size_t line = 0; line < x.size() / length; line++) {
    const float* values = &x[line * length];
    double sum = 0.0, squares = 0.0;
    for (size_t k = 0; k < length; k++) sum += double(values[k]);
    const double mean = sum / double(length);
    for (size_t k = 0; k < length; k++) squares += (double(values[k]) - mean) * (double(values[k]) - mean);
    const float factor = 1.0F / std::sqrt(float(squares / double(length)) + op.alpha);
    for (size_t k = 0; k < length; k++) {
      const size_t at = position(line, k);
      const float offset = operands.size() > 2 ? operands[2][at] : 0.0F;
      result[line * length + k] = std::fma((values[k] - float(mean)) * factor, operands[1][at], offset);
    }
  }
  return result;
}

Values layer_norm(const Graph& graph, const Op& op, const std::vector<Values>& operands) {
  const Shape& shape = graph.output_of(op).shape;
  return normalised(op, operands, product(shape, size_t(op.axis), shape.size()),
                    [](size_t, size_t k) { return k; });
}

Values instance_norm(const Graph& graph, const Op& op, const std::vector<Values>& operands) {
  const Shape& shape = graph.output_of(op).shape;
  return normalised(op, operands, product(shape, 2, shape.size()),
                    [&](size_t line, size_t) { return line % size_t(shape[1]); });
}

}  // namespace

std::vector<float> host_float(const Graph& graph, const Op& op,
                              const std::vector<std::vector<float>>& operands) {
  const Values& x = operands.front();
  if (is_function(op.host_kind)) {
    Values result(x.size());
    std::transform(x.begin(), x.end(), result.begin(), [&](float v) { return real_function(op, v); });
    return result;
  }
  if (is_function_of_two(op.host_kind))
    return binary(graph, op, x, operands[1],
                  [&](float a, float b) { return real_function(op.host_kind, a, b); });
  switch (op.host_kind) {
    case HostKind::Rearrange:
      return rearrange_floats(op, x, graph.output_of(op).elements());
    case HostKind::Pad:
      return pad(graph, op, x);
    case HostKind::Gemm:
      return gemm(graph, op, operands);
    case HostKind::ConvTranspose:
      return conv_transpose(graph, op, operands);
    case HostKind::Softmax:
      return softmax(graph, op, x, false);
    case HostKind::LogSoftmax:
      return softmax(graph, op, x, true);
    case HostKind::GlobalAveragePool:
      return global_pool(graph, op, x, true);
    case HostKind::GlobalMaxPool:
      return global_pool(graph, op, x, false);
    case HostKind::AveragePool:
      return pool(graph, op, x, true);
    case HostKind::MaxPool:
      return pool(graph, op, x, false);
    case HostKind::ReduceMean:
    case HostKind::ReduceSum:
      return reduce_sum(graph, op, x);
    case HostKind::ReduceMax:
    case HostKind::ReduceMin:
      return reduce_extreme(graph, op, x);
    case HostKind::Concat:
      return concat(graph, op, operands);
    case HostKind::LayerNorm:
      return layer_norm(graph, op, operands);
    case HostKind::InstanceNorm:
      return instance_norm(graph, op, operands);
    case HostKind::Lrn:
      return local_response(graph, op, x);
    default:
      return x;  // Reshape
  }
}

}  // namespace kaiten::reference
