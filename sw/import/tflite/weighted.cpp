// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Convolutions and fully connected layers of TensorFlow Lite.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "import/tflite/constants.h"
#include "import/tflite/layer.h"
#include "import/tflite/operators.h"
#include "import/tflite/tensors.h"

namespace kaiten::importing::from_tflite {

namespace {

// The map that a convolution reads; the one before it where it is a dilated one written as several operators.
bool use_map(State& s, const Node& node, Op& op) {
  const auto dilation = s.dilations.find(node.inputs()->Get(0));
  if (dilation == s.dilations.end()) return use_input(s, node, op);
  const Dilation& d = dilation->second;
  op.inputs.push_back(d.map);
  return s.status_of(d.written()) == Status::Ready && require_int8(s, op);
}

// What follows the shape of the kernel in both kinds of convolution: `channels`, the dimension of the kernel
// that counts the output channels.
template <typename Options>
bool import_window_and_weights(State& s, const Node& node, const Options& settings, const Shape& kernel,
                               int channels, Op& op) {
  op.window = {kernel[1],
               kernel[2],
               settings.stride_h(),
               settings.stride_w(),
               settings.dilation_h(),
               settings.dilation_w(),
               {}};
  const bool activation = import_activation(s, op, settings.activation());
  std::optional<Padding> pad;
  if (const auto at = s.dilations.find(node.inputs()->Get(0)); at != s.dilations.end()) {
    op.window.dilation_h *= at->second.rows;
    op.window.dilation_w *= at->second.columns;
    pad = at->second.pad;
  }
  return import_window(s, op, settings.padding(), kernel[std::size_t(channels)], pad) &&
         import_weights_and_bias(s, node, op, kernel, channels) && activation && check_arithmetic(s, op);
}

[[noreturn]] void fail_fit(const State& s, const Shape& kernel, const std::string& what) {
  fail_layer(s, "weights of shape " + shape_text(kernel) + " do not fit " + what);
}

// The map of which a fully connected layer reads the pixels as a list; kNoTensor: it reads another thing.
int map_of_pixels(const State& s, const Op& op, int channels) {
  const auto made = std::find_if(s.graph.ops.rbegin(), s.graph.ops.rend(),
                                 [&](const Op& before) { return before.output == op.inputs[0]; });
  if (made == s.graph.ops.rend() || made->kind != OpKind::Reshape) return kNoTensor;
  const Shape& list = s.graph.input_of(op).shape;
  const Shape& map = s.graph.input_of(*made).shape;
  const bool is_map = map.size() == 4 && map[0] == 1 && map[1] > 1 && map[3] == channels;
  return is_map && list.size() == 2 && list[1] == channels ? made->inputs[0] : kNoTensor;
}

// The layer on other tensors than its operator's, and a reshape to what that gives.
bool on_tensor(State& s, Op& op, int input, const Shape& made) {
  Op layer = op;
  layer.inputs = {input};
  if (!step_before(s, op, std::move(layer), made)) return false;
  op.kind = OpKind::Reshape;
  op.weights = op.bias = kNoTensor;
  op.activation = Activation::None;
  return true;
}

// The layer on the pixels of a map before a reshape makes a list of them: rows and columns stay as they lie. What has more than
// four dimensions is a map of one column.
bool on_pixels(State& s, Op& op, const Shape& kernel) {
  const int map = map_of_pixels(s, op, kernel[1]);
  if (map != kNoTensor) {
    Shape made = s.tensor(map).shape;
    made.back() = kernel[0];
    return on_tensor(s, op, map, made);
  }
  const Tensor& in = s.graph.input_of(op);
  if (std::max(in.shape.size(), s.graph.output_of(op).shape.size()) <= kMaxRank) return true;
  const int rows = int(in.elements()) / kernel[1];
  return on_tensor(s, op, reshaped(s, op.inputs[0], {1, rows, 1, kernel[1]}), {1, rows, 1, kernel[0]});
}

}  // namespace

bool import_conv(State& s, const Node& node, Op& op) {
  if (!use_map(s, node, op)) return false;
  const auto& settings = options<tflite::Conv2DOptions>(s, node);
  if (!require_map(s, op)) return false;
  const Shape kernel = weights_shape(s, node, 4, "four");
  const int in_channels = s.graph.input_of(op).nhwc().c;
  if (kernel[3] != in_channels) {
    if (in_channels % kernel[3] != 0) fail_fit(s, kernel, std::to_string(in_channels) + " input channels");
    op.groups = in_channels / kernel[3];
    if (kernel[0] % op.groups != 0) fail_fit(s, kernel, std::to_string(op.groups) + " groups");
  }
  return import_window_and_weights(s, node, settings, kernel, 0, op);
}

bool import_depthwise(State& s, const Node& node, Op& op) {
  if (!use_map(s, node, op)) return false;
  const auto& settings = options<tflite::DepthwiseConv2DOptions>(s, node);
  if (!require_map(s, op)) return false;
  const Shape kernel = weights_shape(s, node, 4, "four");
  const int in_channels = s.graph.input_of(op).nhwc().c;
  if (kernel[0] != 1 || kernel[3] % in_channels != 0)
    fail_fit(s, kernel, std::to_string(in_channels) + " input channels");
  // The stated multiplier is redundant, and 0 in some files; the shapes decide, as in TensorFlow Lite.
  op.depth_multiplier = kernel[3] / in_channels;
  return import_window_and_weights(s, node, settings, kernel, 3, op);
}

bool import_fully_connected(State& s, const Node& node, Op& op) {
  if (!use_input(s, node, op)) return false;
  const auto& settings = options<tflite::FullyConnectedOptions>(s, node);
  if (settings.weights_format() != 0) {
    refuse(s, {"weights in plain order", "weights format " + std::to_string(settings.weights_format())});
    return false;
  }
  const Shape kernel = weights_shape(s, node, 2, "two");
  const Tensor& input = s.graph.input_of(op);
  const Tensor& output = s.graph.output_of(op);
  const auto elements = std::int64_t(input.elements());
  if (elements % kernel[1] != 0) fail_fit(s, kernel, "an input of shape " + shape_text(input.shape));
  const std::int64_t rows = elements / kernel[1];
  Shape made = {int(rows), kernel[0]};
  if (settings.keep_num_dims() && input.shape.back() == kernel[1]) {
    made = input.shape;
    made.back() = kernel[0];
  }
  takes_shape(s, op.output, made);  // or another one of as many rows
  if (std::int64_t(output.elements()) != rows * kernel[0] || output.nhwc().c != kernel[0]) {
    fail_layer(s, "output has shape " + shape_text(output.shape) + ", expected " + std::to_string(rows) +
                      "x" + std::to_string(kernel[0]));
  }
  const bool activation = import_activation(s, op, settings.activation());
  if (!import_weights_and_bias(s, node, op, kernel, 0) || !activation || !check_arithmetic(s, op))
    return false;
  return on_pixels(s, op, kernel);
}

}  // namespace kaiten::importing::from_tflite
