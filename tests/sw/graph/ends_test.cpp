// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Networks that end early: at a tensor that was asked for, or before an operator that ranks boxes.
#include "graph/ends.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "import/import.h"
#include "reference/reference.h"
#include "tests/support/model_builder.h"

namespace kaiten {
namespace {

using test::ModelBuilder;

constexpr int kCustom = 32, kLstm = 16;

// conv a, conv b of a, add of both; `code` in the place of the add's, 0: the add.
struct Network {
  explicit Network(int code = 0) : model(1) {
    in = model.input({1, 8, 8, 6});
    a = model.conv(in, {.channels = 4});
    b = model.conv(a, {.channels = 4});
    sum = model.add(a, b);
    model.output(sum);
    if (code != 0) model.ops.back().code = code;
  }
  std::string name(int tensor) const { return model.tensors[std::size_t(tensor)].name; }

  ModelBuilder model;
  int in, a, b, sum;
};

TEST(Ends, BeforeACustomTail) {
  const Network n(kCustom);
  const ImportResult result = import_tflite(n.model.file());
  ASSERT_TRUE(result.graph);
  const Graph& g = *result.graph;
  EXPECT_EQ(g.outputs, (std::vector<int>{n.a, n.b}));
  EXPECT_EQ(g.ops.size(), 2U);
  ASSERT_EQ(g.notes.size(), 1U);
  EXPECT_NE(g.notes[0].find("cut before '" + n.name(n.sum) + "' (CUSTOM"), std::string::npos) << g.notes[0];
  // The same values as in the network with nothing cut.
  const Graph whole = require_graph(import_tflite(Network().model.file()));
  const std::vector<Int8Values> input{Int8Values(8 * 8 * 6, 3)};
  const auto cut = run_reference(g, input), all = run_reference(whole, input);
  for (const int t : g.outputs) EXPECT_EQ(cut[std::size_t(t)], all[std::size_t(t)]);
}

// The network, then a function of its dequantised result; `again`: quantised again, then another convolution.
ModelBuilder with_float_tail(bool again) {
  constexpr int kLogistic = 14, kDequantize = 6, kQuantize = 114;
  Network n;
  const auto append = [&](int code, int from, test::FileType type) {
    test::FileTensor t = n.model.tensors[std::size_t(n.sum)];
    t.name = "tail" + std::to_string(n.model.tensors.size());
    t.type = type;
    if (type == test::FileType::Float32) t.scale.clear();
    n.model.tensors.push_back(t);
    test::FileOp op;
    op.code = code;
    op.inputs = {from};
    op.outputs = {int(n.model.tensors.size()) - 1};
    n.model.ops.push_back(op);
    return op.outputs.front();
  };
  const int real = append(kDequantize, n.sum, test::FileType::Float32);
  int last = append(kLogistic, real, test::FileType::Float32);
  if (again) last = n.model.conv(append(kQuantize, last, test::FileType::Int8), {.channels = 4});
  n.model.outputs = {last};
  return n.model;
}

TEST(Ends, BeforeAFloatTail) {
  const Graph g = require_graph(import_tflite(with_float_tail(false).file()));
  ASSERT_EQ(g.outputs.size(), 1U);
  EXPECT_EQ(g.tensors[std::size_t(g.outputs[0])].type, ElementType::Float32);
  EXPECT_EQ(g.ops.size(), 4U);
  EXPECT_NE(g.notes.at(0).find("(LOGISTIC)"), std::string::npos) << g.notes[0];
}

TEST(Ends, NotBeforeFloatsThatLayersFollow) {
  const ImportResult result = import_tflite(with_float_tail(true).file());
  EXPECT_FALSE(result.graph);
  ASSERT_EQ(result.refusals.size(), 1U);
  EXPECT_EQ(result.refusals[0].op, "LOGISTIC");
}

TEST(Ends, NotBeforeOtherOperators) {
  const ImportResult result = import_tflite(Network(kLstm).model.file());
  EXPECT_FALSE(result.graph);
  EXPECT_EQ(result.refusals.size(), 1U);
}

// Something besides the tail cannot run.
TEST(Ends, NotWithOtherRefusals) {
  Network n(kCustom);
  n.model.ops[0].code = kLstm;
  EXPECT_FALSE(import_tflite(n.model.file()).graph);
}

TEST(Ends, AtATensor) {
  for (const int code : {0, kCustom, kLstm}) {
    const Network n(code);
    const Graph g = require_graph(import_tflite(n.model.file(), "model", n.name(n.a)));
    EXPECT_EQ(g.outputs, std::vector<int>{n.a});
    EXPECT_EQ(g.ops.size(), 1U);
    EXPECT_EQ(g.notes.size(), 1U);
    EXPECT_EQ(require_graph(import_tflite(n.model.file(), "model", n.name(n.b))).ops.size(), 2U);
  }
}

TEST(Ends, NotAtATensorThatCannotRun) {
  const Network n(kLstm);
  const ImportResult result = import_tflite(n.model.file(), "model", n.name(n.sum));
  EXPECT_FALSE(result.graph);
  EXPECT_EQ(result.refusals.size(), 1U);
  EXPECT_THROW(import_tflite(n.model.file(), "model", "none"), InputError);
  EXPECT_THROW(import_tflite(Network().model.file(), "model", n.name(n.in)), InputError);
}

}  // namespace
}  // namespace kaiten
