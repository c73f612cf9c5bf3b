// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// TensorFlow Lite and ONNX files to graphs. The formats are a flatbuffer (schema: tflite.fbs beside this
/// file) and a protobuf (onnx.proto); the importers check everything a file could get wrong before anything
/// relies on it:
/// - damaged or inconsistent files throw InputError with one line;
/// - sound files that ask for something Kaiten cannot run give a list of refusals, all of them, each with the
///   layer, the operator, the limit, the value that broke it and, where there is one, the way out.
/// Memory stays proportional to the file: activations are never allocated here.
#ifndef KAITEN_IMPORT_IMPORT_H
#define KAITEN_IMPORT_IMPORT_H

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace kaiten {

/// Limits of the importer. They keep every size computation inside 64 bits and a hostile file from asking for
/// memory.
constexpr std::size_t kMaxModelBytes = std::size_t(1) << 30;
constexpr std::int64_t kMaxTensorElements = std::int64_t(1) << 28;   ///< of any tensor
constexpr std::int64_t kMaxActivationBytes = std::int64_t(1) << 30;  ///< all activations of a graph together
constexpr int kMaxWindow = 1 << 14;                                  ///< kernel side, stride, dilation

/// Why layers cannot run: one reason for all that have it. layer and op name the first of them as the file does; limit,
/// value and hint complete the sentence of text().
struct Refusal {
  std::string layer;  ///< output tensor's name; "model" for what concerns the whole file
  std::string op;     ///< "CONV_2D"; empty for the whole file
  std::string limit;  ///< what Kaiten can do: "batch of 1"
  std::string value;  ///< what the file asks for: "batch of 4"
  std::string hint;   ///< how to get around it; may be empty
  int layers = 1;     ///< that have this reason

  /// One line: layer 'x' (CONV_2D) and 2 more: limit: ..., found: ... (hint)
  std::string text() const;
};

/// A graph, or all reasons why there is none.
struct ImportResult {
  std::string name;               ///< of the model, for reports
  std::optional<Graph> graph;     ///< present exactly when there are no refusals
  std::vector<Refusal> refusals;  ///< in the order of the layers
};

/// Tensor indices of the graph are those of the file's first subgraph. `name` is only carried through. Throws
/// InputError for damaged or inconsistent files.
/// `until`: a tensor that the graph ends at, the model's outputs being left out; what only operators after it ask for is no
/// reason for a refusal. Without it, a graph whose only refused operators are custom ones, suppressions of boxes and rankings
/// ends before them, with a note.
ImportResult import_tflite(std::span<const std::uint8_t> file, const std::string& name = "model",
                           const std::string& until = "");

/// Quantised ONNX models, QOperator (QLinearConv ...) and QDQ (QuantizeLinear and DequantizeLinear around
/// float operators). A float operator between dequantised inputs and a QuantizeLinear becomes the quantised
/// operator it stands for; shape arithmetic is folded, an open batch is 1. What is left in float around the
/// quantised part becomes host operators. Maps are NCHW in the file and NHWC in the graph (graph.h).
struct OnnxOptions {
  std::string until = {};     ///< as for import_tflite()
  bool float_models = false;  ///< accept models without any quantised tensor, for tests of host operators
};
/// Throws InputError for damaged or inconsistent files. `name` is only carried through.
ImportResult import_onnx(std::span<const std::uint8_t> file, const std::string& name = "model",
                         const OnnxOptions& options = {});

/// Page of the documentation: the operators that both importers take, and what each becomes.
std::string imported_operators_page();

/// The graph, or InputError with the first refusal and the number of further ones.
Graph require_graph(ImportResult result);

/// The bytes of a model file. Throws InputError if it cannot be read, is not a regular file or exceeds
/// kMaxModelBytes.
std::vector<std::uint8_t> read_model_file(const std::filesystem::path& path);

/// read_model_file, then import_onnx for names that end in .onnx, import_tflite for others: the name is the
/// file's without its extension. Throws InputError.
ImportResult import_file(const std::filesystem::path& path);

}  // namespace kaiten

#endif  // KAITEN_IMPORT_IMPORT_H
