// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/nodes.h"

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "import/onnx/fold.h"
#include "import/onnx/host.h"
#include "import/onnx/lines.h"
#include "import/onnx/operands.h"
#include "import/onnx/operators.h"
#include "import/onnx/shuffle.h"

namespace kaiten::importing::from_onnx {

namespace {

// Which node writes a value.
std::map<std::string, int> producers(const onnx::GraphProto& file) {
  std::map<std::string, int> producer;
  for (int i = 0; i < file.node_size(); i++) {
    for (const std::string& output : file.node(i).output()) {
      if (!output.empty() && !producer.emplace(output, i).second)
        fail("value '" + clean_name(output) + "' is written twice");
    }
  }
  return producer;
}

// The part'th output of a node.
Value make(State& s, const Node& node, int part) {
  const std::string& op = node.op_type();
  if (!node.domain().empty() && node.domain() != "ai.onnx" && node.domain() != "com.microsoft")
    throw Unsupported{"operators of ONNX and com.microsoft", "domain " + clean_name(node.domain())};
  if (op == "DynamicQuantizeLinear" || op.find("Integer") != std::string::npos ||
      op.starts_with("DynamicQuantize"))
    throw Unsupported{"static quantisation", clean_name(op) + ": dynamic quantisation", kStaticQuantisation};
  if (op != "DequantizeLinear" && op != "Shape" && op != "Transpose" && !is_reshape(op)) {
    for (int i = 0; i < node.input_size(); i++) {
      if (!has_input(node, i)) continue;
      const Value& v = s.at(input(s, node, i));
      settle(s, v.form == Form::Dequantised ? v.source : input(s, node, i));
    }
  }
  if (const auto quantising = find_quantising(op)) return quantising(s, node);
  if (auto folded = fold(s, node)) return *std::move(folded);
  if (node.input_size() > 0) {
    const Form form = s.at(input(s, node, 0)).form;
    if (form == Form::Quantised || form == Form::Regrouped) return on_stored(s, node, part);
  }
  return expression(s, node, part);
}

// The computed tensors that a node reads.
std::vector<int> read_tensors(State& s, const Node& node) {
  std::vector<int> tensors;
  for (int i = 0; i < node.input_size(); i++) {
    if (!has_input(node, i) || s.at(input(s, node, i)).form == Form::Constant) continue;
    tensors.push_back(output_tensor(s, input(s, node, i)));
  }
  return tensors;
}

}  // namespace

int add_value(State& s, const std::string& raw_name, Value value) {
  const int index = int(s.values.size());
  value.name = clean_name(raw_name);
  if (!raw_name.empty() && !s.by_name.emplace(raw_name, index).second)
    fail("value '" + value.name + "' is written twice");
  s.values.push_back(std::move(value));
  return index;
}

int add_constant(State& s, const std::string& name, Constant constant) {
  Value value;
  value.form = Form::Constant;
  value.shape = constant.shape;
  value.constant = std::move(constant);
  return add_value(s, name, std::move(value));
}

std::vector<const Node*> sorted_nodes(const State& s) {
  const int count = s.file.node_size();
  const std::map<std::string, int> producer = producers(s.file);
  std::vector<std::vector<int>> consumers(static_cast<std::size_t>(count));
  std::vector<int> missing(static_cast<std::size_t>(count), 0);
  for (int i = 0; i < count; i++) {
    for (const std::string& input : s.file.node(i).input()) {
      if (input.empty() || s.by_name.contains(input)) continue;
      const auto found = producer.find(input);
      if (found == producer.end()) {
        fail("node '" + clean_name(s.file.node(i).op_type()) + "' reads '" + clean_name(input) +
             "', which nothing writes");
      }
      consumers[std::size_t(found->second)].push_back(i);
      missing[std::size_t(i)]++;
    }
  }
  std::set<int> ready;
  for (int i = 0; i < count; i++) {
    if (missing[std::size_t(i)] == 0) ready.insert(i);
  }
  std::vector<const Node*> order;
  while (!ready.empty()) {
    const int i = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(&s.file.node(i));
    for (const int consumer : consumers[std::size_t(i)]) {
      if (--missing[std::size_t(consumer)] == 0) ready.insert(consumer);
    }
  }
  for (int i = 0; i < count; i++) {
    if (missing[std::size_t(i)] > 0)
      fail("its nodes form a cycle (at '" + clean_name(s.file.node(i).op_type()) + "')");
  }
  return order;
}

namespace {

// Messages and tensors have this name; empty: that of each of the node's outputs.
void import_as(State& s, const Node& node, const std::string& layer) {
  s.layer.op = clean_name(node.op_type());
  if (node.output_size() == 0 || node.output(0).empty()) fail("a node " + s.layer.op + " has no output");
  if (has_lines(s, node)) {
    for (const Node* part : as_rows(s, node)) import_as(s, *part, node.output(0));
    for (int i = 1; i < node.output_size(); i++) {
      if (!node.output(i).empty()) add_value(s, node.output(i), {});
    }
    return;
  }
  bool usable = true;
  for (const std::string& name : node.input()) {
    if (!name.empty() && s.at(s.by_name.at(name)).form == Form::Unsupported) usable = false;
  }
  for (int i = 0; i < node.output_size(); i++) {
    if (node.output(i).empty()) continue;
    s.layer.name = clean_name(layer.empty() ? node.output(i) : layer);
    Value value;  // masks and indices stay unsupported: no operator may read them
    try {
      if (usable && (i == 0 || node.op_type() == "Split")) value = make(s, node, i);
    } catch (const Unsupported& u) {
      if (is_tail(s.layer.op)) {
        end_before(s, u, read_tensors(s, node));
      } else {
        refuse_once(s, u);
      }
    }
    add_value(s, node.output(i), std::move(value));
  }
}

}  // namespace

void import_node(State& s, const Node& node) { import_as(s, node, ""); }

void refuse_once(State& s, const Unsupported& what) {
  for (const Refusal& other : s.result.refusals) {
    if (other.layer == s.layer.name && other.limit == what.limit && other.value == what.value) return;
  }
  refuse(s, what);
}

}  // namespace kaiten::importing::from_onnx
