// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The reference executor against real networks: every tensor of one run per model (layers/), labelled vectors
// (vectors/) and goldens (golden/), all made by TensorFlow Lite Micro and LiteRT's reference kernels.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "graph/quantize.h"
#include "import/import.h"
#include "reference/reference.h"
#include "tests/support/shared.h"

namespace kaiten {
namespace {

namespace fs = std::filesystem;

std::vector<int8_t> read_int8(const fs::path& path) {
  const std::vector<uint8_t> bytes = read_model_file(path);
  return {bytes.begin(), bytes.end()};
}

size_t mismatches(const Int8Values& a, const Int8Values& b) {
  if (a.size() != b.size()) return std::max(a.size(), b.size());
  size_t count = 0;
  for (size_t i = 0; i < a.size(); i++) count += a[i] != b[i];
  return count;
}

class SharedModels : public testing::Test {
 protected:
  void SetUp() override {
    const auto shared = test::shared_dir();
    if (!shared) GTEST_SKIP() << "KAITEN_SHARED is absent: third-party models are not compared";
    models_ = *shared / "models";
  }

  Graph load(const std::string& file) const { return require_graph(import_file(models_ / "tflite" / file)); }

  nlohmann::json json(const fs::path& path) const {
    return nlohmann::json::parse(std::ifstream(models_ / path));
  }

  // Every operator's output, as the table beside the file lists them.
  void compare_layers(const std::string& model_file, const std::string& layers, RoundingStyle style) const {
    const Graph graph = load(model_file);
    const Int8Values expected = read_int8(models_ / "layers" / (layers + ".bin"));
    std::ifstream table(models_ / "layers" / (layers + ".tsv"));
    std::string line;
    std::getline(table, line);  // column names
    std::vector<Int8Values> tensors;
    size_t compared = 0;
    while (std::getline(table, line)) {
      std::istringstream fields(line);
      std::string op, kind, dtype, shape, scale, zero_point;
      size_t tensor = 0, offset = 0, bytes = 0;
      fields >> op >> kind >> tensor >> dtype >> shape >> scale >> zero_point >> offset >> bytes;
      ASSERT_TRUE(fields && offset + bytes <= expected.size()) << line;
      const Int8Values slice(expected.begin() + ptrdiff_t(offset),
                             expected.begin() + ptrdiff_t(offset + bytes));
      if (kind == "INPUT") {
        const std::vector<uint8_t> given(slice.begin(), slice.end());
        tensors =
            run_reference(graph, std::vector<Int8Values>{from_model(graph.tensors.at(tensor), given)}, style);
        continue;
      }
      const std::vector<uint8_t> made = to_model(graph.tensors.at(tensor), tensors.at(tensor));
      EXPECT_EQ(mismatches({made.begin(), made.end()}, slice), 0U)
          << kind << " " << graph.tensors[tensor].name;
      compared++;
    }
    EXPECT_EQ(compared, graph.ops.size());
  }

  // Labelled inputs with the outputs of both interpreters (litert fields only where they differ).
  // `flip`: the files hold what the int8 input is plus 128.
  void compare_vectors(const std::string& model_file, const std::string& vectors, bool flip = false) const {
    const Graph graph = load(model_file);
    const nlohmann::json list = json(fs::path("vectors") / vectors / "expected.json");
    const auto logits_tensor = size_t(graph.ops.back().inputs.front());  // in front of SOFTMAX
    for (const auto& entry : list["cases"]) {
      const std::string file = entry["file"];
      Int8Values input = read_int8(models_ / "vectors" / vectors / file);
      for (int8_t& value : input) value = int8_t(value ^ (flip ? 0x80 : 0));
      const auto tflm = run_reference(graph, std::vector<Int8Values>{input}, RoundingStyle::Tflm);
      const auto litert = run_reference(graph, std::vector<Int8Values>{input}, RoundingStyle::LiteRt);
      const auto output = size_t(graph.outputs.front());
      const auto field = [&](const char* name) { return entry[name].get<Int8Values>(); };
      const auto litert_field = [&](const char* name, const char* otherwise) {
        return entry.contains(name) ? field(name) : field(otherwise);
      };
      EXPECT_EQ(tflm[output], field("output_int8")) << file;
      EXPECT_EQ(tflm[logits_tensor], field("logits_int8")) << file;
      EXPECT_EQ(litert[output], litert_field("output_litert_int8", "output_int8")) << file;
      EXPECT_EQ(litert[logits_tensor], litert_field("logits_litert_int8", "logits_int8")) << file;
    }
  }

