// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "report/table.h"

namespace kaiten {
namespace {

std::string scale_text(const Tensor& tensor) {
  if (tensor.quantization.empty()) return "-";
  std::ostringstream text;
  text << std::setprecision(4) << tensor.quantization.scale.front() << "/" << tensor.zero_point();
  return text.str();
}

// Kernel, stride and dilation: "3x3 /2", "3x3 /2x1 dil 2x2".
std::string window_text(const Op& op) {
  const bool windowed = op.kind == OpKind::Conv2D || op.kind == OpKind::DepthwiseConv2D ||
                        op.kind == OpKind::AveragePool || op.kind == OpKind::MaxPool;
  if (!windowed) return "-";
  const Window& w = op.window;
  std::string text =
      std::to_string(w.kernel_h) + "x" + std::to_string(w.kernel_w) + " /" + std::to_string(w.stride_h);
  if (w.stride_w != w.stride_h) text += "x" + std::to_string(w.stride_w);
  if (w.dilation_h != 1 || w.dilation_w != 1) {
    text += " dil " + std::to_string(w.dilation_h) + "x" + std::to_string(w.dilation_w);
  }
  return text;
}

std::string weights_text(const Graph& graph, const Op& op) {
  if (op.weights == kNoTensor) return "-";
  const Tensor& weights = graph.weights_of(op);
  return std::to_string(weights.bytes()) +
         (weights.quantization.per_channel() ? " per channel" : " per tensor");
}

std::vector<std::string> row_of(const Graph& graph, const Op& op, const std::string& place) {
  std::string kind(name_of(op.kind));
  if (op.activation != Activation::None) kind += "+" + std::string(name_of(op.activation));
  return {op.name,
          kind,
          shape_text(graph.input_of(op).shape),
          shape_text(graph.output_of(op).shape),
          window_text(op),
          std::to_string(macs(graph, op)),
          weights_text(graph, op),
          scale_text(graph.output_of(op)),
          place};
}

std::string tensors_text(const char* role, const Graph& graph, const std::vector<int>& tensors) {
  std::string text;
  for (const int index : tensors) {
    const Tensor& tensor = graph.tensors[size_t(index)];
    text += fmt::format("{}: {}  {}  {}  scale/zero point {}\n", role, tensor.name, name_of(tensor.type),
                        shape_text(tensor.shape), scale_text(tensor));
  }
  return text;
}

}  // namespace

std::vector<std::string> places(const Graph& graph, const Program& program) {
  std::vector<std::string> all(graph.ops.size(), "-");
  for (const LayerInfo& layer : program.layers) all[size_t(layer.op)] = name_of(layer.place);
  return all;
}

std::vector<std::string> places(const Graph& graph, const std::vector<std::string>& refusals) {
  std::vector<std::string> all;
  for (const Op& op : graph.ops) {
    const std::string start = "layer '" + op.name + "' ";
    const bool refused = std::any_of(refusals.begin(), refusals.end(),
                                     [&](const std::string& r) { return r.starts_with(start); });
    all.emplace_back(refused ? "refused" : "-");
  }
  return all;
}

std::string inspect_text(const ImportResult& model, const std::vector<std::string>& places, size_t width) {
  if (!model.graph) {
    std::string text = fmt::format("{}: cannot run, {} {}\n", model.name, model.refusals.size(),
                                   model.refusals.size() == 1 ? "reason" : "reasons");
    for (const Refusal& refusal : model.refusals) text += "  " + refusal.text() + "\n";
    return text;
  }
  const Graph& graph = *model.graph;
  Table table({{"layer", false, 0, true},
               {"operator", false, 0, false},
               {"input", false, 3, false},
               {"output", false, 6, false},
               {"window", false, 4, false},
               {"MACs", true, 2, false},
               {"weight bytes", false, 1, false},
               {"scale/zero point", false, 5, false},
               {"runs on", false, 0, false}});
  size_t weight_bytes = 0;
  size_t activation_bytes = 0;
  for (size_t i = 0; i < graph.ops.size(); i++) {
    const Op& op = graph.ops[i];
    table.add(row_of(graph, op, i < places.size() ? places[i] : "-"));
    if (op.weights != kNoTensor) weight_bytes += graph.weights_of(op).bytes();
    activation_bytes = std::max(activation_bytes, graph.output_of(op).bytes());
  }
  return table.text(width) + "\n" + tensors_text("input", graph, graph.inputs) +
         tensors_text("output", graph, graph.outputs) +
         fmt::format("{}: {} layers, {} MACs, {} weight bytes, largest activation {} bytes\n", graph.name,
                     graph.ops.size(), macs(graph), weight_bytes, activation_bytes);
}

}  // namespace kaiten
