// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "run/random_inputs.h"

#include <random>

namespace kaiten {

namespace {

Int8Values random_values(const Graph& graph, int input, std::mt19937_64& random) {
  const Tensor& tensor = graph.tensors[std::size_t(input)];
  Int8Values values(tensor.elements());
  for (auto& v : values) v = std::int8_t(random() & 0xff);
  if (tensor.type != ElementType::Float32) return values;
  const Quantization q = quantization_of(graph, input);
  const float scale = q.empty() ? 1.0F / 128 : q.scale.front();
  const int zero_point = q.empty() ? 0 : q.zero_point.front();
  std::vector<float> reals;
  for (const std::int8_t v : values) reals.push_back(scale * float(v - zero_point));
  return bytes_of(reals);
}

}  // namespace

std::vector<Int8Values> random_inputs(const Graph& graph, std::uint64_t seed, int batch) {
  std::mt19937_64 random(seed);
  std::vector<Int8Values> values;
  for (int image = 0; image < batch; image++) {
    for (int t : graph.inputs) values.push_back(random_values(graph, t, random));
  }
  return values;
}

}  // namespace kaiten
