// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/annotate.h"

#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "import/common/text.h"
#include "onnx.pb.h"

namespace kaiten {

namespace {

constexpr std::string_view kPrefix = "kaiten.";

std::string engine_of(const LayerReport& layer) {
  if (layer.nothing_to_do) return "nothing to do";
  if (layer.on_host) return "host";
  return layer.on_array ? "array" : "vector";
}

// The nodes that write the values of a graph, by names as layers have them.
class Writers {
 public:
  explicit Writers(onnx::GraphProto& graph) {
    for (onnx::NodeProto& node : *graph.mutable_node()) {
      for (const std::string& output : node.output()) node_of_[importing::clean_name(output)] = &node;
    }
  }

  onnx::NodeProto* find(const std::string& value) const {
    const auto found = node_of_.find(importing::clean_name(value));
    return found == node_of_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::string, onnx::NodeProto*> node_of_;
};

void remove_old(onnx::NodeProto& node) {
  auto& properties = *node.mutable_metadata_props();
  for (int i = properties.size() - 1; i >= 0; i--) {
    if (properties.Get(i).key().starts_with(kPrefix)) properties.DeleteSubrange(i, 1);
  }
}

void add_properties(onnx::NodeProto& node, const Annotation& a) {
  const auto add = [&](const std::string& key, const std::string& value) {
    auto* property = node.add_metadata_props();
    property->set_key(std::string(kPrefix) + key);
    property->set_value(value);
  };
  add("layer", a.layer);
  for (const auto& [name, value] : a.properties) add(name, value);
}

}  // namespace

std::vector<Annotation> annotations_of(const RunReport& report) {
  std::vector<Annotation> all;
  for (const LayerReport& layer : report.layers) {
    Annotation a;
    a.layer = layer.name;
    const auto add = [&](const char* name, std::string value) {
      a.properties.emplace_back(name, std::move(value));
    };
    add("engine", engine_of(layer));
    add("configuration", report.config.name);
    if (!layer.on_host && !layer.nothing_to_do) {
      add("cycles", fmt::format("{} of {}", layer.cycles, report.cycles));
      if (layer.macs > 0) add("utilisation", fmt::format("{:.1f} %", 100 * layer.utilization));
      if (!layer.limited_by.empty()) add("limited_by", layer.limited_by);
      add("bytes", fmt::format("{} read, {} written", layer.bytes_read, layer.bytes_written));
    }
    all.push_back(std::move(a));
  }
  return all;
}

AnnotatedModel annotate_onnx(std::span<const std::uint8_t> file, const std::vector<Annotation>& annotations) {
  onnx::ModelProto model;
  if (!model.ParseFromArray(file.data(), int(file.size()))) throw InputError("annotate: no ONNX model");
  for (onnx::NodeProto& node : *model.mutable_graph()->mutable_node()) remove_old(node);
  const Writers writers(*model.mutable_graph());
  std::map<const onnx::NodeProto*, const Annotation*> last_of;  // nodes that write the tensor of a layer
  for (const Annotation& a : annotations) {
    if (const onnx::NodeProto* node = writers.find(a.layer)) last_of.emplace(node, &a);
  }
  AnnotatedModel annotated;
  for (const Annotation& a : annotations) {
    onnx::NodeProto* node = writers.find(a.layer);
    if (node == nullptr || last_of.at(node) != &a) continue;
    annotated.layers++;
    // Back to the dequantisation, along first operands: the float operators of a quantised layer.
    do {
      add_properties(*node, a);
      node = node->input_size() > 0 ? writers.find(node->input(0)) : nullptr;
    } while (node != nullptr && !last_of.contains(node) && node->op_type() != "DequantizeLinear" &&
             node->metadata_props_size() == 0);
  }
  const std::string bytes = model.SerializeAsString();
  annotated.file.assign(bytes.begin(), bytes.end());
  return annotated;
}

}  // namespace kaiten
