// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/tables.h"

#include <bit>
#include <cmath>
#include <numbers>

namespace kaiten {

namespace {

// Fixed point with 3 bits before the point: 1.0 is 2^28. A product of two has 6 of them.
constexpr int32_t kOne = 1 << 28;

int32_t shifted(int32_t x, int bits) {
  const int64_t y = int64_t(x) << bits;
  return int32_t(
      std::clamp<int64_t>(y, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
}

double scale_of(const Tensor& tensor) { return double(tensor.quantization.scale.front()); }

template <typename F>
ValueTable stored_table(F f) {
  ValueTable table;
  for (int value = -128; value <= 127; value++)
    table[size_t(value + 128)] = int8_t(std::clamp<int64_t>(f(value), -128, 127));
  return table;
}

}  // namespace

// Five of Newton's steps x = 1.5 x - x^3 * in / 2 from 1.
Multiplier inverse_root(int32_t x) {
  if (x <= 1) return {std::numeric_limits<int32_t>::max(), 0};
  int shift = 11;
  while (x >= 1 << 29) {
    x /= 4;
    shift++;
  }
  const int pairs = (std::countl_zero(uint32_t(x)) - 1) / 2 - 1;
  shift -= pairs;
  x <<= 2 * pairs;
  const int32_t half = rounding_divide_by_pot(x >> 1, 1);
  constexpr int32_t kThreeHalves = kOne + kOne / 2;
  constexpr int32_t kHalfRootOfTwo = 1518500250;  // of 2^31
  int32_t y = kOne;
  for (int i = 0; i < 5; i++) {
    const int32_t cube = shifted(doubling_high_multiply(doubling_high_multiply(y, y), y), 6);
    y = shifted(doubling_high_multiply(kThreeHalves, y) - doubling_high_multiply(half, cube), 3);
  }
  y = doubling_high_multiply(y, kHalfRootOfTwo);
  if (shift < 0) {
    y <<= -shift;
    shift = 0;
  }
  return {y, -shift};
}

double rsqrt_factor(const Graph& graph, const Op& op) {
  const float in = graph.input_of(op).quantization.scale.front();
  return 1.0 / double(std::sqrt(in) * graph.output_of(op).quantization.scale.front());
}

ValueTable rsqrt_table(const Graph& graph, const Op& op) {
  constexpr int kShift = 20;
  const Tensor& in = graph.input_of(op);
  const Tensor& out = graph.output_of(op);
  Multiplier multiplier = quantize_multiplier(rsqrt_factor(graph, op));
  multiplier.shift -= kShift;
  return stored_table([&](int value) -> int64_t {
    const int32_t x = value - in.zero_point();
    if (x <= 0) return 127;
    Multiplier root = inverse_root(x);
    root.shift += kShift;
    return int64_t(requantize_double(requantize_double(1, root), multiplier)) + out.zero_point();
  });
}

ValueTable sqrt_table(const Graph& graph, const Op& op) {
  const Tensor& in = graph.input_of(op);
  const Tensor& out = graph.output_of(op);
  return stored_table([&](int value) -> int64_t {
    const float real =
        std::sqrt(std::max(0.0F, float(value - in.zero_point()) * in.quantization.scale.front()));
    return int64_t(std::min(real / out.quantization.scale.front(), 1.0e6F)) + out.zero_point();
  });
}

ValueTable abs_table(const Graph& graph, const Op& op) {
  const Tensor& in = graph.input_of(op);
  const Tensor& out = graph.output_of(op);
  const bool same = in.quantization.scale == out.quantization.scale;
  const Multiplier multiplier = quantize_multiplier(scale_of(in) / scale_of(out));
  return stored_table([&](int value) {
    const int32_t x = std::abs(value - in.zero_point());
    return int64_t(same ? x : requantize_double(x, multiplier)) + out.zero_point();
  });
}

ValueTable neg_table() {
  return stored_table([](int value) { return value == -128 ? -128 : -value; });
}

float gelu(float x) { return 0.5F * x * (1.0F + std::erf(x * float(std::numbers::sqrt2 / 2))); }

float gelu_tanh(float x) {
  constexpr float kFactor = float(std::numbers::inv_sqrtpi * std::numbers::sqrt2);
  return 0.5F * x * (1.0F + std::tanh(kFactor * (x + 0.044715F * x * x * x)));
}

}  // namespace kaiten
