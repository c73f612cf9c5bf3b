// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// CMSIS-NN's conformance cases (docs/third_party_models.md): a JSON file each, with the macros and arrays of the suite's
// C headers.
#ifndef KAITEN_TESTS_SUPPORT_CMSIS_NN_H
#define KAITEN_TESTS_SUPPORT_CMSIS_NN_H

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "graph/quantize.h"
#include "tests/support/shared.h"

namespace kaiten::test::cmsis_nn {

// Sorted; empty where the suite is absent.
inline std::vector<std::string> case_names() {
  std::vector<std::string> names;
  if (const auto shared = shared_dir()) {
    for (const auto& entry : std::filesystem::directory_iterator(*shared / "models/conformance/cmsis-nn")) {
      const std::string name = entry.path().stem().string();
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

// One case, or one layer of the whole network: numbers and arrays under a prefix.
class Case {
 public:
  Case(const nlohmann::json& json, const std::string& defines, const std::string& arrays)
      : json_(json), defines_(defines), arrays_(arrays) {}

  bool has(const std::string& name) const { return json_["defines"].contains(defines_ + name); }
  int value(const std::string& name) const { return json_["defines"].at(defines_ + name).get<int>(); }
  int value(const std::string& name, int otherwise) const { return has(name) ? value(name) : otherwise; }

  bool has_array(const std::string& name) const { return json_["arrays"].contains(arrays_ + name); }
  template <typename T>
  std::vector<T> array(const std::string& name) const {
    return json_["arrays"].at(arrays_ + name).at("data").get<std::vector<T>>();
  }

  Window window() const {
    Window w;
    w.kernel_h = value("FILTER_Y", value("FILTER_H", 1));
    w.kernel_w = value("FILTER_X", value("FILTER_W", 1));
    w.stride_h = value("STRIDE_Y", value("STRIDE_H", 1));
    w.stride_w = value("STRIDE_X", value("STRIDE_W", 1));
    w.dilation_h = value("DILATION_Y", 1);
    w.dilation_w = value("DILATION_X", 1);
    // The suite states the padding before the map only; the output's size implies the other side.
    w.pad.top = value("PAD_Y", value("PADDING_H", 0));
    w.pad.left = value("PAD_X", value("PADDING_W", 0));
    return w;
  }

  Nhwc in(size_t elements, int channels) const {
    const Nhwc shape{1, value("INPUT_H"), value("INPUT_W"), channels};
    return {int(elements / shape.elements()), shape.h, shape.w, shape.c};
  }

  ConvParams conv(size_t channels) const {
    ConvParams params;
    const char* bias = has_array("biases") ? "biases" : "bias";
    params.bias = array<int32_t>(bias);
    if (params.bias.empty()) params.bias.assign(channels, 0);
    if (has("OUTPUT_MULTIPLIER")) {
      params.multiplier.assign(channels, value("OUTPUT_MULTIPLIER"));
      params.shift.assign(channels, value("OUTPUT_SHIFT"));
    } else {
      params.multiplier = array<int32_t>(has_array("output_mult") ? "output_mult" : "output_multiplier");
      params.shift = array<int>("output_shift");
    }
    params.zp_in = -value("INPUT_OFFSET");
    params.output.zero_point = value("OUTPUT_OFFSET");
    params.output.low = value("OUT_ACTIVATION_MIN");
    params.output.high = value("OUT_ACTIVATION_MAX");
    return params;
  }

 private:
  const nlohmann::json& json_;
  std::string defines_;
  std::string arrays_;
};

// The file of a case. KAITEN_SHARED must be there.
inline nlohmann::json read_case(const std::string& name) {
  return nlohmann::json::parse(
      std::ifstream(*shared_dir() / "models/conformance/cmsis-nn" / (name + ".json")));
}

// A case of one layer.
inline Case single_layer(const nlohmann::json& json, const std::string& name) {
  std::string upper = name;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char ch) { return std::toupper(ch); });
  return {json, upper + "_", name + "_"};
}

// What the layer must give.
inline std::vector<int8_t> expected_output(const nlohmann::json& json, const std::string& name) {
  const nlohmann::json& arrays = json["arrays"];
  return arrays.at(name + (arrays.contains(name + "_output_ref") ? "_output_ref" : "_output")).at("data");
}

}  // namespace kaiten::test::cmsis_nn

#endif  // KAITEN_TESTS_SUPPORT_CMSIS_NN_H
