// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The ONNX importer at work on one model. Nodes are sorted and walked once. A QuantizeLinear decides what a
// float value becomes: the quantised operator its expression stands for, or host arithmetic in float32. A
// float value that reaches an output of the model becomes host arithmetic.
//
// Each group of functions below has a file of its own.
#ifndef KAITEN_IMPORT_ONNX_IMPORTER_H
#define KAITEN_IMPORT_ONNX_IMPORTER_H

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "import/import.h"
#include "import/layer_names.h"
#include "import/onnx/attributes.h"
#include "import/onnx/values.h"
#include "onnx.pb.h"

namespace kaiten::onnx_import {

class Importer {
 public:
  Importer(const onnx::ModelProto& model, size_t file_bytes, const std::string& name,
           const OnnxOptions& options);
  ImportResult run();

 private:
  using Node = onnx::NodeProto;
  using Form = Value::Form;

  std::string here() const { return "layer '" + layer_ + "' (" + layer_op_ + "): "; }
  Value& at(int value) { return values_[size_t(value)]; }

  // importer.cpp: the model
  void refuse_model(const std::string& limit, const std::string& value, const std::string& way_out);
  void check_model();
  int add_value(const std::string& raw_name, Value value);
  int add_constant(const std::string& name, Constant constant);
  void import_constants();
  void import_inputs();
  Shape input_shape(const onnx::ValueInfoProto& input) const;
  void check_batch(const Shape& shape) const;
  // Producers before consumers, otherwise in the file's order.
  std::vector<const Node*> sorted_nodes();
  void import_outputs();
  void refuse(const Refused& r);
  int input(const Node& node, int i) const;
  void import_node(const Node& node);
  Value make(const Node& node, int part);  // the part'th output

  // tensors.cpp: tensors and operators of the graph
  int new_tensor(Tensor tensor);
  int new_host_tensor(const std::string& name, ElementType type, const Shape& shape);
  int new_float_tensor(const std::string& name, const Shape& shape);
  int new_quantised_tensor(const std::string& name, const Shape& shape, const Scales& scales);
  static Quantization stored(const Scales& scales);
  // Appends an operator; its output tensor names it.
  void emit(Op op);
  void check_arithmetic(const Op& op) const;
  // A tensor whose bytes stand in NHWC order as its shape says; flattened maps do not.
  int plain(int tensor) const;
  // The quantised tensor with the scales its reader states: another tensor of the same bytes where they
  // differ.
  int read_as(int value, const Scales& scales);
  Value quantised_value(int tensor, const Shape& shape, int type) const;
  void charge(int64_t bytes);
  // Shape of a graph tensor in the model's order.
  Shape model_shape(int tensor) const;
  Scales scales_of_tensor(int value);
  int float_constant(const std::string& name, const Shape& shape, const std::vector<float>& values);

  // operands.cpp: inputs of nodes
  const Constant& constant(int value, const char* role);
  std::vector<int64_t> numbers(int value, const char* role);
  // Scale and zero point from two inputs of a node; `type` where there is no zero point.
  Scales scales_of(const Node& node, int scale, int zero_point, int type);
  std::pair<float, float> clip_limits(const Node& node);
  bool is_dequantised_activation(int value);
  bool is_constant_value(int value);
  int activation_of(int value);
  std::vector<float> dequantised(const Value& v);

  // fold.cpp: constants
  Value constant_node(const Node& node) const;
  // Arithmetic on shapes: all inputs constant (or only asked for their shape).
  std::optional<Value> fold(const Node& node);

  // shapes.cpp: shapes of results
  int axis_of(const Node& node, int otherwise, int rank) const;
  int concat_axis(const Node& node, const Shape& shape) const;
  Shape concat_shape(const Node& node, const std::vector<int>& operands);
  Shape broadcast(const Shape& a, const Shape& b) const;
  std::vector<int> axes_of(const Node& node, int input_index, int rank);
  // The shape of a node's output.
  Shape infer(const Node& node, const std::vector<int>& operands, int part = 0);
  std::vector<int> mean_axes(const Node& node, int rank);
  std::vector<int> permutation(const Node& node, int rank) const;
  Shape reshape_shape(const Node& node, const Shape& in);

  // windows.cpp: kernels, strides and padding
  // Kernel, stride, dilation and padding attributes for an input of this shape; sets the output's rows and
  // columns.
  Window window(const Node& node, const Shape& in, int kernel_h, int kernel_w, Shape& out) const;
  Shape conv_shape(const Node& node, const Shape& in, const Shape& kernel) const;
  // Window and divisor of a pooling node; returns the shape of its result.
  Shape take_pool_window(const Node& node, const Shape& in, Op& op) const;

