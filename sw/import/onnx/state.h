// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What the ONNX importer knows while it works on one model. Nodes are sorted and walked once. A QuantizeLinear
// decides what a float value becomes: the quantised operator its expression stands for, or host arithmetic in
// float32. A float value that reaches an output of the model becomes host arithmetic.
//
// Functions throw Unsupported for what Kaiten cannot run (one reason per layer is kept) and InputError for damaged
// files.
#ifndef KAITEN_IMPORT_ONNX_STATE_H
#define KAITEN_IMPORT_ONNX_STATE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "import/common/state.h"
#include "import/onnx/attributes.h"
#include "import/onnx/values.h"
#include "onnx.pb.h"

namespace kaiten::importing::from_onnx {

using Form = Value::Form;

struct State : ImportState {
  State(const onnx::ModelProto& model, std::size_t file_bytes, const std::string& name,
        const OnnxOptions& options);

  const onnx::ModelProto& model;
  const onnx::GraphProto& file;
  const OnnxOptions& options;
  std::int64_t opset = 0;

  std::vector<Value> values;
  std::map<std::string, int> by_name;
  std::map<int, int> quantised_as;  // float value to the tensor of its first QuantizeLinear
  std::set<int> assumed;            // quantised inputs whose scale no operator has stated yet
  // Tensors of NHWC bytes that the model flattened from C, H, W.
  std::map<int, std::array<int, 3>> flattened;
  std::map<int, int> maps_of_lines;  // tensors that were maps of one row: these maps
  std::deque<Node> made_nodes;       // in the place of nodes of the file

  Value& at(int value) { return values[std::size_t(value)]; }
  const Value& at(int value) const { return values[std::size_t(value)]; }
  Tensor& tensor(int index) { return graph.tensors[std::size_t(index)]; }
  const Tensor& tensor(int index) const { return graph.tensors[std::size_t(index)]; }
};

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_STATE_H
