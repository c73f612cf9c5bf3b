// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// ONNX networks in the reference executor against onnxruntime without graph optimisation: every quantised
// tensor of one run (layers/) and the float outputs of all goldens (golden/). QOperator nodes must agree
// exactly; QDQ nodes equal the quantised operator but for the order in which the framework adds float32
// numbers: 12 elements in a million may be 1 off where the inputs of that layer agree, and any mean that is
// exactly a tie.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "import/import.h"
#include "reference/reference.h"
#include "tests/support/onnx_goldens.h"
#include "tests/support/shared.h"

namespace kaiten {
namespace {

namespace fs = std::filesystem;

class OnnxModels : public testing::Test {
 protected:
  void SetUp() override {
    const auto shared = test::shared_dir();
    if (!shared) GTEST_SKIP() << "KAITEN_SHARED is absent: ONNX networks are not compared";
    models_ = *shared / "models";
  }

  Graph load(const std::string& file) const { return require_graph(import_file(models_ / "onnx" / file)); }

  std::vector<float> read_floats(const fs::path& path) const {
    const std::vector<uint8_t> bytes = read_model_file(models_ / path);
    return floats_of(std::vector<int8_t>(bytes.begin(), bytes.end()));
  }

  // Every tensor of the table, in the model's own type and order. Each operator is run on the framework's own
  // inputs, so that one difference does not make the next. Returns the number of elements that differ (by 1).
  size_t compare_layers(const std::string& model, size_t expected_tensors, bool exact) const {
    const Graph graph = load("derived/" + model + ".onnx");
    const std::vector<uint8_t> bytes = read_model_file(models_ / "layers" / (model + ".bin"));
    std::ifstream table(models_ / "layers" / (model + ".tsv"));
    std::string line;
    std::getline(table, line);  // column names
    std::map<std::string, std::vector<uint8_t>> recorded;
    while (std::getline(table, line)) {
      std::istringstream fields(line);
      std::string index, kind, node, tensor, dtype, shape, scale, zero_point;
      size_t offset = 0, count = 0;
      std::getline(fields, index, '\t');
      std::getline(fields, kind, '\t');
      std::getline(fields, node, '\t');
      fields >> tensor >> dtype >> shape >> scale >> zero_point >> offset >> count;
      EXPECT_TRUE(fields && offset + count <= bytes.size()) << line;
      recorded[tensor].assign(bytes.begin() + ptrdiff_t(offset), bytes.begin() + ptrdiff_t(offset + count));
    }
    std::vector<Int8Values> tensors(graph.tensors.size());
    const auto input = size_t(graph.inputs.front());
    tensors[input] = from_model(graph.tensors[input], recorded.at(graph.tensors[input].name));
    size_t compared = 0;
    size_t differing = 0;
    size_t ties = 0;
    size_t elements = 0;
    for (const Op& op : graph.ops) {
      run_operator(graph, op, RoundingStyle::LiteRt, tensors);
      const auto output = size_t(op.output);
      const auto found = recorded.find(graph.tensors[output].name);
      if (found == recorded.end()) continue;
      const std::vector<uint8_t> made = to_model(graph.tensors[output], tensors[output]);
      EXPECT_EQ(made.size(), found->second.size()) << op.name;
      const bool is_signed = graph.tensors[output].model_type == ElementType::Int8;
      for (size_t i = 0; i < made.size(); i++) {
        const int a = is_signed ? int8_t(made[i]) : made[i];
        const int b = is_signed ? int8_t(found->second[i]) : found->second[i];
        if (a == b) continue;
        if (op.kind == OpKind::Mean && is_tie(graph, op, tensors, made, i)) {
          ties++;
          continue;
        }
        differing++;
        EXPECT_FALSE(exact) << op.name << " element " << i << ": " << a << ", expected " << b;
        EXPECT_LE(std::abs(a - b), 1) << op.name << " element " << i;
        if (testing::Test::HasFailure()) return differing;
      }
      elements += made.size();
      tensors[output] = from_model(graph.tensors[output], found->second);
      compared++;
    }
    EXPECT_EQ(compared, expected_tensors);
    EXPECT_EQ(compared, recorded.size() - 1);
    std::printf("%s: %zu tensors, %zu elements, %zu differ by 1, %zu means at a tie\n", model.c_str(),
                compared, elements, differing, ties);
    EXPECT_LE(double(differing), 12.0e-6 * double(elements) + 1.0);
    return differing;
  }

