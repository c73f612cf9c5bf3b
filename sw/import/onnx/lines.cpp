// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/lines.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "import/onnx/operands.h"

namespace kaiten::importing::from_onnx {

namespace {

constexpr std::array kWindowed = {
    "AveragePool",        "Conv",        "GlobalAveragePool",       "GlobalMaxPool", "MaxPool",
    "QLinearAveragePool", "QLinearConv", "QLinearGlobalAveragePool"};

Node dimension_of_rows(const char* type, const std::string& from, const std::string& to) {
  Node node;
  node.set_op_type(type);
  node.add_input(from);
  node.add_output(to);
  onnx::AttributeProto& axes = *node.add_attribute();
  axes.set_name("axes");
  axes.add_ints(2);
  return node;
}

// Numbers for columns as numbers for rows and columns: `row` before those of each end.
void add_rows(onnx::AttributeProto& a, std::int64_t row, int ends) {
  const std::vector<std::int64_t> columns(a.ints().begin(), a.ints().end());
  if (int(columns.size()) != ends) return;  // refused where it is read
  a.clear_ints();
  for (const std::int64_t column : columns) {
    a.add_ints(row);
    a.add_ints(column);
  }
}

Node over_rows(const Node& node, const std::string& from, const std::string& to) {
  Node made = node;
  made.set_input(0, from);
  made.clear_output();
  made.add_output(to);
  for (onnx::AttributeProto& a : *made.mutable_attribute()) {
    const std::string& name = a.name();
    if (name == "kernel_shape" || name == "strides" || name == "dilations") add_rows(a, 1, 1);
    if (name == "pads") add_rows(a, 0, 2);
  }
  return made;
}

}  // namespace

bool has_lines(const State& s, const Node& node) {
  const bool windowed = std::any_of(kWindowed.begin(), kWindowed.end(),
                                    [&](const char* name) { return node.op_type() == name; });
  return windowed && has_input(node, 0) && s.at(input(s, node, 0)).shape.size() == 3;
}

std::vector<const Node*> as_rows(State& s, const Node& node) {
  const std::string map = node.output(0) + "/map", windows = node.output(0) + "/row";
  std::vector<const Node*> nodes;
  for (Node made : {dimension_of_rows("Unsqueeze", node.input(0), map), over_rows(node, map, windows),
                    dimension_of_rows("Squeeze", windows, node.output(0))}) {
    s.made_nodes.push_back(std::move(made));
    nodes.push_back(&s.made_nodes.back());
  }
  return nodes;
}

bool is_row_of(const Shape& map, const Shape& line) {
  return map.size() == 4 && map[2] == 1 && line == Shape{map[0], map[1], map[3]};
}

Shape as_kernel(const Shape& weights, const Shape& in) {
  Shape kernel = weights;
  if (in.size() == 4 && in[2] == 1 && kernel.size() == 3) kernel.insert(kernel.begin() + 2, 1);
  return kernel;
}

void drop_unread_lines(State& s) {
  if (s.maps_of_lines.empty()) return;
  drop_unread(s, [](const Op& op) { return op.kind == OpKind::Reshape || op.kind == OpKind::Rearrange; });
}

}  // namespace kaiten::importing::from_onnx
