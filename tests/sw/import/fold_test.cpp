// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Integers that a TensorFlow Lite file computes from shapes and constants: known at import, or refused.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "import/import.h"
#include "reference/reference.h"
#include "tests/support/model_builder.h"

namespace kaiten {
namespace {

using test::FileOp;
using test::FileTensor;
using test::FileType;
using test::ModelBuilder;
using List = std::vector<std::int64_t>;

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

// Codes of BuiltinOperator.
constexpr int kAdd = 0, kConcatenation = 2, kMul = 18, kReshape = 22, kGather = 36, kSub = 41, kDiv = 42,
              kStridedSlice = 45, kCast = 53, kMaximum = 55, kMinimum = 57, kSlice = 65, kTile = 69,
              kExpandDims = 70, kShape = 77, kReduceProd = 81, kPack = 83, kFloorDiv = 90;

// A model whose last operator repeats its input as often as integers say that operators compute.
class Folding : public ModelBuilder {
 public:
  int list(const List& values, const std::vector<int>& shape) {
    FileTensor t;
    t.name = "list_" + std::to_string(tensors.size());
    t.type = FileType::Int64;
    t.shape = shape;
    t.data.resize(values.size() * 8);
    std::memcpy(t.data.data(), values.data(), t.data.size());
    tensors.push_back(t);
    return int(tensors.size()) - 1;
  }
  int list(const List& values) { return list(values, {int(values.size())}); }
  int number(std::int64_t value) { return list({value}, {}); }

  int node(int code, const std::vector<int>& in, const std::vector<int>& shape = {}) {
    FileTensor t;
    t.name = "node_" + std::to_string(tensors.size());
    t.type = FileType::Int64;
    t.shape = shape;
    tensors.push_back(t);
    FileOp op;
    op.code = code;
    op.inputs = in;
    op.outputs = {int(tensors.size()) - 1};
    ops.push_back(op);
    return op.outputs.front();
  }
  int slice(int in, std::int64_t begin, std::int64_t end, std::int64_t stride = 1) {
    return node(kStridedSlice, {in, list({begin}), list({end}), list({stride})});
  }
  int element(int in, std::int64_t i) {
    const int t = slice(in, i, i + 1);
    ops.back().shrink_axis_mask = 1;
    return t;
  }
  // The values of the list `numbers` are to be `expected`: a map of one value is tiled so.
  void finish(int numbers, const List& expected) {
    const int times = node(kConcatenation, {list({1}), numbers}, {int(expected.size()) + 1});
    const int in = input(std::vector<int>(expected.size() + 1, 1), {0.05F, 0});
    FileTensor t = tensors[std::size_t(in)];
    t.name = "tiled";
    t.shape.assign(expected.begin(), expected.end());
    t.shape.insert(t.shape.begin(), 1);
    tensors.push_back(t);
    FileOp op;
    op.code = kTile;
    op.inputs = {in, times};
    op.outputs = {int(tensors.size()) - 1};
    ops.push_back(op);
    output(op.outputs.front());
  }
};

// What follows from a map of 1x6x5x4.
void expect_values(int (*compute)(Folding& m, int shape), const List& expected) {
  Folding m;
  const int map = m.input({1, 6, 5, 4}, {0.05F, 0});
  m.finish(compute(m, m.node(kShape, {map}, {4})), expected);
  const ImportResult result = import_tflite(m.file());
  ASSERT_TRUE(result.graph) << result.refusals.front().text();
  EXPECT_EQ(result.graph->ops.size(), 1U);  // nothing but the tiles
}

// Not folded: the operator that computes them, or the one that uses them, is refused, or the file is damaged.
void expect_none(int (*compute)(Folding& m, int shape)) {
  Folding m;
  const int map = m.input({1, 6, 5, 4}, {0.05F, 0});
  m.finish(compute(m, m.node(kShape, {map}, {4})), {1, 2});
  try {
    const ImportResult result = import_tflite(m.file());
    EXPECT_FALSE(result.graph);
    for (const Refusal& r : result.refusals) EXPECT_NE(r.limit, "");
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()), "");
  }
}

TEST(Fold, ShapesArePickedAndPutTogether) {
  expect_values([](Folding& m, int shape) { return m.slice(shape, 1, 3); }, {6, 5});
  expect_values([](Folding& m, int shape) { return m.slice(shape, -2, 100); }, {5, 4});
  expect_values([](Folding& m, int shape) { return m.slice(shape, 0, 4, 2); }, {1, 5});
  expect_values([](Folding& m, int shape) { return m.slice(shape, 1, 4, kHighest); }, {6});
  expect_values(
      [](Folding& m, int shape) {
        return m.node(kSlice, {shape, m.list({2}), m.list({-1})});
      },
      {5, 4});
  expect_values([](Folding& m, int shape) { return m.node(kGather, {shape, m.list({3, 0})}); }, {4, 1});
  expect_values(
      [](Folding& m, int shape) {
        return m.node(kPack, {m.number(1), m.element(shape, 2), m.element(shape, -1)});
      },
      {1, 5, 4});
  expect_values(
      [](Folding& m, int shape) {
        const int rows = m.node(kExpandDims, {m.element(shape, 1), m.number(0)}, {1});
        return m.node(kConcatenation, {m.list({1}), rows});
      },
      {1, 6});
}

