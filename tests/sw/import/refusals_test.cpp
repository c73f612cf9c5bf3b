// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Every limit of the importer is refused by name: layer, operator, limit, value. And everything inconsistent
// is damage.

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "compile/compiler.h"
#include "import/import.h"
#include "report/inspect.h"
#include "tests/support/model_builder.h"
#include "tests/support/source_file.h"

namespace kaiten {
namespace {

using test::ConvSpec;
using test::FileOp;
using test::FileTensor;
using test::FileType;
using test::ModelBuilder;

// Tensors of base(): 0 input, 1 weights, 2 bias, 3 conv output.
constexpr size_t kInput = 0;
constexpr size_t kWeights = 1;
constexpr size_t kBias = 2;
constexpr size_t kOutput = 3;

ModelBuilder base() {
  ModelBuilder model(1);
  model.output(model.conv(model.input({1, 8, 8, 6}), {.channels = 4}));
  return model;
}

void expect_refusal(const ModelBuilder& model, const std::string& layer, const std::string& op,
                    const std::string& limit, const std::string& value) {
  const ImportResult result = import_tflite(model.file());
  ASSERT_FALSE(result.graph) << limit;
  ASSERT_EQ(result.refusals.size(), 1U) << result.refusals.back().text();
  const Refusal& refusal = result.refusals.front();
  EXPECT_EQ(refusal.layer, layer);
  EXPECT_EQ(refusal.op, op);
  EXPECT_NE(refusal.limit.find(limit), std::string::npos) << refusal.text();
  EXPECT_NE(refusal.value.find(value), std::string::npos) << refusal.text();
  EXPECT_EQ(refusal.text().find('\n'), std::string::npos);
}

void expect_damage(const ModelBuilder& model, const std::string& message) {
  try {
    import_tflite(model.file());
    ADD_FAILURE() << "accepted: " << message;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    EXPECT_TRUE(std::string(error.what()).starts_with("bad model file: ")) << error.what();
  }
}

TEST(Refusals, TheBaseIsFine) { EXPECT_TRUE(import_tflite(base().file()).graph); }

TEST(Refusals, UnsupportedOperators) {
  ModelBuilder model = base();
  model.ops[0].code = 66;
  expect_refusal(model, "conv_3", "SIN", "imported_operators.md", "SIN");
  model.ops[0].code = 199;
  expect_refusal(model, "conv_3", "operator 199", "imported_operators.md", "operator 199");
  model.ops[0].code = 32;
  expect_refusal(model, "conv_3", "CUSTOM ", "operators that TensorFlow Lite defines", "CUSTOM");
  model.ops[0].code = 44;
  expect_refusal(model, "conv_3", "UNIDIRECTIONAL_SEQUENCE_LSTM", "without recurrent layers", "LSTM");
  // A variable has no operands.
  model.ops[0].code = 142;
  model.ops[0].inputs.clear();
  expect_refusal(model, "conv_3", "VAR_HANDLE", "without variables", "VAR_HANDLE");
}

TEST(Refusals, TranspositionsBetweenReshapes) {
  const auto with = [](const std::vector<int>& grouped, const std::vector<int>& order,
                       const std::vector<int>& last) {
    ModelBuilder model(1);
    const int a = model.conv(model.input({1, 8, 8, 6}), {.channels = 4});
    model.output(model.reshape(model.transpose(model.reshape(a, grouped), order), last));
    return model;
  };
  EXPECT_TRUE(import_tflite(with({1, 8, 8, 2, 2}, {0, 1, 2, 4, 3}, {1, 8, 8, 4}).file()).graph);
  EXPECT_TRUE(import_tflite(with({64, 2, 2}, {0, 2, 1}, {1, 8, 8, 4}).file()).graph);
  // Those that shuffle no channels are the host's.
  for (const auto& model :
       {with({1, 8, 8, 2, 2}, {0, 2, 1, 4, 3}, {1, 8, 8, 4}), with({1, 16, 8, 2}, {0, 1, 3, 2}, {1, 8, 8, 4}),
        with({1, 8, 8, 2, 2}, {0, 1, 2, 4, 3}, {1, 64, 4})}) {
    const auto imported = import_tflite(model.file());
    ASSERT_TRUE(imported.graph);
    EXPECT_EQ(imported.graph->ops.back().kind, OpKind::Rearrange);
  }
  expect_damage(with({1, 8, 8, 2, 2}, {0, 2, 1, 4, 3}, {1, 8, 8, 2}), "cannot turn shape");
  ModelBuilder model(1);
  const int map = model.conv(model.input({1, 8, 8, 6}), {.channels = 4});
  model.output(model.transpose(map, {0, 3, 1, 2}));
  EXPECT_TRUE(import_tflite(model.file()).graph);  // of a map itself: the host does it
  // What stands between the reshapes is made where something else reads it.
  ModelBuilder between(1);
  const int a = between.conv(between.input({1, 8, 8, 6}), {.channels = 4});
  const int turned = between.transpose(between.reshape(a, {1, 64, 4}), {0, 2, 1});
  between.output(between.softmax(turned));
  const auto imported = import_tflite(between.file());
  ASSERT_TRUE(imported.graph);
  ASSERT_EQ(imported.graph->ops.size(), 3U);
  EXPECT_EQ(imported.graph->ops[1].kind, OpKind::Rearrange);
}

TEST(Refusals, ArgmaxStandsAtTheEnd) {
  ModelBuilder model(1);
  const int a = model.conv(model.input({1, 8, 8, 6}), {.channels = 4});
  const int positions = model.arg_max(a, 3);
  model.output(positions);
  EXPECT_TRUE(import_tflite(model.file()).graph);
  ModelBuilder other = model;
  other.tensors[size_t(positions)].type = FileType::UInt8;
  expect_refusal(other, "arg_max_5", "ARG_MAX", "positions of int32 or int64", "UINT8");
  other = model;
  other.ops.back().inputs[1] = 2;  // the bias
  expect_damage(other, "axis");
  other = model;
  other.tensors.push_back(other.tensors[size_t(a)]);
  other.tensors.back().name = "behind";
  FileOp reshape;
  reshape.code = 22;
  reshape.inputs = {positions};
  reshape.outputs = {int(other.tensors.size()) - 1};
  other.ops.push_back(reshape);
  other.outputs = reshape.outputs;
  const Graph cut =
      require_graph(import_tflite(other.file()));  // it ends before what computes with positions
  EXPECT_EQ(cut.outputs, std::vector<int>{positions});
  EXPECT_NE(cut.notes.at(0).find("'behind' (RESHAPE)"), std::string::npos);
}

TEST(Refusals, ElementTypes) {
  ModelBuilder floating = base();
  for (const size_t i : {kInput, kOutput}) {
    floating.tensors[i].type = FileType::Float32;
    floating.tensors[i].scale.clear();
  }
  const ImportResult dynamic = import_tflite(floating.file());
  ASSERT_EQ(dynamic.refusals.size(), 1U);
  EXPECT_EQ(dynamic.refusals[0].layer, "model");
  EXPECT_NE(dynamic.refusals[0].value.find("dynamic-range quantisation"), std::string::npos);
  EXPECT_NE(dynamic.refusals[0].hint.find("representative dataset"), std::string::npos);

  floating.tensors[kWeights].type = FileType::Float32;
  const ImportResult plain = import_tflite(floating.file());
  ASSERT_EQ(plain.refusals.size(), 1U);
  EXPECT_NE(plain.refusals[0].value.find("a float model"), std::string::npos);

  floating.tensors[kWeights].type = FileType::Int16;
  EXPECT_NE(import_tflite(floating.file()).refusals[0].value.find("16 bits"), std::string::npos);

  ModelBuilder legacy = base();
  legacy.tensors[kOutput].type = FileType::UInt8;
  expect_damage(legacy, "mixes int8 and uint8");
  legacy.tensors[kOutput].type = FileType::Int16;
  expect_refusal(legacy, "conv_3", "CONV_2D", "int8 activations", "INT16");
  legacy.tensors[kOutput].type = FileType(42);
  expect_refusal(legacy, "conv_3", "CONV_2D", "int8 activations", "type 42");

  ModelBuilder weights = base();
  weights.tensors[kWeights].type = FileType::UInt8;
  expect_refusal(weights, "conv_3", "CONV_2D", "weights per channel with zero point 128", "zero point 0");
  weights.tensors[kWeights].scale.resize(1);
  weights.tensors[kWeights].zero_point.resize(1);
  expect_damage(weights, "mixes int8 and uint8");
  weights.tensors[kWeights].type = FileType::Int16;
  expect_refusal(weights, "conv_3", "CONV_2D", "weights of INT8", "INT16");
  ModelBuilder bias = base();
  bias.tensors[kBias].type = FileType::Int64;
  expect_refusal(bias, "conv_3", "CONV_2D", "bias of INT32", "INT64");
}

TEST(Refusals, Quantisation) {
  ModelBuilder activations = base();
  activations.tensors[kOutput].scale = {0.1F, 0.1F, 0.1F, 0.1F};
  activations.tensors[kOutput].zero_point = {0, 0, 0, 0};
  expect_refusal(activations, "conv_3", "CONV_2D", "one scale per activation tensor", "4 scales");
  activations.tensors[kOutput].scale.clear();
  expect_refusal(activations, "conv_3", "CONV_2D", "quantised activations", "without scale");

  ModelBuilder weights = base();
  weights.tensors[kWeights].zero_point[2] = 5;
  expect_refusal(weights, "conv_3", "CONV_2D", "zero point 0", "zero point 5");
  weights = base();
  weights.tensors[kWeights].axis = 3;
  expect_refusal(weights, "conv_3", "CONV_2D", "along dimension 0", "along dimension 3");
  weights = base();
  weights.tensors[kWeights].scale.clear();
  expect_refusal(weights, "conv_3", "CONV_2D", "quantised weights", "without scales");
  weights = base();
  weights.tensors[kWeights].is_sparse = true;
  expect_refusal(weights, "conv_3", "CONV_2D", "dense weights", "sparse");

  ModelBuilder pool(1);
  pool.output(pool.average_pool(pool.input({1, 4, 4, 2}), {}));
  pool.tensors.back().zero_point = {1};
  expect_refusal(pool, "average_pool_1", "AVERAGE_POOL_2D", "equal scale and zero point", "0.02/0 to 0.02/1");
}

TEST(Refusals, Shapes) {
  ModelBuilder batch(1);
  batch.output(batch.max_pool(batch.input({4, 8, 8, 2}), {}));
  const ImportResult result = import_tflite(batch.file());
  ASSERT_FALSE(result.refusals.empty());
  EXPECT_EQ(result.refusals[0].layer, "input_0");
  EXPECT_EQ(result.refusals[0].limit, "batch of 1");
  EXPECT_NE(result.refusals[0].value.find("batch of 4"), std::string::npos);

  ModelBuilder open = base();
  open.tensors[kInput].shape_signature = {-1, -1, 8, 6};
  expect_refusal(open, "input_0", "INPUT", "fixed shapes", "open dimension 1");
  open.tensors[kInput].shape_signature = {-1, 8, 8, 6};  // an open batch is 1
  EXPECT_TRUE(import_tflite(open.file()).graph);

  ModelBuilder rank = base();
  rank.tensors[kInput].shape = {1, 1, 1, 1, 8, 8, 6};
  expect_refusal(rank, "input_0", "INPUT", "rank 6", "rank 7");
  rank.tensors[kInput].shape = {1, 1, 8, 8, 6};
  expect_damage(rank, "input has shape 1x1x8x8x6, four dimensions expected");
  ModelBuilder moved(1);
  moved.output(moved.max_pool(moved.reshape(moved.input({1, 2, 2, 2, 6}), {2, 2, 2, 6}), {}));
  expect_refusal(moved, "max_pool_3", "MAX_POOL_2D", "over one map", "batch of 2");

  ModelBuilder sum(1);
  const int in = sum.input({1, 4, 4, 2});
  const int small = sum.max_pool(in, {});
  sum.output(sum.add(in, small));
  expect_damage(sum, "operands of shape 1x4x4x2 and 1x2x2x2 do not make 1x4x4x2");

  ModelBuilder rows(1);
  const int map = rows.input({1, 4, 4, 2});
  rows.output(rows.fully_connected(map, {.channels = 3}));
  rows.tensors[1].shape = {3, 8};
  rows.tensors[1].data.resize(24);
  expect_damage(rows, "output has shape 1x3, expected 4x3");
  rows.tensors.back().shape = {4, 3};
  EXPECT_TRUE(import_tflite(rows.file()).graph);
}

TEST(Refusals, Parameters) {
  ModelBuilder activation = base();
  activation.ops[0].activation = 4;
  expect_refusal(activation, "conv_3", "CONV_2D", "fused activations NONE", "TANH");
  activation.ops[0].activation = 99;
  expect_refusal(activation, "conv_3", "CONV_2D", "fused activations NONE", "activation 99");

  ModelBuilder groups = base();
  groups.tensors[kWeights].shape = {4, 3, 3, 3};
  groups.tensors[kWeights].data.resize(4 * 27);
  const ImportResult grouped = import_tflite(groups.file());
  ASSERT_TRUE(grouped.graph);
  EXPECT_EQ(grouped.graph->ops.front().groups, 2);
  EXPECT_TRUE(refusals(*grouped.graph, preset("base")).empty());

  ModelBuilder stride = base();
  stride.ops[0].stride_h = 20000;
  expect_refusal(stride, "conv_3", "CONV_2D", "up to 16384", "20000");

  ModelBuilder format(1);
  format.output(format.fully_connected(format.input({1, 8}), {.channels = 3}));
  format.ops[0].weights_format = 1;
  expect_refusal(format, "fc_3", "FULLY_CONNECTED", "plain order", "format 1");

  ModelBuilder axes(1);
  axes.output(axes.mean(axes.input({1, 4, 4, 2}), {0.02F, 0}));
  axes.tensors[1].data[0] = 3;
  expect_damage(axes, "output has shape 1x1x1x2, expected 1x4x1x1");
  axes.tensors[2].shape = {1, 4, 1, 1};
  EXPECT_TRUE(import_tflite(axes.file()).graph);
  axes.tensors[1].data[0] = 4;
  expect_damage(axes, "axis 4 out of range");

  ModelBuilder soft(1);
  soft.output(soft.softmax(soft.input({1, 10})));
  soft.tensors.back().scale = {0.01F};
  expect_refusal(soft, "softmax_1", "SOFTMAX", "scale 1/256", "0.01");

  // LiteRT's sum of exponentials holds 4096 of them.
  constexpr int kLogSoftmax = 50;
  for (const int classes : {4096, 4097}) {
    ModelBuilder logarithms(1);
    logarithms.output(logarithms.softmax(logarithms.input({1, classes})));
    logarithms.tensors.back().scale = {1.0F / 16};
    logarithms.tensors.back().zero_point = {127};
    logarithms.ops[0].code = kLogSoftmax;
    if (classes == 4096) {
      EXPECT_TRUE(import_tflite(logarithms.file()).graph);
    } else {
      expect_refusal(logarithms, "softmax_1", "LOG_SOFTMAX", "at most 4096 summands", "4097");
    }
  }

  ModelBuilder middle(1);
  const int probabilities = middle.softmax(middle.input({1, 10}));
  middle.output(middle.fully_connected(middle.reshape(probabilities, {1, 1, 1, 10}), {.channels = 2}));
  EXPECT_TRUE(import_tflite(middle.file()).graph);
}

TEST(Refusals, OperandsThatAreComputedOrOfNoScale) {
  ModelBuilder model = base();
  model.ops[0].inputs = {int(kInput), int(kInput)};  // weights that are an activation
  model.tensors[kInput].shape = {1, 3, 3, 6};
  model.tensors[kOutput].shape = {1, 3, 3, 1};
  expect_refusal(model, "conv_3", "CONV_2D", "constant weights", "computed at run time");

  ModelBuilder constant(1);
  const int in = constant.input({1, 2, 2, 1});
  FileTensor operand = constant.tensors[0];
  operand.name = "four";
  operand.data = {1, 2, 3, 4};
  constant.tensors.push_back(operand);
  constant.output(constant.add(in, 1));
  const ImportResult sum = import_tflite(constant.file());
  ASSERT_TRUE(sum.graph);
  EXPECT_TRUE(refusals(*sum.graph, preset("base")).empty());
  constant.tensors[1].scale.clear();
  expect_refusal(constant, "add_2", "ADD", "operands with one scale", "'four' with 0 scales");
}

// What one layer reads as bias or as weights is checked anew where another reads it as an operand.
TEST(Refusals, ConstantsInSeveralRoles) {
  ModelBuilder model = base();
  model.output(model.add(int(kOutput), int(kOutput)));
  model.ops[1].inputs[1] = int(kBias);
  expect_refusal(model, "add_4", "ADD", "operand of INT8", "'conv_bias_2' of INT32");
  model.ops[1].inputs[1] = int(kWeights);
  expect_refusal(model, "add_4", "ADD", "operands with one scale", "with 4 scales");
}

// Legacy weights with a zero point and requantisation get through importer and compiler.
TEST(Refusals, LegacyWeightsAndQuantizeAreNone) {
  ModelBuilder legacy(1);
  legacy.output(legacy.conv(legacy.input({1, 8, 8, 6}), {.channels = 4, .per_channel = false}));
  for (const size_t i : {kInput, kWeights, kOutput}) {
    legacy.tensors[i].type = FileType::UInt8;
    legacy.tensors[i].zero_point = {131};
  }
  const ImportResult result = import_tflite(legacy.file());
  ASSERT_TRUE(result.graph);
  EXPECT_EQ(result.graph->tensors[kWeights].zero_point(), 3);
  EXPECT_EQ(result.graph->tensors[kInput].model_type, ElementType::UInt8);
  EXPECT_TRUE(refusals(*result.graph, preset("base")).empty());

  ModelBuilder quantize = base();
  quantize.ops[0].code = 114;
  quantize.ops[0].inputs.resize(1);
  quantize.tensors[kOutput].shape = quantize.tensors[kInput].shape;
  const ImportResult other = import_tflite(quantize.file());
  ASSERT_TRUE(other.graph);
  EXPECT_TRUE(refusals(*other.graph, preset("base")).empty());  // the vector engine does
}

TEST(Refusals, Arithmetic) {
  ModelBuilder large(1);
  ConvSpec spec;
  spec.channels = 1;
  spec.kernel_h = spec.kernel_w = 1;
  spec.weights = {127};
  spec.bias = {2147483647 - 127 * 127};
  spec.weight_scales = {0.5F};
  spec.out_scale = 1.0F;
  large.output(large.conv(large.input({1, 2, 2, 1}, {0.5F, 0}), spec));
  EXPECT_TRUE(import_tflite(large.file()).graph);  // the largest sum is exactly 2^31 - 1
  spec.bias = {2147483647 - 127 * 127 + 1};
  ModelBuilder larger(1);
  larger.output(larger.conv(larger.input({1, 2, 2, 1}, {0.5F, 0}), spec));
  expect_refusal(larger, "conv_3", "CONV_2D", "accumulators of 32 bits", "2147483648");

  // A factor of 2^9 shifts the accumulator left before the multiply.
  ModelBuilder shifted(1);
  spec.bias = {1 << 22};
  spec.weight_scales = {512.0F};
  spec.out_scale = 0.5F;
  shifted.output(shifted.conv(shifted.input({1, 2, 2, 1}, {0.5F, 0}), spec));
  expect_refusal(shifted, "conv_3", "CONV_2D", "accumulators of 32 bits", "in the worst case");

  ModelBuilder factor = base();
  factor.tensors[kInput].scale = {1.0e20F};
  expect_refusal(factor, "conv_3", "CONV_2D", "factors below 2^30", "scales");
}

TEST(Refusals, ModelLevel) {
  ModelBuilder model = base();
  model.subgraphs = 2;
  const ImportResult result = import_tflite(model.file());
  ASSERT_EQ(result.refusals.size(), 1U);
  EXPECT_EQ(result.refusals[0].text(),
            "model: limit: one subgraph, found: 2 subgraphs (control flow cannot run)");
  ModelBuilder state = base();
  state.tensors[kInput].is_variable = true;
  expect_refusal(state, "input_0", "INPUT", "without state", "variable tensor");
}

TEST(Refusals, AllReasonsAreListed) {
  ModelBuilder model(1);
  int x = model.input({1, 8, 8, 4});
  x = model.conv(x, {.channels = 4});
  model.ops.back().activation = 4;
  x = model.max_pool(x, {});
  model.ops.back().code = 66;
  x = model.conv(x, {.channels = 4});  // reads what SIN writes: no reason of its own
  x = model.conv(x, {.channels = 4});
  model.tensors[size_t(model.ops.back().inputs[1])].zero_point[0] = 3;
  model.output(x);
  const ImportResult result = import_tflite(model.file(), "many");
  ASSERT_EQ(result.refusals.size(), 3U);
  EXPECT_EQ(result.refusals[0].value, "TANH");
  EXPECT_EQ(result.refusals[1].op, "SIN");
  EXPECT_NE(result.refusals[2].value.find("zero point 3"), std::string::npos);

  std::ostringstream report;
  report << inspect_text(result);
  EXPECT_TRUE(report.str().starts_with("many: cannot run, 3 reasons\n")) << report.str();
  for (const Refusal& refusal : result.refusals)
    EXPECT_NE(report.str().find(refusal.text()), std::string::npos);
  try {
    require_graph(result);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), result.refusals[0].text() + "; 2 more (kaiten inspect lists all)");
  }
}

