// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/oracle/ties.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace kaiten::test {

namespace {

double scale_of(const Tensor& t, std::size_t i = 0) { return double(t.quantization.scale[i]); }

// The exact sum of a result, in steps of the output before its zero point, and of its terms' magnitudes.
struct Sum {
  double value = 0;
  double magnitude = 0;
  int terms = 0;

  void add(double term) {
    value += term;
    magnitude += std::abs(term);
    terms++;
  }
  void scale(double factor) {
    value *= factor;
    magnitude *= factor;
  }
  // Whether rounding errors of float32, one of each term and some of what follows, reach a tie. Zero points count as 256.
  bool near_tie() const {
    const double slack = (terms + 8) * std::ldexp(magnitude + 256, -24);
    return std::abs(value - std::floor(value) - 0.5) <= slack;
  }
};

struct Layer {
  const Graph& graph;
  const Op& op;
  const Int8Values& input;
  const Tensor& in = graph.input_of(op);
  const Tensor& out = graph.output_of(op);
  Nhwc from = in.nhwc();
  Nhwc to = out.nhwc();

  // The input's cell under tap (i, j) of the window of output cell (y, x), as real value in steps of the zero point; 0 outside.
  double cell(int y, int x, int i, int j, int c, bool& inside) const {
    const Window& w = op.window;
    const int row = y * w.stride_h - w.pad.top + i * w.dilation_h;
    const int column = x * w.stride_w - w.pad.left + j * w.dilation_w;
    inside = row >= 0 && column >= 0 && row < from.h && column < from.w;
    if (!inside) return 0;
    return input[(std::size_t(row) * std::size_t(from.w) + std::size_t(column)) * std::size_t(from.c) +
                 std::size_t(c)] -
           in.zero_point();
  }

  Sum product(std::size_t at) const {
    const Tensor& weights = graph.weights_of(op);
    const auto o = std::size_t(int(at) % to.c);
    const int x = int(at) / to.c % to.w, y = int(at) / to.c / to.w;
    const double step = scale_of(in) * scale_of(weights, weights.quantization.per_channel() ? o : 0);
    const bool deep = op.kind == OpKind::DepthwiseConv2D, window = op.kind != OpKind::FullyConnected;
    const int rows = window ? op.window.kernel_h : 1, columns = window ? op.window.kernel_w : 1;
    const int depth = window ? (deep ? 1 : from.c / op.groups) : weights.shape[1];
    const int first = deep ? int(o) / op.depth_multiplier : int(o) / (to.c / op.groups) * depth;
    Sum sum;
    if (op.bias != kNoTensor) sum.add(double(graph.tensors[std::size_t(op.bias)].int32_values()[o]));
    for (int i = 0; i < rows; i++) {
      for (int j = 0; j < columns; j++) {
        for (int k = 0; k < depth; k++) {
          const auto tap = std::size_t(i * columns + j);
          const std::size_t index =
              deep ? tap * std::size_t(to.c) + o
                   : (o * std::size_t(rows * columns) + tap) * std::size_t(depth) + std::size_t(k);
          bool inside = true;
          const double a =
              window ? cell(y, x, i, j, first + k, inside)
                     : input[at / std::size_t(to.c) * std::size_t(depth) + std::size_t(k)] - in.zero_point();
          sum.add(a * (weights.int8_at(index) - weights.zero_point()));
        }
      }
    }
    sum.scale(step / scale_of(out));
    return sum;
  }
};

}  // namespace

bool differ_at_ties(const Graph& graph, const Op& op, std::span<const Int8Values> tensors,
                    const Int8Values& theirs) {
  const Int8Values& ours = tensors[std::size_t(op.output)];
  const Layer layer{graph, op, tensors[std::size_t(op.inputs.front())]};
  for (std::size_t i = 0; i < ours.size(); i++) {
    if (ours[i] == theirs[i]) continue;
    if (std::abs(ours[i] - theirs[i]) > 1) return false;
    Sum sum;
    switch (op.kind) {
      case OpKind::Conv2D:
      case OpKind::DepthwiseConv2D:
      case OpKind::FullyConnected:
        sum = layer.product(i);
        break;
      default:
        return false;
    }
    if (!sum.near_tie()) return false;
  }
  return true;
}

}  // namespace kaiten::test
