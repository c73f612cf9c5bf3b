// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The ONNX importer on files made here: both forms of a quantised layer, order of nodes, folding of shapes,
// layouts, and everything a file can get wrong.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "import/import.h"
#include "onnx.pb.h"
#include "reference/reference.h"
#include "tests/support/model_builder.h"
#include "tests/support/seed.h"

namespace kaiten {
namespace {

using File = std::vector<uint8_t>;

// A model under construction: constants and nodes by name.
class OnnxFile {
 public:
  OnnxFile() {
    model.set_ir_version(8);
    auto* set = model.add_opset_import();
    set->set_version(13);
    auto* microsoft = model.add_opset_import();
    microsoft->set_domain("com.microsoft");
    microsoft->set_version(1);
  }

  onnx::GraphProto& graph() { return *model.mutable_graph(); }

  void input(const std::string& name, const std::vector<int64_t>& shape, int type = 1) {
    auto* value = graph().add_input();
    value->set_name(name);
    auto* tensor = value->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    for (const int64_t dim : shape) {
      auto* d = tensor->mutable_shape()->add_dim();
      if (dim > 0) d->set_dim_value(dim);
      if (dim <= 0) d->set_dim_param("batch");
    }
  }
  void output(const std::string& name) { graph().add_output()->set_name(name); }

  onnx::TensorProto& constant(const std::string& name, int type, const std::vector<int64_t>& dims) {
    auto* tensor = graph().add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(type);
    for (const int64_t dim : dims) tensor->add_dims(dim);
    return *tensor;
  }
  void scale(const std::string& name, float value) { constant(name, 1, {}).add_float_data(value); }
  void zero_point(const std::string& name, int type, int value) {
    constant(name, type, {}).add_int32_data(value);
  }
  void int8_data(const std::string& name, const std::vector<int64_t>& dims, int type = 3) {
    int64_t count = 1;
    for (const int64_t dim : dims) count *= dim;
    std::string raw(size_t(count), '\0');
    for (char& c : raw) c = char(random_() % 255);
    constant(name, type, dims).set_raw_data(raw);
  }

  onnx::NodeProto& node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::string& output, const std::string& domain = "") {
    auto* n = graph().add_node();
    n->set_op_type(op);
    n->set_domain(domain);
    for (const std::string& name : inputs) n->add_input(name);
    n->add_output(output);
    return *n;
  }
  static void ints(onnx::NodeProto& node, const std::string& name, const std::vector<int64_t>& values) {
    auto* a = node.add_attribute();
    a->set_name(name);
    for (const int64_t v : values) a->add_ints(v);
  }

  File file() const {
    const std::string bytes = model.SerializeAsString();
    return {bytes.begin(), bytes.end()};
  }

  onnx::ModelProto model;