  // weights.cpp: operators with weights
  Weights weights_of(int value);
  Bias bias_of(const std::vector<int>& operands, size_t i);
  // Checks scales and zero points for `channels` output channels and makes int8 values: element(i) is the
  // model's element for stored element i, which belongs to output channel channel(i).
  int weight_tensor(const Weights& w, const Shape& shape, int channels, int axis,
                    const std::function<size_t(size_t)>& element,
                    const std::function<size_t(size_t)>& channel);
  int bias_tensor(const Bias& bias, int channels, float in_scale, const Scales& weights);
  // A per-tensor quantised constant as an operand of Add, Sub or Mul, in the order of the output.
  int quantised_operand(int value, int rank);
  // `in_scales`: of the input as this layer reads it.
  int conv(const Node& node, Op& op, int in_tensor, const Scales& in_scales, const Weights& weights,
           const Bias& bias, const Scales& out);
  // weights: [in, out], or [out, in] if transposed.
  int fully_connected(Op& op, int in_tensor, const Scales& in_scales, const Weights& weights, bool transposed,
                      const Bias& bias, const Shape& shape, const Scales& out);

  // layers.cpp: other operators
  // The tensor itself where nothing changes, else a table.
  int requantise(int tensor, const Shape& shape, Op& op, const Scales& out);
  // The same bytes under the name of this layer's output.
  int alias(int tensor, const Shape& shape, const Scales& scales);
  // Whether a reshape leaves NHWC bytes in order, or flattens a map of channels and pixels.
  static bool keeps_order(const Shape& from, const Shape& to);
  static bool flattens(const Shape& from, const Shape& to);
  // Reads the bytes of `tensor` under another shape. Between NCHW shapes the order of NHWC bytes stays only
  // where one side of channels and pixels is 1; a flattened map is remembered, for the weights behind it.
  int reshape(int tensor, const Shape& from, const Shape& to, const Scales& scales);
  bool is_output_of_quantize() const;
  bool table_function(const Node& node, Op& op) const;
  // MaxPool and AveragePool.
  int pool(const Node& node, Op op, int in_tensor, const Shape& shape, const Scales& out);

  // moves.cpp: operators that only move values
  static bool is_move(const std::string& kind);  // Pad, Slice, Split
  // An attribute of older operator sets, an input of newer ones.
  std::vector<int64_t> numbers_of(const Node& node, int input_index, const char* name);
  Box moved_box(const Node& node, const Shape& in, int part);
  // Whether what a Pad adds stands for 0: on stored values that is the zero point.
  bool pads_with_zero(const Node& node, const Scales& scales);
  // The quantised tensor that output `part` of the node is.
  int move(const Node& node, const Shape& in, int part, int in_tensor, const Scales& scales);

  // shuffle.cpp: channel shuffles
  // What a Reshape or Transpose of an operand is, as a step of a channel shuffle; nothing where it is none.
  std::optional<Regrouping> regroup(const Node& node, int operand, const Shape& shape);
  std::optional<Regrouping> regrouping_of(int value);
  // Only the rest of the shuffle may read such a value.
  void require_not_regrouped(int value);
  // The quantised value, of this shape, that a regrouped map is; `op`: further limits of its values.
  Value regrouped(const Regrouping& regrouping, const Shape& shape, Op& op, const Scales& out);

  // resize.cpp: Resize by whole factors
  Shape resized_shape(const Node& node, const Shape& in);
  int resize(const Node& node, const Shape& in, int in_tensor, const Scales& scales);

  // qdq.cpp: QuantizeLinear and DequantizeLinear
  Value dequantize_linear(const Node& node);
  Value quantize_linear(const Node& node);
  // The dequantised activations that a sum of sums adds, first to last; nothing where it is no such sum.
  std::vector<int> addends_of(int value);
  // The quantised operator that a float expression stands for: its output tensor, or -1 if there is none.
  int fuse(int base, Op& op, const Scales& out);

  // qoperator.cpp: QLinear operators, and others on stored values
  Value qlinear_conv(const Node& node);
  Value qlinear_binary(const Node& node);
  Value qlinear_global_pool(const Node& node);
  Value qlinear_average_pool(const Node& node);
  Value qlinear_concat(const Node& node);
  Value qlinear_matmul(const Node& node);
  Value qlinear_table(const Node& node);
  // Operators that work on stored values as they are.
  Value on_quantised(const Node& node, int part);

  // host_float.cpp: float expressions
  Value expression(const Node& node, int part);
  // The value as a tensor of the graph, with the host operators that make it; as_float: a float32 one.
  int on_host(int index);
  int as_float(int index);
  int host_operator(int index);
  // Positions of the largest values of a tensor, whose shape is `in` in the model's order.
  int arg_max(const Node& node, const Shape& in, int tensor, const std::string& name, const Shape& shape);

  const onnx::ModelProto& model_;
  const onnx::GraphProto& file_;
  const OnnxOptions& options_;
  int64_t opset_ = 0;
  ImportResult result_;
  Graph graph_;
  std::vector<Value> values_;
  std::map<std::string, int> by_name_;
  LayerNames layer_names_;
  std::map<int, int> quantised_as_;  // float value to the tensor of its first QuantizeLinear
  std::set<int> assumed_;            // quantised inputs whose scale nobody has stated yet
  std::map<int, std::array<int, 3>>
      flattened_;  // tensors of NHWC bytes that the model flattened from C, H, W
  int64_t activation_bytes_ = 0;
  int64_t float_budget_;
  // The layer in hand.
  std::string layer_;
  std::string layer_op_;
};

}  // namespace kaiten::onnx_import

#endif  // KAITEN_IMPORT_ONNX_IMPORTER_H
