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
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "compile/compiler.h"
#include "graph/error.h"
#include "import/import.h"
#include "reference/reference.h"
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

  // Runs the golden cases; input(name) gives the float NCHW input. `steps`: how far an output may be off, in
  // steps of `step`.
  template <typename InputOf>
  void compare_goldens(const std::string& file, const std::string& golden, const std::string& suffix,
                       size_t output, InputOf input, float step, float steps) const {
    const Graph graph = load(file);
    const nlohmann::json list =
        nlohmann::json::parse(std::ifstream(models_ / "golden" / golden / "expected.json"));
    ASSERT_FALSE(list["cases"].empty());
    float worst = 0;
    for (const auto& entry : list["cases"]) {
      const std::string name = entry["name"];
      const std::vector<Int8Values> inputs = {bytes_of(input(name))};
      const auto tensors = run_reference(graph, inputs);
      const std::vector<float> made = floats_of(tensors[size_t(graph.outputs.at(output))]);
      const std::vector<float> expected = read_floats(fs::path("golden") / golden / (name + suffix));
      ASSERT_EQ(made.size(), expected.size());
      const auto best = std::max_element(made.begin(), made.end()) - made.begin();
      // Equal best values are common: the framework's best must be among ours.
      const auto theirs = size_t(std::max_element(expected.begin(), expected.end()) - expected.begin());
      EXPECT_LE(made[size_t(best)] - made[theirs], step * steps) << name;
      for (size_t i = 0; i < made.size(); i++) worst = std::max(worst, std::abs(made[i] - expected[i]));
    }
    std::printf("%s: largest difference %g, %g steps\n", golden.c_str(), double(worst), double(worst / step));
    EXPECT_LE(worst, step * (steps + 0.01F));
  }

  // (q - zero_point) * scale of NHWC bytes, as floats in NCHW.
  std::vector<float> image(const fs::path& path, bool is_signed, int zero_point, float scale,
                           size_t side) const {
    const std::vector<uint8_t> bytes = read_model_file(models_ / path);
    std::vector<float> values(3 * side * side);
    for (size_t i = 0; i < values.size(); i++) {
      const int q = is_signed ? int8_t(bytes.at(i)) : bytes.at(i);
      values[i % 3 * side * side + i / 3] = float(q - zero_point) * scale;
    }
    return values;
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

TEST_F(OnnxModels, ResNet8Goldens) {
  const auto input = [&](const std::string& name) {
    return image("vectors/resnet8/quant_" + name + ".dat", true, -128, 1.0F, 32);
  };
  // A tie of the mean in front of the last layer moves logits by up to two steps, in both forms of the file.
  constexpr float kStep = 0.17185351F;
  compare_goldens("derived/resnet8_cifar10_qoperator_s8_perchannel.onnx",
                  "resnet8_cifar10_qoperator_s8_perchannel", ".logits.f32.bin", 1, input, kStep, 2);
  compare_goldens("derived/resnet8_cifar10_qdq_s8_perchannel.onnx", "resnet8_cifar10_qdq_s8_perchannel",
                  ".logits.f32.bin", 1, input, kStep, 2);
}

TEST_F(OnnxModels, VisualWakeWordsGoldens) {
  const auto input = [&](const std::string& name) {
    return image("vectors/vww/quant_test_" + name + ".dat", true, -128, 0.003921568859368563F, 96);
  };
  compare_goldens("derived/vww_mobilenetv1_025_96_qdq_s8_perchannel.onnx",
                  "vww_mobilenetv1_025_96_qdq_s8_perchannel", ".logits.f32.bin", 1, input, 0.014636219F, 1);
}

TEST_F(OnnxModels, MobileNetV1Goldens) {
  const auto input = [&](const std::string& name) {
    return image("images/raw/" + name + "_128.rgb", false, 128, 0.0078125F, 128);
  };
  compare_goldens("derived/mobilenet_v1_0.25_128_qdq_u8_pertensor_asym.onnx",
                  "mobilenet_v1_0.25_128_qdq_u8_pertensor_asym", ".logits.f32.bin", 1, input, 0.13083284F, 3);
}

// Rounding differences grow through its 52 per-tensor layers: onnxruntime itself differs from itself by 17
// steps.
TEST_F(OnnxModels, MobileNetV2Goldens) {
  const auto input = [&](const std::string& name) {
    std::vector<float> values = image("images/raw/" + name + "_224.rgb", false, 0, 1.0F, 224);
    constexpr double kMean[] = {0.485, 0.456, 0.406};
    constexpr double kDeviation[] = {0.229, 0.224, 0.225};
    for (size_t i = 0; i < values.size(); i++) {
      const size_t c = i / (224 * 224);
      values[i] = float((double(values[i]) / 255.0 - kMean[c]) / kDeviation[c]);
    }
    return values;
  };
  compare_goldens("model-zoo/mobilenetv2-12-qdq.onnx", "mobilenetv2-12-qdq", ".output.f32.bin", 0, input,
                  0.16079935F, 17);
}

TEST_F(OnnxModels, FloatModelsAreRefusedByName) {
  size_t refused = 0;
  for (const auto& entry : fs::directory_iterator(models_ / "onnx/light")) {
    if (entry.path().extension() != ".onnx") continue;  // their expected outputs
    const ImportResult result = import_file(entry.path());
    ASSERT_EQ(result.refusals.size(), 1U) << entry.path();
    EXPECT_NE(result.refusals[0].text().find("found: a float model"), std::string::npos)
        << result.refusals[0].text();
    EXPECT_NE(result.refusals[0].way_out.find("quantize_static"), std::string::npos);
    refused++;
  }
  EXPECT_EQ(refused, 7U);
}

// The machine does not have their rounding rule yet: named, not compiled.
TEST_F(OnnxModels, TheCompilerRefusesWhatItDoesNotRun) {
  const Graph graph = load("derived/resnet8_cifar10_qoperator_s8_perchannel.onnx");
  EXPECT_EQ(graph.ops.front().kind, OpKind::ToInt8);
  const auto reasons = refusals(graph, preset("base"));
  ASSERT_FALSE(reasons.empty());
  EXPECT_THROW(compile(graph, preset("base")), InputError);
}

}  // namespace
}  // namespace kaiten
