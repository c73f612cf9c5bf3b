// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/weighted.h"

#include <array>
#include <string>
#include <utility>

#include "import/onnx/lines.h"
#include "import/onnx/rearrange.h"
#include "import/onnx/tensors.h"
#include "import/onnx/weights.h"
#include "import/onnx/windows.h"

namespace kaiten::importing::from_onnx {

namespace {

// From OIHW, one input channel a group, to 1HWO.
Order depthwise_order(const Shape& kernel) {
  const auto outputs = std::size_t(kernel[0]);
  const std::size_t taps = std::size_t(kernel[2]) * std::size_t(kernel[3]);
  return {[=](std::size_t i) { return i % outputs * taps + i / outputs; },
          [=](std::size_t i) { return i % outputs; }};
}

// From OIHW to OHWI.
Order conv_order(const Shape& kernel) {
  const auto depth = std::size_t(kernel[1]);
  const std::size_t taps = std::size_t(kernel[2]) * std::size_t(kernel[3]);
  return {[=](std::size_t i) {
            const std::size_t o = i / (taps * depth);
            return (o * depth + i % depth) * taps + i / depth % taps;
          },
          [=](std::size_t i) { return i / (taps * depth); }};
}

// The bytes of a map flattened from C, H, W stand in NHWC order, the model's weights expect NCHW.
Order fully_connected_order(std::size_t depth, std::size_t channels, bool transposed,
                            const std::array<int, 3>& chw) {
  const auto in_channels = std::size_t(chw[0]);
  const std::size_t pixels = std::size_t(chw[1]) * std::size_t(chw[2]);
  return {[=](std::size_t i) {
            const std::size_t o = i / depth;
            const std::size_t k = i % depth;
            const std::size_t source = k % in_channels * pixels + k / in_channels;
            return transposed ? o * depth + source : source * channels + o;
          },
          [=](std::size_t i) { return i / depth; }};
}

// The layer on all rows of a tensor of higher rank as on one list of them.
int on_rows(State& s, Op op, WeightedOperands x, bool transposed, const Shape& shape) {
  const Shape from = model_shape(s, x.in.tensor);
  const int rows = int(elements_of(from) / from.back());
  x.in.tensor = reshaped(s, plain(s, x.in.tensor), from, {1, rows, from.back()}, x.in.scales);
  const Shape made = {1, rows, shape.back()};
  return reshaped(s, fully_connected(s, std::move(op), x, transposed, made), made, shape, x.out);
}

}  // namespace

int conv(State& s, const Node& node, Op op, const WeightedOperands& x) {
  const Tensor& t = s.tensor(plain(s, x.in.tensor));
  const Nhwc map = t.nhwc();
  const Shape nchw = {map.n, map.c, map.h, map.w};
  if (t.shape.size() != 4)
    throw Unsupported{"two-dimensional convolutions", "an input of shape " + shape_text(t.shape)};
  const Shape kernel = as_kernel(x.weights.values->shape, nchw);
  const Shape shape = conv_shape(s, node, nchw, kernel);
  const int groups = int(integer(node, "group", 1));
  op.window = window_of(s, node, nchw, kernel[2], kernel[3]);
  op.inputs = {x.in.tensor};
  if (groups > 1 && kernel[1] == 1 && groups == map.c) {
    op.kind = OpKind::DepthwiseConv2D;
    op.depth_multiplier = kernel[0] / groups;
    op.weights = weight_tensor(s, x.weights, {1, kernel[2], kernel[3], kernel[0]}, kernel[0], 3,
                               depthwise_order(kernel));
  } else {
    op.kind = OpKind::Conv2D;
    op.groups = groups;
    op.weights = weight_tensor(s, x.weights, {kernel[0], kernel[2], kernel[3], kernel[1]}, kernel[0], 0,
                               conv_order(kernel));
  }
  op.bias = bias_tensor(s, x.bias, kernel[0], x.in.scales.scale[0], x.weights.scales);
  return emit_quantised(s, std::move(op), s.layer.name, shape, x.out);
}

int fully_connected(State& s, Op op, const WeightedOperands& x, bool transposed, const Shape& shape) {
  const Shape& kernel = x.weights.values->shape;
  if (kernel.size() != 2) throw Unsupported{"weights of rank 2", "rank " + std::to_string(kernel.size())};
  const int depth = transposed ? kernel[1] : kernel[0];
  const int channels = transposed ? kernel[0] : kernel[1];
  if (s.tensor(x.in.tensor).shape.size() > 3) return on_rows(s, std::move(op), x, transposed, shape);
  const Tensor& input = s.tensor(x.in.tensor);
  // Of lower ranks the last dimension is the channels' in the model, too.
  if (depth < 1 || channels < 1 || input.shape.empty() || input.shape.back() != depth) {
    fail_layer(s, "weights of shape " + shape_text(kernel) + " do not fit an input of shape " +
                      shape_text(input.shape));
  }
  std::array<int, 3> chw = {depth, 1, 1};
  if (const auto found = s.flattened.find(x.in.tensor); found != s.flattened.end()) chw = found->second;
  op.kind = OpKind::FullyConnected;
  op.inputs = {x.in.tensor};
  op.weights =
      weight_tensor(s, x.weights, {channels, depth}, channels, 0,
                    fully_connected_order(std::size_t(depth), std::size_t(channels), transposed, chw));
  op.bias = bias_tensor(s, x.bias, channels, x.in.scales.scale[0], x.weights.scales);
  return emit_quantised(s, std::move(op), s.layer.name, shape, x.out);
}

}  // namespace kaiten::importing::from_onnx
