// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Graphs for tests, layer by layer, with random weights and with scales chosen so that outputs use their
// whole range. Every function returns the tensor it made.
#ifndef KAITEN_TESTS_SUPPORT_GRAPH_BUILDER_H
#define KAITEN_TESTS_SUPPORT_GRAPH_BUILDER_H

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "reference/reference.h"

namespace kaiten::test {

class GraphBuilder {
 public:
  Graph graph;
  std::mt19937_64 rng;
  bool uint8 = false;  // a legacy uint8 model: weights with a zero point, averages of uint8 values

  explicit GraphBuilder(std::uint64_t seed) : rng(seed) { graph.name = "test"; }

  int uniform(int low, int high) { return low + int(rng() % std::uint64_t(high - low + 1)); }
  // Often one of the ends.
  int zero_point() {
    switch (uniform(0, 3)) {
      case 0:
        return -128;
      case 1:
        return 127;
      default:
        return uniform(-128, 127);
    }
  }
  Activation activation() { return uniform(0, 1) ? Activation::Relu : Activation::None; }

  int input(int h, int w, int c) {
    const int t = tensor({1, h, w, c}, 0.05F, zero_point());
    graph.inputs.push_back(t);
    return t;
  }
  void output(int t) { graph.outputs.push_back(t); }

