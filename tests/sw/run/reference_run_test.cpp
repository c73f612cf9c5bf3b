// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "run/reference_run.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "reference/reference.h"
#include "run/random_inputs.h"
#include "tests/support/graph_builder.h"

namespace kaiten {
namespace {

constexpr int kImages = 3;

// A few milliseconds an image, so that some tensors are waited for.
Graph network() {
  test::GraphBuilder g(5);
  int map = g.input(48, 48, 16);
  for (int i = 0; i < 4; i++) map = g.conv(map, 16, 3, 3, 1, {1, 1, 1, 1}, Activation::Relu);
  g.output(map);
  return g.graph;
}

std::vector<Int8Values> inputs_of(const Graph& graph) { return random_inputs(graph, 7, kImages); }

TEST(ReferenceRun, GivesWhatTheReferenceGives) {
  const Graph graph = network();
  const std::vector<Int8Values> inputs = inputs_of(graph);
  const std::vector<Int8Values> wanted = run_reference_batch(graph, kImages, inputs);
  ReferenceRun run(graph, kImages, inputs, RoundingStyle::LiteRt);
  for (int image = 0; image < kImages; image++) {
    for (std::size_t t = 0; t < graph.tensors.size(); t++) {
      const Int8Values& values = wanted[std::size_t(image) * graph.tensors.size() + t];
      if (values.empty()) continue;
      const std::int8_t* found = run.values(image, int(t));
      ASSERT_NE(found, nullptr);
      EXPECT_TRUE(std::equal(values.begin(), values.end(), found)) << "image " << image << ", tensor " << t;
    }
  }
  EXPECT_EQ(run.take(), wanted);
}

TEST(ReferenceRun, EndsUnfinished) {
  const Graph graph = network();
  const std::vector<Int8Values> inputs = inputs_of(graph);
  for (int i = 0; i < 20; i++) ReferenceRun(graph, kImages, inputs, RoundingStyle::LiteRt);
}

TEST(ReferenceRun, RefusesOtherInputs) {
  const Graph graph = network();
  std::vector<Int8Values> inputs = inputs_of(graph);
  inputs.back().pop_back();
  EXPECT_THROW(ReferenceRun(graph, kImages, inputs, RoundingStyle::LiteRt), InputError);
  inputs.pop_back();
  EXPECT_THROW(ReferenceRun(graph, kImages, inputs, RoundingStyle::LiteRt), InputError);
}

// A factor of requantisation that does not exist: whoever waits goes on, and learns of it at the end.
TEST(ReferenceRun, TellsOfFailure) {
  Graph graph = network();
  const std::vector<Int8Values> inputs = inputs_of(graph);
  graph.tensors[std::size_t(graph.outputs.front())].quantization.scale = {1e-30F};
  ReferenceRun run(graph, kImages, inputs, RoundingStyle::LiteRt);
  EXPECT_EQ(run.values(kImages - 1, graph.outputs.front()), nullptr);
  EXPECT_THROW(run.take(), InputError);
}

}  // namespace
}  // namespace kaiten
