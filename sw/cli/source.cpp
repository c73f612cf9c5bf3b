// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/source.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "cli/demo.h"
#include "cli/files.h"
#include "plan/from_graph.h"
#include "plan/table.h"

namespace kaiten::cli {

namespace {

bool is_tflite(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kIdentifier = "TFL3";
  return bytes.size() >= 8 && std::equal(kIdentifier.begin(), kIdentifier.end(), bytes.begin() + 4);
}

bool is_onnx_name(const std::string& file) { return std::filesystem::path(file).extension() == ".onnx"; }

bool is_onnx(const std::string& file, std::span<const std::uint8_t> bytes) {
  return file == kStandardInput ? !is_tflite(bytes) : is_onnx_name(file);
}

}  // namespace

bool is_model(const std::string& file, std::span<const std::uint8_t> bytes) {
  return is_onnx_name(file) || is_tflite(bytes);
}

ImportResult import_model(const std::string& file, std::span<const std::uint8_t> bytes,
                          const std::string& until) {
  const std::string name =
      file == kStandardInput ? "standard input" : std::filesystem::path(file).stem().string();
  return is_onnx(file, bytes) ? import_onnx(bytes, name, {.until = until})
                              : import_tflite(bytes, name, until);
}

ModelMetadata metadata_of(const std::string& file, std::span<const std::uint8_t> bytes) {
  return is_onnx(file, bytes) ? onnx_metadata(bytes) : tflite_metadata(bytes);
}

std::vector<std::uint8_t> model_bytes(const std::string& file) {
  if (file == kDemoName) return {demo_model().begin(), demo_model().end()};
  return file == kStandardInput ? read_file(file) : read_model_file(file);
}

ImportResult import_model(const std::string& file, const std::string& until) {
  return import_model(file, model_bytes(file), until);
}

Source read_source(const std::string& file, plan::Inputs inputs) {
  Source s;
  if (file == kDemoName) {
    s.graph = require_graph(import_model(file));
  } else {
    const std::vector<std::uint8_t> bytes = read_file(file);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (plan::looks_like_table(text)) return {plan::read_table(text, file), std::nullopt, {}};
    if (file.ends_with(".csv") || plan::looks_like_topology(text))
      return {plan::read_topology(text, file), std::nullopt, {}};
    if (file.ends_with(".json")) return {plan::read_table(text, file), std::nullopt, {}};
    s.graph = require_graph(import_model(file, bytes));
    s.metadata = metadata_of(file, bytes);
  }
  s.network = plan::network_of(*s.graph, inputs);
  return s;
}

}  // namespace kaiten::cli