  int conv(int in, int out_channels, int kh, int kw, int stride, Padding pad, Activation a,
           int dilation = 1) {
    Op op;
    op.kind = OpKind::Conv2D;
    op.window = {kh, kw, stride, stride, dilation, dilation, pad};
    const Nhwc s = graph.tensors[std::size_t(in)].nhwc();
    return weighted(op, in, {out_channels, kh, kw, s.c}, 0, out_channels, kh * kw * s.c,
                    window_shape(s, op.window, out_channels), a);
  }
  int depthwise(int in, int kh, int kw, int stride, Padding pad, Activation a, int multiplier = 1,
                int dilation = 1, int stride_w = 0) {
    Op op;
    op.kind = OpKind::DepthwiseConv2D;
    op.window = {kh, kw, stride, stride_w == 0 ? stride : stride_w, dilation, dilation, pad};
    op.depth_multiplier = multiplier;
    const Nhwc s = graph.tensors[std::size_t(in)].nhwc();
    const int out = s.c * multiplier;
    return weighted(op, in, {1, kh, kw, out}, 3, out, kh * kw, window_shape(s, op.window, out), a);
  }
  int fully_connected(int in, int out_channels, Activation a) {
    Op op;
    op.kind = OpKind::FullyConnected;
    const int n = int(graph.tensors[std::size_t(in)].nhwc().elements());
    return weighted(op, in, {out_channels, n}, 0, out_channels, n, {1, out_channels}, a);
  }
  int pool(OpKind kind, int in, int kh, int kw, int stride, Padding pad, Activation a, int stride_w = 0) {
    Op op;
    op.kind = kind;
    op.window = {kh, kw, stride, stride_w == 0 ? stride : stride_w, 1, 1, pad};
    op.activation = a;
    const Tensor& t = graph.tensors[std::size_t(in)];
    const int out =
        tensor(window_shape(t.nhwc(), op.window, t.nhwc().c), t.quantization.scale[0], t.zero_point());
    return finish(op, {in}, out);
  }
  int mean(int in) {
    Op op;
    op.kind = OpKind::Mean;
    const int out = tensor({1, graph.tensors[std::size_t(in)].nhwc().c}, 0.01F, zero_point());
    return finish(op, {in}, out);
  }
  // Over rows (axis 1) or columns (axis 2).
  int mean(int in, int axis) {
    Op op;
    op.kind = OpKind::Mean;
    op.dims = {axis};
    std::vector<int> shape = graph.tensors[std::size_t(in)].shape;
    shape[std::size_t(axis)] = 1;
    return finish(op, {in}, tensor(std::move(shape), 0.01F, zero_point()));
  }
  int add(int a, int b, Activation activation) {
    Op op;
    op.kind = OpKind::Add;
    op.activation = activation;
    const float s = graph.tensors[std::size_t(a)].quantization.scale[0] +
                    graph.tensors[std::size_t(b)].quantization.scale[0];
    const int out = tensor(graph.tensors[std::size_t(a)].shape, s * 0.6F, zero_point());
    return finish(op, {a, b}, out);
  }
  // Of two and more maps of one shape.
  int sum(const std::vector<int>& terms, Activation activation) {
    Op op;
    op.kind = OpKind::Add;
    op.activation = activation;
    float s = 0;
    for (int t : terms) s += graph.tensors[std::size_t(t)].quantization.scale[0];
    const int out = tensor(graph.tensors[std::size_t(terms[0])].shape, s * 0.5F, zero_point());
    return finish(op, terms, out);
  }
  int table(int in, Function function) {
    Op op;
    op.kind = OpKind::Table;
    op.function = function;
    op.alpha = function == Function::HardSigmoid ? 0.2F : 0.1F;
    op.beta = 0.5F;
    const Tensor& t = graph.tensors[std::size_t(in)];
    const float s = t.quantization.scale[0];
    const bool sigmoid = function == Function::Sigmoid || function == Function::HardSigmoid;
    const int out = sigmoid                      ? tensor(t.shape, 1.0F / 256, -128)
                    : function == Function::Tanh ? tensor(t.shape, 1.0F / 128, 0)
                                                 : tensor(t.shape, s * 0.8F, zero_point());
    return finish(op, {in}, out);
  }
  // To another scale and zero point.
  int quantize(int in) {
    Op op;
    op.kind = OpKind::Quantize;
    const Tensor& t = graph.tensors[std::size_t(in)];
    return finish(op, {in},
                  tensor(t.shape, t.quantization.scale[0] * 0.01F * float(uniform(50, 200)), zero_point()));
  }
  int table(int in) { return table(in, Function(uniform(0, int(Function::Clamp)))); }
  // An int8 operand that is no activation.
  int constant(std::vector<int> shape) {
    const int t = tensor(std::move(shape), 0.001F * float(uniform(5, 60)), zero_point());
    Tensor& c = graph.tensors[std::size_t(t)];
    c.data.resize(c.elements());
    for (auto& v : c.data) v = std::uint8_t(rng());
    return t;
  }
  // Add, Sub or Mul of operands of any shapes that broadcast.
  int element(OpKind kind, int a, int b, Activation activation) {
    Op op;
    op.kind = kind;
    op.activation = activation;
    const Tensor& x = graph.tensors[std::size_t(a)];
    const Tensor& y = graph.tensors[std::size_t(b)];
    const float s = x.quantization.scale[0];
    const float t = y.quantization.scale[0];
    const Nhwc p = x.nhwc();
    const Nhwc q = y.nhwc();
    const int out = tensor({1, std::max(p.h, q.h), std::max(p.w, q.w), std::max(p.c, q.c)},
                           kind == OpKind::Mul ? s * t * 70 : (s + t) * 0.6F, zero_point());
    return finish(op, {a, b}, out);
  }
  // Add, Sub or Mul of `in` and a constant: a scalar, a value a channel, a map, or something between.
  int element_with_constant(int in, Activation activation) {
    const Nhwc s = graph.tensors[std::size_t(in)].nhwc();
    static constexpr OpKind kKinds[] = {OpKind::Add, OpKind::Sub, OpKind::Mul};
    const auto one_or = [&](int n) { return uniform(0, 1) ? n : 1; };
    std::vector<int> shape;
    switch (uniform(0, 4)) {
      case 0:
        break;
      case 1:
        shape = {s.c};
        break;
      case 2:
        shape = {1, s.h, s.w, s.c};
        break;
      default:
        shape = {one_or(s.h), one_or(s.w), one_or(s.c)};
    }
    const int c = constant(std::move(shape));
    const bool first = uniform(0, 2) == 0;
    return element(kKinds[uniform(0, 2)], first ? c : in, first ? in : c, activation);
  }
  int reshape(int in, std::vector<int> shape) {
    Op op;
    op.kind = OpKind::Reshape;
    const Tensor& t = graph.tensors[std::size_t(in)];
    const int out = tensor(std::move(shape), t.quantization.scale[0], t.zero_point());
    return finish(op, {in}, out);
  }
  // Along the last dimension, or one `before` it; the inputs share the first one's scale and zero point.
  int concat(const std::vector<int>& inputs, int before = 0) {
    Op op;
    op.kind = OpKind::Concat;
    const Tensor& first = graph.tensors[std::size_t(inputs[0])];
    std::vector<int> shape = first.shape;
    op.axis = int(shape.size()) - 1 - before;
    int& length = shape[std::size_t(op.axis)];
    length = 0;
    for (int t : inputs) length += graph.tensors[std::size_t(t)].shape[std::size_t(op.axis)];
    const int out = tensor(shape, first.quantization.scale[0], first.zero_point());
    return finish(op, inputs, out);
  }
  // Rows, columns and channels from `begin` on.
  int slice(int in, std::vector<int> begin, std::vector<int> size) {
    Op op;
    op.kind = OpKind::Slice;
    op.dims = std::move(begin);
    const Tensor& t = graph.tensors[std::size_t(in)];
    const int out = tensor(std::move(size), t.quantization.scale[0], t.zero_point());
    return finish(op, {in}, out);
  }
  // Channels in random order.
  int shuffle(int in) {
    Op op;
    op.kind = OpKind::Shuffle;
    const Tensor t = graph.tensors[std::size_t(in)];
    for (int c = 0; c < t.nhwc().c; c++) op.dims.insert(op.dims.begin() + uniform(0, c), c);
    return finish(op, {in}, tensor(t.shape, t.quantization.scale[0], t.zero_point()));
  }
  // To these rows and columns.
  int resize(int in, int h, int w, bool bilinear) {
    Op op;
    op.kind = OpKind::Resize;
    op.bilinear = bilinear;
    const Tensor t = graph.tensors[std::size_t(in)];
    return finish(op, {in}, tensor({1, h, w, t.nhwc().c}, t.quantization.scale[0], t.zero_point()));
  }
  // Over the last dimension.
  int arg_max(int in) {
    Op op;
    op.kind = OpKind::ArgMax;
    std::vector<int> shape = graph.tensors[std::size_t(in)].shape;
    op.axis = int(shape.size()) - 1;
    shape.pop_back();
    const int out = tensor(shape, 1.0F, 0);
    Tensor& t = graph.tensors[std::size_t(out)];
    t.type = t.model_type = ElementType::Int64;
    t.quantization = {};
    return finish(op, {in}, out);
  }
  // Of rows and columns, with the zero point.
  int pad(int in, Padding p, int channels_before = 0, int channels_after = 0) {
    Op op;
    op.kind = OpKind::Pad;
    op.dims = {0, 0, p.top, p.bottom, p.left, p.right, channels_before, channels_after};
    const Tensor& t = graph.tensors[std::size_t(in)];
    const Nhwc s = t.nhwc();
    const int out =
        tensor({1, s.h + p.top + p.bottom, s.w + p.left + p.right, s.c + channels_before + channels_after},
               t.quantization.scale[0], t.zero_point());
    return finish(op, {in}, out);
  }
  // Makes an operator's output share scale and zero point of another tensor, before anything reads it.
  void share_scale(int t, int with) {
    graph.tensors[std::size_t(t)].quantization = graph.tensors[std::size_t(with)].quantization;
  }
  int softmax(int in) {
    Op op;
    op.kind = OpKind::Softmax;
    const int out = tensor(graph.tensors[std::size_t(in)].shape, 1.0F / 256, -128);
    return finish(op, {in}, out);
  }

