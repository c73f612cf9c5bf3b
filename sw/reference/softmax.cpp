// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The softmax of TensorFlow Lite's reference kernels and its logarithm, in fixed point. Numbers are int32 with so many bits before the
// binary point and the rest after it: "5 bits" is a value times 2^26. A doubling high multiply adds the bits of its factors.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "reference/kernels.h"

namespace kaiten::reference {

namespace {

constexpr int32_t kOne = std::numeric_limits<int32_t>::max();  // of 0 bits
constexpr int kExponentBits = 5;
constexpr int kSumBits = 12;
constexpr int32_t kQuarter = 1 << 24;  // of kExponentBits

int32_t fixed(double value, int bits) { return int32_t(std::lround(std::ldexp(value, 31 - bits))); }

// exp(-1/4), exp(-1/2), ..., exp(-16); 0 bits.
std::array<int32_t, 7> powers() {
  std::array<int32_t, 7> p{};
  for (size_t k = 0; k < p.size(); k++) p[k] = fixed(std::exp(-std::ldexp(0.25, int(k))), 0);
  return p;
}

// exp(x) of 0 bits for x of kExponentBits, from -31 to 0: a polynomial around -1/8 for what is left of x in [-1/4, 0),
// and a factor for every power of two in the rest.
int32_t exponential(int32_t x) {
  static const std::array<int32_t, 7> kPowers = powers();
  static const int32_t kMiddle = fixed(std::exp(-0.125), 0), kThird = fixed(1.0 / 3.0, 0);
  if (x == 0) return kOne;
  const int32_t rest = (x & (kQuarter - 1)) - kQuarter;
  const int32_t t = rest * (1 << kExponentBits) + (1 << 28);
  const int32_t square = doubling_high_multiply(t, t);
  const int32_t cube = doubling_high_multiply(square, t);
  const int32_t fourth = rounding_divide_by_pot(doubling_high_multiply(square, square), 2);
  const int32_t tail = rounding_divide_by_pot(doubling_high_multiply(fourth + cube, kThird) + square, 1);
  int32_t result = kMiddle + doubling_high_multiply(kMiddle, t + tail);
  for (size_t k = 0; k < kPowers.size(); k++) {
    if (((rest - x) & (kQuarter << k)) != 0) result = doubling_high_multiply(result, kPowers[k]);
  }
  return result;
}

// 1 / (1 + x) for x in [0, 1), both of 0 bits: three steps of Newton's method.
int32_t reciprocal_of_one_plus(int32_t x) {
  constexpr int kBits = 2;
  static const int32_t kFirst = fixed(48.0 / 17.0, kBits), kSlope = fixed(-32.0 / 17.0, kBits);
  const auto half = int32_t((int64_t(x) + kOne + 1) / 2);
  int32_t y = kFirst + doubling_high_multiply(half, kSlope);
  for (int i = 0; i < 3; i++) {
    const int32_t error = (1 << (31 - kBits)) - doubling_high_multiply(half, y);
    y += doubling_high_multiply(y, error) * (1 << kBits);
  }
  return int32_t(std::min<int64_t>(int64_t(y) * 2, kOne));
}

// x * 2^bits, within int32.
int32_t times_power(int32_t x, int bits) {
  constexpr int64_t kLeast = std::numeric_limits<int32_t>::min();
  return int32_t(std::clamp<int64_t>(int64_t(x) * (int64_t(1) << bits), kLeast, kOne));
}

// log(x) of kExponentBits for x > 0 of kSumBits. x = 2^p * r with r around sqrt(sqrt(1/2)), by a quotient of polynomials in
// what r differs from that; p in steps of a half.
int32_t logarithm(int32_t x) {
  constexpr int kBits = kExponentBits + 1;  // of the sum, which is one more than the result's
  constexpr int32_t kQuarterStep = 1 << (31 - kBits - 2);
  static const double kFourthRoot = std::sqrt(std::sqrt(0.5));
  static const int32_t kRootOfHalf = fixed(std::sqrt(0.5), 0), kMiddle = fixed(kFourthRoot, 0);
  static const int32_t kLog2 = fixed(std::log(2.0), 0);
  static const int32_t kNumerator = fixed(11.0 / 240.0 / kFourthRoot, 0);
  static const int32_t kSquare = fixed(1.0 / 20.0 / kFourthRoot, 0);
  static const int32_t kConstant = fixed(2.0 * kFourthRoot - 1.0 / kFourthRoot, 0);
  static const int32_t kLinear = fixed(0.25 / kFourthRoot, 0);

  const int zeros = std::countl_zero(uint32_t(x));
  const int32_t upper = times_power(doubling_high_multiply(x << (zeros - 1), kRootOfHalf), 1);
  const int64_t power_a = int64_t(times_power(kSumBits - zeros, 31 - kBits)) + kQuarterStep;
  const int shift = std::countl_zero(uint32_t(doubling_high_multiply(x, kRootOfHalf))) - 1;
  const int32_t lower = times_power(x, shift);
  const int64_t power_b = int64_t(times_power(kSumBits - shift, 31 - kBits)) - kQuarterStep;
  const int32_t r = std::min(upper, lower);
  const auto power = int32_t(std::min<int64_t>(std::max(power_a, power_b), kOne));

  const auto mean = int32_t((int64_t(r) + kMiddle + 1) / 2);
  const int32_t q = (r - kMiddle) * 2;
  const int32_t square = doubling_high_multiply(q, q);
  const int32_t numerator =
      doubling_high_multiply(q, r) + doubling_high_multiply(doubling_high_multiply(q, square), kNumerator);
  const int32_t denominator =
      doubling_high_multiply(mean, kConstant + q + doubling_high_multiply(kSquare, square)) +
      doubling_high_multiply(kLinear, q);
  const int32_t quotient =
      doubling_high_multiply(rounding_divide_by_pot(numerator, kBits), reciprocal_of_one_plus(denominator));
  return times_power(doubling_high_multiply(power, kLog2) + quotient, 1);
}

}  // namespace

void log_softmax(const SoftmaxParams& params, int depth, Input input, Output output) {
  constexpr int kScaleBits = 4;  // of the output: 16 / 256
  constexpr int kZeroPoint = 127;
  const auto length = static_cast<size_t>(depth);
  const Multiplier back =
      quantize_multiplier(std::ldexp(1.0 / params.multiplier.m, 31 - params.multiplier.shift));
  for (size_t row = 0; row < input.size(); row += length) {
    const Input values = input.subspan(row, length);
    const int largest = *std::max_element(values.begin(), values.end());
    int64_t sum = 0;
    for (const int8_t v : values) {
      if (v - largest >= params.least)
        sum +=
            rounding_divide_by_pot(exponential(requantize_double(v - largest, params.multiplier)), kSumBits);
    }
    const int32_t log = logarithm(int32_t(std::min<int64_t>(sum, kOne)));
    // Where the difference would leave its bits.
    const int last =
        std::max(params.least - 1, requantize_double(log + std::numeric_limits<int32_t>::min(), back));
    for (size_t i = 0; i < length; i++) {
      const int difference = values[i] - largest;
      const int32_t x = difference > last ? requantize_double(difference, params.multiplier) - log : 0;
      output[row + i] = difference > last ? OutputQuant{.zero_point = kZeroPoint}.stored(
                                                rounding_divide_by_pot(x, 31 - kExponentBits - kScaleBits))
                                          : int8_t(-128);
    }
  }
}

void qlinear_softmax(float in_scale, float out_scale, int zero_point, int depth, Input input, Output output) {
  const auto length = static_cast<size_t>(depth);
  // Exponentials are scaled so that a row's sum stays e^5 below the largest float32.
  const float most = std::log(std::numeric_limits<float>::max() / float(depth));
  const double reach = std::max(0.0, double(most) - 5.0) / double(in_scale);
  std::array<float, 256> table{};  // by the distance from the largest
  for (size_t d = 0; d < table.size(); d++)
    table[d] = float(std::exp((reach - double(d)) * double(in_scale)));
  const float steps = std::min(std::floor(1.0F / out_scale), 1e30F);  // finite: a share is a number
  for (size_t row = 0; row < input.size(); row += length) {
    const Input values = input.subspan(row, length);
    const int largest = *std::max_element(values.begin(), values.end());
    float sum = 0;
    for (const int8_t v : values) sum += table[size_t(largest - v)];
    for (size_t i = 0; i < length; i++) {
      const float share = std::nearbyint(table[size_t(largest - values[i])] * steps / sum);
      output[row + i] = OutputQuant{.zero_point = zero_point}.stored(int32_t(std::min(share, 511.0F)));
    }
  }
}

void softmax(const SoftmaxParams& params, int depth, Input input, Output output) {
  const auto length = static_cast<size_t>(depth);
  for (size_t row = 0; row < input.size(); row += length) {
    const Input values = input.subspan(row, length);
    const int largest = *std::max_element(values.begin(), values.end());
    std::array<int32_t, 256> table{};  // by the distance from the largest
    for (int d = 0; d < 256 && -d >= params.least; d++)
      table[size_t(d)] = exponential(requantize_double(-d, params.multiplier));
    int64_t sum = 0;
    for (const int8_t v : values) sum += rounding_divide_by_pot(table[size_t(largest - v)], kSumBits);
    const auto bounded = uint32_t(std::min<int64_t>(sum, kOne));
    const int zeros = std::countl_zero(bounded);
    const int32_t scale = reciprocal_of_one_plus(int32_t((bounded << zeros) - (uint32_t(1) << 31)));
    const int shift = kSumBits - zeros + 31 - 8;  // above 31: less than half of 1/256 each
    for (size_t i = 0; i < length; i++) {
      const int32_t e = table[size_t(largest - values[i])];
      const int32_t p = shift > 31 ? 0 : rounding_divide_by_pot(doubling_high_multiply(scale, e), shift);
      output[row + i] = OutputQuant{.zero_point = -128}.stored(p);
    }
  }
}

}  // namespace kaiten::reference
