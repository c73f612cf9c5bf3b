#include "graph/quantize.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "graph/error.h"

namespace kaiten {
namespace {

constexpr int64_t kInt32Min = std::numeric_limits<int32_t>::min();
constexpr int64_t kInt32Max = std::numeric_limits<int32_t>::max();

double scale_of(const Tensor& tensor) { return double(tensor.quantization.scale.front()); }

// Same as quantize_multiplier(), but a refusal names the layer.
Multiplier multiplier_for(const Op& op, double real) {
  try {
    return quantize_multiplier(real);
  } catch (const InputError& e) {
    throw InputError("layer '" + op.name + "' (" + std::string(name_of(op.kind)) + "): " + e.what());
  }
}

void set_output_range(const Op& op, const Tensor& output, int& zp_out, int& lo, int& hi) {
  zp_out = output.zero_point();
  const ActivationRange range =
      activation_range(op.activation, output.quantization.scale.front(), output.zero_point());
  lo = range.lo;
  hi = range.hi;
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
    int64_t positive = 0;
    int64_t negative = 0;
    for (size_t i = 0; i < w.count; i++) {
      const int64_t value = weights.int8_at(w.first + i * w.step);
      (value > 0 ? positive : negative) += value;
    }
    int64_t min = params.bias[c] + positive * low + negative * high;
    int64_t max = params.bias[c] + positive * high + negative * low;
    if (params.rounding == Rounding::Double) {
      min = shifted_left(min, params.shift[c]);
      max = shifted_left(max, params.shift[c]);
    }
    range.min = std::min(range.min, min);
    range.max = std::max(range.max, max);
  }
  return range;
}

}  // namespace

std::string_view name_of(Rounding rounding) {
  switch (rounding) {
    case Rounding::Double:
      return "double";
    case Rounding::Single:
      return "single";
    case Rounding::Average:
      return "average";
  }
  return "?";
}

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

int32_t requantize(int32_t x, Multiplier multiplier, Rounding rounding) {
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
  set_output_range(op, output, params.zp_out, params.lo, params.hi);
  const bool fully_connected = op.kind == OpKind::FullyConnected;
  params.rounding = fully_connected && style == RoundingStyle::LiteRt ? Rounding::Single : Rounding::Double;
  if (op.bias == kNoTensor) {
    params.bias.assign(channels, 0);
  } else {
    params.bias = graph.tensors[size_t(op.bias)].int32_values();
  }
  for (size_t c = 0; c < channels; c++) {
    const float scale = scales.size() > 1 ? scales[c] : scales.front();
    double product = scale_of(input) * double(scale);
    // tflite-micro forms the product in float32 where a fully connected layer has one weight scale.
    if (fully_connected && style == RoundingStyle::Tflm && scales.size() == 1) {
      product = double(input.quantization.scale.front() * scale);
    }
    const Multiplier multiplier = multiplier_for(op, product / scale_of(output));
    params.multiplier.push_back(multiplier.m);
    params.shift.push_back(multiplier.shift);
  }
  return params;
}

AddParams add_params(const Graph& graph, const Op& op) {
  const Tensor& output = graph.output_of(op);
  AddParams params;
  set_output_range(op, output, params.zp_out, params.lo, params.hi);
  const double twice_max = 2.0 * std::max(scale_of(graph.input_of(op, 0)), scale_of(graph.input_of(op, 1)));
  for (size_t i = 0; i < 2; i++) {
    params.zp_in[i] = graph.input_of(op, i).zero_point();
    params.in[i] = multiplier_for(op, scale_of(graph.input_of(op, i)) / twice_max);
  }
  params.out = multiplier_for(op, twice_max / (double(1 << params.left_shift) * scale_of(output)));
  return params;
}

PoolParams pool_params(const Graph& graph, const Op& op) {
  PoolParams params;
  int zp_out = 0;
  set_output_range(op, graph.output_of(op), zp_out, params.lo, params.hi);
  return params;
}

MeanParams mean_params(const Graph& graph, const Op& op) {
  const Tensor& input = graph.input_of(op);
  const Tensor& output = graph.output_of(op);
  const Nhwc in = input.nhwc();
  MeanParams params;
  params.zp_in = input.zero_point();
  set_output_range(op, output, params.zp_out, params.lo, params.hi);
  params.count = in.h * in.w;
  params.multiplier = multiplier_for(op, scale_of(input) / scale_of(output));
  // Fold 1 / count into the multiplier, with as many extra bits as count has (TFLite's QuantizedMeanOrSum).
  int extra = 0;
  while ((int64_t(2) << extra) <= params.count) extra++;
  extra = std::min({extra, 32, 31 + params.multiplier.shift});
  params.multiplier.m = int32_t((int64_t(params.multiplier.m) << extra) / params.count);
  params.multiplier.shift -= extra;
  return params;
}

SoftmaxParams softmax_params(const Graph& graph, const Op& op) {
  return {scale_of(graph.input_of(op)) * double(op.beta)};
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
    case OpKind::Reshape:
      break;
  }
  return ReshapeParams{};
}

std::vector<int32_t> folded_bias(const Graph& graph, const Op& op, const ConvParams& params) {
  const Tensor& weights = graph.weights_of(op);
  std::vector<int32_t> folded(params.bias.size());
  for (size_t c = 0; c < folded.size(); c++) {
    const ChannelWeights w = channel_weights(graph, op, c);
    int64_t sum = 0;
    for (size_t i = 0; i < w.count; i++) sum += weights.int8_at(w.first + i * w.step);
    folded[c] = int32_t(params.bias[c] - params.zp_in * sum);
  }
  return folded;
}

AccumulatorRange accumulator_range(const Graph& graph, const Op& op, const OpParams& params) {
  if (const auto* conv = std::get_if<ConvParams>(&params)) return conv_range(graph, op, *conv);
  if (const auto* mean = std::get_if<MeanParams>(&params)) {
    return {shifted_left(mean->count * int64_t(-128 - mean->zp_in), mean->multiplier.shift),
            shifted_left(mean->count * int64_t(127 - mean->zp_in), mean->multiplier.shift)};
  }
  if (op.kind == OpKind::AveragePool) {
    const int64_t cells = int64_t(op.window.kernel_h) * op.window.kernel_w;
    return {cells * -128, cells * 127};
  }
  return {};
}

}  // namespace kaiten
