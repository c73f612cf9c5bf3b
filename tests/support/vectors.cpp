// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/support/vectors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/source_file.h"

namespace kaiten::test {

namespace {

std::vector<std::uint8_t> from_base64(const nlohmann::json& field) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint8_t> bytes;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : field.get<std::string>()) {
    if (c == '=') break;
    bits = bits << 6 | std::uint32_t(digits.find(c));
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(std::uint8_t(bits >> held));
  }
  return bytes;
}

}  // namespace

std::vector<Vector> vectors(const std::string& file) {
  std::ifstream stream(source_file(file));
  const auto all = nlohmann::json::parse(stream);
  std::vector<Vector> result;
  for (const auto& c : all) {
    Vector v{c["name"], from_base64(c["model"]), {}, {}};
    for (const auto& field : c["inputs"]) v.inputs.push_back(from_base64(field));
    if (c.contains("output")) v.outputs.push_back(from_base64(c["output"]));
    if (c.contains("outputs")) {
      for (const auto& field : c["outputs"]) v.outputs.push_back(from_base64(field));
    }
    result.push_back(std::move(v));
  }
  return result;
}

std::vector<Int8Values> stored_inputs(const Graph& graph, const Vector& vector) {
  std::vector<Int8Values> inputs;
  for (std::size_t i = 0; i < vector.inputs.size(); i++)
    inputs.push_back(from_model(graph.tensors[std::size_t(graph.inputs[i])], vector.inputs[i]));
  return inputs;
}

std::size_t differing(const Graph& graph, const Vector& vector, std::size_t i, const Int8Values& values) {
  const Tensor& output = graph.tensors[std::size_t(graph.outputs[i])];
  const std::vector<std::uint8_t> actual = to_model(output, values);
  const std::vector<std::uint8_t>& expected = vector.outputs[i];
  EXPECT_EQ(actual.size(), expected.size()) << vector.name;
  const auto width = std::size_t(element_bytes(output.type));
  std::size_t count = 0;
  for (std::size_t at = 0; at + width <= std::min(actual.size(), expected.size()); at += width)
    count += std::memcmp(&actual[at], &expected[at], width) != 0 ? 1 : 0;
  return count;
}

}  // namespace kaiten::test
