// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Models of one operator against what LiteRT's reference kernels answered (make_operator_vectors.py), element by element.
#include <gtest/gtest.h>

#include "import/import.h"
#include "reference/reference.h"
#include "tests/support/vectors.h"

namespace kaiten {
namespace {

TEST(OperatorVectors, AsLiteRtComputesThem) {
  const std::vector<test::Vector> all = test::vectors("tests/sw/reference/operator_vectors.json");
  ASSERT_GT(all.size(), 130U);
  for (const test::Vector& v : all) {
    const Graph graph = require_graph(import_tflite(v.model));
    const std::vector<Int8Values> tensors = run_reference(graph, test::stored_inputs(graph, v));
    EXPECT_EQ(test::differing(graph, v, 0, tensors[std::size_t(graph.outputs.front())]), 0U) << v.name;
  }
}

}  // namespace
}  // namespace kaiten
