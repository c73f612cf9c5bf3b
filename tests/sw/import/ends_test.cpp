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