TEST(Refusals, OneReasonForAllLayersThatHaveIt) {
  ModelBuilder model(1);
  int x = model.input({1, 4, 4, 2});
  for (int i = 0; i < 3; i++) {
    x = model.conv(x, {.channels = 4});
    model.ops.back().activation = 4;
    x = model.conv(model.input({1, 4, 4, 2}), {.channels = 2});
  }
  model.output(x);
  const ImportResult result = import_tflite(model.file());
  ASSERT_EQ(result.refusals.size(), 1U);
  EXPECT_EQ(result.refusals[0].layers, 3);
  EXPECT_TRUE(result.refusals[0].text().starts_with("layer 'conv_3' (CONV_2D) and 2 more: limit: "));
}

TEST(Refusals, PageOfImportedOperators) {
  std::ifstream file(test::source_file("docs/compiler/imported_operators.md"));
  std::stringstream page;
  page << file.rdbuf();
  EXPECT_EQ(page.str(), imported_operators_page())
      << "kaiten info --imported > docs/compiler/imported_operators.md";
}

TEST(Refusals, LayerNamesAreUniqueAndPrintable) {
  ModelBuilder model(1);
  int x = model.input({1, 4, 4, 2});
  for (int i = 0; i < 3; i++) {
    x = model.max_pool(x, {.kernel_h = 1, .kernel_w = 1, .stride_h = 1, .stride_w = 1});
    model.tensors.back().name = "re\nlu'\x1b;folded/away";
  }
  model.output(x);
  const Graph graph = require_graph(import_tflite(model.file()));
  EXPECT_EQ(graph.ops[0].name, "re?lu??");
  EXPECT_EQ(graph.ops[1].name, "re?lu??#2");
  EXPECT_EQ(graph.ops[2].name, "re?lu??#3");
}