  fs::path models_;
};

TEST_F(SharedModels, EveryTensorOfResNet8) {
  compare_layers("mlperf-tiny/pretrainedResnet_quant.tflite", "pretrainedResnet_quant",
                 RoundingStyle::LiteRt);
  compare_layers("mlperf-tiny/pretrainedResnet_quant.tflite", "pretrainedResnet_quant", RoundingStyle::Tflm);
}

TEST_F(SharedModels, EveryTensorOfKeywordSpotting) {
  compare_layers("mlperf-tiny/kws_ref_model.tflite", "kws_ref_model", RoundingStyle::Tflm);
}

TEST_F(SharedModels, EveryTensorOfVisualWakeWords) {
  compare_layers("mlperf-tiny/vww_96_int8.tflite", "vww_96_int8", RoundingStyle::LiteRt);
}

TEST_F(SharedModels, ResNet8Vectors) {
  compare_vectors("mlperf-tiny/pretrainedResnet_quant.tflite", "resnet8");
}
TEST_F(SharedModels, KeywordSpottingVectors) { compare_vectors("mlperf-tiny/kws_ref_model.tflite", "kws"); }
TEST_F(SharedModels, VisualWakeWordsVectors) { compare_vectors("mlperf-tiny/vww_96_int8.tflite", "vww"); }

// Ten fully connected layers: the model in which the two rounding styles differ most.
TEST_F(SharedModels, AnomalyDetectionVectors) {
  const Graph graph = load("mlperf-tiny/ad01_int8.tflite");
  const auto output = size_t(graph.outputs.front());
  const nlohmann::json list = json("vectors/ad/expected.json");
  for (const auto& entry : list["cases"]) {
    const auto path = [&](const char* field) {
      return models_ / "vectors/ad" / entry[field].get<std::string>();
    };
    Int8Values input = read_int8(path("file"));
    input.resize(640);
    const auto tflm = run_reference(graph, std::vector<Int8Values>{input}, RoundingStyle::Tflm);
    const auto litert = run_reference(graph, std::vector<Int8Values>{input}, RoundingStyle::LiteRt);
    EXPECT_EQ(mismatches(tflm[output], read_int8(path("output_file"))), 0U) << entry["file"];
    EXPECT_EQ(mismatches(litert[output], read_int8(path("output_litert_file"))), 0U) << entry["file"];
  }
}

TEST_F(SharedModels, Cifar10Goldens) {
  const Graph graph = load("tinymaix/cifar10_q.tflite");
  const nlohmann::json list = json("golden/cifar10_q/expected.json");
  ASSERT_EQ(list["cases"].size(), 5U);
  for (const auto& entry : list["cases"]) {
    const std::string name = entry["name"];
    const Int8Values input = read_int8(models_ / "vectors/resnet8" / ("quant_" + name + ".dat"));
    const auto tensors = run_reference(graph, std::vector<Int8Values>{input}, RoundingStyle::Tflm);
    const auto logits = size_t(graph.ops.back().inputs.front());
    EXPECT_EQ(tensors[logits], read_int8(models_ / "golden/cifar10_q" / (name + ".logits.bin"))) << name;
    EXPECT_EQ(tensors[size_t(graph.outputs.front())], entry["output"].get<Int8Values>()) << name;
  }
}

// The only models with MEAN and with an ADD behind a stem of one channel: a grey bitmap of 28 x 28.
TEST_F(SharedModels, MnistGoldens) {
  const std::vector<uint8_t> bitmap = read_model_file(models_ / "images/mnist_nine.bmp");
  constexpr size_t kPixelsAt = 1078;
  constexpr size_t kSide = 28;
  ASSERT_EQ(bitmap.size(), kPixelsAt + kSide * kSide);
  Int8Values input(kSide * kSide);
  for (size_t y = 0; y < kSide; y++) {  // bitmaps store the last row first
    for (size_t x = 0; x < kSide; x++) {
      input[y * kSide + x] = int8_t(int(bitmap[kPixelsAt + (kSide - 1 - y) * kSide + x]) - 128);
    }
  }
  for (const std::string name : {"mnist_valid_q", "mnist_resnet_q"}) {
    const Graph graph = load("tinymaix/" + name + ".tflite");
    const auto tensors = run_reference(graph, std::vector<Int8Values>{input}, RoundingStyle::Tflm);
    const auto logits = size_t(graph.ops.back().inputs.front());
    EXPECT_EQ(tensors[logits], read_int8(models_ / "golden" / name / "mnist_nine.logits.bin")) << name;
    const nlohmann::json list = json(fs::path("golden") / name / "expected.json");
    EXPECT_EQ(tensors[size_t(graph.outputs.front())], list["cases"][0]["output"].get<Int8Values>()) << name;
  }
}

// Whole networks of the goldens' folders: the tensor in front of SOFTMAX, as the file stores it.
class Goldens : public SharedModels {
 protected:
  void compare(const std::string& model_file, const std::string& golden, const std::string& side,
               RoundingStyle style = RoundingStyle::LiteRt) const {
    const Graph graph = load(model_file);
    const Tensor& input = graph.tensors[size_t(graph.inputs.front())];
    const auto softmax = std::find_if(graph.ops.begin(), graph.ops.end(),
                                      [](const Op& op) { return op.kind == OpKind::Softmax; });
    ASSERT_NE(softmax, graph.ops.end());
    const auto logits = size_t(softmax->inputs.front());
    const nlohmann::json list = json(fs::path("golden") / golden / "expected.json");
    ASSERT_FALSE(list["cases"].empty());
    for (const auto& entry : list["cases"]) {
      const std::string name = entry["name"];
      const std::vector<uint8_t> image =
          read_model_file(models_ / "images/raw" / (name + "_" + side + ".rgb"));
      const auto tensors = run_reference(graph, std::vector<Int8Values>{from_model(input, image)}, style);
      const std::vector<uint8_t> expected =
          read_model_file(models_ / "golden" / golden / (name + ".logits.bin"));
      EXPECT_EQ(to_model(graph.tensors[logits], tensors[logits]), expected) << name;
    }
  }
};

TEST_F(Goldens, MobileNetV1Quarter) {
  compare("coral/mobilenet_v1_0.25_128_quant.tflite", "mobilenet_v1_0.25_128_quant", "128");
  compare("coral/mobilenet_v1_0.25_128_quant.tflite", "mobilenet_v1_0.25_128_quant", "128",
          RoundingStyle::Tflm);
}
TEST_F(Goldens, MobileNetV1) {
  compare("coral/mobilenet_v1_0.75_192_quant.tflite", "mobilenet_v1_0.75_192_quant", "192");
}
TEST_F(Goldens, MobileNetV2) {
  compare("coral/mobilenet_v2_1.0_224_quant.tflite", "mobilenet_v2_1.0_224_quant", "224");
}
TEST_F(Goldens, MobileNetV2PostTraining) {
  compare("coral/tf2_mobilenet_v2_1.0_224_ptq.tflite", "tf2_mobilenet_v2_1.0_224_ptq", "224");
}
TEST_F(Goldens, MobileNetEdgeTpu) {
  compare("coral-edgetpu/mobilenet_edgetpu_0.75_224_post_training_quant.tflite",
          "mobilenet_edgetpu_0.75_224_post_training_quant", "224");
}

TEST_F(SharedModels, EveryTensorOfMobileNetV1InUint8) {
  compare_layers("coral/mobilenet_v1_0.25_128_quant.tflite", "mobilenet_v1_0.25_128_quant",
                 RoundingStyle::LiteRt);
}

// MUL and SUB with constants in front, ADD, AVERAGE_POOL_2D.
TEST_F(SharedModels, MobileNetV2At160Vectors) {
  compare_vectors("cfu-playground/model_mobilenetv2_160_035.tflite", "mobilenetv2_160_035", true);
}

}  // namespace
}  // namespace kaiten
