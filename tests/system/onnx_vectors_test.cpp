// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What onnxruntime answered to small ONNX models (tests/sw/reference/make_onnx_vectors.py), from the RTL and the host around it.
#include <gtest/gtest.h>

#include "import/import.h"
#include "run/session.h"
#include "tests/support/vectors.h"

namespace kaiten {
namespace {

TEST(OnnxVectors, OnTheAccelerator) {
  for (const test::Vector& v : test::vectors("tests/sw/reference/onnx_vectors.json")) {
    const Graph graph = require_graph(import_onnx(v.model));
    Session session(graph, {.config = "nano"});
    const RunResult result = session.run(test::stored_inputs(graph, v));
    EXPECT_TRUE(result.report.exact) << v.name;
    for (std::size_t i = 0; i < v.outputs.size(); i++)
      EXPECT_EQ(test::differing(graph, v, i, result.outputs[i]), 0U) << v.name;
  }
}

}  // namespace
}  // namespace kaiten