// Limits of an activation would change what is folded: the operator is refused.
TEST(Fold, NoFusedActivations) {
  expect_none([](Folding& m, int shape) {
    const int sum = m.node(kAdd, {m.slice(shape, 1, 3), m.list({-5, -3})});
    m.ops.back().activation = 1;
    return sum;
  });
  expect_values(
      [](Folding& m, int shape) {
        return m.node(kAdd, {m.slice(shape, 1, 3), m.list({-5, -3})});
      },
      {1, 2});
}

TEST(Fold, Arithmetic) {
  expect_values(
      [](Folding& m, int shape) {
        return m.node(kAdd, {m.slice(shape, 1, 3), m.list({1, 2})});
      },
      {7, 7});
  expect_values(
      [](Folding& m, int shape) {
        return m.node(kSub, {m.slice(shape, 1, 3), m.number(3)});
      },
      {3, 2});
  expect_values(
      [](Folding& m, int shape) {
        return m.node(kMul, {m.number(2), m.slice(shape, 1, 3)});
      },
      {12, 10});
  expect_values(
      [](Folding& m, int shape) {
        return m.node(kDiv, {m.slice(shape, 1, 3), m.list({4})});
      },
      {1, 1});
  expect_values(
      [](Folding& m, int shape) {
        return m.node(kFloorDiv, {m.slice(shape, 1, 3), m.number(2)});
      },
      {3, 2});
  expect_values(
      [](Folding& m, int shape) {
        return m.node(kMinimum, {m.slice(shape, 1, 3), m.list({2, 9})});
      },
      {2, 5});
  expect_values(
      [](Folding& m, int shape) {
        return m.node(kMaximum, {m.slice(shape, 1, 3), m.list({2, 9})});
      },
      {6, 9});
  expect_values(
      [](Folding& m, int shape) {
        const int all = m.node(kReduceProd, {m.node(kCast, {shape}, {4}), m.list({0})});
        return m.node(kReshape, {all, m.list({1})}, {1});
      },
      {120});
}

TEST(Fold, WhatIsNotKnownIsRefused) {
  expect_none([](Folding& m, int shape) { return m.node(kGather, {shape, m.list({0, 4})}); });
  expect_none([](Folding& m, int shape) { return m.node(kGather, {shape, m.list({-1, 0})}); });
  expect_none([](Folding& m, int shape) { return m.slice(shape, 3, 1); });  // nothing
  expect_none([](Folding& m, int shape) { return m.slice(shape, 0, 2, 0); });
  expect_none([](Folding& m, int shape) { return m.slice(shape, 2, 0, -1); });
  expect_none([](Folding& m, int shape) { return m.element(shape, 4); });
  expect_none([](Folding& m, int shape) { return m.slice(shape, kLowest, kLowest); });
  for (const List& box :
       {List{3, 2}, List{kLowest, -1}, List{-1, 2}, List{5, -1}, List{0, kHighest}, List{0, -2}}) {
    static List now;
    now = box;
    expect_none([](Folding& m, int shape) {
      return m.node(kSlice, {shape, m.list({now[0]}), m.list({now[1]})});
    });
  }
  expect_none([](Folding& m, int shape) { return m.node(kAdd, {m.slice(shape, 0, 0), m.number(1)}); });
  expect_none([](Folding& m, int shape) { return m.node(kAdd, {shape, m.list({1, 2})}); });
  expect_none([](Folding& m, int) { return m.node(kAdd, {m.list({1, 2}, {1, 2}), m.list({0, 0}, {2, 1})}); });
  expect_none([](Folding& m, int) {
    return m.node(kPack, {m.number(1), m.node(kReduceProd, {m.list({1, 2, 1, 1}, {2, 2}), m.list({1})})});
  });
  expect_none([](Folding& m, int shape) { return m.node(kPack, {shape, shape}); });
  expect_none([](Folding& m, int) { return m.node(kStridedSlice, {m.list({1, 2})}); });
}

TEST(Fold, NumbersThatDoNotFit) {
  expect_none([](Folding& m, int) { return m.node(kAdd, {m.list({kHighest, 1}), m.number(1)}); });
  expect_none([](Folding& m, int) { return m.node(kSub, {m.list({kLowest, 1}), m.number(1)}); });
  expect_none([](Folding& m, int) { return m.node(kMul, {m.list({kHighest, 1}), m.number(2)}); });
  expect_none([](Folding& m, int) { return m.node(kReduceProd, {m.list({kHighest, 3}), m.list({0})}); });
  expect_none([](Folding& m, int shape) { return m.node(kDiv, {m.slice(shape, 0, 2), m.list({1, 0})}); });
  expect_none([](Folding& m, int) { return m.node(kDiv, {m.list({kLowest, 1}), m.number(-1)}); });
  expect_none([](Folding& m, int) {
    return m.node(kAdd, {m.list({1, std::int64_t(1) << 31}), m.number(0)});
  });
  expect_none([](Folding& m, int) { return m.node(kAdd, {m.list({1, -1}), m.number(0)}); });
}