 private:
  std::mt19937_64 random_{7};
};

// Float image, a convolution with bias and ReLU, an addition, flatten of a 3x3 map, a fully connected layer,
// softmax.
OnnxFile small_network(bool qoperator, int type = 3) {
  OnnxFile f;
  f.input("image", {0, 2, 6, 6});
  f.output("prob");
  f.scale("s", 0.05F);
  f.zero_point("z", type, type == 2 ? 130 : 2);
  f.scale("ws", 0.02F);
  f.zero_point("wz", type, type == 2 ? 120 : 0);
  f.int8_data("w", {4, 2, 3, 3}, type);
  f.int8_data("fc_w", {36, 5}, type);
  f.scale("bs", 0.05F * 0.02F);
  auto& b = f.constant("b", 6, {4});
  for (int i = 0; i < 4; i++) b.add_int32_data(100 * i - 150);
  f.node("QuantizeLinear", {"image", "s", "z"}, "q0");
  if (qoperator) {
    auto& conv = f.node("QLinearConv", {"q0", "s", "z", "w", "ws", "wz", "s", "z", "b"}, "q1");
    OnnxFile::ints(conv, "strides", {2, 2});
    OnnxFile::ints(conv, "pads", {1, 1, 0, 0});
    f.node("QLinearAdd", {"q1", "s", "z", "q1", "s", "z", "s", "z"}, "q2", "com.microsoft");
    f.node("Flatten", {"q2"}, "q3");
    f.node("QLinearMatMul", {"q3", "s", "z", "fc_w", "ws", "wz", "s", "z"}, "q4");
  } else {
    f.node("DequantizeLinear", {"q0", "s", "z"}, "d0");
    f.node("DequantizeLinear", {"w", "ws", "wz"}, "wf");
    f.node("DequantizeLinear", {"b", "bs"}, "bf");
    auto& conv = f.node("Conv", {"d0", "wf", "bf"}, "c1");
    OnnxFile::ints(conv, "strides", {2, 2});
    OnnxFile::ints(conv, "pads", {1, 1, 0, 0});
    f.node("QuantizeLinear", {"c1", "s", "z"}, "q1");
    f.node("DequantizeLinear", {"q1", "s", "z"}, "d1");
    f.node("Add", {"d1", "d1"}, "a2");
    f.node("QuantizeLinear", {"a2", "s", "z"}, "q2");
    f.node("DequantizeLinear", {"q2", "s", "z"}, "d2");
    f.node("Flatten", {"d2"}, "f3");
    f.node("QuantizeLinear", {"f3", "s", "z"}, "q3");
    f.node("DequantizeLinear", {"q3", "s", "z"}, "d3");
    f.node("DequantizeLinear", {"fc_w", "ws", "wz"}, "fcf");
    f.node("MatMul", {"d3", "fcf"}, "m4");
    f.node("QuantizeLinear", {"m4", "s", "z"}, "q4");
  }
  f.node("DequantizeLinear", {"q4", "s", "z"}, "logits");
  f.node("Softmax", {"logits"}, "prob");
  return f;
}

std::vector<Int8Values> random_image(const Graph& graph, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> value(-7.0F, 7.0F);
  std::vector<float> floats(graph.tensors[size_t(graph.inputs.front())].elements());
  for (float& f : floats) f = value(random);
  return {bytes_of(floats)};
}

TEST(Onnx, BothFormsOfANetworkAgree) {
  for (const int type : {3, 2}) {
    const Graph a = require_graph(import_onnx(small_network(true, type).file()));
    const Graph b = require_graph(import_onnx(small_network(false, type).file()));
    for (uint64_t seed = 0; seed < 20; seed++) {
      const auto image = random_image(a, test::seed() + seed);
      const auto x = run_reference(a, image);
      const auto y = run_reference(b, image);
      EXPECT_EQ(x[size_t(a.outputs[0])], y[size_t(b.outputs[0])]);
    }
  }
}

// A suppression of boxes is cut off; a tensor that was asked for is where the network ends, whatever stands after it.
TEST(Onnx, EndsEarly) {
  OnnxFile f = small_network(false);
  f.node("NonMaxSuppression", {"logits", "prob"}, "boxes");
  f.output("boxes");
  const Graph whole = require_graph(import_onnx(small_network(false).file()));
  const auto image = random_image(whole, test::seed());
  const auto wanted = run_reference(whole, image);
  const auto name_of_output = [](const Graph& g, size_t i) { return g.tensors[size_t(g.outputs[i])].name; };

  const Graph cut = require_graph(import_onnx(f.file()));
  ASSERT_EQ(cut.outputs.size(), 2U);
  EXPECT_EQ(name_of_output(cut, 0), "logits");
  EXPECT_EQ(name_of_output(cut, 1), "prob");
  EXPECT_EQ(run_reference(cut, image)[size_t(cut.outputs[1])], wanted[size_t(whole.outputs[0])]);
  ASSERT_EQ(cut.notes.size(), 1U);
  EXPECT_NE(cut.notes[0].find("'boxes' (NonMaxSuppression)"), std::string::npos) << cut.notes[0];

  f.node("LSTM", {"logits", "prob"}, "state");
  f.output("state");
  EXPECT_FALSE(import_onnx(f.file()).graph);
  for (const char* name : {"logits", "q2"}) {
    const Graph until = require_graph(import_onnx(f.file(), "model", {.until = name}));
    ASSERT_EQ(until.outputs.size(), 1U);
    EXPECT_EQ(name_of_output(until, 0), name);
  }
  EXPECT_THROW(import_onnx(f.file(), "model", {.until = "none"}), InputError);
}

// The flattened map: against the same arithmetic in the model's own order.
TEST(Onnx, WeightsBehindAFlattenedMapFollowItsOrder) {
  const Graph graph = require_graph(import_onnx(small_network(true).file()));
  const auto tensors = run_reference(graph, random_image(graph, test::seed()));
  const auto by_name = [&](const std::string& name) {
    for (size_t i = 0; i < graph.tensors.size(); i++) {
      if (graph.tensors[i].name == name) return i;
    }
    ADD_FAILURE() << name;
    return size_t(0);
  };
  const std::vector<uint8_t> map = to_model(graph.tensors[by_name("q2")], tensors[by_name("q2")]);
  const OnnxFile file = small_network(true);
  std::string weights;
  for (const auto& t : file.model.graph().initializer()) {
    if (t.name() == "fc_w") weights = t.raw_data();
  }
  for (size_t o = 0; o < 5; o++) {
    int32_t acc = 0;
    for (size_t k = 0; k < 36; k++) acc += (int8_t(map[k]) - 2) * int8_t(weights[k * 5 + o]);
    const int y = std::clamp(int(std::nearbyint(float(acc) * (0.05F * 0.02F / 0.05F))) + 2, -128, 127);
    EXPECT_EQ(int(tensors[by_name("q4")][o]), y);
  }
}

std::string message_of(const OnnxFile& f) {
  try {
    const ImportResult result = import_onnx(f.file());
    return result.refusals.empty() ? "" : result.refusals.front().text();
  } catch (const InputError& error) {
    return error.what();
  }
}

void expect_message(const OnnxFile& f, const std::string& part) {
  const std::string message = message_of(f);
  EXPECT_NE(message.find(part), std::string::npos) << "expected '" << part << "' in '" << message << "'";
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(Onnx, OrderOfNodesDoesNotMatter) {
  OnnxFile f = small_network(true);
  f.graph().mutable_node()->SwapElements(1, 3);
  EXPECT_EQ(message_of(f), "");
}

// One quantised input of 4 channels, 5 rows, 6 columns, scale 0.5, zero point 3, and the values of output
// `name` as stored by the model, for input 0, 1, 2 ... in the model's order.
std::vector<int> run_stored(const OnnxFile& f, const std::string& name) {
  const Graph graph = require_graph(import_onnx(f.file()));
  const Tensor& in = graph.tensors[size_t(graph.inputs.at(0))];
  std::vector<uint8_t> bytes(in.elements());
  for (size_t i = 0; i < bytes.size(); i++) bytes[i] = uint8_t(int8_t(int(i % 250) - 120));
  const auto tensors = run_reference(graph, std::vector<Int8Values>{from_model(in, bytes)});
  for (const int t : graph.outputs) {
    const Tensor& out = graph.tensors[size_t(t)];
    if (out.name != name) continue;
    std::vector<int> values;
    for (const uint8_t b : to_model(out, tensors[size_t(t)])) values.push_back(int8_t(b));
    return values;
  }
  ADD_FAILURE() << "no output " << name;
  return {};
}
int stored_input(int c, int y, int x) { return ((c * 5 + y) * 6 + x) % 250 - 120; }

OnnxFile stored_file() {
  OnnxFile f;
  f.input("x", {1, 4, 5, 6}, 3);
  f.scale("s", 0.5F);
  f.zero_point("z", 3, 3);
  return f;
}
void int64s(OnnxFile& f, const std::string& name, const std::vector<int64_t>& values) {
  auto& tensor = f.constant(name, 7, {int64_t(values.size())});
  for (const int64_t v : values) tensor.add_int64_data(v);
}

// Operators that move values, on stored values and between DequantizeLinear and QuantizeLinear.
TEST(Onnx, SliceTakesABox) {
  OnnxFile f = stored_file();
  int64s(f, "starts", {1, -4});
  int64s(f, "ends", {3, 1000});
  int64s(f, "axes", {1, 3});
  f.node("Slice", {"x", "starts", "ends", "axes"}, "part");
  f.output("part");
  f.node("DequantizeLinear", {"x", "s", "z"}, "d");
  f.node("Slice", {"d", "starts", "ends", "axes"}, "float_part");
  f.node("QuantizeLinear", {"float_part", "s", "z"}, "quantised");
  f.output("quantised");
  std::vector<int> want;
  for (int c = 1; c < 3; c++) {
    for (int y = 0; y < 5; y++) {
      for (int x = 2; x < 6; x++) want.push_back(stored_input(c, y, x));
    }
  }
  EXPECT_EQ(run_stored(f, "part"), want);
  EXPECT_EQ(run_stored(f, "quantised"), want);
}

TEST(Onnx, SplitHasSeveralOutputs) {
  OnnxFile f = stored_file();
  int64s(f, "parts", {1, 3});
  auto& split = f.node("Split", {"x", "parts"}, "first");
  split.add_output("second");
  auto* axis = split.add_attribute();
  axis->set_name("axis");
  axis->set_i(-3);
  f.output("first");
  f.output("second");
  const std::vector<int> second = run_stored(f, "second");
  ASSERT_EQ(second.size(), 90U);
  for (int i = 0; i < 90; i++) EXPECT_EQ(second[size_t(i)], (i + 30) % 250 - 120);
  EXPECT_EQ(run_stored(f, "first").size(), 30U);
}

// On stored values, with every step quantised, and as one float expression.
TEST(Onnx, ChannelShuffle) {
  OnnxFile f = stored_file();
  int64s(f, "groups", {1, 2, 2, 5, 6});
  int64s(f, "map", {0, 4, 5, -1});
  const auto transpose = [&](const std::string& from, const std::string& to) {
    OnnxFile::ints(f.node("Transpose", {from}, to), "perm", {0, 2, 1, 3, 4});
  };
  f.node("Reshape", {"x", "groups"}, "a1");
  transpose("a1", "a2");
  f.node("Reshape", {"a2", "map"}, "stored");
  f.output("stored");
  f.node("DequantizeLinear", {"x", "s", "z"}, "b0");
  f.node("Reshape", {"b0", "groups"}, "b1");
  f.node("QuantizeLinear", {"b1", "s", "z"}, "b2");
  f.node("DequantizeLinear", {"b2", "s", "z"}, "b3");
  transpose("b3", "b4");
  f.node("QuantizeLinear", {"b4", "s", "z"}, "b5");
  f.node("DequantizeLinear", {"b5", "s", "z"}, "b6");
  f.node("Reshape", {"b6", "map"}, "b7");
  f.node("QuantizeLinear", {"b7", "s", "z"}, "quantised");
  f.output("quantised");
  f.node("Reshape", {"b0", "groups"}, "c1");
  transpose("c1", "c2");
  f.node("Reshape", {"c2", "map"}, "c3");
  f.node("QuantizeLinear", {"c3", "s", "z"}, "whole");
  f.output("whole");
  std::vector<int> want;
  for (const int c : {0, 2, 1, 3}) {
    for (int y = 0; y < 5; y++) {
      for (int x = 0; x < 6; x++) want.push_back(stored_input(c, y, x));
    }
  }
  for (const char* name : {"stored", "quantised", "whole"}) EXPECT_EQ(run_stored(f, name), want) << name;
  const Graph graph = require_graph(import_onnx(f.file()));
  EXPECT_EQ(graph.ops.size(), 3U);

  // Halves of a shuffle, and what moves pixels too, are the values in another order.
  OnnxFile half = stored_file();
  int64s(half, "groups", {1, 2, 2, 5, 6});
  half.node("DequantizeLinear", {"x", "s", "z"}, "d");
  half.node("Reshape", {"d", "groups"}, "r");
  half.node("QuantizeLinear", {"r", "s", "z"}, "y");
  half.output("y");
  std::vector<int> in_order, turned;
  for (const int c : {0, 1, 2, 3}) {
    for (int y = 0; y < 5; y++) {
      for (int x = 0; x < 6; x++) in_order.push_back(stored_input(c, y, x));
    }
  }
  EXPECT_EQ(run_stored(half, "y"), in_order);
  OnnxFile pixels = f;
  for (int i = 0; i < 2; i++) pixels.graph().mutable_node(1)->mutable_attribute(0)->set_ints(3 + i, 4 - i);
  for (const int c : {0, 2, 1, 3}) {
    for (int x = 0; x < 6; x++) {
      for (int y = 0; y < 5; y++) turned.push_back(stored_input(c, y, x));
    }
  }
  EXPECT_EQ(run_stored(pixels, "stored"), turned);
}

TEST(Onnx, ArgMax) {
  OnnxFile f = stored_file();
  f.node("DequantizeLinear", {"x", "s", "z"}, "d");
  const auto arg_max = [&](const std::string& in, const std::string& out, int64_t axis, int64_t keep,
                           int64_t last) {
    auto& node = f.node("ArgMax", {in}, out);
    for (const auto& [name, value] :
         {std::pair{"axis", axis}, {"keepdims", keep}, {"select_last_index", last}}) {
      auto* a = node.add_attribute();
      a->set_name(name);
      a->set_i(value);
    }
    f.output(out);
  };
  arg_max("x", "stored", 1, 0, 0);
  arg_max("d", "float", 1, 1, 0);
  arg_max("x", "rows", 2, 1, 1);
  const Graph graph = require_graph(import_onnx(f.file()));
  const Tensor& in = graph.tensors[size_t(graph.inputs.at(0))];
  std::vector<uint8_t> bytes(in.elements());
  std::mt19937_64 random(test::seed());
  for (uint8_t& b : bytes) b = uint8_t(random() % 4);
  const auto tensors = run_reference(graph, std::vector<Int8Values>{from_model(in, bytes)});
  const auto value = [&](int c, int y, int x) { return bytes[size_t((c * 5 + y) * 6 + x)]; };
  const auto found = [&](size_t output, size_t i) {
    const int t = graph.outputs[output];
    EXPECT_EQ(graph.tensors[size_t(t)].type, ElementType::Int64);
    int64_t position = 0;
    std::memcpy(&position, tensors[size_t(t)].data() + i * 8, 8);
    return int(position);
  };
  EXPECT_EQ(graph.tensors[size_t(graph.outputs[0])].shape, (std::vector<int>{1, 5, 6}));
  EXPECT_EQ(graph.tensors[size_t(graph.outputs[1])].shape, (std::vector<int>{1, 1, 5, 6}));
  EXPECT_EQ(graph.tensors[size_t(graph.outputs[2])].shape, (std::vector<int>{1, 4, 1, 6}));
  for (int y = 0; y < 5; y++) {
    for (int x = 0; x < 6; x++) {
      int best = 0;
      for (int c = 1; c < 4; c++) best = value(c, y, x) > value(best, y, x) ? c : best;
      EXPECT_EQ(found(0, size_t(y * 6 + x)), best);
      EXPECT_EQ(found(1, size_t(y * 6 + x)), best);
    }
  }
  for (int c = 0; c < 4; c++) {
    for (int x = 0; x < 6; x++) {
      int best = 0;
      for (int y = 1; y < 5; y++) best = value(c, y, x) >= value(c, best, x) ? y : best;
      EXPECT_EQ(found(2, size_t(c * 6 + x)), best);
    }
  }
  f.node("QuantizeLinear", {"float", "s", "z"}, "q");
  f.output("q");
  expect_message(f, "limit: argmax at the end of the network, found: 'float' feeds 'q'");
}

// x + x / 3 + x + ..., of `operands` terms, whose partial sums are quantised too.
OnnxFile sums_file(int operands) {
  OnnxFile f = stored_file();
  f.scale("third", 0.5F / 3);
  f.scale("wide", 1.7F);
  f.node("DequantizeLinear", {"x", "s", "z"}, "a");
  f.node("DequantizeLinear", {"x", "third", "z"}, "b");
  std::string sum = "a";
  for (int i = 1; i < operands; i++) {
    const std::string next = "sum" + std::to_string(i);
    const std::string term = i % 2 ? "b" : "a";
    f.node("Add", i % 3 ? std::vector<std::string>{sum, term} : std::vector<std::string>{term, sum}, next);
    f.node("QuantizeLinear", {next, "wide", "z"}, "q" + next);
    sum = next;
  }
  f.output("q" + sum);
  return f;
}

// Float sums of float sums are one addition of up to four operands; with more they are float arithmetic.
TEST(Onnx, SumsOfSums) {
  for (int operands = 2; operands <= 5; operands++) {
    const OnnxFile f = sums_file(operands);
    const Graph graph = require_graph(import_onnx(f.file()));
    const Op& last = graph.ops.back();
    EXPECT_EQ(last.kind, operands <= 4 ? OpKind::Add : OpKind::ToInt8);
    EXPECT_EQ(last.inputs.size(), operands <= 4 ? size_t(operands) : 1U);
    EXPECT_TRUE(graph.notes.empty());
    std::vector<int> want;
    for (int i = 0; i < 120; i++) {
      const float a = float(i - 120 - 3) * 0.5F;
      const float b = float(i - 120 - 3) * (0.5F / 3);
      float sum = a;
      for (int k = 1; k < operands; k++) sum += k % 2 ? b : a;
      want.push_back(std::clamp(int(std::nearbyint(sum / 1.7F)) + 3, -128, 127));
    }
    EXPECT_EQ(run_stored(f, "qsum" + std::to_string(operands - 1)), want);
  }
}

// The order of a sum of two sums is no chain.
TEST(Onnx, SumsOfTwoSums) {
  OnnxFile f = stored_file();
  f.node("DequantizeLinear", {"x", "s", "z"}, "a");
  f.node("Add", {"a", "a"}, "two");
  f.node("QuantizeLinear", {"two", "s", "z"}, "q_two");
  f.node("Add", {"two", "two"}, "four");
  f.node("QuantizeLinear", {"four", "s", "z"}, "y");
  f.output("y");
  const Graph graph = require_graph(import_onnx(f.file()));
  EXPECT_EQ(graph.ops.back().kind, OpKind::Table);
  EXPECT_TRUE(graph.notes.empty());
}

TEST(Onnx, PadAddsZeros) {
  OnnxFile f = stored_file();
  int64s(f, "pads", {0, 0, 1, 0, 0, 2, 0, 3});
  f.node("DequantizeLinear", {"x", "s", "z"}, "d");
  f.node("Pad", {"d", "pads"}, "padded");
  f.node("QuantizeLinear", {"padded", "s", "z"}, "y");
  f.output("y");
  std::vector<int> want;
  for (int c = 0; c < 6; c++) {
    for (int y = -1; y < 5; y++) {
      for (int x = 0; x < 9; x++) want.push_back(c < 4 && y >= 0 && x < 6 ? stored_input(c, y, x) : 3);
    }
  }
  EXPECT_EQ(run_stored(f, "y"), want);
  // On stored values the constant is a stored value, 0 unless given: not the zero point here.
  OnnxFile plain = stored_file();
  int64s(plain, "pads", {0, 0, 1, 0, 0, 2, 0, 3});
  plain.node("DequantizeLinear", {"x", "s", "z"}, "d");
  plain.node("QuantizeLinear", {"d", "s", "z"}, "q");
  plain.node("Pad", {"q", "pads"}, "y");
  plain.output("y");
  expect_message(plain, "limit: padding with 0, found: another constant");
}

TEST(Onnx, OutputsMayBeInputs) {
  OnnxFile f = stored_file();
  int64s(f, "pads", {0, 0, 0, 0, 0, 0, 0, 0});
  auto* mode = f.node("Pad", {"x", "pads"}, "y").add_attribute();
  mode->set_name("mode");
  mode->set_s("edge");
  f.output("y");
  const ImportResult result = import_onnx(f.file());
  ASSERT_TRUE(result.graph);
  EXPECT_EQ(result.graph->outputs, result.graph->inputs);
}

TEST(Onnx, ResizeRepeatsPixels) {
  OnnxFile f = stored_file();
  auto& scales = f.constant("scales", 1, {4});
  for (const float v : {1.0F, 1.0F, 2.0F, 3.0F}) scales.add_float_data(v);
  f.node("DequantizeLinear", {"x", "s", "z"}, "d");
  f.node("Resize", {"d", "", "scales"}, "r");
  f.node("QuantizeLinear", {"r", "s", "z"}, "y");
  f.output("y");
  std::vector<int> want;
  for (int c = 0; c < 4; c++) {
    for (int y = 0; y < 10; y++) {
      for (int x = 0; x < 18; x++) want.push_back(stored_input(c, y / 2, x / 3));
    }
  }
  EXPECT_EQ(run_stored(f, "y"), want);
  OnnxFile of_batches = f;
  of_batches.graph().mutable_initializer(2)->set_float_data(0, 1.5F);
  expect_message(of_batches, "limit: resizing of rows and columns");
}

TEST(Onnx, QLinearConcatRescales) {
  OnnxFile f = stored_file();
  f.scale("s2", 1.0F);
  f.zero_point("z2", 3, -7);
  f.node("Identity", {"x"}, "same");
  auto& node = f.node("QLinearConcat", {"s2", "z2", "x", "s", "z", "same", "s", "z"}, "y", "com.microsoft");
  auto* axis = node.add_attribute();
  axis->set_name("axis");
  axis->set_i(1);
  f.output("y");
  const std::vector<int> made = run_stored(f, "y");
  ASSERT_EQ(made.size(), 240U);
  for (int i = 0; i < 240; i++) {
    const float real = 0.5F * float(i % 120 - 120 - 3);
    EXPECT_EQ(made[size_t(i)], int(std::nearbyint(real)) - 7) << i;
  }
}

// Every window of an average, against the same sum in double.
TEST(Onnx, QLinearAveragePool) {
  for (const bool count_pad : {false, true}) {
    OnnxFile f = stored_file();
    f.scale("s2", 0.375F);
    f.zero_point("z2", 3, 11);
    auto& node = f.node("QLinearAveragePool", {"x", "s", "z", "s2", "z2"}, "y", "com.microsoft");
    OnnxFile::ints(node, "kernel_shape", {3, 2});
    OnnxFile::ints(node, "strides", {2, 2});
    OnnxFile::ints(node, "pads", {1, 1, 1, 1});
    auto* flag = node.add_attribute();
    flag->set_name("count_include_pad");
    flag->set_i(count_pad ? 1 : 0);
    f.output("y");
    const std::vector<int> made = run_stored(f, "y");
    size_t at = 0;
    for (int c = 0; c < 4; c++) {
      for (int y = 0; y < 3; y++) {
        for (int x = 0; x < 4; x++) {
          int sum = 0, cells = 0;
          for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 2; j++) {
              const int iy = 2 * y - 1 + i, ix = 2 * x - 1 + j;
              if (iy < 0 || ix < 0 || iy >= 5 || ix >= 6) continue;
              sum += stored_input(c, iy, ix) - 3;
              cells++;
            }
          }
          const double real = 0.5 * sum / (count_pad ? 6 : cells) / 0.375;
          if (std::abs(real - std::floor(real) - 0.5) > 1e-6) {
            const int want = std::clamp(int(std::nearbyint(real)) + 11, -128, 127);
            EXPECT_EQ(made.at(at), want) << c << " " << y << " " << x;
          }
          at++;
        }
      }
    }
    EXPECT_EQ(at, made.size());
  }
}

