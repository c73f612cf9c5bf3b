// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/importer.h"

namespace kaiten::onnx_import {

namespace {

constexpr int64_t kMaxOpset = 25;

}  // namespace

Importer::Importer(const onnx::ModelProto& model, size_t file_bytes, const std::string& name,
                   const OnnxOptions& options)
    : model_(model),
      file_(model.graph()),
      options_(options),
      float_budget_(kMaxFloatBytes * int64_t(file_bytes)) {
  result_.name = name;
  graph_.name = name;
  graph_.framework = Framework::Onnx;
}

ImportResult Importer::run() {
  check_model();
  if (!result_.refusals.empty()) return std::move(result_);
  import_constants();
  import_inputs();
  for (const onnx::NodeProto* node : sorted_nodes()) import_node(*node);
  import_outputs();
  if (result_.refusals.empty()) result_.graph = std::move(graph_);
  return std::move(result_);
}

void Importer::refuse_model(const std::string& limit, const std::string& value, const std::string& way_out) {
  result_.refusals.push_back({"model", "", limit, value, way_out});
}

void Importer::check_model() {
  if (!model_.has_graph()) fail("no graph");
  if (file_.node_size() == 0) fail("no nodes");
  if (file_.output_size() == 0) fail("no outputs");
  for (const auto& set : model_.opset_import()) {
    if (set.domain().empty() || set.domain() == "ai.onnx") opset_ = set.version();
  }
  if (opset_ < 1) fail("no operator set (opset_import)");
  if (opset_ > kMaxOpset) {
    refuse_model("operator sets up to " + std::to_string(kMaxOpset), "opset " + std::to_string(opset_),
                 "export with an older opset_version");
  }
  bool quantised = options_.float_models;
  for (const Node& node : file_.node()) {
    const std::string& op = node.op_type();
    quantised = quantised || op.find("Quantize") != std::string::npos || op.starts_with("QLinear") ||
                op.find("Integer") != std::string::npos || op == "QGemm";
  }
  for (const auto& input : file_.input()) {
    const int type = input.type().tensor_type().elem_type();
    quantised = quantised || type == kInt8 || type == kUint8;
  }
  if (!quantised)
    refuse_model("quantised models", "a float model (no QuantizeLinear, no QLinear operator)",
                 kStaticQuantisation);
  for (const auto& tensor : file_.initializer()) {
    if (tensor.data_location() != 1) continue;
    refuse_model("weights inside the model file",
                 "tensor '" + clean_name(tensor.name()) + "' in another file",
                 "save the model with its data: onnx.save(model, path) without save_as_external_data");
    break;
  }
}

int Importer::add_value(const std::string& raw_name, Value value) {
  value.name = clean_name(raw_name);
  if (!raw_name.empty() && !by_name_.emplace(raw_name, int(values_.size())).second) {
    fail("value '" + value.name + "' is written twice");
  }
  values_.push_back(std::move(value));
  return int(values_.size()) - 1;
}

int Importer::add_constant(const std::string& name, Constant constant) {
  Value value;
  value.form = Form::Constant;
  value.shape = constant.shape;
  value.constant = std::move(constant);
  return add_value(name, std::move(value));
}

void Importer::import_constants() {
  for (const auto& tensor : file_.initializer()) add_constant(tensor.name(), read_constant(tensor));
}

void Importer::import_inputs() {
  layer_op_ = "INPUT";
  for (const auto& input : file_.input()) {
    if (by_name_.contains(input.name())) continue;  // older files list their weights as inputs
    layer_ = clean_name(input.name());
    Value value;
    try {
      value.shape = input_shape(input);
      const int type = input.type().tensor_type().elem_type();
      if (type == kFloat) {
        value.form = Form::FloatInput;
        value.tensor = new_float_tensor(layer_, value.shape);
      } else if (type == kInt8 || type == kUint8) {
        value.form = Form::Quantised;
        value.type = type;
        // Its first consumer states the scale.
        value.tensor = new_quantised_tensor(layer_, value.shape, {{1.0F}, {0}, type, 0});
        assumed_.insert(value.tensor);
      } else {
        throw Refused{"inputs of float32, int8, uint8", type_name(type), ""};
      }
      graph_.inputs.push_back(value.tensor);
    } catch (const Refused& r) {
      refuse(r);
    }
    add_value(input.name(), std::move(value));
  }
  if (graph_.inputs.empty() && result_.refusals.empty()) fail("no inputs");
}

Shape Importer::input_shape(const onnx::ValueInfoProto& input) const {
  const auto& type = input.type().tensor_type();
  if (!type.has_shape())
    throw Refused{"fixed shapes", "an input without a shape", "export with a fixed input shape"};
  Shape shape;
  for (int d = 0; d < type.shape().dim_size(); d++) {
    const auto& dim = type.shape().dim(d);
    int64_t value = dim.dim_value();
    if (!dim.has_dim_value() || value == 0) {
      if (d != 0) {
        throw Refused{"fixed shapes", "open dimension " + std::to_string(d),
                      "export with a fixed input shape"};
      }
      value = 1;  // an open batch
    }
    if (value < 1 || value > kMaxTensorElements)
      fail("input '" + layer_ + "' has a dimension of " + std::to_string(value));
    shape.push_back(int(value));
  }
  check_batch(shape);
  return shape;
}

void Importer::check_batch(const Shape& shape) const {
  if (shape.size() == 4 && shape[0] != 1 && !options_.float_models) {
    throw Refused{"batch of 1", "a batch of " + std::to_string(shape[0]),
                  "export with batch size 1; kaiten run --batch runs several inputs one after the other"};
  }
}

std::vector<const onnx::NodeProto*> Importer::sorted_nodes() {
  const int count = file_.node_size();
  std::map<std::string, int> producer;
  for (int i = 0; i < count; i++) {
    for (const std::string& output : file_.node(i).output()) {
      if (!output.empty() && !producer.emplace(output, i).second) {
        fail("value '" + clean_name(output) + "' is written twice");
      }
    }
  }
  std::vector<std::vector<int>> consumers(static_cast<size_t>(count));
  std::vector<int> missing(static_cast<size_t>(count), 0);
  for (int i = 0; i < count; i++) {
    for (const std::string& input : file_.node(i).input()) {
      if (input.empty() || by_name_.contains(input)) continue;
      const auto found = producer.find(input);
      if (found == producer.end()) {
        fail("node '" + clean_name(file_.node(i).op_type()) + "' reads '" + clean_name(input) +
             "', which nothing writes");
      }
      consumers[size_t(found->second)].push_back(i);
      missing[size_t(i)]++;
    }
  }
  std::set<int> ready;
  for (int i = 0; i < count; i++) {
    if (missing[size_t(i)] == 0) ready.insert(i);
  }
  std::vector<const Node*> order;
  while (!ready.empty()) {
    const int i = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(&file_.node(i));
    for (const int consumer : consumers[size_t(i)]) {
      if (--missing[size_t(consumer)] == 0) ready.insert(consumer);
    }
  }
  for (int i = 0; i < count; i++) {
    if (missing[size_t(i)] > 0) {
      fail("its nodes form a cycle (at '" + clean_name(file_.node(i).op_type()) + "')");
    }
  }
  return order;
}

void Importer::import_outputs() {
  for (const auto& output : file_.output()) {
    const auto found = by_name_.find(output.name());
    if (found == by_name_.end()) fail("output '" + clean_name(output.name()) + "' is never computed");
    layer_ = clean_name(output.name());
    layer_op_ = "OUTPUT";
    const int value = found->second;
    if (at(value).form == Form::Refused) continue;
    try {
      if (at(value).form == Form::Constant) throw Refused{"outputs that are computed", "a constant", ""};
      if (at(value).form == Form::Quantised) {
        plain(at(value).tensor);
        graph_.outputs.push_back(at(value).tensor);
      } else {
        graph_.outputs.push_back(on_host(value));
      }
    } catch (const Refused& r) {
      refuse(r);
    }
  }
}

void Importer::refuse(const Refused& r) {
  // One reason per layer: several consumers may ask for the same float operator.
  for (const Refusal& other : result_.refusals) {
    if (other.layer == layer_ && other.limit == r.limit && other.value == r.value) return;
  }
  result_.refusals.push_back({layer_, layer_op_, r.limit, r.value, r.way_out});
}

int Importer::input(const Node& node, int i) const {
  if (!has_input(node, i)) fail(here() + "input " + std::to_string(i) + " is absent");
  return by_name_.at(node.input(i));
}

void Importer::import_node(const Node& node) {
  layer_op_ = clean_name(node.op_type());
  if (node.output_size() == 0 || node.output(0).empty()) fail("a node " + layer_op_ + " has no output");
  layer_ = clean_name(node.output(0));
  bool usable = true;
  for (const std::string& name : node.input()) {
    if (!name.empty() && at(by_name_.at(name)).form == Form::Refused) usable = false;
  }
  Value value;
  try {
    if (usable) value = make(node, 0);
  } catch (const Refused& r) {
    refuse(r);
  }
  add_value(node.output(0), std::move(value));
  for (int i = 1; i < node.output_size(); i++) {
    if (node.output(i).empty()) continue;
    Value other;  // masks and indices: nobody may read them
    layer_ = clean_name(node.output(i));
    try {
      if (usable && node.op_type() == "Split") other = make(node, i);
    } catch (const Refused& r) {
      refuse(r);
    }
    add_value(node.output(i), std::move(other));
  }
}

Value Importer::make(const Node& node, int part) {
  const std::string& op = node.op_type();
  if (!node.domain().empty() && node.domain() != "ai.onnx" && node.domain() != "com.microsoft") {
    throw Refused{"operators of ONNX and com.microsoft", "domain " + clean_name(node.domain()), ""};
  }
  if (op == "DynamicQuantizeLinear" || op.find("Integer") != std::string::npos ||
      op.starts_with("DynamicQuantize")) {
    throw Refused{"static quantisation", op + ": dynamic quantisation", kStaticQuantisation};
  }
  if (op != "DequantizeLinear" && op != "Shape" && op != "Transpose" && !is_reshape(op)) {
    for (int i = 0; i < node.input_size(); i++) {
      if (has_input(node, i)) require_not_regrouped(input(node, i));
    }
  }
  if (op == "Constant") return constant_node(node);
  if (op == "QuantizeLinear") return quantize_linear(node);
  if (op == "DequantizeLinear") return dequantize_linear(node);
  if (op == "QLinearConv") return qlinear_conv(node);
  if (op == "QLinearAdd" || op == "QLinearMul") return qlinear_binary(node);
  if (op == "QLinearGlobalAveragePool") return qlinear_global_pool(node);
  if (op == "QLinearAveragePool") return qlinear_average_pool(node);
  if (op == "QLinearConcat") return qlinear_concat(node);
  if (op == "QLinearMatMul" || op == "QGemm") return qlinear_matmul(node);
  if (op == "QLinearLeakyRelu" || op == "QLinearSigmoid") return qlinear_table(node);
  if (auto folded = fold(node)) return std::move(*folded);
  if (node.input_size() > 0) {
    const Form form = at(input(node, 0)).form;
    if (form == Form::Quantised || form == Form::Regrouped) return on_quantised(node, part);
  }
  return expression(node, part);
}

}  // namespace kaiten::onnx_import

namespace kaiten {

ImportResult import_onnx(std::span<const uint8_t> file, const std::string& name, const OnnxOptions& options) {
  if (file.size() > kMaxModelBytes)
    onnx_import::fail("larger than " + std::to_string(kMaxModelBytes) + " bytes");
  onnx::ModelProto model;
  if (!model.ParseFromArray(file.data(), int(file.size())))
    onnx_import::fail("truncated or corrupt (not a protobuf of ONNX)");
  return onnx_import::Importer(model, file.size(), name, options).run();
}

}  // namespace kaiten
