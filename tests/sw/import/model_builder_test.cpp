// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The builder of test models makes files the importer accepts, and that mean what was asked for.

#include "tests/support/model_builder.h"

#include <gtest/gtest.h>

#include <random>

#include "graph/quantize.h"
#include "import/import.h"
#include "reference/reference.h"
#include "tests/support/seed.h"

namespace kaiten {
namespace {

TEST(ModelBuilder, EveryRandomLayerImportsAndRuns) {
  constexpr OpKind kKinds[] = {OpKind::Conv2D, OpKind::DepthwiseConv2D, OpKind::FullyConnected,
                               OpKind::Add,    OpKind::AveragePool,     OpKind::MaxPool,
                               OpKind::Mean,   OpKind::Reshape,         OpKind::Softmax};
  std::mt19937_64 random(test::seed());
  test::RandomLayerLimits limits;
  limits.max_dilation = 3;
  limits.max_depth_multiplier = 3;
  for (const OpKind kind : kKinds) {
    size_t distinct = 0;
    for (int i = 0; i < 40; i++) {
      const uint64_t seed = random();
      const ImportResult result = import_tflite(test::random_layer(seed, kind, limits).file());
      ASSERT_TRUE(result.graph) << name_of(kind) << " seed " << seed << ": "
                                << result.refusals.front().text();
      const Graph& graph = *result.graph;
      EXPECT_EQ(graph.ops.back().kind, kind);
      const Tensor& input = graph.tensors[size_t(graph.inputs.front())];
      const auto tensors =
          run_reference(graph, std::vector<Int8Values>{test::random_values(input.elements(), random)});
      const Int8Values& output = tensors[size_t(graph.outputs.front())];
      ASSERT_EQ(output.size(), graph.output_of(graph.ops.back()).elements());
      distinct += std::any_of(output.begin(), output.end(), [&](int8_t v) { return v != output.front(); });
    }
    // The chosen scales spread the results instead of saturating them.
    EXPECT_GE(distinct, 20U) << name_of(kind);
  }
}

TEST(ModelBuilder, KeepsWhatWasAskedFor) {
  test::ModelBuilder model(5);
  const int in = model.input({1, 9, 8, 5}, {0.5F, -128});
  test::ConvSpec spec;
  spec.channels = 2;
  spec.kernel_h = 2;
  spec.stride_w = 2;
  spec.activation = Activation::Relu6;
  spec.out_scale = 0.25F;
  spec.out_zero_point = 7;
  spec.bias = {100, -100};
  model.output(model.conv(in, spec));
  const Graph graph = require_graph(import_tflite(model.file(), "asked"));
  EXPECT_EQ(graph.name, "asked");
  ASSERT_EQ(graph.ops.size(), 1U);
  const Op& op = graph.ops[0];
  EXPECT_EQ(op.window, (Window{2, 3, 1, 2, 1, 1, {0, 1, 0, 1}}));
  EXPECT_EQ(graph.output_of(op).shape, (std::vector<int>{1, 9, 4, 2}));
  const ConvParams params = conv_params(graph, op, RoundingStyle::LiteRt);
  EXPECT_EQ(params.bias, (std::vector<int32_t>{100, -100}));
  EXPECT_EQ(params.zp_in, -128);
  EXPECT_EQ(params.output.zero_point, 7);
  EXPECT_EQ(params.output.low, 7);
  EXPECT_EQ(params.output.high, 31);  // 7 + 6 / 0.25
  EXPECT_EQ(params.output.rule, Rounding::Double);
  EXPECT_EQ(macs(graph), uint64_t(9 * 4 * 2 * 2 * 3 * 5));
}

}  // namespace
}  // namespace kaiten