// A window smaller than the map with one result is no mean of the map.
TEST(Onnx, AveragePoolWithOneResult) {
  OnnxFile f = stored_file();
  f.node("DequantizeLinear", {"x", "s", "z"}, "d");
  auto& pool = f.node("AveragePool", {"d"}, "p");
  OnnxFile::ints(pool, "kernel_shape", {4, 4});
  OnnxFile::ints(pool, "strides", {4, 4});
  f.node("QuantizeLinear", {"p", "s", "z"}, "y");
  f.output("y");
  const Graph graph = require_graph(import_onnx(f.file()));
  ASSERT_EQ(graph.ops.size(), 1U);
  EXPECT_EQ(graph.ops[0].kind, OpKind::AveragePool);
  OnnxFile whole = stored_file();
  whole.node("DequantizeLinear", {"x", "s", "z"}, "d");
  OnnxFile::ints(whole.node("AveragePool", {"d"}, "p"), "kernel_shape", {5, 6});
  whole.node("QuantizeLinear", {"p", "s", "z"}, "y");
  whole.output("y");
  const Graph average = require_graph(import_onnx(whole.file()));
  EXPECT_EQ(average.ops.at(0).kind, OpKind::AveragePool);
  EXPECT_EQ(average.ops.at(0).additions, Additions::InLanes);
}

