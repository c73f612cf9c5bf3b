// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Which operators of single values are on which engine. What they compute there: compiler_test.
#include "compile/lower/balance_engines.h"

#include <gtest/gtest.h>

#include "compile/lower/lower.h"
#include "program/config.h"
#include "tests/support/graph_builder.h"

namespace kaiten {
namespace {

using test::GraphBuilder;

enum class Single { Table, Quantize, Product, Depthwise };

struct Network {
  Single single = Single::Table;
  int channels = 32, side = 28;
  int depthwise = 2;     // 5x5 layers of the vector engine
  int convolutions = 0;  // 3x3 layers of the array
  bool uint8 = false;    // its weights have a zero point
  bool reshaped = false;
};

int single_of(GraphBuilder& b, Single kind, int in, int channels) {
  switch (kind) {
    case Single::Table:
      return b.table(in, Function::Tanh);
    case Single::Quantize:
      return b.quantize(in);
    case Single::Product: {
      const int factors = b.constant({channels});
      b.graph.tensors[std::size_t(factors)].quantization.zero_point = {b.uint8 ? 3 : 0};
      return b.element(OpKind::Mul, in, factors, Activation::None);
    }
    case Single::Depthwise:
      return b.depthwise(in, 1, 1, 1, {}, Activation::None);
  }
  return in;
}

// The operator behind two convolutions, where two operators read what the second makes: no engine takes it along.
LoweredOp lowered(const Network& n, const Config& config) {
  GraphBuilder b(1);
  int last = b.conv(b.input(n.side, n.side, 3), n.channels, 3, 3, 1, {1, 1, 1, 1}, Activation::Relu);
  for (int i = 0; i < n.convolutions; i++)
    last = b.conv(last, n.channels, 3, 3, 1, {1, 1, 1, 1}, Activation::Relu);
  b.uint8 = n.uint8;
  const int made = single_of(b, n.single, last, n.channels);
  b.uint8 = false;
  const int op = int(b.graph.ops.size()) - 1;
  const auto conv = [&](int in) { return b.conv(in, 4, 1, 1, 1, {}, Activation::None); };
  b.output(n.reshaped ? conv(b.reshape(made, {1, n.side / 2, n.side * 2, n.channels})) : made);
  for (int i = 0; i < n.depthwise; i++) last = b.depthwise(last, 5, 5, 1, {2, 2, 2, 2}, Activation::Relu);
  b.output(last);
  const Lowering lowering = lower(b.graph, config, RoundingStyle::LiteRt);
  EXPECT_TRUE(lowering.refusals.empty()) << lowering.refusals[0].reason;
  for (const LoweredOp& l : lowering.ops) {
    if (l.op == op) return l;
  }
  return {};
}

Engine engine_of(const Network& n, const Config& config = preset("base")) {
  return lowered(n, config).engine;
}

Config without(bool Config::*feature) {
  Config config = preset("base");
  config.*feature = false;
  return config;
}

TEST(BalanceEngines, TakesWhatTheArrayIsQuickerFor) {
  for (const Single single : {Single::Table, Single::Quantize, Single::Product, Single::Depthwise}) {
    EXPECT_EQ(engine_of({single}), Engine::kConv) << int(single);
    EXPECT_EQ(engine_of({single, 64}), Engine::kConv) << int(single);
    // Two passes of four tiles, where the vector engine has eleven tiles.
    EXPECT_EQ(engine_of({single, 256}), Engine::kWindow) << int(single);
    // Of an array of four kernels.
    EXPECT_NE(engine_of({single}, preset("nano")), Engine::kConv) << int(single);
  }
}

TEST(BalanceEngines, LeavesWhatSavesLittle) {
  for (const Single single : {Single::Table, Single::Quantize, Single::Product, Single::Depthwise})
    EXPECT_NE(engine_of({single, 32, 8}), Engine::kConv) << int(single);
  EXPECT_EQ(engine_of({Single::Product, 32, 8}), Engine::kAdd);
}

TEST(BalanceEngines, LeavesTheLongerEngineAlone) {
  EXPECT_EQ(engine_of({.channels = 64, .depthwise = 0, .convolutions = 4}), Engine::kWindow);
  EXPECT_EQ(engine_of({.channels = 64, .depthwise = 4, .convolutions = 1}), Engine::kConv);
}

TEST(BalanceEngines, AsksTheConfiguration) {
  EXPECT_EQ(engine_of({Single::Table}, without(&Config::conv_table)), Engine::kWindow);
  EXPECT_EQ(engine_of({Single::Quantize}, without(&Config::conv_table)), Engine::kConv);
  for (const Single single : {Single::Product, Single::Depthwise}) {
    EXPECT_EQ(engine_of({.single = single, .uint8 = true}), Engine::kConv);
    EXPECT_EQ(engine_of({.single = single, .uint8 = true}, without(&Config::sum_row)), Engine::kWindow);
  }
  EXPECT_EQ(engine_of({.single = Single::Quantize, .uint8 = true}, without(&Config::sum_row)), Engine::kConv);
}

TEST(BalanceEngines, LeavesWhatIsReadAsAnotherShape) {
  EXPECT_EQ(engine_of({.single = Single::Quantize, .channels = 24, .side = 48}), Engine::kConv);
  EXPECT_EQ(engine_of({.single = Single::Quantize, .channels = 24, .side = 48, .reshaped = true}),
            Engine::kWindow);
}

// A weight buffer of so few rows that the convolution would not fit.
TEST(BalanceEngines, LeavesWhatTheArrayHasNoRoomFor) {
  Config config = preset("base");
  config.wb_rows = 64;
  GraphBuilder b(1);
  const int in = b.input(28, 28, 256);
  b.output(b.table(in, Function::Tanh));
  b.output(b.depthwise(in, 5, 5, 1, {2, 2, 2, 2}, Activation::Relu));
  const Lowering lowering = lower(b.graph, config, RoundingStyle::LiteRt);
  EXPECT_TRUE(lowering.refusals.empty());
  EXPECT_EQ(lowering.ops.front().engine, Engine::kWindow);
}

// Weights, zero points and limits of a product become those of the layer it turns into.
TEST(BalanceEngines, TurnsProductsIntoDepthwiseLayers) {
  const LoweredOp op = lowered({Single::Product, 256}, preset("base"));
  ASSERT_EQ(op.engine, Engine::kWindow);
  EXPECT_EQ(op.window, WindowKind::kDepthwise);
  EXPECT_EQ(op.inputs.size(), 1U);
  EXPECT_EQ(op.params.size(), 256U);
  EXPECT_FALSE(op.broadcast);
}

}  // namespace
}  // namespace kaiten
