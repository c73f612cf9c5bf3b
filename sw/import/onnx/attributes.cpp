// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/attributes.h"

namespace kaiten::importing::from_onnx {

const onnx::AttributeProto* attribute(const Node& node, const std::string& name) {
  for (const auto& a : node.attribute()) {
    if (a.name() == name) return &a;
  }
  return nullptr;
}

std::int64_t integer(const Node& node, const std::string& name, std::int64_t otherwise) {
  const auto* a = attribute(node, name);
  return a == nullptr ? otherwise : a->i();
}

float real(const Node& node, const std::string& name, float otherwise) {
  const auto* a = attribute(node, name);
  return a == nullptr ? otherwise : a->f();
}

std::vector<std::int64_t> integers(const Node& node, const std::string& name) {
  const auto* a = attribute(node, name);
  return a == nullptr ? std::vector<std::int64_t>{}
                      : std::vector<std::int64_t>(a->ints().begin(), a->ints().end());
}

std::string text(const Node& node, const std::string& name, const std::string& otherwise) {
  const auto* a = attribute(node, name);
  return a == nullptr || a->s().empty() ? otherwise : a->s();
}

bool has_input(const Node& node, int i) { return i < node.input_size() && !node.input(i).empty(); }

bool is_reshape(const std::string& op_type) {
  return op_type == "Flatten" || op_type == "Reshape" || op_type == "Squeeze" || op_type == "Unsqueeze" ||
         op_type == "Identity" || op_type == "Dropout";
}

}  // namespace kaiten::importing::from_onnx