TEST(Onnx, FaultsOfMovesAndPoolingAreNamed) {
  const auto with = [](const char* op, const std::function<void(OnnxFile&, onnx::NodeProto&)>& change) {
    OnnxFile f = stored_file();
    f.node("DequantizeLinear", {"x", "s", "z"}, "d");
    onnx::NodeProto& node = f.node(op, {"d"}, "p");
    change(f, node);
    f.node("QuantizeLinear", {"p", "s", "z"}, "y");
    f.output("y");
    return f;
  };
  const auto pads = [](const std::vector<int64_t>& values) {
    return [values](OnnxFile& f, onnx::NodeProto& node) {
      node.add_input("pads");
      int64s(f, "pads", values);
    };
  };
  expect_message(with("Pad", pads({0, 0, 0})), "pads has 3 values");
  expect_message(with("Pad", pads({0, 0, -1, 0, 0, 0, 0, 0})), "limit: padding of 0 or more");
  expect_message(with("Pad", pads({0, 0, 0, 0, 0, 0, 0, int64_t(1) << 40})), "pads too much");
  expect_message(with("Slice",
                      [](OnnxFile& f, onnx::NodeProto& node) {
                        int64s(f, "starts", {4});
                        int64s(f, "ends", {2});
                        node.add_input("starts");
                        node.add_input("ends");
                      }),
                 "makes an empty slice of 1x4x5x6");
  expect_message(with("Slice",
                      [](OnnxFile& f, onnx::NodeProto& node) {
                        for (const char* name : {"starts", "ends", "axes", "steps"}) {
                          int64s(f, name, {0});
                          node.add_input(name);
                        }
                      }),
                 "a step of 0");
  expect_message(with("Split",
                      [](OnnxFile& f, onnx::NodeProto& node) {
                        int64s(f, "split", {1, 1});
                        node.add_input("split");
                      }),
                 "its parts add up to 2");
  expect_message(with("AveragePool",
                      [](OnnxFile&, onnx::NodeProto& node) {
                        OnnxFile::ints(node, "kernel_shape", {2, 2});
                        OnnxFile::ints(node, "pads", {2, 0, 0, 0});
                      }),
                 "limit: windows with a cell inside the map");
  expect_message(with("Clip",
                      [](OnnxFile& f, onnx::NodeProto& node) {
                        f.int8_data("none", {0});
                        f.node("DequantizeLinear", {"none", "s", "z"}, "lowest");
                        node.add_input("lowest");
                      }),
                 "limit: limits of one float32, found: 0 values");
  expect_message(with("Sum", [](OnnxFile&, onnx::NodeProto& node) { node.add_input(""); }),
                 "an operand is absent");
  expect_message(with("ArgMax\n", [](OnnxFile&, onnx::NodeProto& node) { node.set_input(0, "x"); }),
                 "found: ArgMax? on int8");
}

