// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The kernels against CMSIS-NN's conformance cases, whose expected values the TensorFlow Lite interpreter
// made: with the exact multipliers, shifts, offsets and ranges of the suite, so that nothing here depends on
// scales.

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reference/kernels.h"
#include "reference/reference.h"
#include "tests/support/cmsis_nn.h"

namespace kaiten {
namespace {

using reference::Input;
using reference::Output;
using test::cmsis_nn::Case;

std::vector<int8_t> run_conv(const Case& c, const std::vector<int8_t>& input, bool depthwise) {
  const auto weights = c.array<int8_t>("weights");
  const auto channels = size_t(c.value("OUT_CH"));
  const Nhwc in = c.in(input.size(), c.value("IN_CH"));
  const Nhwc out{in.n, c.value("OUTPUT_H"), c.value("OUTPUT_W"), int(channels)};
  std::vector<int8_t> output(out.elements());
  if (depthwise) {
    reference::depthwise({c.conv(channels), c.window(), in, out}, input, weights, output);
  } else {
    const int groups = in.c / c.value("FILTER_CH", in.c);
    reference::conv2d({c.conv(channels), c.window(), in, out, groups}, input, weights, output);
  }
  return output;
}

std::vector<int8_t> run_fully_connected(const Case& c, const std::vector<int8_t>& input, size_t channels) {
  const auto weights = c.array<int8_t>("weights");
  const int rows = int(input.size() * channels / weights.size());
  std::vector<int8_t> output(size_t(rows) * channels);
  reference::fully_connected(c.conv(channels), rows, input, weights, output);
  return output;
}

std::vector<int8_t> run_pool(const Case& c, const std::vector<int8_t>& input, bool average) {
  const Nhwc in = c.in(input.size(), c.value("INPUT_C", c.value("OUT_CH", 0)));
  const Nhwc out{in.n, c.value("OUTPUT_H"), c.value("OUTPUT_W"), in.c};
  PoolParams params;
  params.output.low = c.value("ACTIVATION_MIN", -128);
  params.output.high = c.value("ACTIVATION_MAX", 127);
  std::vector<int8_t> output(out.elements());
  (average ? reference::average_pool : reference::max_pool)(params, c.window(), in, input, out, output);
  return output;
}

std::vector<int8_t> run_add(const Case& c) {
  const auto a = c.array<int8_t>("input1");
  const auto b = c.array<int8_t>("input2");
  AddParams params;
  params.left_shift = c.value("LEFT_SHIFT");
  for (int i = 0; i < 2; i++) {
    const std::string operand = "INPUT" + std::to_string(i + 1);
    params.zp_in[i] = -c.value(operand + "_OFFSET");
    params.in[i] = {c.value(operand + "_MULT"), c.value(operand + "_SHIFT")};
  }
  params.out = {c.value("OUTPUT_MULT"), c.value("OUTPUT_SHIFT")};
  params.output.zero_point = c.value("OUTPUT_OFFSET");
  params.output.low = c.value("OUT_ACTIVATION_MIN");
  params.output.high = c.value("OUT_ACTIVATION_MAX");
  std::vector<int8_t> output(a.size());
  reference::add(params, std::vector<std::span<const int8_t>>{a, b}, output);
  return output;
}

std::vector<int8_t> run_mul(const Case& c) {
  const auto a = c.array<int8_t>("input1");
  const auto b = c.array<int8_t>("input2");
  MulParams params;
  for (int i = 0; i < 2; i++) params.zp_in[i] = -c.value("INPUT" + std::to_string(i + 1) + "_OFFSET");
  params.multiplier = {c.value("OUTPUT_MULT"), c.value("OUTPUT_SHIFT")};
  params.output.zero_point = c.value("OUTPUT_OFFSET");
  params.output.low = c.value("OUT_ACTIVATION_MIN");
  params.output.high = c.value("OUT_ACTIVATION_MAX");
  std::vector<int8_t> output(a.size());
  reference::multiply(params, a, b, output);
  return output;
}

// The only case that needs a graph: PAD is index arithmetic on shapes.
std::vector<int8_t> run_pad(const Case& c, const std::vector<int8_t>& input) {
  Graph graph;
  graph.tensors.resize(2);
  Op op;
  op.kind = OpKind::Pad;
  op.inputs = {0};
  op.output = 1;
  for (const std::string dim : {"N", "H", "W", "C"}) {
    const int size = c.value("INPUT_" + dim);
    op.dims.push_back(c.value("PRE_PAD_" + dim));
    op.dims.push_back(c.value("POST_PAD_" + dim));
    graph.tensors[0].shape.push_back(size);
    graph.tensors[1].shape.push_back(size + op.dims[op.dims.size() - 2] + op.dims.back());
  }
  graph.tensors[1].quantization = {{1.0F}, {c.value("PAD_VALUE")}, 0};
  std::vector<Int8Values> tensors = {input, {}};
  run_operator(graph, op, RoundingStyle::LiteRt, tensors);
  return tensors[1];
}

std::vector<int8_t> run_softmax(const SoftmaxParams& params, int depth, const std::vector<int8_t>& input) {
  std::vector<int8_t> output(input.size());
  reference::softmax(params, depth, input, output);
  return output;
}

// Layers 1 to 13 of a keyword network; 11 is a change of shape.
std::vector<int8_t> run_ds_cnn(const nlohmann::json& json) {
  std::vector<int8_t> values = Case(json, "", "ds_cnn_s_").array<int8_t>("input");
  for (int layer = 1; layer <= 9; layer++) {
    const bool depthwise = layer % 2 == 0;
    const std::string number = std::to_string(layer);
    const std::string name = depthwise ? "depthwise_conv_2d" : "conv_2d";
    const std::string defines = depthwise ? "DEPTHWISE_CONV_2D_" : "CONV_2D_";
    const Case c(json, defines + number + "_", "ds_cnn_s_layer_" + number + "_" + name + "_");
    values = run_conv(c, values, depthwise);
  }
  values = run_pool(Case(json, "AVERAGE_POOL_2D_10_", ""), values, true);
  values = run_fully_connected(Case(json, "FULLY_CONNECTED_12_", "ds_cnn_s_layer_12_fully_connected_"),
                               values, 12);
  const Case softmax(json, "SOFTMAX_13_", "");
  return run_softmax({{softmax.value("MULT"), softmax.value("SHIFT")}, softmax.value("DIFF_MIN")},
                     softmax.value("ROW_SIZE"), values);
}

std::vector<int8_t> run_case(const nlohmann::json& json, const std::string& name) {
  if (name == "ds_cnn_s") return run_ds_cnn(json);
  const Case c = test::cmsis_nn::single_layer(json, name);
  if (name == "add") return run_add(c);
  if (name == "mul") return run_mul(c);
  const auto input = c.array<int8_t>(c.has_array("input") ? "input" : "input_tensor");
  if (name == "pad_int8_1") return run_pad(c, input);
  if (name == "softmax")
    return run_softmax({{c.value("INPUT_MULT"), c.value("INPUT_LEFT_SHIFT")}, c.value("DIFF_MIN")},
                       c.value("ROW_SIZE"), input);
  if (name.starts_with("avgpooling") || name.starts_with("maxpooling")) {
    return run_pool(c, input, name.starts_with("avg"));
  }
  if (c.has("ACCUMULATION_DEPTH")) return run_fully_connected(c, input, size_t(c.value("OUT_CH")));
  return run_conv(c, input, c.has("CH_MULT"));
}

TEST(CmsisNn, EveryCaseIsExact) {
  if (!test::shared_dir())
    GTEST_SKIP() << "KAITEN_SHARED is absent: CMSIS-NN conformance cases are not compared";
  size_t compared = 0;
  for (const std::string& name : test::cmsis_nn::case_names()) {
    const nlohmann::json json = test::cmsis_nn::read_case(name);
    EXPECT_EQ(run_case(json, name), test::cmsis_nn::expected_output(json, name)) << name;
    compared++;
  }
  EXPECT_EQ(compared, 52U);
}

}  // namespace
}  // namespace kaiten
