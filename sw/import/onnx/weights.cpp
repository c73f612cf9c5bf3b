// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstring>

#include "import/onnx/importer.h"

namespace kaiten::onnx_import {

Weights Importer::weights_of(int value) {
  const Value& v = at(value);
  if (v.form != Form::Dequantised || at(v.source).form != Form::Constant) {
    throw Refused{"quantised weights",
                  v.form == Form::Constant ? "float weights" : "weights that are computed",
                  kStaticQuantisation};
  }
  return {&constant(v.source, "weights"), v.scales, at(v.source).name};
}

Bias Importer::bias_of(const std::vector<int>& operands, size_t i) {
  if (operands.size() <= i || operands[i] < 0) return {};
  if (!is_constant_value(operands[i])) throw Refused{"constant bias", "a bias that is computed", ""};
  return {operands[i]};
}

int Importer::weight_tensor(const Weights& w, const Shape& shape, int channels, int axis,
                            const std::function<size_t(size_t)>& element,
                            const std::function<size_t(size_t)>& channel) {
  if (w.values->type != kInt8 && w.values->type != kUint8)
    throw Refused{"weights of int8 or uint8", type_name(w.values->type), ""};
  if (w.scales.type != w.values->type) fail(here() + "zero point of weights is " + type_name(w.scales.type));
  if (w.scales.scale.size() != 1 && w.scales.scale.size() != size_t(channels)) {
    fail(here() + "weights have " + std::to_string(w.scales.scale.size()) + " scales for " +
         std::to_string(channels) + " channels");
  }
  Tensor tensor;
  tensor.name = w.name;
  tensor.shape = shape;
  tensor.quantization.scale = w.scales.scale;
  tensor.quantization.axis = axis;
  tensor.model_type = w.values->type == kUint8 ? ElementType::UInt8 : ElementType::Int8;
  const int offset = w.values->type == kUint8 ? 128 : 0;
  const std::vector<int>& zero_points = w.scales.zero_point;
  const bool one =
      std::all_of(zero_points.begin(), zero_points.end(), [&](int z) { return z == zero_points[0]; });
  tensor.quantization.zero_point.assign(w.scales.scale.size(), one ? zero_points[0] - offset : 0);
  charge(int64_t(w.values->size()));
  tensor.data.resize(w.values->size());
  for (size_t i = 0; i < tensor.data.size(); i++) {
    int64_t value = w.values->integer(element(i));
    // Different zero points per channel are taken off the weights where the difference fits.
    value -= one ? offset : zero_points[channel(i)];
    if (value < -128 || value > 127) {
      throw Refused{"one zero point for all weights, or differences that fit int8",
                    "zero points per channel and a difference of " + std::to_string(value),
                    "quantise weights symmetrically"};
    }
    tensor.data[i] = uint8_t(int8_t(value));
  }
  graph_.tensors.push_back(std::move(tensor));
  return int(graph_.tensors.size()) - 1;
}

int Importer::bias_tensor(const Bias& bias, int channels, float in_scale, const Scales& weights) {
  if (bias.value < 0) return kNoTensor;
  const Value& v = at(bias.value);
  const Constant& c = v.form == Form::Constant ? constant(bias.value, "bias") : constant(v.source, "bias");
  if (c.size() != size_t(channels))
    fail(here() + "bias does not have " + std::to_string(channels) + " elements");
  std::vector<int32_t> values(static_cast<size_t>(channels));
  const bool exact = c.type == kInt32 && v.form == Form::Constant;
  std::vector<float> reals;
  if (!exact && v.form == Form::Dequantised) reals = dequantised(v);
  for (size_t i = 0; i < values.size(); i++) {
    const float weight_scale = weights.scale[weights.scale.size() == 1 ? 0 : i];
    const double product = double(in_scale) * double(weight_scale);
    if (exact) {
      values[i] = int32_t(c.integer(i));
      continue;
    }
    if (v.form == Form::Dequantised && c.type == kInt32) {
      const double own = double(v.scales.scale[v.scales.scale.size() == 1 ? 0 : i]);
      const int zero_point = v.scales.zero_point[v.scales.scale.size() == 1 ? 0 : i];
      // The scale of a bias is the product of the others but for the rounding of its own float32.
      if (zero_point == 0 && std::abs(own / product - 1.0) < 1.0e-5) {
        values[i] = int32_t(c.integer(i));
        continue;
      }
    }
    const double real = v.form == Form::Dequantised ? double(reals[i]) : double(c.real(i));
    const double scaled = std::nearbyint(real / product);
    if (!(std::abs(scaled) <= 2147483647.0)) throw Refused{"biases of 32 bits", number(scaled), ""};
    values[i] = int32_t(scaled);
  }
  Tensor tensor;
  tensor.name = layer_ + "/bias";
  tensor.type = ElementType::Int32;
  tensor.model_type = ElementType::Int32;
  tensor.shape = {channels};
  tensor.data.resize(values.size() * 4);
  std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  graph_.tensors.push_back(std::move(tensor));
  return int(graph_.tensors.size()) - 1;
}

int Importer::quantised_operand(int value, int rank) {
  const Value& v = at(value);
  const Constant& c = constant(v.source, "operand");
  if (v.scales.scale.size() != 1 || (c.type != kInt8 && c.type != kUint8)) {
    throw Refused{"operands with one scale and zero point",
                  std::to_string(v.scales.scale.size()) + " scales of " + type_name(c.type), ""};
  }
  Shape shape = c.shape;
  if (shape.size() > size_t(rank)) fail(here() + "operand of rank " + std::to_string(shape.size()));
  while (rank == 4 && shape.size() < 4) shape.insert(shape.begin(), 1);
  Tensor tensor;
  tensor.name = at(v.source).name;
  tensor.shape = nhwc_shape(shape);
  tensor.quantization = stored(v.scales);
  tensor.model_type = c.type == kUint8 ? ElementType::UInt8 : ElementType::Int8;
  if (rank == 4) tensor.model_layout = Layout::Nchw;
  charge(int64_t(c.size()));
  const std::vector<int8_t> bytes = from_model(tensor, c.bytes);
  tensor.data.assign(bytes.begin(), bytes.end());
  if (tensor.data.empty()) fail(here() + "operand is empty");
  graph_.tensors.push_back(std::move(tensor));
  return int(graph_.tensors.size()) - 1;
}

int Importer::conv(const Node& node, Op& op, int in_tensor, const Scales& in_scales, const Weights& weights,
                   const Bias& bias, const Scales& out) {
  const Tensor& t = graph_.tensors[size_t(plain(in_tensor))];
  const Nhwc map = t.nhwc();
  const Shape in = {map.n, map.c, map.h, map.w};
  if (t.shape.size() != 4)
    throw Refused{"two-dimensional convolutions", "an input of shape " + shape_text(t.shape), ""};
  const Shape kernel = weights.values->shape;
  const Shape shape = conv_shape(node, in, kernel);
  const int groups = int(integer(node, "group", 1));
  Shape ignored = shape;
  op.window = window(node, in, kernel[2], kernel[3], ignored);
  op.inputs = {in_tensor};
  const size_t depth = size_t(kernel[1]);
  const size_t taps = size_t(kernel[2]) * size_t(kernel[3]);
  const size_t outputs = size_t(kernel[0]);
  if (groups > 1 && depth == 1 && groups == in[1]) {
    op.kind = OpKind::DepthwiseConv2D;
    op.depth_multiplier = kernel[0] / groups;
    op.weights = weight_tensor(
        weights, {1, kernel[2], kernel[3], kernel[0]}, kernel[0], 3,
        [=](size_t i) { return i % outputs * taps + i / outputs; }, [=](size_t i) { return i % outputs; });
  } else {
    op.kind = OpKind::Conv2D;
    op.groups = groups;
    op.weights = weight_tensor(
        weights, {kernel[0], kernel[2], kernel[3], kernel[1]}, kernel[0], 0,
        [=](size_t i) {
          const size_t o = i / (taps * depth);
          return (o * depth + i % depth) * taps + i / depth % taps;
        },
        [=](size_t i) { return i / (taps * depth); });
  }
  op.bias = bias_tensor(bias, kernel[0], in_scales.scale[0], weights.scales);
  op.output = new_quantised_tensor(layer_, shape, out);
  const int tensor = op.output;
  emit(std::move(op));
  return tensor;
}

int Importer::fully_connected(Op& op, int in_tensor, const Scales& in_scales, const Weights& weights,
                              bool transposed, const Bias& bias, const Shape& shape, const Scales& out) {
  const Shape& kernel = weights.values->shape;
  if (kernel.size() != 2) throw Refused{"weights of rank 2", "rank " + std::to_string(kernel.size()), ""};
  const int depth = transposed ? kernel[1] : kernel[0];
  const int channels = transposed ? kernel[0] : kernel[1];
  const Tensor& input = graph_.tensors[size_t(in_tensor)];
  if (depth < 1 || channels < 1 || input.shape.empty() || input.shape.back() != depth) {
    fail(here() + "weights of shape " + shape_text(kernel) + " do not fit an input of shape " +
         shape_text(input.shape));
  }
  if (int64_t(input.elements()) != depth) {
    throw Refused{"one row of inputs", std::to_string(int64_t(input.elements()) / depth) + " rows",
                  "express the layer as a 1x1 convolution"};
  }
  // The bytes of a flattened map stand in NHWC order, the model's weights expect NCHW.
  std::array<int, 3> chw = {depth, 1, 1};
  if (const auto found = flattened_.find(in_tensor); found != flattened_.end()) chw = found->second;
  const size_t pixels = size_t(chw[1]) * size_t(chw[2]);
  const size_t in_channels = size_t(chw[0]);
  op.kind = OpKind::FullyConnected;
  op.inputs = {in_tensor};
  Weights w = weights;
  op.weights = weight_tensor(
      w, {channels, depth}, channels, 0,
      [=](size_t i) {
        const size_t o = i / size_t(depth);
        const size_t k = i % size_t(depth);
        const size_t source = k % in_channels * pixels + k / in_channels;
        return transposed ? o * size_t(depth) + source : source * size_t(channels) + o;
      },
      [=](size_t i) { return i / size_t(depth); });
  op.bias = bias_tensor(bias, channels, in_scales.scale[0], weights.scales);
  op.output = new_quantised_tensor(layer_, shape, out);
  const int tensor = op.output;
  emit(std::move(op));
  return tensor;
}

}  // namespace kaiten::onnx_import