  // Whether a mean lies halfway between two stored values: the framework's float32 sum, whose order is its
  // own, then falls to either side. Input and output have equal scales here. i counts NCHW channels.
  static bool is_tie(const Graph& graph, const Op& op, const std::vector<Int8Values>& tensors,
                     const std::vector<uint8_t>& made, size_t i) {
    if (graph.input_of(op).quantization.scale != graph.output_of(op).quantization.scale) return false;
    const Int8Values& input = tensors[size_t(op.inputs.front())];
    const auto cells = int(input.size() / made.size());
    int sum = 0;
    for (size_t k = i; k < input.size(); k += made.size()) sum += input[k] - graph.input_of(op).zero_point();
    return 2 * sum % cells == 0 && sum % cells != 0;
  }

  // All golden cases of a network, see onnx_goldens.h.
  void compare_goldens(const std::string& name) const {
    const test::OnnxNetwork& network = test::onnx_network(name);
    const Graph graph = load(network.file);
    float worst = 0;
    for (const test::OnnxGolden& golden : test::onnx_goldens(models_, network)) {
      const auto tensors = run_reference(graph, std::vector<Int8Values>{golden.input});
      const Int8Values& output = tensors[size_t(graph.outputs.at(network.output))];
      worst = std::max(worst, test::compare_golden(network, golden, output));
    }
    std::printf("%s: largest difference %g, %g steps\n", name.c_str(), double(worst),
                double(worst / network.step));
  }

  fs::path models_;
};

TEST_F(OnnxModels, EveryTensorOfResNet8InQOperatorForm) {
  EXPECT_EQ(compare_layers("resnet8_cifar10_qoperator_s8_perchannel", 16, true), 0U);
}
TEST_F(OnnxModels, EveryTensorOfResNet8InQdqForm) {
  compare_layers("resnet8_cifar10_qdq_s8_perchannel", 16, false);
}
TEST_F(OnnxModels, EveryTensorOfVisualWakeWordsInQdqForm) {
  compare_layers("vww_mobilenetv1_025_96_qdq_s8_perchannel", 31, false);
}
TEST_F(OnnxModels, EveryTensorOfMobileNetV1InUint8QdqForm) {
  compare_layers("mobilenet_v1_0.25_128_qdq_u8_pertensor_asym", 31, false);
}

TEST_F(OnnxModels, Goldens) {
  for (const test::OnnxNetwork& network : test::onnx_networks()) compare_goldens(network.name);
}

TEST_F(OnnxModels, FloatModelsAreRefusedByName) {
  size_t refused = 0;
  for (const auto& entry : fs::directory_iterator(models_ / "onnx/light")) {
    if (entry.path().extension() != ".onnx") continue;  // their expected outputs
    const ImportResult result = import_file(entry.path());
    ASSERT_EQ(result.refusals.size(), 1U) << entry.path();
    EXPECT_NE(result.refusals[0].text().find("found: a float model"), std::string::npos)
        << result.refusals[0].text();
    EXPECT_NE(result.refusals[0].hint.find("kaiten quantize"), std::string::npos);
    refused++;
  }
  EXPECT_EQ(refused, 7U);
}

// Five of its residual additions add to a float sum, which is quantised for others only.
TEST_F(OnnxModels, SumsOfFloatSumsAreOneOperator) {
  const Graph graph = load("model-zoo/mobilenetv2-12-qdq.onnx");
  EXPECT_EQ(graph.notes, std::vector<std::string>{});
  std::vector<size_t> operands;
  for (const Op& op : graph.ops) {
    if (op.kind == OpKind::Add) operands.push_back(op.inputs.size());
  }
  EXPECT_EQ(operands, (std::vector<size_t>{2, 2, 3, 2, 3, 4, 2, 3, 2, 3}));
}

}  // namespace
}  // namespace kaiten
