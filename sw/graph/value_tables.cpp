// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Functions of one value as tables: table_params() and concat_params() of quantize.h.
#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/hard_swish.h"
#include "graph/quantize_parts.h"
#include "graph/tables.h"

namespace kaiten {

namespace {

double scale_of(const Tensor& tensor) { return double(tensor.quantization.scale.front()); }

// Stored values of f(real input) for every stored input; ties by the framework's rule.
template <typename F>
ValueTable real_table(const Graph& graph, const Op& op, const Tensor& input, F f) {
  const Tensor& output = graph.output_of(op);
  const float in_scale = input.quantization.scale.front();
  const float out_scale = output.quantization.scale.front();
  OutputQuant out;
  set_output_range(graph, op, out);
  ValueTable table;
  for (int value = -128; value <= 127; value++) {
    const float real = f(float(value - input.zero_point()) * in_scale);
    const float scaled = graph.framework == Framework::Onnx ? std::nearbyint(real / out_scale)
                                                            : std::round(real * (1.0F / out_scale));
    // 0 times the infinite reciprocal of a scale next to 0 is no number.
    const float bounded = std::isnan(scaled) ? 0.0F : std::clamp(scaled, -1.0e6F, 1.0e6F);
    const float stored = bounded + float(out.zero_point);
    table[size_t(value + 128)] = int8_t(std::clamp(stored, float(out.low), float(out.high)));
  }
  return table;
}

// TensorFlow Lite's int8 leaky ReLU: one multiplier for either sign, rule Double.
ValueTable leaky_relu_table(const Graph& graph, const Op& op) {
  const Tensor& input = graph.input_of(op);
  const Tensor& output = graph.output_of(op);
  const double ratio = scale_of(input) / scale_of(output);
  const Multiplier identity = multiplier_for(op, ratio);
  const Multiplier slope = multiplier_for(op, std::abs(ratio * double(op.alpha)));
  ValueTable table;
  for (int value = -128; value <= 127; value++) {
    const int x = value - input.zero_point();
    const int y = x >= 0 ? requantize_double(x, identity)
                         : (op.alpha < 0 ? -requantize_double(x, slope) : requantize_double(x, slope));
    table[size_t(value + 128)] = int8_t(std::clamp<int64_t>(int64_t(y) + output.zero_point(), -128, 127));
  }
  return table;
}

// TensorFlow Lite's RELU and RELU6: from one scale to another, rule Double.
ValueTable clamp_table(const Graph& graph, const Op& op) {
  const Tensor& input = graph.input_of(op);
  OutputQuant out;
  set_output_range(graph, op, out);
  const Multiplier ratio = multiplier_for(
      op, double(input.quantization.scale.front() / graph.output_of(op).quantization.scale.front()));
  ValueTable table;
  for (int value = -128; value <= 127; value++) {
    const int64_t y = int64_t(requantize_double(value - input.zero_point(), ratio)) + out.zero_point;
    table[size_t(value + 128)] = int8_t(std::clamp<int64_t>(y, out.low, out.high));
  }
  return table;
}

}  // namespace

ValueTable identity_table() {
  ValueTable table;
  for (int value = -128; value <= 127; value++) table[size_t(value + 128)] = int8_t(value);
  return table;
}

TableParams table_params(const Graph& graph, const Op& op) {
  const Tensor& input = graph.input_of(op);
  if (op.kind == OpKind::Quantize) return {real_table(graph, op, input, [](float x) { return x; })};
  switch (op.function) {
    case Function::LeakyRelu:
      if (graph.framework == Framework::TfLite) return {leaky_relu_table(graph, op)};
      return {real_table(graph, op, input, [&](float x) { return x < 0 ? op.alpha * x : x; })};
    case Function::HardSwish:
      if (graph.framework == Framework::TfLite) {
        const Tensor& output = graph.output_of(op);
        const auto table = hard_swish_table(input.quantization.scale.front(), input.zero_point(),
                                            output.quantization.scale.front(), output.zero_point());
        if (table) return {*table};
      }
      return {
          real_table(graph, op, input, [](float x) { return x * std::clamp(x + 3.0F, 0.0F, 6.0F) / 6.0F; })};
    case Function::Sigmoid:
      return {real_table(graph, op, input, [](float x) { return 1.0F / (1.0F + std::exp(-x)); })};
    case Function::Tanh:
      return {real_table(graph, op, input, [](float x) { return std::tanh(x); })};
    case Function::HardSigmoid:
      return {real_table(graph, op, input,
                         [&](float x) { return std::clamp(op.alpha * x + op.beta, 0.0F, 1.0F); })};
    case Function::Clamp:
      if (graph.framework == Framework::TfLite) return {clamp_table(graph, op)};
      return {real_table(graph, op, input, [](float x) { return x; })};
    case Function::Exp:
      return {real_table(graph, op, input, [](float x) { return std::exp(x); })};
    case Function::Log:
      return {real_table(graph, op, input, [](float x) {
        return x > 0.0F ? std::log(x) : -std::numeric_limits<float>::infinity();
      })};
    case Function::Elu:
      return {real_table(graph, op, input, [](float x) { return x < 0.0F ? std::exp(x) - 1.0F : x; })};
    case Function::Sqrt:
      return {sqrt_table(graph, op)};
    case Function::Gelu:
      return {real_table(graph, op, input, [](float x) { return gelu(x); })};
    case Function::GeluTanh:
      return {real_table(graph, op, input, [](float x) { return gelu_tanh(x); })};
    case Function::Rsqrt:
      return {rsqrt_table(graph, op)};
    case Function::Abs:
      return {abs_table(graph, op)};
    case Function::Values: {
      TableParams params;
      std::copy(op.dims.begin(), op.dims.end(), params.table.begin());
      return params;
    }
    case Function::Neg:
      return {neg_table()};
  }
  return {};
}

ConcatParams concat_params(const Graph& graph, const Op& op) {
  ConcatParams params;
  const Tensor& output = graph.output_of(op);
  for (size_t i = 0; i < op.inputs.size(); i++) {
    const Tensor& input = graph.input_of(op, i);
    const bool same = input.quantization.scale == output.quantization.scale &&
                      input.zero_point() == output.zero_point() && op.activation == Activation::None;
    params.tables.push_back(same ? identity_table()
                                 : real_table(graph, op, input, [](float x) { return x; }));
  }
  return params;
}

}  // namespace kaiten
