// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/quantize.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "graph/float_pairs.h"
#include "graph/quantize_parts.h"
#include "graph/round_once.h"

namespace kaiten {

namespace {

// The stored value of a real limit as onnxruntime's QuantizeLinear makes it: half to even.
int stored_limit(float bound, float scale, int zero_point) {
  return std::clamp(zero_point + int(std::clamp(std::nearbyint(bound / scale), -1.0e6F, 1.0e6F)), -128, 127);
}

}  // namespace

Multiplier multiplier_for(const Op& op, double real) {
  try {
    return quantize_multiplier(real);
  } catch (const InputError& e) {
    throw InputError("layer '" + op.name + "' (" + std::string(name_of(op.kind)) + "): " + e.what());
  }
}

void set_output_range(const Graph& graph, const Op& op, OutputQuant& out) {
  const Tensor& output = graph.output_of(op);
  const float scale = output.quantization.scale.front();
  out.zero_point = output.zero_point();
  if (graph.framework == Framework::TfLite) {
    const ActivationRange range = activation_range(op.activation, scale, out.zero_point);
    out.low = std::max(range.lo, stored_limit(op.lo, scale, out.zero_point));
    out.high = std::min(range.hi, stored_limit(op.hi, scale, out.zero_point));
    return;
  }
  float low = op.lo;
  float high = op.hi;
  if (op.activation == Activation::Relu || op.activation == Activation::Relu6) low = std::max(low, 0.0F);
  if (op.activation == Activation::Relu6) high = std::min(high, 6.0F);
  out.low = stored_limit(low, scale, out.zero_point);
  out.high = stored_limit(high, scale, out.zero_point);
}

namespace {

constexpr int64_t kInt32Min = std::numeric_limits<int32_t>::min();
constexpr int64_t kInt32Max = std::numeric_limits<int32_t>::max();

double scale_of(const Tensor& tensor) { return double(tensor.quantization.scale.front()); }

// Same as fit_integers(), with the layer's name too.
template <typename Params>
void fit_named(const Op& op, Params& params) {
  try {
    fit_integers(params);
  } catch (const InputError& e) {
    throw InputError("layer '" + op.name + "' (" + std::string(name_of(op.kind)) + "): " + e.what());
  }
}

// Whether onnxruntime's QLinearAdd or QLinearMul repeats the first operand while it walks along the innermost dimension of
// the output, in the model's order, that has more than one element: then it computes with the operands exchanged.
bool first_is_repeated(const Graph& graph, const Op& op) {
  const std::vector<int> out = graph.output_of(op).model_shape();
  const std::vector<int> first = graph.input_of(op, 0).model_shape();
  for (size_t back = 1; back <= out.size(); back++) {
    if (out[out.size() - back] > 1) return back > first.size() || first[first.size() - back] == 1;
  }
  return false;
}

// What the values of the model stand above the stored ones.
int model_offset(const Graph& graph, const Op& op) {
  return graph.output_of(op).model_type == ElementType::UInt8 ? 128 : 0;
}

Rounding rule_of(const Graph& graph) {
  return graph.framework == Framework::Onnx ? Rounding::Float : Rounding::Double;
}

// Weights of one output channel are strided in depthwise kernels (1HWO) and contiguous in the others (O
// first).
struct ChannelWeights {
  size_t first;
  size_t step;
  size_t count;
};

ChannelWeights channel_weights(const Graph& graph, const Op& op, size_t channel) {
  const Tensor& weights = graph.weights_of(op);
  if (op.kind == OpKind::DepthwiseConv2D) {
    const size_t channels = size_t(weights.nhwc().c);
    return {channel, channels, weights.elements() / channels};
  }
  const size_t count = weights.elements() / size_t(weights.shape.front());
  return {channel * count, 1, count};
}

// The sum of what `value` makes of each of a channel's weights, |value| < 2^15: in 32 bits, a block of weights at a time.
template <class Value>
int64_t sum_of(const Tensor& weights, const ChannelWeights& w, Value value) {
  constexpr size_t kBlock = size_t(1) << 16;
  int64_t sum = 0;
  for (size_t begin = 0; begin < w.count; begin += kBlock) {
    const size_t end = std::min(begin + kBlock, w.count);
    int32_t block = 0;
    if (w.step == 1) {
      const uint8_t* at = weights.data.data() + w.first;
      for (size_t i = begin; i < end; i++) block += value(int8_t(at[i]));
    } else {
      for (size_t i = begin; i < end; i++) block += value(weights.int8_at(w.first + i * w.step));
    }
    sum += block;
  }
  return sum;
}

// value * 2^max(shift, 0), shift <= 30. Saturating first at a value that fits no int32 keeps this inside 64
// bits.
int64_t shifted_left(int64_t value, int shift) {
  return std::clamp(value, 2 * kInt32Min, 2 * kInt32Max) * (int64_t(1) << std::max(shift, 0));
}

AccumulatorRange conv_range(const Graph& graph, const Op& op, const ConvParams& params) {
  const Tensor& weights = graph.weights_of(op);
  AccumulatorRange range;
  const int64_t low = -128 - params.zp_in;
  const int64_t high = 127 - params.zp_in;
  for (size_t c = 0; c < params.bias.size(); c++) {
    const ChannelWeights w = channel_weights(graph, op, c);
    const int zero = params.zp_weights;
    const int64_t positive = sum_of(weights, w, [zero](int8_t v) { return std::max(v - zero, 0); });
    const int64_t negative = sum_of(weights, w, [zero](int8_t v) { return std::min(v - zero, 0); });
    int64_t min = params.bias[c] + positive * low + negative * high;
    int64_t max = params.bias[c] + positive * high + negative * low;
    if (params.output.rule == Rounding::Double) {
      min = shifted_left(min, params.shift[c]);
      max = shifted_left(max, params.shift[c]);
    }
    range.min = std::min(range.min, min);
    range.max = std::max(range.max, max);
  }
  return range;
}

// How far from its zero point an output's values lie.
int reach_of(const OutputQuant& out) { return std::max(out.high - out.zero_point, out.zero_point - out.low); }

}  // namespace

Multiplier quantize_multiplier(double real) {
  if (!(real >= 0.0) || !(real < kMaxRealMultiplier)) {
    throw InputError("requantisation factor must be at least 0 and below 2^30, is " + std::to_string(real));
  }
  if (real == 0.0) return {0, 0};
  int exponent = 0;
  const double fraction = std::frexp(real, &exponent);
  auto m = int64_t(std::round(fraction * double(int64_t(1) << 31)));
  if (m == int64_t(1) << 31) {
    m /= 2;
    exponent++;
  }
  if (exponent < -31) return {0, 0};
  // Only a factor that rounds up to 2^30 itself gets here; its shift would be one more than the hardware has.
  if (exponent > 30) return {std::numeric_limits<int32_t>::max(), 30};
  return {int32_t(m), exponent};
}

int32_t doubling_high_multiply(int32_t a, int32_t b) {
  if (a == kInt32Min && b == kInt32Min) return int32_t(kInt32Max);
  const int64_t product = int64_t(a) * int64_t(b);
  const int64_t nudge = product >= 0 ? int64_t(1) << 30 : 1 - (int64_t(1) << 30);
  return int32_t((product + nudge) / (int64_t(1) << 31));  // division truncates towards zero
}

int32_t rounding_divide_by_pot(int32_t x, int exponent) {
  const int64_t mask = (int64_t(1) << exponent) - 1;
  const int64_t remainder = x & mask;
  const int64_t threshold = (mask >> 1) + (x < 0 ? 1 : 0);
  return int32_t((int64_t(x) >> exponent) + (remainder > threshold ? 1 : 0));
}

int32_t requantize_double(int32_t x, Multiplier multiplier) {
  const int left = std::max(multiplier.shift, 0);
  const int right = std::max(-multiplier.shift, 0);
  const auto shifted = int32_t(uint32_t(x) << left);
  return rounding_divide_by_pot(doubling_high_multiply(shifted, multiplier.m), right);
}

int32_t requantize_single(int32_t x, Multiplier multiplier) {
  const int64_t product = int64_t(x) * int64_t(multiplier.m);
  const int right = 31 - multiplier.shift;  // 1 to 62
  // |product| <= 2^62, so the sum below stays under 2^63.
  const int64_t magnitude = (std::abs(product) + (int64_t(1) << (right - 1))) >> right;
  return int32_t(std::clamp(product < 0 ? -magnitude : magnitude, kInt32Min, kInt32Max));
}

int32_t requantize_float(int32_t x, Multiplier multiplier) {
  const float factor = std::ldexp(float(multiplier.m), multiplier.shift - 31);
  const float y = std::nearbyint(float(x) * factor);
  // float(INT32_MAX) is 2^31: one more than fits.
  if (y >= 2147483648.0F) return int32_t(kInt32Max);
  return y < -2147483648.0F ? int32_t(kInt32Min) : int32_t(y);
}

int32_t requantize(int32_t x, Multiplier multiplier, Rounding rounding) {
  if (rounding == Rounding::Float) return requantize_float(x, multiplier);
  return rounding == Rounding::Single ? requantize_single(x, multiplier) : requantize_double(x, multiplier);
}

int32_t average(int32_t sum, int32_t count) {
  const int64_t half = count / 2;
  return int32_t(sum >= 0 ? (sum + half) / count : (sum - half) / count);
}

ActivationRange activation_range(Activation activation, float scale, int zero_point) {
  const auto quantize = [=](float bound) {
    // A tiny scale puts the bound far outside int8; clamping in float first keeps the conversion defined.
    return zero_point + int(std::clamp(std::round(bound / scale), -1.0e6F, 1.0e6F));
  };
  const auto at_least = [](int value) { return std::clamp(value, -128, 127); };
  switch (activation) {
    case Activation::None:
      return {-128, 127};
    case Activation::Relu:
      return {at_least(quantize(0.0F)), 127};
    case Activation::Relu6:
      return {at_least(quantize(0.0F)), at_least(quantize(6.0F))};
    case Activation::ReluN1To1:
      return {at_least(quantize(-1.0F)), at_least(quantize(1.0F))};
  }
  return {};
}

ConvParams conv_params(const Graph& graph, const Op& op, RoundingStyle style) {
  const Tensor& input = graph.input_of(op);
  const Tensor& weights = graph.weights_of(op);
  const Tensor& output = graph.output_of(op);
  const auto channels = size_t(output.nhwc().c);
  const std::vector<float>& scales = weights.quantization.scale;

  ConvParams params;
  params.zp_in = input.zero_point();
  params.zp_weights = weights.zero_point();
  set_output_range(graph, op, params.output);
  const bool fully_connected = op.kind == OpKind::FullyConnected;
  const bool was_uint8 = input.model_type == ElementType::UInt8;
  params.output.rule = rule_of(graph);
  if (graph.framework == Framework::TfLite && fully_connected && style == RoundingStyle::LiteRt)
    params.output.rule = Rounding::Single;
  if (op.bias == kNoTensor) {
    params.bias.assign(channels, 0);
  } else {
    params.bias = graph.tensors[size_t(op.bias)].int32_values();
  }
  for (size_t c = 0; c < channels; c++) {
    const float scale = scales.size() > 1 ? scales[c] : scales.front();
    if (params.output.rule == Rounding::Float) {
      const float factor = input.quantization.scale.front() * scale / output.quantization.scale.front();
      const Multiplier multiplier = multiplier_for(op, double(factor));
      params.multiplier.push_back(multiplier.m);
      params.shift.push_back(multiplier.shift);
      continue;
    }
    double product = scale_of(input) * double(scale);
    // The product is formed in float32 in the convolutions of uint8 models, and by tflite-micro where a fully connected
    // layer has one weight scale.
    const bool in_float = fully_connected ? style == RoundingStyle::Tflm : was_uint8;
    if (in_float && scales.size() == 1) {
      product = double(input.quantization.scale.front() * scale);
    }
    Multiplier multiplier = multiplier_for(op, product / scale_of(output));
    if (params.output.rule == Rounding::Single)
      multiplier = round_once(product / scale_of(output), reach_of(params.output));
    params.multiplier.push_back(multiplier.m);
    params.shift.push_back(multiplier.shift);
  }
  return params;
}

AddParams add_params(const Graph& graph, const Op& op) {
  const Tensor& output = graph.output_of(op);
  AddParams params;
  params.subtract = op.kind == OpKind::Sub;
  params.output.rule = rule_of(graph);
  params.operands = op.inputs.size();
  set_output_range(graph, op, params.output);
  double twice_max = 0;
  for (size_t i = 0; i < params.operands; i++) {
    params.zp_in[i] = graph.input_of(op, i).zero_point();
    params.scale[i] = graph.input_of(op, i).quantization.scale.front();
    twice_max = std::max(twice_max, 2.0 * scale_of(graph.input_of(op, i)));
  }
  if (params.output.rule == Rounding::Float) {
    params.out_scale = output.quantization.scale.front();
    params.qlinear = op.qlinear;
    params.second_is_last = op.qlinear && first_is_repeated(graph, op);
    params.model_offset = model_offset(graph, op);
    fit_named(op, params);
    return params;
  }
  for (size_t i = 0; i < params.operands; i++)
    params.in[i] = multiplier_for(op, scale_of(graph.input_of(op, i)) / twice_max);
  params.out = multiplier_for(op, twice_max / (double(1 << params.left_shift) * scale_of(output)));
  return params;
}

PoolParams pool_params(const Graph& graph, const Op& op) {
  PoolParams params;
  set_output_range(graph, op, params.output);
  if (op.kind != OpKind::AveragePool) {
    params.output.zero_point = 0;
    return params;
  }
  const Tensor& input = graph.input_of(op);
  if (graph.framework == Framework::TfLite) {
    if (input.model_type == ElementType::UInt8) params.offset = 128;
    params.output.zero_point = -params.offset;
    params.output.rule = Rounding::Average;
    return params;
  }
  params.output.rule = Rounding::Float;
  params.count_pad = op.count_pad;
  params.additions = op.additions;
  params.qlinear = op.qlinear;
  params.model_offset = model_offset(graph, op);
  params.zp_in = input.zero_point();
  params.in_scale = input.quantization.scale.front();
  params.out_scale = graph.output_of(op).quantization.scale.front();
  multiplier_for(op,
                 double(params.in_scale / params.out_scale));  // the largest factor, to be refused by name
  return params;
}

Multiplier pool_factor(const PoolParams& params, int count) {
  return quantize_multiplier(double(params.in_scale / (params.out_scale * float(count))));
}

MeanParams mean_params(const Graph& graph, const Op& op) {
  const Tensor& input = graph.input_of(op);
  const Tensor& output = graph.output_of(op);
  MeanParams params;
  params.zp_in = input.zero_point();
  set_output_range(graph, op, params.output);
  params.count = int32_t(input.elements() / output.elements());
  params.output.rule = rule_of(graph);
  if (params.output.rule == Rounding::Float) {
    // As in onnxruntime's QLinearGlobalAveragePool: one float32 factor for scale and count.
    const float factor =
        input.quantization.scale.front() / (output.quantization.scale.front() * float(params.count));
    params.multiplier = multiplier_for(op, double(factor));
    return params;
  }
  params.multiplier = multiplier_for(op, scale_of(input) / scale_of(output));
  // Fold 1 / count into the multiplier, with as many extra bits as count has (TFLite's QuantizedMeanOrSum).
  int extra = 0;
  while ((int64_t(2) << extra) <= params.count) extra++;
  extra = std::min({extra, 32, 31 + params.multiplier.shift});
  params.multiplier.m = int32_t((int64_t(params.multiplier.m) << extra) / params.count);
  params.multiplier.shift -= extra;
  return params;
}

// The real multipliers are formed in float32, as LiteRT does.
PReluParams prelu_params(const Graph& graph, const Op& op) {
  const Tensor& input = graph.input_of(op, 0);
  const Tensor& slope = graph.input_of(op, 1);
  const float in = input.quantization.scale.front(), out = graph.output_of(op).quantization.scale.front();
  PReluParams params;
  params.zp_in = input.zero_point();
  params.zp_slope = slope.zero_point();
  params.positive = multiplier_for(op, double(in / out));
  params.negative = multiplier_for(op, double(in * slope.quantization.scale.front() / out));
  set_output_range(graph, op, params.output);
  return params;
}

AddParams squared_difference_params(const Graph& graph, const Op& op) {
  AddParams params;
  params.left_shift = 7;
  set_output_range(graph, op, params.output);
  const double twice_max = 2.0 * std::max(scale_of(graph.input_of(op, 0)), scale_of(graph.input_of(op, 1)));
  for (size_t i = 0; i < 2; i++) {
    params.zp_in[i] = graph.input_of(op, i).zero_point();
    params.in[i] = multiplier_for(op, scale_of(graph.input_of(op, i)) / twice_max);
  }
  params.out = multiplier_for(
      op, twice_max * twice_max / (double(1 << 2 * params.left_shift) * scale_of(graph.output_of(op))));
  return params;
}

MulParams matmul_params(const Graph& graph, const Op& op) {
  MulParams params;
  params.output.rule = rule_of(graph);
  set_output_range(graph, op, params.output);
  for (size_t i = 0; i < 2; i++) {
    params.zp_in[i] = graph.input_of(op, i).zero_point();
    params.scale[i] = graph.input_of(op, i).quantization.scale.front();
  }
  const float product = params.scale[0] * params.scale[1];
  const float scale = graph.output_of(op).quantization.scale.front();
  const bool in_float = params.output.rule == Rounding::Float;
  params.multiplier =
      multiplier_for(op, in_float ? double(product / scale) : double(product) / double(scale));
  return params;
}

SoftmaxParams softmax_params(const Graph& graph, const Op& op) {
  const double real = std::min(std::ldexp(scale_of(graph.input_of(op)) * double(op.beta), 26), 0x1p31 - 1);
  SoftmaxParams params{quantize_multiplier(real / 2), 0};
  params.multiplier.shift++;
  const double most = std::floor(std::ldexp(31.0, 26 - params.multiplier.shift));
  params.least = -int(std::min(most, 255.0));
  return params;
}

MulParams mul_params(const Graph& graph, const Op& op) {
  MulParams params;
  params.output.rule = rule_of(graph);
  set_output_range(graph, op, params.output);
  for (size_t i = 0; i < 2; i++) {
    params.zp_in[i] = graph.input_of(op, i).zero_point();
    params.scale[i] = graph.input_of(op, i).quantization.scale.front();
  }
  params.out_scale = graph.output_of(op).quantization.scale.front();
  if (params.output.rule == Rounding::Double) {
    params.multiplier = multiplier_for(op, double(params.scale[0] * params.scale[1] / params.out_scale));
  } else {
    params.qlinear = op.qlinear;
    params.model_offset = model_offset(graph, op);
    fit_named(op, params);
  }
  return params;
}

QuantizeParams quantize_params(const Graph& graph, const Op& op) {
  QuantizeParams params;
  params.zp_in = graph.input_of(op).zero_point();
  set_output_range(graph, op, params.output);
  params.multiplier = multiplier_for(op, scale_of(graph.input_of(op)) / scale_of(graph.output_of(op)));
  return params;
}

OpParams op_params(const Graph& graph, const Op& op, RoundingStyle style) {
  switch (op.kind) {
    case OpKind::Conv2D:
    case OpKind::DepthwiseConv2D:
    case OpKind::FullyConnected:
      return conv_params(graph, op, style);
    case OpKind::Add:
      return add_params(graph, op);
    case OpKind::AveragePool:
    case OpKind::MaxPool:
      return pool_params(graph, op);
    case OpKind::Mean:
      return mean_params(graph, op);
    case OpKind::Softmax:
      return softmax_params(graph, op);
    case OpKind::Sub:
      return add_params(graph, op);
    case OpKind::Mul:
      return mul_params(graph, op);
    case OpKind::Quantize:
      if (graph.framework == Framework::Onnx) return table_params(graph, op);
      return quantize_params(graph, op);
    case OpKind::Concat:
      return concat_params(graph, op);
    case OpKind::Table:
      return table_params(graph, op);
    case OpKind::Reshape:
    case OpKind::Pad:
    case OpKind::Slice:
    case OpKind::Resize:
    case OpKind::Shuffle:
    case OpKind::ArgMax:
    case OpKind::ToInt8:
    case OpKind::ToFloat:
    case OpKind::HostFloat:
    case OpKind::Rearrange:
    case OpKind::Minimum:
    case OpKind::Maximum:
    case OpKind::ReduceMax:
    case OpKind::ReduceMin:
    case OpKind::ReduceSum:
    case OpKind::L2Norm:
    case OpKind::Gather:
    case OpKind::Constant:
      break;
    case OpKind::SquaredDifference:
      return squared_difference_params(graph, op);
    case OpKind::BatchMatMul:
      return matmul_params(graph, op);
    case OpKind::PRelu:
      return prelu_params(graph, op);
  }
  return ReshapeParams{};
}

bool depends_on_style(const Graph& graph, const Op& op) {
  return graph.framework == Framework::TfLite && op.kind == OpKind::FullyConnected;
}

std::vector<int32_t> folded_bias(const Graph& graph, const Op& op, const ConvParams& params) {
  const Tensor& weights = graph.weights_of(op);
  std::vector<int32_t> folded(params.bias.size());
  for (size_t c = 0; c < folded.size(); c++) {
    const ChannelWeights w = channel_weights(graph, op, c);
    const int zero = params.zp_weights;
    const int64_t sum = sum_of(weights, w, [zero](int8_t v) { return v - zero; });
    folded[c] = int32_t(params.bias[c] - params.zp_in * sum);
  }
  return folded;
}

AccumulatorRange accumulator_range(const Graph& graph, const Op& op, const OpParams& params) {
  if (const auto* conv = std::get_if<ConvParams>(&params)) return conv_range(graph, op, *conv);
  const auto shifted = [](int64_t min, int64_t max, const auto& p) -> AccumulatorRange {
    const int shift = p.output.rule == Rounding::Double ? p.multiplier.shift : 0;
    return {shifted_left(min, shift), shifted_left(max, shift)};
  };
  if (const auto* mean = std::get_if<MeanParams>(&params))
    return shifted(mean->count * int64_t(-128 - mean->zp_in), mean->count * int64_t(127 - mean->zp_in),
                   *mean);
  if (const auto* mul = std::get_if<MulParams>(&params)) {
    const Nhwc a = graph.input_of(op).nhwc();
    const int64_t terms = op.kind != OpKind::BatchMatMul ? 1 : op.transpose_a ? a.w : a.c;
    const int64_t most = 255 * 255 * terms;
    return shifted(-most, most, *mul);
  }
  if (const auto* quantize = std::get_if<QuantizeParams>(&params)) return shifted(-255, 255, *quantize);
  if (const auto* add = std::get_if<AddParams>(&params);
      add != nullptr && add->output.rule == Rounding::Double) {
    const int64_t most = shifted_left(int64_t(add->operands) * 255 << add->left_shift, add->out.shift);
    return {-most, most};
  }
  if (op.kind == OpKind::AveragePool) {
    const int64_t cells = int64_t(op.window.kernel_h) * op.window.kernel_w;
    return {cells * -128, cells * 127};
  }
  return {};
}

}  // namespace kaiten