TEST(Damage, Indices) {
  ModelBuilder model = base();
  model.ops[0].inputs[0] = 17;
  expect_damage(model, "input tensor 17 out of range: the file has 4");
  model = base();
  model.ops[0].inputs[0] = -5;
  expect_damage(model, "input tensor -5 out of range");
  model = base();
  model.ops[0].inputs[0] = -1;
  expect_damage(model, "operand 0 is absent");
  model = base();
  model.ops[0].outputs[0] = 99;
  expect_damage(model, "output tensor 99 out of range");
  model = base();
  model.ops[0].outputs.clear();
  expect_damage(model, "has no output");
  model = base();
  model.ops[0].inputs.resize(1);
  expect_damage(model, "has 1 inputs");
  model = base();
  model.inputs[0] = 4;
  expect_damage(model, "out of range");
  model = base();
  model.outputs.clear();
  expect_damage(model, "no outputs");
  model = base();
  model.version = 2;
  expect_damage(model, "format version 2");
}

TEST(Damage, Order) {
  ModelBuilder cycle(1);
  const int in = cycle.input({1, 4, 4, 2});
  const ConvSpec spec{.channels = 2, .kernel_h = 1, .kernel_w = 1};
  const int first = cycle.conv(in, spec);
  cycle.output(cycle.add(first, in));
  cycle.ops[0].inputs[0] = cycle.ops[1].outputs[0];
  expect_damage(cycle, "used before it is computed");

  ModelBuilder twice(1);
  const int x = twice.input({1, 4, 4, 2});
  twice.conv(x, spec);
  twice.output(twice.conv(x, spec));
  twice.ops[1].outputs = twice.ops[0].outputs;
  expect_damage(twice, "is written twice");

  ModelBuilder never = base();
  never.outputs = {int(kWeights)};
  expect_damage(never, "never computed");

  ModelBuilder constant = base();
  constant.tensors[kInput].data = {1, 2, 3};
  expect_damage(constant, "is a constant");
}

