// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What the importer takes of operators that run on the host, float32 ends among them, and what it refuses. What they
// compute: operator_vectors_test.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "graph/quantize.h"
#include "import/import.h"
#include "reference/host_int8.h"
#include "reference/reference.h"
#include "tests/support/model_builder.h"
#include "tests/support/seed.h"

namespace kaiten {
namespace {

using test::FileOp;
using test::FileTensor;
using test::FileType;
using test::ModelBuilder;
using Numbers = std::vector<int>;

constexpr int kDepthToSpace = 5, kDequantize = 6, kSpaceToDepth = 26, kBatchToSpace = 37, kSpaceToBatch = 38,
              kPrelu = 54, kMaximum = 55, kMinimum = 57, kNeg = 59, kTile = 69, kRsqrt = 76, kReduceMax = 82,
              kSquare = 92, kQuantize = 114;

// Of one operator with an output of this shape, on a map of 1x4x6x8.
class Single : public ModelBuilder {
 public:
  explicit Single(int code, const Numbers& out, const Numbers& operand = {}) {
    FileOp op;
    op.code = code;
    op.inputs = {input({1, 4, 6, 8}, {0.05F, 3})};
    if (!operand.empty()) op.inputs.push_back(integers(operand));
    op.outputs = {add_tensor("out", out, FileType::Int8)};
    ops.push_back(op);
    output(op.outputs.front());
  }
  int add_tensor(const std::string& name, const Numbers& shape, FileType type) {
    FileTensor t;
    t.name = name;
    t.shape = shape;
    t.type = type;
    if (type != FileType::Float32) {
      t.scale = {0.05F};
      t.zero_point = {3};
    }
    tensors.push_back(t);
    return int(tensors.size()) - 1;
  }
  int integers(const Numbers& values) {
    FileTensor t;
    t.name = "numbers";
    t.type = FileType::Int32;
    t.shape = {int(values.size())};
    for (const int v : values) {
      for (int i = 0; i < 32; i += 8) t.data.push_back(std::uint8_t(std::uint32_t(v) >> i));
    }
    tensors.push_back(t);
    return int(tensors.size()) - 1;
  }
};

void expect_damage(const ModelBuilder& model, const std::string& message) {
  try {
    import_tflite(model.file());
    ADD_FAILURE() << "accepted: " << message;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
  }
}

std::string refusal_of(const ModelBuilder& model) {
  const ImportResult result = import_tflite(model.file());
  EXPECT_FALSE(result.graph);
  EXPECT_EQ(result.refusals.size(), 1U);
  return result.refusals.empty() ? "" : result.refusals.front().text();
}

OpKind kind_of(const ModelBuilder& model) {
  return require_graph(import_tflite(model.file())).ops.front().kind;
}

TEST(HostOperators, Transpositions) {
  ModelBuilder model(1);
  model.output(model.transpose(model.input({1, 4, 6, 8}), {0, 3, 1, 2}));
  EXPECT_EQ(kind_of(model), OpKind::Rearrange);
  const ModelBuilder good = model;
  const auto with_order = [&](const std::vector<std::uint8_t>& order) {
    model = good;
    for (std::size_t i = 0; i < 4; i++) model.tensors[1].data[4 * i] = order[i];
  };
  with_order({0, 3, 3, 2});
  expect_damage(model, "no permutation");
  with_order({0, 3, 1, 4});
  expect_damage(model, "no permutation");
  with_order({0, 2, 1, 3});
  expect_damage(model, "output has shape 1x8x4x6, expected 1x6x4x8");
  with_order({1, 0, 2, 3});
  expect_damage(model, "expected 4x1x6x8");
  model = good;
  model.tensors[1].shape = {3};
  model.tensors[1].data.resize(12);
  expect_damage(model, "no permutation");
  model = good;
  model.tensors.back().scale = {0.04F};
  EXPECT_NE(refusal_of(model).find("equal scale and zero point"), std::string::npos);
}

TEST(HostOperators, Blocks) {
  EXPECT_EQ(kind_of(Single(kDepthToSpace, {1, 8, 12, 2})), OpKind::Rearrange);
  EXPECT_EQ(kind_of(Single(kSpaceToDepth, {1, 2, 3, 32})), OpKind::Rearrange);
  expect_damage(Single(kDepthToSpace, {1, 8, 12, 3}), "expected 1x8x12x2");
  for (const int code : {kDepthToSpace, kSpaceToDepth}) {
    for (const int block : {0, -2, 1 << 30, 16385}) {
      Single model(code, {1, 8, 12, 2});
      model.ops[0].block = block;
      expect_damage(model, "block of " + std::to_string(block));
    }
    Single model(code, {1, 8, 12, 2});
    model.ops[0].block = 5;
    expect_damage(model, "blocks of 5");
    model.ops[0].write_options = false;
    expect_damage(model, "options are missing");
    model.ops[0].write_options = true;
    model.tensors[0].shape = {1, 24, 8};
    expect_damage(model, "four dimensions expected");
  }
}

TEST(HostOperators, Tiles) {
  EXPECT_EQ(kind_of(Single(kTile, {1, 8, 6, 24}, {1, 2, 1, 3})), OpKind::Rearrange);
  expect_damage(Single(kTile, {1, 8, 6, 24}, {1, 2, 1}), "do not fit 1x4x6x8");
  expect_damage(Single(kTile, {1, 8, 6, 24}, {1, 2, 1, 2}), "expected 1x8x6x16");
  for (const int times : {0, -1, 1 << 30, 16385})
    expect_damage(Single(kTile, {1, 8, 6, 24}, {1, 2, 1, times}), "a multiple of " + std::to_string(times));
}

TEST(HostOperators, Reductions) {
  EXPECT_EQ(kind_of(Single(kReduceMax, {1, 1, 6, 1}, {3, -3})), OpKind::ReduceMax);
  expect_damage(Single(kReduceMax, {1, 1, 6, 1}, {1}), "expected 1x1x6x8");
  expect_damage(Single(kReduceMax, {1, 1, 6, 1}, {1, 4}), "axis 4 out of range");
  expect_damage(Single(kReduceMax, {1, 1, 6, 1}, {1, -5}), "axis -5 out of range");
  Single scale(kReduceMax, {1, 1, 6, 1}, {1, 3});
  scale.tensors.back().scale = {0.1F};
  EXPECT_NE(refusal_of(scale).find("equal scale and zero point"), std::string::npos);
}

// Maxima over rows, columns or both are windows of the accelerator, where the output is a map in the order of the input.
TEST(HostOperators, MaximaOfMaps) {
  const auto window_of = [](const Single& model) {
    const ImportResult result = import_tflite(model.file());
    const Op& op = result.graph.value().ops.at(0);
    EXPECT_EQ(op.kind, OpKind::MaxPool);
    return std::pair(op.window.kernel_h, op.window.kernel_w);
  };
  EXPECT_EQ(window_of(Single(kReduceMax, {1, 1, 1, 8}, {1, 2})), std::pair(4, 6));
  EXPECT_EQ(window_of(Single(kReduceMax, {1, 1, 6, 8}, {1})), std::pair(4, 1));
  EXPECT_EQ(window_of(Single(kReduceMax, {1, 4, 1, 8}, {2})), std::pair(1, 6));
  EXPECT_EQ(kind_of(Single(kReduceMax, {1, 4, 1, 1}, {2, 3})), OpKind::ReduceMax);
  const auto without_dims = [](const Numbers& out, const Numbers& axes) {
    Single model(kReduceMax, out, axes);
    model.ops.front().keep_dims = false;
    return model;
  };
  EXPECT_EQ(window_of(without_dims({1, 8}, {2, 1})), std::pair(4, 6));
  EXPECT_EQ(window_of(without_dims({1, 6, 8}, {-3})), std::pair(4, 1));
  EXPECT_EQ(kind_of(without_dims({1, 4, 8}, {2})), OpKind::ReduceMax);
}

TEST(HostOperators, Pairs) {
  for (const int code : {kMinimum, kMaximum, kPrelu}) {
    Single model(code, {1, 4, 6, 8});
    model.ops[0].inputs.push_back(model.add_tensor("other", {8}, FileType::Int8));
    model.tensors.back().data.assign(8, 100);
    EXPECT_EQ(kind_of(model), code == kMinimum   ? OpKind::Minimum
                              : code == kMaximum ? OpKind::Maximum
                                                 : OpKind::Table);
    Single other = model;
    other.tensors.back().shape = {2, 4};
    expect_damage(other, "do not make 1x4x6x8");
    other = model;
    other.tensors[0].shape = {1, 1, 1, 1};  // nothing gives rows and columns
    expect_damage(other, code == kPrelu ? "expected 1x1x1x1" : "do not make 1x4x6x8");
    other = model;
    other.tensors[0].shape = {1, 1, 6, 8};
    other.tensors[1].shape = {1, 6, 8};  // of a lower rank than the operand
    expect_damage(other, code == kPrelu ? "expected 1x1x6x8" : "do not make 1x6x8");
    other = model;
    other.tensors.back().scale = {0.01F};
    if (code == kPrelu) {
      EXPECT_EQ(kind_of(other), OpKind::Table);
      other.tensors.back().scale = {1.0e6F};  // products that leave int32
      EXPECT_EQ(kind_of(other), OpKind::PRelu);
      other.tensors.back().scale = {1.0e20F};
      EXPECT_NE(refusal_of(other).find("factors below 2^30"), std::string::npos);
    } else {
      EXPECT_NE(refusal_of(other).find("equal scale and zero point"), std::string::npos);
    }
    other.ops[0].inputs[0] = other.ops[0].inputs[1];
    if (code != kPrelu) expect_damage(other, "operands of shape 8 and 8 do not make 1x4x6x8");
  }
}

// One number beside the values: a function of each of them.
TEST(HostOperators, ExtremesOfANumber) {
  for (const int code : {kMinimum, kMaximum}) {
    for (const int number : {-128, -7, 127}) {
      for (const bool first : {false, true}) {
        Single model(code, {1, 4, 6, 8});
        model.ops[0].inputs.push_back(model.add_tensor("number", {1}, FileType::Int8));
        model.tensors.back().data = {std::uint8_t(number)};
        if (first) std::swap(model.ops[0].inputs[0], model.ops[0].inputs[1]);
        const Graph graph = require_graph(import_tflite(model.file()));
        ASSERT_EQ(graph.ops.size(), 1U);
        EXPECT_EQ(graph.ops[0].kind, OpKind::Table);
        const ValueTable table = table_params(graph, graph.ops[0]).table;
        for (int x = -128; x <= 127; x++)
          EXPECT_EQ(table[std::size_t(x + 128)],
                    code == kMinimum ? std::min(x, number) : std::max(x, number));
      }
    }
  }
}

// PRELU in parts, of random scales: every value with every slope gives what the operator on the host does, which recorded
// vectors of LiteRT confirm (operator_vectors_test).
TEST(HostOperators, PreluInParts) {
  std::mt19937_64 rng(test::seed());
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution(low, high)(rng);
  };
  for (int i = 0; i < 60; i++) {
    SCOPED_TRACE(i);
    ModelBuilder model(1);
    FileOp op;
    op.code = kPrelu;
    // Sometimes a ratio of small numbers, which has ties.
    const double scale = i % 3 == 0 ? 0.5 : 0.05;
    const auto ratio = [&] {
      return float(i % 3 == 0 ? std::exp2(-std::floor(uniform(0, 6))) : uniform(0.001, 0.1));
    };
    op.inputs = {model.input({1, 16, 16, 256}, {float(scale), int(uniform(-128, 128))})};
    const auto tensor = [&](const Numbers& shape, float scale) {
      FileTensor t;
      t.name = "t" + std::to_string(model.tensors.size());
      t.shape = shape;
      t.type = FileType::Int8;
      t.scale = {scale};
      t.zero_point = {int(uniform(-128, 128))};
      model.tensors.push_back(t);
      return int(model.tensors.size()) - 1;
    };
    op.inputs.push_back(tensor({256}, ratio()));
    for (int slope = -128; slope <= 127; slope++) model.tensors.back().data.push_back(std::uint8_t(slope));
    op.outputs = {tensor({1, 16, 16, 256}, ratio())};
    model.ops.push_back(op);
    model.output(op.outputs.front());
    const Graph graph = require_graph(import_tflite(model.file()));
    ASSERT_EQ(graph.ops.size(), 4U);
    Op whole;
    whole.kind = OpKind::PRelu;
    whole.inputs = {graph.inputs[0], graph.ops[2].inputs[1]};
    whole.output = graph.outputs[0];
    const PReluParams params = prelu_params(graph, whole);
    Int8Values values(16 * 16 * 256);
    for (std::size_t k = 0; k < values.size(); k++) values[k] = std::int8_t(k / 256);
    const std::vector<Int8Values> tensors = run_reference(graph, std::span(&values, 1));
    const Int8Values& made = tensors[std::size_t(graph.outputs[0])];
    for (std::size_t k = 0; k < values.size(); k++)
      ASSERT_EQ(made[k], reference::prelu(params, values[k], std::int8_t(int(k % 256) - 128))) << k;
  }
}

// float32, QUANTIZE, a convolution, DEQUANTIZE, float32.
ModelBuilder float_ends() {
  Single model(kQuantize, {1, 4, 6, 8});
  model.tensors[0].type = FileType::Float32;
  model.tensors[0].scale.clear();
  const int made = model.conv(1, {.channels = 5});
  FileOp last;
  last.code = kDequantize;
  last.inputs = {made};
  last.outputs = {model.add_tensor("real", {1, 4, 6, 5}, FileType::Float32)};
  model.ops.push_back(last);
  model.outputs = last.outputs;
  return model;
}

TEST(FloatEnds, AreTaken) {
  const Graph graph = require_graph(import_tflite(float_ends().file()));
  ASSERT_EQ(graph.ops.size(), 3U);
  EXPECT_EQ(graph.ops[0].kind, OpKind::ToInt8);
  EXPECT_EQ(graph.ops[1].kind, OpKind::Conv2D);
  EXPECT_EQ(graph.ops[2].kind, OpKind::ToFloat);
  EXPECT_EQ(graph.tensors[std::size_t(graph.inputs[0])].type, ElementType::Float32);
  EXPECT_EQ(graph.output_of(graph.ops[2]).type, ElementType::Float32);
  EXPECT_EQ(graph.output_of(graph.ops[2]).bytes(), 4U * 4 * 6 * 5);
}

TEST(FloatEnds, NothingElseTakesFloats) {
  ModelBuilder model = float_ends();
  model.ops[1].inputs[0] = 0;  // the convolution reads the input
  const std::string conv = refusal_of(model);
  EXPECT_NE(conv.find("float32 values before QUANTIZE and after DEQUANTIZE alone"), std::string::npos)
      << conv;
  EXPECT_NE(conv.find("CONV_2D"), std::string::npos) << conv;
  EXPECT_EQ(conv.find('\n'), std::string::npos);

  model = float_ends();
  model.ops[2].inputs[0] = 0;  // DEQUANTIZE too
  model.tensors.back().shape = {1, 4, 6, 8};
  EXPECT_NE(refusal_of(model).find("DEQUANTIZE"), std::string::npos);

  model = float_ends();
  model.tensors[1].shape = {1, 6, 4, 8};
  expect_damage(model, "output has shape 1x6x4x8, expected 1x4x6x8");
  model = float_ends();
  model.tensors.back().shape = {1, 4, 5, 6};
  expect_damage(model, "output has shape 1x4x5x6, expected 1x4x6x5");
}

// int8, DEQUANTIZE, these operators in float32, QUANTIZE.
ModelBuilder float_functions(const Numbers& codes) {
  Single model(kDequantize, {1, 4, 6, 8});
  FileTensor& real = model.tensors.back();
  real.type = FileType::Float32;
  real.scale.clear();
  const auto add = [&](int code, FileType type) {
    FileOp op;
    op.code = code;
    op.inputs = {model.ops.back().outputs.front()};
    op.outputs = {model.add_tensor("made by " + std::to_string(code), {1, 4, 6, 8}, type)};
    model.ops.push_back(op);
  };
  for (const int code : codes) add(code, FileType::Float32);
  add(kQuantize, FileType::Int8);
  model.outputs = model.ops.back().outputs;
  return model;
}

TEST(FloatFunctions, AreATable) {
  const Graph graph = require_graph(import_tflite(float_functions({kNeg, kSquare}).file()));
  ASSERT_EQ(graph.ops.size(), 1U);
  EXPECT_EQ(graph.ops[0].kind, OpKind::Table);
  ASSERT_EQ(graph.ops[0].dims.size(), 256U);
  for (int stored = -128; stored < 128; stored++) {
    const float real = 0.05F * float(stored - 3);
    const float square = real * real;
    EXPECT_EQ(graph.ops[0].dims[std::size_t(stored + 128)],
              std::min(int(std::round(square / 0.05F)) + 3, 127));
  }
}

TEST(ReciprocalRoots, OfFactorsThatLiteRtCannotShiftByAreRefused) {
  ModelBuilder model = Single(kRsqrt, {1, 4, 6, 8});
  model.tensors.back().scale = {15000};  // the factor is 2^-11.7
  EXPECT_TRUE(import_tflite(model.file()).graph);
  model.tensors.back().scale = {20000};
  EXPECT_NE(refusal_of(model).find("2^-12 and more"), std::string::npos) << refusal_of(model);
  model.tensors.back().scale = {1e-9F};
  EXPECT_NE(refusal_of(model).find("factors below 2^30"), std::string::npos) << refusal_of(model);
}

TEST(FloatFunctions, IntoWhatCannotBeReadAreRefused) {
  ModelBuilder model = float_functions({kNeg});
  model.tensors.back().type = FileType::Int32;
  EXPECT_NE(refusal_of(model).find("int8 activations"), std::string::npos);
  model.tensors.back().type = FileType::Int8;
  model.tensors.back().scale.clear();
  EXPECT_NE(refusal_of(model).find("without scale and zero point"), std::string::npos);
}

TEST(FloatFunctions, WhoseRealValuesAreReadStay) {
  ModelBuilder model = float_functions({kNeg});
  model.outputs.push_back(model.ops[0].outputs.front());
  const Graph graph = require_graph(import_tflite(model.file()));
  ASSERT_EQ(graph.ops.size(), 2U);
  EXPECT_EQ(graph.ops[0].kind, OpKind::ToFloat);
  EXPECT_EQ(graph.ops[1].kind, OpKind::Table);

  model.outputs = {model.ops[1].outputs.front()};  // a result of NEG: the network ends before it
  const Graph cut = require_graph(import_tflite(model.file()));
  ASSERT_EQ(cut.outputs.size(), 1U);
  EXPECT_EQ(cut.tensors[std::size_t(cut.outputs[0])].name, "out");
  EXPECT_EQ(cut.notes.size(), 1U);
}

// Two batches of every second cell of a line of 16, convolved, and back.
Single dilated_line() {
  Single model(kSpaceToBatch, {2, 8, 4}, {2});
  model.tensors[0].shape = {1, 16, 4};
  const int none = model.integers({0, 0});
  model.tensors[std::size_t(none)].shape = {1, 2};
  model.ops[0].inputs.push_back(none);
  const int map = model.reshape(model.ops[0].outputs[0], {2, 1, 8, 4});
  const int made = model.conv(map, {.channels = 5, .kernel_h = 1, .same = false});
  model.tensors[std::size_t(made)].shape = {2, 1, 6, 5};
  FileOp back;
  back.code = kBatchToSpace;
  back.inputs = {model.reshape(made, {2, 6, 5}), model.ops[0].inputs[1], none};
  back.outputs = {model.add_tensor("line", {1, 12, 5}, FileType::Int8)};
  model.tensors.back().scale = model.tensors[std::size_t(made)].scale;
  model.tensors.back().zero_point = model.tensors[std::size_t(made)].zero_point;
  model.ops.push_back(back);
  model.outputs = back.outputs;
  return model;
}

TEST(DilatedLines, AreOneConvolution) {
  Single model = dilated_line();
  const Graph graph = require_graph(import_tflite(model.file()));
  ASSERT_EQ(graph.ops.size(), 3U);
  EXPECT_EQ(graph.ops[1].kind, OpKind::Conv2D);
  EXPECT_EQ(graph.ops[1].window.dilation_w, 2);
  EXPECT_EQ(graph.output_of(graph.ops[1]).shape, (Numbers{1, 1, 12, 5}));
  model.tensors[std::size_t(model.outputs[0])].scale.clear();
  const ImportResult refused = import_tflite(model.file());
  EXPECT_FALSE(refused.graph);
  ASSERT_FALSE(refused.refusals.empty());
  EXPECT_NE(refused.refusals.front().text().find("without scale and zero point"), std::string::npos);
}

TEST(OpenBatch, IsWhatTheOperandsMake) {
  Single model(kNeg, {1, 4, 6, 8});
  model.tensors.back().shape = {2, 4, 6, 8};
  expect_damage(model, "output has shape 2x4x6x8, expected 1x4x6x8");
  model.tensors.back().shape_signature = {-1, 4, 6, 8};
  const Graph graph = require_graph(import_tflite(model.file()));
  EXPECT_EQ(graph.tensors[std::size_t(graph.outputs[0])].shape, (Numbers{1, 4, 6, 8}));
  model.tensors.back().shape = {2, 4, 8, 6};
  model.tensors.back().shape_signature = {-1, 4, 8, 6};
  expect_damage(model, "output has shape 2x4x8x6, expected 1x4x6x8");
}

TEST(FloatEnds, AFloatModelIsCalledOne) {
  ModelBuilder model(1);
  model.output(model.conv(model.input({1, 4, 6, 8}), {.channels = 5}));
  for (FileTensor& t : model.tensors) {
    t.type = FileType::Float32;
    t.scale.clear();
  }
  EXPECT_NE(refusal_of(model).find("a float model"), std::string::npos);
}

}  // namespace
}  // namespace kaiten
