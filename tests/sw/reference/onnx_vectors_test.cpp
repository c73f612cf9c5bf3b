// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Small ONNX models against what onnxruntime answered (make_onnx_vectors.py), element by element.
#include <gtest/gtest.h>

#include "import/import.h"
#include "reference/reference.h"
#include "tests/support/vectors.h"

namespace kaiten {
namespace {

TEST(OnnxVectors, AsOnnxruntimeComputesThem) {
  const std::vector<test::Vector> all = test::vectors("tests/sw/reference/onnx_vectors.json");
  ASSERT_GT(all.size(), 100U);
  for (const test::Vector& v : all) {
    const ImportResult imported = import_onnx(v.model);
    for (const Refusal& r : imported.refusals) ADD_FAILURE() << v.name << ": " << r.text();
    if (!imported.refusals.empty()) continue;
    const Graph& graph = *imported.graph;
    const std::vector<Int8Values> tensors = run_reference(graph, test::stored_inputs(graph, v));
    ASSERT_EQ(graph.outputs.size(), v.outputs.size());
    for (std::size_t i = 0; i < v.outputs.size(); i++)
      EXPECT_EQ(test::differing(graph, v, i, tensors[std::size_t(graph.outputs[i])]), 0U) << v.name;
  }
}

}  // namespace
}  // namespace kaiten