// What `pads` states beside another auto_pad is of no interest, however little it is.
TEST(Onnx, PadsBesideAutoPad) {
  OnnxFile f = stored_file();
  f.node("DequantizeLinear", {"x", "s", "z"}, "d");
  auto& pool = f.node("AveragePool", {"d"}, "p");
  OnnxFile::ints(pool, "kernel_shape", {2, 2});
  OnnxFile::ints(pool, "pads", {1});
  auto* mode = pool.add_attribute();
  mode->set_name("auto_pad");
  mode->set_s("VALID");
  for (const char* name : {"count_include_pad", "ceil_mode"}) {
    auto* on = pool.add_attribute();
    on->set_name(name);
    on->set_i(1);
  }
  f.node("QuantizeLinear", {"p", "s", "z"}, "y");
  f.output("y");
  const Graph graph = require_graph(import_onnx(f.file()));
  EXPECT_EQ(graph.ops.at(0).window.pad, Padding{});
  EXPECT_EQ(graph.output_of(graph.ops[0]).shape, (std::vector<int>{1, 4, 5, 4}));
}

TEST(Onnx, FaultsAreNamed) {
  OnnxFile f = small_network(true);
  f.graph().mutable_node(1)->set_input(0, "q4");
  expect_message(f, "its nodes form a cycle");
  f = small_network(true);
  f.graph().mutable_node(1)->set_input(0, "nowhere");
  expect_message(f, "'nowhere', which nothing writes");
  f = small_network(true);
  f.graph().mutable_node(2)->set_output(0, "q1");
  expect_message(f, "'q1' is written twice");
  f = small_network(true);
  f.model.mutable_opset_import(0)->set_version(99);
  expect_message(f, "limit: operator sets up to 25, found: opset 99");
  f = small_network(true);
  f.model.clear_opset_import();
  expect_message(f, "no operator set");
  f = small_network(true);
  f.graph().mutable_initializer(4)->set_data_location(1);
  expect_message(f, "tensor 'w' in another file (save the model with its data");
  f = small_network(true);
  f.graph().mutable_initializer(4)->mutable_raw_data()->resize(7);
  expect_message(f, "tensor 'w' needs 72 bytes, has 7");
  f = small_network(true);
  f.graph().mutable_initializer(4)->set_data_type(10);
  expect_message(f, "found: float16");
  f = small_network(true);
  f.graph().mutable_initializer(0)->set_float_data(0, 0.0F);
  expect_message(f, "scale is 0");
  f = small_network(true);
  f.graph()
      .mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_value(4);
  expect_message(f, "limit: batch of 1, found: a batch of 4");
  f = small_network(true);
  f.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(11);
  expect_message(f, "found: double");
  f = small_network(true);
  f.graph().mutable_node(2)->set_op_type("QLinearReduceMean");
  expect_message(f, "layer 'q2' (QLinearReduceMean)");
  f = small_network(true);
  f.graph().mutable_node(0)->set_op_type("DynamicQuantizeLinear");
  expect_message(f, "dynamic quantisation (quantise it first");
  f = small_network(true);
  f.constant("training", 9, {}).add_int32_data(1);
  f.graph().mutable_node(3)->set_op_type("Dropout");
  f.graph().mutable_node(3)->add_input("ws");
  f.graph().mutable_node(3)->add_input("training");
  expect_message(f, "limit: dropout that does nothing, found: training mode");
  f = small_network(false);
  auto& bias = f.constant("float_bias", 1, {4});
  for (int i = 0; i < 4; i++) bias.add_float_data(0.5F);
  f.graph().mutable_node(3)->set_input(0, "float_bias");
  expect_message(f, "limit: int8, uint8 or int32 values, found: float32 dequantised");
  f = small_network(false);
  f.graph().mutable_node(4)->set_input(1, "image");
  expect_message(f, "limit: quantised weights, found: weights that are computed");
}

