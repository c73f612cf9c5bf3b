// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Convolutions by FFT against the direct ones: every kind of window, whole networks, and what happens where
// the FFT cannot be used.
#include "reference/fft_oracle.h"

#include <gtest/gtest.h>

#include <random>

#include "import/import.h"
#include "reference/reference.h"
#include "tests/support/seed.h"
#include "tests/support/shared.h"

namespace kaiten {
namespace {

int draw(std::mt19937_64& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

std::vector<int8_t> values(size_t count, std::mt19937_64& random) {
  std::vector<int8_t> v(count);
  for (int8_t& x : v) x = int8_t(draw(random, -128, 127));
  return v;
}

struct Layer {
  Op op;
  ConvParams params;
  Nhwc in;
  Nhwc out;
};

Layer random_layer(std::mt19937_64& random) {
  Layer l;
  l.op.name = "layer";
  const bool depthwise = draw(random, 0, 2) == 0;
  l.op.kind = depthwise ? OpKind::DepthwiseConv2D : OpKind::Conv2D;
  l.op.groups = depthwise ? 1 : draw(random, 1, 3);
  Window& w = l.op.window;
  w.kernel_h = draw(random, 1, 5);
  w.kernel_w = draw(random, 1, 5);
  w.stride_h = draw(random, 1, 3);
  w.stride_w = draw(random, 1, 3);
  w.dilation_h = draw(random, 1, 2);
  w.dilation_w = draw(random, 1, 2);
  w.pad = {draw(random, 0, 3), draw(random, 0, 3), draw(random, 0, 3), draw(random, 0, 3)};
  const int reach_h = (w.kernel_h - 1) * w.dilation_h + 1, reach_w = (w.kernel_w - 1) * w.dilation_w + 1;
  l.in = {draw(random, 1, 2), reach_h + draw(random, 0, 12), reach_w + draw(random, 0, 12),
          l.op.groups * draw(random, 1, 7)};
  l.out = {l.in.n, (l.in.h + w.pad.top + w.pad.bottom - reach_h) / w.stride_h + 1,
           (l.in.w + w.pad.left + w.pad.right - reach_w) / w.stride_w + 1,
           (depthwise ? l.in.c : l.op.groups) * draw(random, 1, 3)};
  ConvParams& p = l.params;
  p.zp_in = draw(random, -128, 127);
  p.zp_weights = draw(random, 0, 2) == 0 ? draw(random, -128, 127) : 0;
  p.output.zero_point = draw(random, -128, 127);
  for (int c = 0; c < l.out.c; c++) {
    p.bias.push_back(draw(random, -100000, 100000));
    p.multiplier.push_back(draw(random, 1 << 30, std::numeric_limits<int32_t>::max()));
    p.shift.push_back(-draw(random, 6, 12));
  }
  return l;
}

TEST(FftOracle, EveryKindOfWindow) {
  std::mt19937_64 random(test::seed());
  FftOracle oracle(2);
  for (int i = 0; i < 200; i++) {
    const Layer l = random_layer(random);
    const bool depthwise = l.op.kind == OpKind::DepthwiseConv2D;
    const std::vector<int8_t> input = values(l.in.elements(), random);
    const size_t taps = size_t(l.op.window.kernel_h * l.op.window.kernel_w);
    const std::vector<int8_t> weights =
        values(taps * size_t(l.out.c) * size_t(depthwise ? 1 : l.in.c / l.op.groups), random);
    std::vector<int8_t> direct(l.out.elements()), fft(l.out.elements());
    if (depthwise) {
      reference::depthwise({l.params, l.op.window, l.in, l.out}, input, weights, direct);
    } else {
      reference::conv2d({l.params, l.op.window, l.in, l.out, l.op.groups}, input, weights, direct);
    }
    ASSERT_TRUE(oracle.run(l.op, l.params, l.in, input, weights, l.out, fft));
    ASSERT_EQ(fft, direct) << i;
  }
  ASSERT_EQ(oracle.notes().size(), 1U);
  EXPECT_EQ(oracle.notes().front().find("oracle: 200 convolutions by FFT"), 0U) << oracle.notes().front();
}

void compare_network(const std::string& name) {
  const auto shared = test::shared_dir();
  if (!shared) GTEST_SKIP() << "KAITEN_SHARED is absent: its models are not compared";
  const Graph graph = require_graph(import_file(*shared / "models" / name));
  std::mt19937_64 random(test::seed());
  std::vector<Int8Values> inputs;
  for (int t : graph.inputs) inputs.push_back(values(graph.tensors[size_t(t)].bytes(), random));
  FftOracle oracle;
  EXPECT_EQ(run_reference(graph, inputs, RoundingStyle::LiteRt, {}, &oracle), run_reference(graph, inputs));
  const auto convolutions = std::count_if(graph.ops.begin(), graph.ops.end(), [](const Op& op) {
    return op.kind == OpKind::Conv2D || op.kind == OpKind::DepthwiseConv2D;
  });
  ASSERT_EQ(oracle.notes().size(), 1U);
  EXPECT_EQ(oracle.notes().front().find("oracle: " + std::to_string(convolutions) + " convolutions"), 0U);
}

TEST(FftOracle, ResNet8) { compare_network("tflite/mlperf-tiny/pretrainedResnet_quant.tflite"); }
TEST(FftOracle, KeywordSpotting) { compare_network("tflite/mlperf-tiny/kws_ref_model.tflite"); }
TEST(FftOracle, VisualWakeWords) { compare_network("tflite/mlperf-tiny/vww_96_int8.tflite"); }

TEST(FftOracle, WithoutMemoryTheDirectOracleComputesAndTheNoticeSaysSo) {
  std::mt19937_64 random(test::seed());
  const Layer l = random_layer(random);
  const std::vector<int8_t> input = values(l.in.elements(), random);
  const std::vector<int8_t> weights = values(size_t(l.out.c * l.in.c) * 25, random);
  std::vector<int8_t> output(l.out.elements());
  FftOracle oracle(1, 100);
  EXPECT_FALSE(oracle.run(l.op, l.params, l.in, input, weights, l.out, output));
  ASSERT_EQ(oracle.notes().size(), 2U);
  EXPECT_EQ(oracle.notes()[1].find("oracle: 'layer' computed directly: "), 0U) << oracle.notes()[1];
  EXPECT_NE(oracle.notes()[1].find(" bytes, there are 100 bytes"), std::string::npos) << oracle.notes()[1];
}

}  // namespace
}  // namespace kaiten
