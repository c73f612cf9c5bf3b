// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// ONNX files, from the bytes to the graph: see import.h for what is promised.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "import/import.h"
#include "import/onnx/host.h"
#include "import/onnx/lines.h"
#include "import/onnx/nodes.h"
#include "import/onnx/state.h"
#include "import/onnx/tensors.h"

namespace kaiten {
namespace importing::from_onnx {

namespace {

constexpr std::int64_t kMaxOpset = 25;
constexpr std::int64_t kMaxSharing = 8;  // constants become float32, four times as large

// Whether anything in the model is quantised.
bool is_quantised(const onnx::GraphProto& file) {
  for (const Node& node : file.node()) {
    const std::string& op = node.op_type();
    if (op.find("Quantize") != std::string::npos || op.starts_with("QLinear") ||
        op.find("Integer") != std::string::npos || op == "QGemm")
      return true;
  }
  for (const auto& input : file.input()) {
    const int type = input.type().tensor_type().elem_type();
    if (type == kInt8 || type == kUint8) return true;
  }
  return false;
}

void check_model(State& s) {
  s.layer.name = "model";
  if (!s.model.has_graph()) fail("no graph");
  if (s.file.node_size() == 0) fail("no nodes");
  if (s.file.output_size() == 0) fail("no outputs");
  for (const auto& set : s.model.opset_import()) {
    if (set.domain().empty() || set.domain() == "ai.onnx") s.opset = set.version();
  }
  if (s.opset < 1) fail("no operator set (opset_import)");
  if (s.opset > kMaxOpset) {
    refuse(s, {"operator sets up to " + std::to_string(kMaxOpset), "opset " + std::to_string(s.opset),
               "export with an older opset_version"});
  }
  if (!s.options.float_models && !is_quantised(s.file)) {
    refuse(s, {"quantised models", "a float model (no QuantizeLinear, no QLinear operator)",
               kStaticQuantisation});
  }
  for (const auto& tensor : s.file.initializer()) {
    if (tensor.data_location() != 1) continue;
    refuse(s, {"weights inside the model file", "tensor '" + clean_name(tensor.name()) + "' in another file",
               "save the model with its data: onnx.save(model, path) without save_as_external_data"});
    break;
  }
}

Shape input_shape(const State& s, const onnx::ValueInfoProto& input) {
  const auto& type = input.type().tensor_type();
  if (!type.has_shape())
    throw Unsupported{"fixed shapes", "an input without a shape", "export with a fixed input shape"};
  Shape shape;
  for (int d = 0; d < type.shape().dim_size(); d++) {
    const auto& dim = type.shape().dim(d);
    std::int64_t value = dim.dim_value();
    if (!dim.has_dim_value() || value == 0) {
      if (d != 0) {
        throw Unsupported{"fixed shapes", "open dimension " + std::to_string(d),
                          "export with a fixed input shape"};
      }
      value = 1;  // an open batch
    }
    if (value < 1 || value > kMaxTensorElements)
      fail("input '" + s.layer.name + "' has a dimension of " + std::to_string(value));
    shape.push_back(int(value));
  }
  check_batch(s, shape);
  return shape;
}

void import_input(State& s, const onnx::ValueInfoProto& input, Value& value) {
  value.shape = input_shape(s, input);
  const int type = input.type().tensor_type().elem_type();
  if (type == kFloat) {
    value.form = Form::FloatInput;
    value.tensor = new_float_tensor(s, s.layer.name, value.shape);
  } else if (type == kInt8 || type == kUint8) {
    value.form = Form::Quantised;
    value.type = type;
    // Its first consumer states the scale.
    value.tensor = new_quantised_tensor(s, s.layer.name, value.shape, {{1.0F}, {0}, type, 0});
    s.assumed.insert(value.tensor);
  } else {
    throw Unsupported{"inputs of float32, int8, uint8", type_name(type)};
  }
  s.graph.inputs.push_back(value.tensor);
}

void import_inputs(State& s) {
  s.layer.op = "INPUT";
  for (const auto& input : s.file.input()) {
    if (s.by_name.contains(input.name())) continue;  // older files list their weights as inputs
    s.layer.name = clean_name(input.name());
    Value value;
    try {
      import_input(s, input, value);
    } catch (const Unsupported& u) {
      refuse_once(s, u);
    }
    add_value(s, input.name(), std::move(value));
  }
  if (s.graph.inputs.empty() && s.result.refusals.empty()) fail("no inputs");
}

// Names of the values that are wanted, or the model's outputs.
std::vector<std::string> output_names(const State& s) {
  std::vector<std::string> names;
  if (!s.until.empty()) {
    for (const auto& [name, value] : s.by_name) {
      if (clean_name(name) == s.until) return {name};
    }
    throw InputError("no tensor '" + s.until + "' in the model that a node computes (names: kaiten inspect)");
  }
  for (const auto& output : s.file.output()) names.push_back(output.name());
  return names;
}

void import_outputs(State& s) {
  for (const std::string& name : output_names(s)) {
    const auto found = s.by_name.find(name);
    if (found == s.by_name.end()) fail("output '" + clean_name(name) + "' is never computed");
    s.layer = {clean_name(name), "OUTPUT"};
    if (s.at(found->second).form == Form::Unsupported) continue;
    try {
      s.graph.outputs.push_back(output_tensor(s, found->second));
    } catch (const Unsupported& u) {
      refuse_once(s, u);
    }
  }
}

// What stands in another order than the model's value must not be taken for it.
void rename_flattened(State& s) {
  for (const auto& [tensor, chw] : s.flattened) {
    if (std::count(s.graph.outputs.begin(), s.graph.outputs.end(), tensor) == 0)
      s.graph.tensors[std::size_t(tensor)].name += "/nhwc";
  }
}

}  // namespace

State::State(const onnx::ModelProto& model_, std::size_t file_bytes, const std::string& name,
             const OnnxOptions& options_)
    : ImportState(name, Framework::Onnx, kMaxSharing, file_bytes),
      model(model_),
      file(model_.graph()),
      options(options_) {
  until = options.until;
}

}  // namespace importing::from_onnx

ImportResult import_onnx(std::span<const std::uint8_t> file, const std::string& name,
                         const OnnxOptions& options) {
  using namespace importing::from_onnx;
  using importing::fail;
  if (file.size() > kMaxModelBytes) fail("larger than " + std::to_string(kMaxModelBytes) + " bytes");
  onnx::ModelProto model;
  if (!model.ParseFromArray(file.data(), int(file.size())))
    fail("truncated or corrupt (not a protobuf of ONNX)");

  State s(model, file.size(), name, options);
  check_model(s);
  if (!s.result.refusals.empty()) return finish(s);
  for (const auto& tensor : s.file.initializer()) add_constant(s, tensor.name(), read_constant(tensor));
  import_inputs(s);
  for (const Node* node : sorted_nodes(s)) import_node(s, *node);
  import_outputs(s);
  rename_flattened(s);
  drop_unread_lines(s);
  return finish(s);
}

}  // namespace kaiten
