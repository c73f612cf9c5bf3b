// The ONNX importer on files made here: both forms of a quantised layer, order of nodes, folding of shapes,
// layouts, and everything a file can get wrong.

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "graph/error.h"
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
  f.graph().mutable_node(2)->set_op_type("QLinearAveragePool");
  expect_message(f, "layer 'q2' (QLinearAveragePool)");
  f = small_network(true);
  f.graph().mutable_node(0)->set_op_type("DynamicQuantizeLinear");
  expect_message(f, "dynamic quantisation (quantise it first");
  f = small_network(false);
  f.graph().mutable_node(4)->set_input(1, "image");
  expect_message(f, "limit: quantised weights, found: weights that are computed");
}

TEST(Onnx, FloatModelsAreRefusedWithTheWayOut) {
  OnnxFile f;
  f.input("x", {1, 4});
  f.output("y");
  f.node("Relu", {"x"}, "y");
  expect_message(f, "found: a float model");
  expect_message(f, "quantize_static");
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
    for (const char c : message) EXPECT_TRUE(c >= ' ' && c <= '~') << message;
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
