// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// TensorFlow Lite files, from the bytes to the graph: see import.h for what is promised.
//
// Order of checks: file size and identifier, flatbuffers verifier (all offsets inside the file), then per
// operator in execution order: indices, single production, element types, quantisation, shapes, parameters,
// accumulator range.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"
#include "import/import.h"
#include "import/tflite/layer.h"
#include "import/tflite/operators.h"
#include "import/tflite/state.h"
#include "import/tflite/tensors.h"

namespace kaiten {
namespace importing::from_tflite {

namespace {

constexpr std::int64_t kMaxSharing = 16;  // converters store equal constants once, so some of this is honest

void open_subgraph(State& s) {
  s.layer.name = "model";
  const tflite::Model& model = s.model;
  if (model.version() != 3) fail("format version " + std::to_string(model.version()) + ", expected 3");
  if (model.subgraphs() == nullptr || model.subgraphs()->size() == 0) fail("no subgraph");
  if (model.buffers() == nullptr) fail("no buffers");
  if (model.subgraphs()->size() > 1) {
    refuse(s, {"one subgraph", std::to_string(model.subgraphs()->size()) + " subgraphs",
               "control flow cannot run"});
  }
  s.subgraph = model.subgraphs()->Get(0);
  s.tensors = s.subgraph->tensors();
  s.operators = s.subgraph->operators();
  if (s.tensors == nullptr || s.tensors->size() == 0) fail("no tensors");
  if (s.operators == nullptr || s.operators->size() == 0) fail("no operators");
  if (s.subgraph->inputs() == nullptr || s.subgraph->inputs()->size() == 0) fail("no inputs");
  if (s.subgraph->outputs() == nullptr || s.subgraph->outputs()->size() == 0) fail("no outputs");
  s.status.assign(s.tensors->size(), Status::Untouched);
  s.graph.tensors.resize(s.tensors->size());
  for (fb::uoffset_t i = 0; i < s.tensors->size(); i++) {
    std::string name = file_name(s.tensors->Get(i)->name());
    s.graph.tensors[i].name = name.empty() ? "tensor" + std::to_string(i) : std::move(name);
  }
}

bool is_quantised(tflite::TensorType type) {
  return type == tflite::TensorType::INT8 || type == tflite::TensorType::UINT8;
}

// Models with no quantised activation at all are refused as a whole, by what they are.
bool is_quantised(const State& s) {
  const auto any_of = [&](const fb::Vector<std::int32_t>* tensors) {
    return tensors != nullptr && std::any_of(tensors->begin(), tensors->end(), [&](int t) {
             return t >= 0 && fb::uoffset_t(t) < s.tensors->size() && is_quantised(s.file_tensor(t).type());
           });
  };
  return any_of(s.subgraph->inputs()) || std::any_of(s.operators->begin(), s.operators->end(),
                                                     [&](const Node* n) { return any_of(n->outputs()); });
}

bool has_type(const State& s, tflite::TensorType type) {
  return std::any_of(s.tensors->begin(), s.tensors->end(),
                     [&](const tflite::Tensor* t) { return t->type() == type; });
}

void refuse_float_model(State& s) {
  const char* kind = "a float model";
  if (has_type(s, tflite::TensorType::INT16)) {
    kind = "activations of 16 bits";
  } else if (has_type(s, tflite::TensorType::INT8) || has_type(s, tflite::TensorType::UINT8)) {
    kind = "int8 weights beside float32 activations: dynamic-range quantisation";
  } else if (has_type(s, tflite::TensorType::FLOAT16)) {
    kind = "a float model with float16 weights";
  }
  refuse(s, {"int8 activations", kind,
             "convert with full integer quantisation: a representative dataset, TFLITE_BUILTINS_INT8"});
}

void require_one_image(State& s, int index) {
  const Shape& shape = s.tensor(index).shape;
  if (shape.size() < 2 || shape.front() == 1) return;
  refuse(s, one_batch("'" + s.tensor_name(index) + "' with a batch of " + std::to_string(shape.front()),
                      "convert the model with batch size 1"));
  s.status_of(index) = Status::Unsupported;
}

void import_inputs(State& s) {
  s.layer.op = "INPUT";
  for (const int index : *s.subgraph->inputs()) {
    check_index(s, index, "input");
    s.layer.name = s.tensor_name(index);
    if (has_data(s, index)) fail("input '" + s.layer.name + "' is a constant");
    if (s.file_tensor(index).type() == tflite::TensorType::FLOAT32) {
      produce_float(s, index);
    } else {
      produce(s, index);
    }
    require_one_image(s, index);
    s.graph.inputs.push_back(index);
  }
}

// The tensor that is wanted, or the model's.
std::vector<int> output_indices(const State& s) {
  if (s.until.empty()) return {s.subgraph->outputs()->begin(), s.subgraph->outputs()->end()};
  for (std::size_t i = 0; i < s.status.size(); i++) {
    if (s.graph.tensors[i].name == s.until && s.status[i] != Status::Untouched) return {int(i)};
  }
  throw InputError("no tensor '" + s.until +
                   "' in the model that an operator computes (names: kaiten inspect)");
}

void import_outputs(State& s) {
  s.layer.op = "OUTPUT";
  for (const int index : output_indices(s)) {
    check_index(s, index, "output");
    s.layer.name = s.tensor_name(index);
    if (s.status_of(index) == Status::Untouched) fail("output '" + s.layer.name + "' is never computed");
    if (s.status_of(index) == Status::Regrouped) complete_regrouping(s, index);
    if (s.status_of(index) == Status::Real)
      end_before(s, not_quantised(s, index), {s.reals.at(index).dequantised});
    if (s.status_of(index) == Status::Folded)
      refuse(s,
             {"outputs that depend on the inputs' values", "'" + s.layer.name + "', computed from shapes"});
    s.graph.outputs.push_back(s.tensor(index).is_constant() ? activation_of(s, index) : index);
  }
}

}  // namespace

State::State(const tflite::Model& model_, std::size_t file_bytes, const std::string& name)
    : ImportState(name, Framework::TfLite, kMaxSharing, file_bytes), model(model_) {}

}  // namespace importing::from_tflite

ImportResult import_tflite(std::span<const std::uint8_t> file, const std::string& name,
                           const std::string& until) {
  using namespace importing::from_tflite;
  using importing::fail;
  constexpr std::size_t kHeaderBytes = 8;  // root offset and identifier
  if (file.size() < kHeaderBytes) fail("only " + std::to_string(file.size()) + " bytes");
  if (file.size() > kMaxModelBytes) fail("larger than " + std::to_string(kMaxModelBytes) + " bytes");
  if (std::memcmp(file.data() + 4, "TFL3", 4) != 0)
    fail("not a TensorFlow Lite model (no TFL3 at byte 4), and not named .onnx");

  // Offsets in the file are aligned relative to its start, so the start must be aligned too.
  std::vector<std::uint8_t> aligned;
  if (reinterpret_cast<std::uintptr_t>(file.data()) % alignof(std::max_align_t) != 0) {
    aligned.assign(file.begin(), file.end());
    file = aligned;
  }
  constexpr fb::uoffset_t kMaxDepth = 16;
  constexpr fb::uoffset_t kMaxTables = 250000;
  fb::Verifier verifier(file.data(), file.size(), kMaxDepth, kMaxTables);
  if (!tflite::VerifyModelBuffer(verifier)) fail("truncated or corrupt (an offset leaves the file)");

  State s(*tflite::GetModel(file.data()), file.size(), name);
  s.until = until;
  open_subgraph(s);
  if (!is_quantised(s)) {
    refuse_float_model(s);
    return finish(s);
  }
  import_inputs(s);
  s.reads_inputs = false;
  for (const Node* node : *s.operators) import_operator(s, *node);
  import_outputs(s);
  drop_unread(s, [&](const Op& op) { return s.reals.contains(op.output); });  // tables alone read them
  return finish(s);
}

}  // namespace kaiten