TEST(Onnx, TruncatedFilesAreNamed) {
  const File file = small_network(true).file();
  try {
    import_onnx(File(file.begin(), file.begin() + ptrdiff_t(file.size() / 2)));
    ADD_FAILURE() << "half a file was imported";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "bad model file: truncated or corrupt (not a protobuf of ONNX)");
  }
}

TEST(Onnx, FloatModelsAreRefusedWithTheWayOut) {
  OnnxFile f;
  f.input("x", {1, 4});
  f.output("y");
  f.node("Relu", {"x"}, "y");
  expect_message(f, "found: a float model");
  expect_message(f, "kaiten quantize");
}

enum class Outcome { Error, Refused, Graph };

Outcome import_any(const File& file, std::mt19937_64& random) {
  try {
    const ImportResult result = import_onnx(file);
    EXPECT_EQ(result.graph.has_value(), result.refusals.empty());
    for (const Refusal& refusal : result.refusals) EXPECT_EQ(refusal.text().find('\n'), std::string::npos);
    if (!result.graph) return Outcome::Refused;
    std::vector<Int8Values> inputs;
    size_t elements = 0;
    for (const Tensor& tensor : result.graph->tensors) elements += tensor.elements();
    if (elements > 1000000) return Outcome::Graph;
    for (const int index : result.graph->inputs) {
      inputs.push_back(test::random_values(result.graph->tensors[size_t(index)].bytes(), random));
    }
    run_reference(*result.graph, inputs);
    return Outcome::Graph;
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_FALSE(message.empty());
    EXPECT_EQ(printable(message), message);
    return Outcome::Error;
  }
}

