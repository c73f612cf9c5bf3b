// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "observe/interpretation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace kaiten {

namespace {

std::vector<float> numbers_of(ElementType type, const Int8Values& values) {
  if (type == ElementType::Float32) return floats_of(values);
  if (type == ElementType::Int8) return {values.begin(), values.end()};
  const auto width = std::size_t(element_bytes(type));
  std::vector<float> numbers;
  for (std::size_t i = 0; i < values.size(); i += width) {
    std::int64_t position = 0;  // never negative
    std::memcpy(&position, values.data() + i, width);
    numbers.push_back(float(position));
  }
  return numbers;
}

// std::bit_cast is missing in Emscripten's library (web/).
std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// As compare_values(); float32 values within the tolerance are close, not different.
void compare_within(const Graph& graph, int op, int image, const Int8Values& found,
                    const Int8Values& expected, float tolerance, TensorComparison& c) {
  const int index = graph.ops[std::size_t(op)].output;
  const Tensor& tensor = graph.tensors[std::size_t(index)];
  c.tensor = index;
  c.op = op;
  c.seen += tensor.elements();
  if (found == expected) return;
  const std::vector<float> a = numbers_of(tensor.type, found);
  const std::vector<float> b = numbers_of(tensor.type, expected);
  const Nhwc s = tensor.nhwc();
  const bool planes = tensor.type != ElementType::Int8 && tensor.model_layout == Layout::Nchw;
  for (std::size_t i = 0; i < a.size(); i++) {
    // Bit for bit: NaN is equal to itself, -0 differs from 0.
    if (bits_of(a[i]) == bits_of(b[i])) continue;
    if (std::abs(a[i] - b[i]) <= tolerance) {
      c.close++;
      continue;
    }
    const int n = int(i), w = planes ? n % s.w : n / s.c % s.w,
              h = planes ? n / s.w % s.h : n / s.c / s.w % s.h;
    const int channel = planes ? n / (s.w * s.h) % s.c : n % s.c;
    c.add({index, op, h, w, channel, b[i], a[i], image});
  }
}

// 1e-5 of the largest magnitude, of what no framework promises the bits of.
float tolerance_of(const Graph& graph, const Op& op, const Int8Values& expected) {
  constexpr float kShare = 1e-5F;
  if (op.kind != OpKind::HostFloat || graph.output_of(op).type != ElementType::Float32) return 0;
  float largest = 0;
  for (const float v : floats_of(expected)) largest = std::max(largest, std::abs(v));
  return std::isfinite(largest) ? kShare * largest : 0;
}

}  // namespace

void compare_values(const Graph& graph, int op, int image, const Int8Values& found,
                    const Int8Values& expected, TensorComparison& c) {
  compare_within(graph, op, image, found, expected, 0, c);
}

std::vector<TensorComparison> compare_all(const Graph& graph, int images, std::span<const Int8Values> found,
                                          const Interpretation& expected) {
  std::vector<TensorComparison> comparisons;
  for (std::size_t op = 0; op < graph.ops.size(); op++) {
    TensorComparison c;
    for (int image = 0; image < images; image++) {
      const std::size_t at = std::size_t(image) * graph.tensors.size() + std::size_t(graph.ops[op].output);
      const Int8Values& wanted = expected.tensors[at];
      if (wanted.empty() || wanted.size() != found[at].size()) continue;
      compare_within(graph, int(op), image, found[at], wanted, tolerance_of(graph, graph.ops[op], wanted), c);
    }
    if (c.seen > 0) comparisons.push_back(c);
  }
  return comparisons;
}

}  // namespace kaiten
