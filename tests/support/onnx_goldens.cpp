// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/support/onnx_goldens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "import/import.h"

namespace kaiten::test {

namespace {

namespace fs = std::filesystem;

// (q - zero_point) * scale of square NHWC images, as floats in NCHW.
std::vector<float> image(const fs::path& path, bool is_signed, int zero_point, float scale) {
  const std::vector<std::uint8_t> bytes = read_model_file(path);
  const std::size_t pixels = bytes.size() / 3;
  std::vector<float> values(bytes.size());
  for (std::size_t i = 0; i < values.size(); i++) {
    const int q = is_signed ? int(std::int8_t(bytes[i])) : int(bytes[i]);
    values[i % 3 * pixels + i / 3] = float(q - zero_point) * scale;
  }
  return values;
}

// As torchvision normalises images.
std::vector<float> normalised(const fs::path& path) {
  std::vector<float> values = image(path, false, 0, 1.0F);
  constexpr double kMean[] = {0.485, 0.456, 0.406};
  constexpr double kDeviation[] = {0.229, 0.224, 0.225};
  for (std::size_t i = 0; i < values.size(); i++) {
    const std::size_t c = i / (values.size() / 3);
    values[i] = float((double(values[i]) / 255.0 - kMean[c]) / kDeviation[c]);
  }
  return values;
}

std::vector<float> input_of(const fs::path& models, const std::string& network, const std::string& name) {
  if (network.starts_with("resnet8"))
    return image(models / "vectors/resnet8" / ("quant_" + name + ".dat"), true, -128, 1.0F);
  if (network.starts_with("vww"))
    return image(models / "vectors/vww" / ("quant_test_" + name + ".dat"), true, -128, 0.003921568859368563F);
  if (network.starts_with("mobilenet_v1"))
    return image(models / "images/raw" / (name + "_128.rgb"), false, 128, 0.0078125F);
  return normalised(models / "images/raw" / (name + "_224.rgb"));
}

}  // namespace

const std::vector<OnnxNetwork>& onnx_networks() {
  // A tie of the mean in front of the last layer moves ResNet-8's logits by up to two steps, in both forms of
  // the file. Rounding differences grow through MobileNetV2's 52 per-tensor layers, where onnxruntime differs
  // from itself by 17 steps (docs/compiler/numerics.md). With graph optimisation it computes QDQ networks on integers, their
  // GlobalAveragePool, too, which here is the file's own float32.
  static const std::vector<OnnxNetwork> kNetworks = {
      {"resnet8_cifar10_qoperator_s8_perchannel", "derived/resnet8_cifar10_qoperator_s8_perchannel.onnx",
       ".logits", 1, 0.17185351F, 0, 2},
      {"resnet8_cifar10_qdq_s8_perchannel", "derived/resnet8_cifar10_qdq_s8_perchannel.onnx", ".logits", 1,
       0.17185351F, 0, 2},
      {"vww_mobilenetv1_025_96_qdq_s8_perchannel", "derived/vww_mobilenetv1_025_96_qdq_s8_perchannel.onnx",
       ".logits", 1, 0.014636219F, 1, 0},
      {"mobilenet_v1_0.25_128_qdq_u8_pertensor_asym",
       "derived/mobilenet_v1_0.25_128_qdq_u8_pertensor_asym.onnx", ".logits", 1, 0.13083284F, 2, 1},
      {"mobilenetv2-12-qdq", "model-zoo/mobilenetv2-12-qdq.onnx", ".output", 0, 0.16079935F, 17, 0}};
  return kNetworks;
}

const OnnxNetwork& onnx_network(const std::string& name) {
  for (const OnnxNetwork& network : onnx_networks()) {
    if (network.name == name) return network;
  }
  throw std::out_of_range(name);
}

std::vector<OnnxGolden> onnx_goldens(const fs::path& models, const OnnxNetwork& network) {
  const fs::path folder = models / "golden" / network.name;
  const nlohmann::json list = nlohmann::json::parse(std::ifstream(folder / "expected.json"));
  std::vector<OnnxGolden> goldens;
  for (const auto& entry : list["cases"]) {
    const std::string name = entry["name"];
    const auto answer = [&](const char* suffix) {
      const std::vector<std::uint8_t> bytes = read_model_file(folder / (name + network.suffix + suffix));
      return floats_of(std::vector<std::int8_t>(bytes.begin(), bytes.end()));
    };
    goldens.push_back({name, bytes_of(input_of(models, network.name, name)), answer(".f32.bin"),
                       answer(".opt_all.f32.bin")});
  }
  EXPECT_FALSE(goldens.empty());
  return goldens;
}

float compare_golden(const OnnxNetwork& network, const OnnxGolden& golden, const Int8Values& output) {
  const std::vector<float> made = floats_of(output);
  const auto distance = [&](const std::vector<float>& expected, float steps) {
    EXPECT_EQ(made.size(), expected.size());
    if (made.size() != expected.size() || made.empty()) return 0.0F;
    const float best = *std::max_element(made.begin(), made.end());
    // Equal best values are common: the framework's best must be among ours.
    const auto theirs = std::size_t(std::max_element(expected.begin(), expected.end()) - expected.begin());
    const float limit = steps == 0 ? 0 : network.step * (steps + 0.01F);
    EXPECT_LE(best - made[theirs], limit) << golden.name;
    float worst = 0;
    for (std::size_t i = 0; i < made.size(); i++) worst = std::max(worst, std::abs(made[i] - expected[i]));
    EXPECT_LE(worst, limit) << golden.name;
    return worst;
  };
  distance(golden.on_integers, network.integer_steps);
  return distance(golden.expected, network.steps);
}

}  // namespace kaiten::test