TEST(Onnx, EveryPrefixOfAFileIsRefused) {
  std::mt19937_64 random(test::seed());
  const File file = small_network(true).file();
  size_t graphs = 0;
  for (size_t size = 0; size < file.size(); size++) {
    graphs += import_any(File(file.begin(), file.begin() + ptrdiff_t(size)), random) == Outcome::Graph;
  }
  // What is cut off behind the first operator set (that of com.microsoft) is not missed.
  EXPECT_LE(graphs, 1U);
  EXPECT_EQ(import_any(file, random), Outcome::Graph);
}

TEST(Onnx, DamagedFilesEndInOneLineOrInASoundGraph) {
  std::mt19937_64 random(test::seed());
  size_t counts[3] = {};
  for (const bool qoperator : {true, false}) {
    const File file = small_network(qoperator).file();
    for (int i = 0; i < 3000; i++) {
      File damaged = file;
      for (int flips = i % 3; flips >= 0; flips--)
        damaged[random() % damaged.size()] ^= uint8_t(1 + random() % 255);
      counts[size_t(import_any(damaged, random))]++;
    }
  }
  EXPECT_GT(counts[0], 0U);
  EXPECT_GT(counts[2], 0U);
  std::printf("6000 damaged files: %zu damaged, %zu refused, %zu sound\n", counts[0], counts[1], counts[2]);
}

}  // namespace
}  // namespace kaiten