  std::vector<Int8Values> random_inputs() {
    std::vector<Int8Values> inputs;
    for (int t : graph.inputs) {
      Int8Values v(graph.tensors[std::size_t(t)].elements());
      for (auto& x : v) x = std::int8_t(rng());
      inputs.push_back(std::move(v));
    }
    return inputs;
  }

  static Padding same(int h, int w, int kh, int kw, int stride) {
    const auto v = same_padding(h, kh, stride);
    const auto x = same_padding(w, kw, stride);
    return {v[0], v[1], x[0], x[1]};
  }
  // None, `same` or any.
  Padding padding(int h, int w, int kh, int kw, int stride) {
    switch (uniform(0, 2)) {
      case 0:
        return {};
      case 1:
        return same(h, w, kh, kw, stride);
      default:
        return {uniform(0, kh - 1), uniform(0, kh - 1), uniform(0, kw - 1), uniform(0, kw - 1)};
    }
  }

 private:
  int tensor(std::vector<int> shape, float scale, int zero_point) {
    Tensor t;
    t.name = "t" + std::to_string(graph.tensors.size());
    t.shape = std::move(shape);
    t.quantization.scale = {scale};
    t.quantization.zero_point = {zero_point};
    if (uint8) t.model_type = ElementType::UInt8;
    graph.tensors.push_back(std::move(t));
    return int(graph.tensors.size()) - 1;
  }

  static std::vector<int> window_shape(const Nhwc& s, const Window& w, int channels) {
    return {1, window_outputs(s.h, w.pad.top, w.pad.bottom, w.extent_h(), w.stride_h),
            window_outputs(s.w, w.pad.left, w.pad.right, w.extent_w(), w.stride_w), channels};
  }