TEST(Damage, Sizes) {
  ModelBuilder model = base();
  model.tensors[kWeights].data.pop_back();
  expect_damage(model, "needs 216 bytes, its buffer has 215");
  model = base();
  model.tensors[kBias].shape = {5};
  expect_damage(model, "bias 'conv_bias_2' does not have 4 elements");
  model = base();
  model.tensors[kOutput].shape = {1, 8, 7, 4};
  expect_damage(model, "output has shape 1x8x7x4, expected 1x8x8x4");
  model = base();
  model.tensors[kInput].shape = {1, 8, 8, 7};
  expect_damage(model, "do not fit 7 input channels");
  model = base();
  model.tensors[kInput].shape = {1, 0, 8, 6};
  expect_damage(model, "dimensions must be positive");
  model = base();
  model.tensors[kInput].shape = {1, 2147483647, 2147483647, 2147483647};
  expect_damage(model, "limit 268435456 elements");
  model = base();
  model.ops[0].stride_w = 0;
  expect_damage(model, "all must be at least 1");
  model = base();
  model.ops[0].padding = 7;
  expect_damage(model, "padding kind 7");
  model = base();
  model.ops[0].write_options = false;
  expect_damage(model, "options are missing");
  model = base();
  model.ops[0].padding = 1;
  model.ops[0].dilation_h = 8;
  expect_damage(model, "does not fit its input");
}

