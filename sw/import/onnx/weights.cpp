// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "import/onnx/operands.h"
#include "import/onnx/tensors.h"

namespace kaiten::importing::from_onnx {

namespace {

int append(State& s, Tensor tensor) {
  s.graph.tensors.push_back(std::move(tensor));
  return int(s.graph.tensors.size()) - 1;
}

void note_rounded_biases(State& s) {
  const std::string note =
      "float32 biases are rounded to steps of the sums: a result next to a tie may differ from onnxruntime's "
      "by 1";
  if (std::find(s.graph.notes.begin(), s.graph.notes.end(), note) == s.graph.notes.end())
    s.graph.notes.push_back(note);
}

// The bias as int32 multiples of the products of scales: as it stands where it is int32, or dequantised by
// just these scales.
std::vector<std::int32_t> bias_values(State& s, const Bias& bias, int channels, float in_scale,
                                      const Scales& weights) {
  const Value& v = s.at(bias.value);
  const Constant& c =
      v.form == Form::Constant ? constant(s, bias.value, "bias") : constant(s, v.source, "bias");
  // Of one value or one for each channel, which is the last dimension of fully connected layers.
  const bool by_channel =
      c.size() == std::size_t(channels) && (c.shape.empty() || c.shape.back() == channels);
  if (c.size() != 1 && !by_channel) {
    throw Unsupported{"a bias of one value or one for each of " + std::to_string(channels) + " channels",
                      "one of shape " + shape_text(c.shape)};
  }
  std::vector<std::int32_t> values(static_cast<std::size_t>(channels));
  const bool exact = c.type == kInt32 && v.form == Form::Constant;
  if (v.form == Form::Constant && c.type == kFloat) note_rounded_biases(s);
  std::vector<float> reals;
  if (!exact && v.form == Form::Dequantised) reals = dequantised(s, v);
  for (std::size_t channel = 0; channel < values.size(); channel++) {
    const std::size_t i = c.size() == 1 ? 0 : channel;
    const float weight_scale = weights.scale[weights.scale.size() == 1 ? 0 : channel];
    const double product = double(in_scale) * double(weight_scale);
    if (exact) {
      values[channel] = std::int32_t(c.integer(i));
      continue;
    }
    if (v.form == Form::Dequantised && c.type == kInt32) {
      const double own = double(v.scales.scale[v.scales.scale.size() == 1 ? 0 : i]);
      const int zero_point = v.scales.zero_point[v.scales.scale.size() == 1 ? 0 : i];
      // The scale of a bias is the product of the others but for the rounding of its own float32.
      if (zero_point == 0 && std::abs(own / product - 1.0) < 1.0e-5) {
        values[channel] = std::int32_t(c.integer(i));
        continue;
      }
    }
    const double real = v.form == Form::Dequantised ? double(reals[i]) : double(c.real(i));
    const double scaled = std::nearbyint(real / product);
    if (!(std::abs(scaled) <= 2147483647.0)) throw Unsupported{"biases of 32 bits", number(scaled)};
    values[channel] = std::int32_t(scaled);
  }
  return values;
}

}  // namespace

Weights weights_of(const State& s, int value) {
  const Value& v = s.at(value);
  if (v.form != Form::Dequantised || s.at(v.source).form != Form::Constant) {
    throw Unsupported{"quantised weights",
                      v.form == Form::Constant ? "float weights" : "weights that are computed",
                      kStaticQuantisation};
  }
  return {&constant(s, v.source, "weights"), v.scales, s.at(v.source).name};
}

Constant scale_channels(const State& s, Weights& w, const std::vector<float>& factors) {
  const std::size_t channels = factors.size();
  Scales& scales = w.scales;
  if (w.values->shape.empty() || std::size_t(w.values->shape[0]) != channels ||
      (scales.scale.size() != 1 && scales.scale.size() != channels))
    fail_layer(s, "weights of shape " + shape_text(w.values->shape) + " for " + std::to_string(channels) +
                      " factors");
  if (scales.scale.size() == 1) {
    scales.scale.resize(channels, scales.scale[0]);
    scales.zero_point.resize(channels, scales.zero_point[0]);
  }
  Constant values = *w.values;
  const std::size_t taps = values.size() / channels;
  for (std::size_t c = 0; c < channels; c++) {
    const float factor = factors[c];
    if (!std::isfinite(factor)) throw Unsupported{"factors of float32", number(double(factor))};
    if (factor > 0) {
      scales.scale[c] *= factor;
      continue;
    }
    // Around the zero point; a factor of 0 leaves nothing.
    const int twice = 2 * scales.zero_point[c], low = values.type == kUint8 ? 0 : -128;
    for (std::size_t i = c * taps; i < (c + 1) * taps; i++) {
      const int mirrored = factor < 0 ? twice - int(values.integer(i)) : scales.zero_point[c];
      if (mirrored < low || mirrored > low + 255)
        throw Unsupported{"weights that have a negative in their type, under a negative factor",
                          std::to_string(values.integer(i))};
      values.bytes[i] = std::uint8_t(mirrored);
    }
    if (factor < 0) scales.scale[c] *= -factor;
  }
  if (!std::all_of(scales.scale.begin(), scales.scale.end(),
                   [](float x) { return x > 0 && std::isfinite(x); }))
    throw Unsupported{"factors of float32", "products beyond it"};
  return values;
}

Bias bias_of(const State& s, const std::vector<int>& operands, std::size_t i) {
  if (operands.size() <= i || operands[i] < 0) return {};
  if (!is_constant_value(s, operands[i])) throw Unsupported{"constant bias", "a bias that is computed"};
  return {operands[i]};
}

int weight_tensor(State& s, const Weights& w, const Shape& shape, int channels, int axis,
                  const Order& order) {
  if (w.values->type != kInt8 && w.values->type != kUint8)
    throw Unsupported{"weights of int8 or uint8", type_name(w.values->type)};
  if (w.scales.type != w.values->type) fail_layer(s, "zero point of weights is " + type_name(w.scales.type));
  if (w.scales.scale.size() != 1 && w.scales.scale.size() != std::size_t(channels)) {
    fail_layer(s, "weights have " + std::to_string(w.scales.scale.size()) + " scales for " +
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
  charge_constant(s, std::int64_t(w.values->size()));
  tensor.data.resize(w.values->size());
  for (std::size_t i = 0; i < tensor.data.size(); i++) {
    std::int64_t value = w.values->integer(order.element(i));
    // Different zero points per channel are taken off the weights where the difference fits.
    value -= one ? offset : zero_points[order.channel(i)];
    if (value < -128 || value > 127) {
      throw Unsupported{"one zero point for all weights, or differences that fit int8",
                        "zero points per channel and a difference of " + std::to_string(value),
                        "quantise weights symmetrically"};
    }
    tensor.data[i] = std::uint8_t(std::int8_t(value));
  }
  return append(s, std::move(tensor));
}

int bias_tensor(State& s, const Bias& bias, int channels, float in_scale, const Scales& weights) {
  if (bias.value < 0) return kNoTensor;
  const std::vector<std::int32_t> values = bias_values(s, bias, channels, in_scale, weights);
  Tensor tensor;
  tensor.name = s.layer.name + "/bias";
  tensor.type = ElementType::Int32;
  tensor.model_type = ElementType::Int32;
  tensor.shape = {channels};
  tensor.data.resize(values.size() * 4);
  std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return append(s, std::move(tensor));
}

int quantised_operand(State& s, int value, int rank) {
  const Value& v = s.at(value);
  const Constant& c = constant(s, v.source, "operand");
  if (v.scales.scale.size() != 1 || (c.type != kInt8 && c.type != kUint8)) {
    throw Unsupported{"operands with one scale and zero point",
                      std::to_string(v.scales.scale.size()) + " scales of " + type_name(c.type)};
  }
  Shape shape = c.shape;
  if (shape.size() > std::size_t(rank)) fail_layer(s, "operand of rank " + std::to_string(shape.size()));
  while (rank == 4 && shape.size() < 4) shape.insert(shape.begin(), 1);
  Tensor tensor;
  tensor.name = s.at(v.source).name;
  tensor.shape = nhwc_shape(shape);
  tensor.quantization = stored(v.scales);
  tensor.model_type = c.type == kUint8 ? ElementType::UInt8 : ElementType::Int8;
  if (rank == 4) tensor.model_layout = Layout::Nchw;
  charge_constant(s, std::int64_t(c.size()));
  const std::vector<std::int8_t> bytes = from_model(tensor, c.bytes);
  tensor.data.assign(bytes.begin(), bytes.end());
  if (tensor.data.empty()) fail_layer(s, "operand is empty");
  return append(s, std::move(tensor));
}

}  // namespace kaiten::importing::from_onnx