  int finish(Op& op, std::vector<int> inputs, int out) {
    op.inputs = std::move(inputs);
    op.output = out;
    op.name = "layer" + std::to_string(graph.ops.size());
    graph.ops.push_back(op);
    return out;
  }

  int weighted(Op& op, int in, std::vector<int> shape, int axis, int channels, int terms,
               std::vector<int> out_shape, Activation a) {
    Tensor w;
    w.name = "w" + std::to_string(graph.tensors.size());
    w.shape = std::move(shape);
    w.quantization.axis = axis;
    const int weight_zero = !uint8 ? 0 : uniform(0, 3) ? uniform(-40, 40) : zero_point();
    for (int c = 0; c < channels; c++) {
      w.quantization.scale.push_back(0.002F + 0.00001F * float(uniform(0, 300)));
      w.quantization.zero_point.push_back(weight_zero);
    }
    w.data.resize(w.elements());
    for (auto& v : w.data) v = std::uint8_t(rng());
    graph.tensors.push_back(std::move(w));
    op.weights = int(graph.tensors.size()) - 1;
    Tensor b;
    b.name = "b" + std::to_string(graph.tensors.size());
    b.type = ElementType::Int32;
    b.shape = {channels};
    for (int c = 0; c < channels; c++) {
      const std::uint32_t v = std::uint32_t(uniform(-20000, 20000));
      for (int i = 0; i < 4; i++) b.data.push_back(std::uint8_t(v >> (8 * i)));
    }
    graph.tensors.push_back(std::move(b));
    op.bias = int(graph.tensors.size()) - 1;
    op.activation = a;
    // Random operands: the sum spreads by about 74 * 74 * sqrt(terms); aim at a third of the range.
    const float in_scale = graph.tensors[std::size_t(in)].quantization.scale[0];
    const float scale = in_scale * 0.0035F * 74 * 74 * std::sqrt(float(terms)) / 40;
    const int out = tensor(std::move(out_shape), scale, zero_point());
    return finish(op, {in}, out);
  }
};

// A random layer of an ONNX graph that the requantiser's rule float rounds.
inline int float_layer(GraphBuilder& g) {
  g.graph.framework = Framework::Onnx;
  const int h = g.uniform(2, 10);
  const int w = g.uniform(2, 10);
  const int in = g.input(h, w, g.uniform(1, 30));
  const int kernel = g.uniform(0, 2) ? 3 : 1;
  const int stride = g.uniform(1, 2);
  const Padding pad = GraphBuilder::same(h, w, kernel, kernel, stride);
  switch (g.uniform(0, 3)) {
    case 0:
      return g.conv(in, g.uniform(1, 40), kernel, kernel, stride, pad, g.activation());
    case 1:
      return g.depthwise(in, kernel, kernel, stride, pad, g.activation());
    case 2:
      return g.fully_connected(in, g.uniform(1, 20), g.activation());
    default:
      return g.mean(in);
  }
}

// Sums of two, three, perhaps four maps, each of which begins with the one before, as chains of residual
// blocks make them; some of the maps are read elsewhere too, occur twice or come from the host.
inline int sums(GraphBuilder& g) {
  const int channels = g.uniform(1, 30);
  const int in = g.input(g.uniform(1, 10), g.uniform(1, 10), channels);
  const auto term = [&](int from) {
    const int kernel = g.uniform(0, 1) ? 3 : 1;
    const Padding pad{kernel / 2, kernel / 2, kernel / 2, kernel / 2};
    if (g.uniform(0, 3) == 0) return g.depthwise(from, kernel, kernel, 1, pad, g.activation());
    return g.conv(from, channels, kernel, kernel, 1, pad, g.activation());
  };
  std::vector<int> terms{g.uniform(0, 4) ? term(in) : in, term(in)};
  int out = g.sum(terms, g.activation());
  const bool chain = g.uniform(0, 3) != 0;
  for (int n = g.uniform(1, 2); n > 0; n--) {
    terms.push_back(g.uniform(0, 5) ? term(out) : terms[0]);
    if (!chain && n > 1) continue;
    out = g.sum(terms, g.activation());
  }
  if (g.uniform(0, 3) == 0) out = g.add(out, terms[1], g.activation());
  if (g.uniform(0, 3) == 0) g.output(terms[std::size_t(g.uniform(1, int(terms.size()) - 1))]);
  if (g.uniform(0, 3) == 0) g.output(g.conv(terms[1], 5, 3, 3, 1, {1, 1, 1, 1}, g.activation()));
  return out;
}

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SUPPORT_GRAPH_BUILDER_H