TEST(Damage, Scales) {
  for (const float scale :
       {0.0F, -1.0F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    ModelBuilder model = base();
    model.tensors[kOutput].scale = {scale};
    expect_damage(model, "scales must be positive and finite");
  }
  ModelBuilder model = base();
  model.tensors[kOutput].zero_point = {128};
  expect_damage(model, "int8 but has zero point 128");
  model = base();
  model.tensors[kOutput].zero_point = {int64_t(1) << 40};
  expect_damage(model, "zero point 1099511627776");
  model = base();
  model.tensors[kWeights].scale.pop_back();
  expect_damage(model, "4 zero points");
  model = base();
  model.tensors[kWeights].scale.pop_back();
  model.tensors[kWeights].zero_point.pop_back();
  expect_damage(model, "3 scales for 4 channels");
}

// Converters store equal constants once; files whose constants are all the same bytes would grow without
// limit.
TEST(Damage, SharedBytesAreBounded) {
  const auto build = [](int layers) {
    ModelBuilder model(1);
    int x = model.input({1, 2, 2, 64});
    for (int i = 0; i < layers; i++) {
      x = model.conv(x, {.channels = 64, .out_scale = 0.02F, .has_bias = false});
      const int weights = model.ops.back().inputs[1];
      if (i > 0) model.tensors[size_t(weights)].shares_data_of = model.ops.front().inputs[1];
    }
    model.output(x);
    return model;
  };
  EXPECT_TRUE(import_tflite(build(8).file()).graph);
  expect_damage(build(100), "add up to more than 16 times the file");
}

}  // namespace
}  // namespace kaiten
