// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Models of one operator against what LiteRT's reference kernels answered (make_operator_vectors.py), element by element.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "import/import.h"
#include "reference/reference.h"
#include "tests/support/source_file.h"

namespace kaiten {
namespace {

std::vector<uint8_t> from_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<uint8_t> bytes;
  uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | uint32_t(digits.find(c));
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(uint8_t(bits >> held));
  }
  return bytes;
}

nlohmann::json cases() {
  std::ifstream file(test::source_file("tests/sw/reference/operator_vectors.json"));
  return nlohmann::json::parse(file);
}

// Elements that are not as recorded.
size_t differing(const nlohmann::json& c) {
  const Graph graph = require_graph(import_tflite(from_base64(c["model"].get<std::string>())));
  std::vector<Int8Values> inputs;
  for (const auto& input : c["inputs"]) {
    const Tensor& tensor = graph.tensors[size_t(graph.inputs[inputs.size()])];
    inputs.push_back(from_model(tensor, from_base64(input.get<std::string>())));
  }
  const std::vector<Int8Values> tensors = run_reference(graph, inputs);
  const Tensor& output = graph.tensors[size_t(graph.outputs.front())];
  const std::vector<uint8_t> actual = to_model(output, tensors[size_t(graph.outputs.front())]);
  const std::vector<uint8_t> expected = from_base64(c["output"].get<std::string>());
  EXPECT_EQ(actual.size(), expected.size());
  const auto width = size_t(element_bytes(output.type));
  size_t count = 0;
  for (size_t i = 0; i + width <= std::min(actual.size(), expected.size()); i += width)
    count += std::memcmp(&actual[i], &expected[i], width) != 0 ? 1 : 0;
  return count;
}

TEST(OperatorVectors, AsLiteRtComputesThem) {
  const nlohmann::json all = cases();
  ASSERT_GT(all.size(), 130U);
  for (const auto& c : all) EXPECT_EQ(differing(c), 0U) << c["name"];
}

}  // namespace
}  // namespace kaiten