TEST(Fold, LongListsAreNotFolded) {
  expect_none([](Folding& m, int) { return m.node(kAdd, {m.list(List(65, 1)), m.number(1)}); });
  expect_none([](Folding& m, int shape) { return m.node(kConcatenation, std::vector<int>(17, shape)); });
}

TEST(Fold, AReshapeTakesItsShapeFromOtherMaps) {
  Folding m;
  const int map = m.input({1, 6, 5, 4}, {0.05F, 0});
  const int shape = m.node(kShape, {map}, {4});
  const int to = m.node(kPack, {m.element(shape, 0), m.number(-1), m.element(shape, 3)}, {3});
  const int reshaped = m.reshape(map, {1, 30, 4});
  m.ops.back().inputs[1] = to;
  m.output(reshaped);
  const Graph graph = require_graph(import_tflite(m.file()));
  ASSERT_EQ(graph.ops.size(), 1U);
  EXPECT_EQ(graph.output_of(graph.ops[0]).shape, (std::vector<int>{1, 30, 4}));
}

TEST(Fold, IntegersAreNoActivationsAndNoOutputs) {
  Folding m;
  const int map = m.input({1, 6, 5, 4}, {0.05F, 0});
  const int shape = m.node(kShape, {map}, {4});
  m.output(m.add(map, map));
  m.ops.back().inputs[1] = shape;
  EXPECT_FALSE(import_tflite(m.file()).graph);
  m.ops.back().inputs[1] = map;
  EXPECT_TRUE(import_tflite(m.file()).graph);
  m.outputs.push_back(shape);
  const ImportResult output = import_tflite(m.file());
  ASSERT_EQ(output.refusals.size(), 1U);
  EXPECT_NE(output.refusals[0].value.find("computed from shapes"), std::string::npos);
  m.outputs.pop_back();
  m.ops.push_back(m.ops.front());  // the shape once more, into the same tensor
  EXPECT_THROW(import_tflite(m.file()), InputError);
}

// What constants make is computed at import; what other operators, or the user, read of it are the values of an operator.
TEST(Folding, ConstantsOfAnyRank) {
  ModelBuilder model(1);
  const auto bytes = [&](const std::vector<int>& shape, const std::vector<std::uint8_t>& data) {
    FileTensor t;
    t.name = "t" + std::to_string(model.tensors.size());
    t.shape = shape;
    t.scale = {0.1F};
    t.zero_point = {2};
    t.data = data;
    model.tensors.push_back(t);
    return int(model.tensors.size()) - 1;
  };
  const auto numbers = [&](const std::vector<std::uint8_t>& values) {
    FileTensor t;
    t.name = "numbers";
    t.type = FileType::Int32;
    t.shape = {int(values.size())};
    for (const std::uint8_t v : values) t.data.insert(t.data.end(), {v, 0, 0, 0});
    model.tensors.push_back(t);
    return int(model.tensors.size()) - 1;
  };
  const int in = model.input({1, 6}, {0.1F, 2});
  const int constant = bytes({1, 1, 1, 1, 3}, {1, 2, 3});
  const int tiled = bytes({1, 1, 1, 1, 6}, {});
  FileOp tile;
  tile.code = kTile;
  tile.inputs = {constant, numbers({1, 1, 1, 1, 2})};
  tile.outputs = {tiled};
  model.ops.push_back(tile);
  const int flat = bytes({1, 6}, {});
  FileOp reshape;
  reshape.code = kReshape;
  reshape.inputs = {tiled};
  reshape.outputs = {flat};
  model.ops.push_back(reshape);
  const int both = bytes({1, 12}, {});
  FileOp concat;
  concat.code = kConcatenation;
  concat.inputs = {in, flat};
  concat.outputs = {both};
  concat.axis = 1;
  model.ops.push_back(concat);
  model.output(both);
  model.output(tiled);
  const Graph graph = require_graph(import_tflite(model.file()));
  ASSERT_EQ(graph.ops.size(), 3U);  // two constants and the concatenation
  const std::vector<Int8Values> tensors = run_reference(graph, std::vector<Int8Values>{{9, 8, 7, 6, 5, 4}});
  EXPECT_EQ(tensors[std::size_t(graph.outputs[0])], (Int8Values{9, 8, 7, 6, 5, 4, 1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(tensors[std::size_t(graph.outputs[1])], (Int8Values{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(graph.tensors[std::size_t(graph.outputs[1])].shape.size(), 5U);
}

}  // namespace
}  // namespace kaiten
