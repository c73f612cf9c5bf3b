// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/hard_swish.h"

#include <algorithm>
#include <cstdint>

namespace kaiten {

namespace {

constexpr int kOne = 1 << 15;
constexpr int kUp = 7;  // binary places that a value is taken up

int saturate(std::int64_t value) { return int(std::clamp<std::int64_t>(value, -kOne, kOne - 1)); }

// A 31-bit fraction as a 15-bit one, to nearest.
int fraction16(std::int32_t fraction) {
  constexpr std::int64_t kHalf = 1 << 15;
  return int(std::min<std::int64_t>((std::int64_t(fraction) + kHalf) >> 16, kOne - 1));
}

// a * b / 2^15, to nearest, ties away from zero.
int rounded_product(int a, int b) {
  const std::int64_t product = std::int64_t(a) * b;
  return saturate((product + (product >= 0 ? kOne / 2 : 1 - kOne / 2)) / kOne);
}

// x / 2^exponent, to nearest, ties away from zero. From 2^16 on the mask of 16 bits has no room for the exponent, and
// gemmlowp gives 1 or -1; LiteRT gives that too.
int divided_by_pot(int x, int exponent) {
  const auto mask = std::int16_t((std::int64_t(1) << exponent) - 1);
  const int threshold = (mask >> 1) + int(x < 0);
  return (x >> exponent) + int((x & mask) > threshold);
}

}  // namespace

std::optional<ValueTable> hard_swish_table(float in_scale, int in_zero_point, float out_scale,
                                           int out_zero_point) {
  const float fine_scale = (1.0F / float(1 << kUp)) * in_scale;
  const Multiplier to_output = quantize_multiplier(double(fine_scale / out_scale));
  const Multiplier to_gate = quantize_multiplier(double(fine_scale / (3.0F / float(kOne))));
  if (to_output.shift > 0) return std::nullopt;
  const int output_fraction = fraction16(to_output.m), gate_fraction = fraction16(to_gate.m);
  ValueTable table;
  for (int value = -128; value <= 127; value++) {
    const int fine = saturate(std::int64_t(value - in_zero_point) << kUp);
    const int scaled = rounded_product(fine, output_fraction);
    int gate = fine;
    if (to_gate.shift > 0) gate = saturate(std::int64_t(gate) << std::min(to_gate.shift - 1, 31));
    gate = rounded_product(gate, gate_fraction);
    if (to_gate.shift > 0) gate = saturate(std::int64_t(gate) * 2);
    if (to_gate.shift < 0) gate = divided_by_pot(gate, std::min(-to_gate.shift, 31));
    gate = (gate + kOne) >> 1;  // -1 to 1 as 0 to 1
    const int product = int(std::int64_t(gate) * scaled / kOne);
    const int result = divided_by_pot(product, std::min(-to_output.shift, 31)) + out_zero_point;
    table[std::size_t(value + 128)] = std::int8_t(std::clamp(result, -128, 127));
  }
  return table;
}

}  // namespace kaiten
