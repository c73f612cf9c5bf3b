// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Functions of single values: their tables beside the reference executor's tensors, and what is left to do for them.
#include "compile/lower/value_functions.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compile/lower/lower.h"
#include "program/config.h"
#include "reference/reference.h"
#include "tests/support/graph_builder.h"
#include "tests/support/seed.h"

namespace kaiten {
namespace {

using test::GraphBuilder;

// A function of the values of earlier ones, which are functions of the first.
int random_function(GraphBuilder& b, const std::vector<int>& tensors) {
  static constexpr OpKind kPairs[] = {OpKind::Add, OpKind::Sub, OpKind::Mul};
  const auto any = [&] { return tensors[std::size_t(b.uniform(0, int(tensors.size()) - 1))]; };
  switch (b.uniform(0, 3)) {
    case 0:
      return b.table(any());
    case 1:
      return b.quantize(any());
    case 2: {
      const int number = b.constant({1});
      const bool first = b.uniform(0, 1) == 0;
      const int other = any();
      return b.element(kPairs[b.uniform(0, 2)], first ? number : other, first ? other : number,
                       b.activation());
    }
    default:
      return b.element(kPairs[b.uniform(0, 2)], any(), any(), b.activation());
  }
}

TEST(ValueFunctions, TablesAreWhatTheReferenceMakesOfEveryValue) {
  int pairs = 0;
  for (std::uint64_t i = 0; i < 150; i++) {
    SCOPED_TRACE(i);
    GraphBuilder b(test::seed() * 400 + i);
    b.uint8 = i % 4 == 1;
    if (i % 3 == 0) b.graph.framework = Framework::Onnx;
    std::vector<int> tensors{b.input(16, 16, 1)};
    for (int n = b.uniform(1, 5); n > 0; n--) tensors.push_back(random_function(b, tensors));
    b.output(tensors.back());
    Int8Values all(256);
    for (std::size_t k = 0; k < all.size(); k++) all[k] = std::int8_t(int(k) - 128);
    const std::vector<Int8Values> values = run_reference(b.graph, std::span(&all, 1));
    const ValueFunctions functions(b.graph);
    for (const Op& op : b.graph.ops) {
      const ValueFunction* f = functions.of(op.output);
      ASSERT_NE(f, nullptr) << name_of(op.kind);
      EXPECT_EQ(f->source, tensors.front());
      EXPECT_TRUE(std::equal(f->table.begin(), f->table.end(), values[std::size_t(op.output)].begin()))
          << name_of(op.kind);
      pairs += op.inputs.size() == 2;
    }
  }
  EXPECT_GT(pairs, 80);
}

struct Silu {
  GraphBuilder b{1};
  int x = b.conv(b.input(8, 8, 3), 8, 3, 3, 1, {1, 1, 1, 1}, Activation::None);
  int gate = b.table(x, Function::Sigmoid);
  int out = b.element(OpKind::Mul, x, gate, Activation::None);

  std::vector<Engine> engines(const char* config) {
    const Lowering l = lower(b.graph, preset(config), RoundingStyle::LiteRt);
    EXPECT_TRUE(l.refusals.empty());
    std::vector<Engine> used;
    for (const LoweredOp& op : l.ops) used.push_back(op.engine);
    return used;
  }
};

TEST(ValueFunctions, OneStandsForAllThatLiesBetween) {
  Silu n;
  n.b.output(n.out);
  const ValueFunctions functions(n.b.graph);
  EXPECT_EQ(functions.of(n.x), nullptr);
  EXPECT_EQ(functions.of(n.out)->operators, 2);
  EXPECT_FALSE(functions.is_needed(n.x));
  EXPECT_FALSE(functions.is_needed(n.gate));
  EXPECT_TRUE(functions.is_needed(n.out));
  EXPECT_EQ(functions.stands_for(n.x), n.out);
  EXPECT_EQ(n.engines("base"), (std::vector{Engine::kConv, Engine::kNone, Engine::kNone}));
  // An array without a table.
  EXPECT_EQ(n.engines("nano"), (std::vector{Engine::kConv, Engine::kNone, Engine::kWindow}));
}

TEST(ValueFunctions, WhatOthersReadStays) {
  Silu n;
  n.b.output(n.b.conv(n.x, 4, 1, 1, 1, {}, Activation::None));
  n.b.output(n.out);
  EXPECT_EQ(ValueFunctions(n.b.graph).stands_for(n.x), kNoTensor);
  EXPECT_EQ(n.engines("base"), (std::vector{Engine::kConv, Engine::kNone, Engine::kWindow, Engine::kConv}));

  Silu gated;
  gated.b.output(gated.gate);
  gated.b.output(gated.out);
  const ValueFunctions functions(gated.b.graph);
  EXPECT_TRUE(functions.is_needed(gated.gate));
  EXPECT_EQ(functions.stands_for(gated.x), kNoTensor);  // two functions
  EXPECT_EQ(gated.engines("base"), (std::vector{Engine::kConv, Engine::kWindow, Engine::kWindow}));
}

TEST(ValueFunctions, AreOfOneSource) {
  GraphBuilder b(1);
  const int x = b.input(8, 8, 4), y = b.input(8, 8, 4);
  const int sum = b.add(b.table(x, Function::Tanh), y, Activation::None);
  const int channels = b.element(OpKind::Mul, x, b.constant({4}), Activation::None);
  const int behind = b.table(sum, Function::Tanh);
  b.output(behind);
  b.output(channels);
  const ValueFunctions functions(b.graph);
  EXPECT_EQ(functions.of(sum), nullptr);
  EXPECT_EQ(functions.of(channels), nullptr);
  EXPECT_EQ(functions.of(behind)->source, sum);
}

// What nobody reads is computed, as everywhere.
TEST(ValueFunctions, KeepsWhatNobodyReads) {
  Silu n;
  n.b.output(n.x);
  EXPECT_EQ(n.engines("base"), (std::vector{Engine::kConv, Engine::kNone, Engine::kWindow}));
}

// Scales that have no factor: none, and lowering says so.
TEST(ValueFunctions, LeavesRefusalsToOthers) {
  GraphBuilder b(1);
  const int in = b.input(4, 4, 4);
  const int out = b.quantize(in);
  b.graph.tensors[std::size_t(out)].quantization.scale = {1.0e-20F};
  b.output(out);
  EXPECT_EQ(ValueFunctions(b.graph).of(out), nullptr);
  EXPECT_EQ(lower(b.graph, preset("base"), RoundingStyle::LiteRt).refusals.size(), 1U);
}

}  // namespace
}  // namespace kaiten
