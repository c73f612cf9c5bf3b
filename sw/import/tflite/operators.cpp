// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/tflite/operators.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "import/tflite/tensors.h"

namespace kaiten::importing::from_tflite {

namespace {

struct Operator {
  Code code;
  OpKind kind;
  fb::uoffset_t least_inputs;
  fb::uoffset_t most_inputs;
  bool (*import)(State& s, const Node& node, Op& op);  // null: SPLIT, which has several outputs
};

constexpr fb::uoffset_t kAny = std::numeric_limits<fb::uoffset_t>::max();

// In the order of the names, as the refusal of others lists them.
constexpr Operator kOperators[] = {
    {Code::ADD, OpKind::Add, 2, 2, import_add},
    {Code::ARG_MAX, OpKind::ArgMax, 2, 2, import_arg_max},
    {Code::AVERAGE_POOL_2D, OpKind::AveragePool, 1, 1, import_pool},
    {Code::CONCATENATION, OpKind::Concat, 1, kAny, import_concat},
    {Code::CONV_2D, OpKind::Conv2D, 2, 3, import_conv},
    {Code::DEPTH_TO_SPACE, OpKind::Rearrange, 1, 1, import_depth_to_space},
    {Code::DEPTHWISE_CONV_2D, OpKind::DepthwiseConv2D, 2, 3, import_depthwise},
    {Code::DEQUANTIZE, OpKind::ToFloat, 1, 1, import_dequantize},
    {Code::FULLY_CONNECTED, OpKind::FullyConnected, 2, 3, import_fully_connected},
    {Code::HARD_SWISH, OpKind::Table, 1, 1, import_hard_swish},
    {Code::LEAKY_RELU, OpKind::Table, 1, 1, import_leaky_relu},
    {Code::LOGISTIC, OpKind::Table, 1, 1, import_logistic},
    {Code::MAXIMUM, OpKind::Maximum, 2, 2, import_extreme},
    {Code::MAX_POOL_2D, OpKind::MaxPool, 1, 1, import_pool},
    {Code::MEAN, OpKind::Mean, 2, 2, import_mean},
    {Code::MINIMUM, OpKind::Minimum, 2, 2, import_extreme},
    {Code::MUL, OpKind::Mul, 2, 2, import_mul},
    {Code::PAD, OpKind::Pad, 2, 2, import_pad},
    {Code::PRELU, OpKind::PRelu, 2, 2, import_prelu},
    {Code::QUANTIZE, OpKind::Quantize, 1, 1, import_quantize},
    {Code::REDUCE_MAX, OpKind::ReduceMax, 2, 2, import_reduce_max},
    {Code::RELU, OpKind::Table, 1, 1, import_relu},
    {Code::RELU6, OpKind::Table, 1, 1, import_relu6},
    {Code::RESHAPE, OpKind::Reshape, 1, 2, import_reshape},
    {Code::RESIZE_BILINEAR, OpKind::Resize, 2, 2, import_resize_bilinear},
    {Code::RESIZE_NEAREST_NEIGHBOR, OpKind::Resize, 2, 2, import_resize_nearest},
    {Code::SLICE, OpKind::Slice, 3, 4, import_slice},
    {Code::SOFTMAX, OpKind::Softmax, 1, 1, import_softmax},
    {Code::SPACE_TO_DEPTH, OpKind::Rearrange, 1, 1, import_space_to_depth},
    {Code::SPLIT, OpKind::Slice, 2, 2, nullptr},
    {Code::SQUEEZE, OpKind::Reshape, 1, 2, import_reshape},
    {Code::STRIDED_SLICE, OpKind::Slice, 3, 4, import_strided_slice},
    {Code::SUB, OpKind::Sub, 2, 2, import_sub},
    {Code::TANH, OpKind::Table, 1, 1, import_tanh},
    {Code::TILE, OpKind::Rearrange, 2, 2, import_tile},
    {Code::TRANSPOSE, OpKind::Rearrange, 2, 2, import_transpose},
};

std::string operator_name(Code code) {
  const std::string name = tflite::EnumNameOperator(code);
  return name.empty() ? "operator " + std::to_string(int(code)) : name;
}

std::string all_names() {
  std::string names;
  for (const Operator& known : kOperators) names += (names.empty() ? "" : ", ") + operator_name(known.code);
  return names;
}

// The shape operand of a reshape to a scalar is a constant of no bytes.
bool is_empty_constant(const State& s, int index) {
  const auto* shape = s.file_tensor(index).shape();
  return shape != nullptr && shape->size() == 1 && shape->Get(0) == 0;
}

// Every operand exists and is available: a constant, or computed before. -1 stands for an absent one.
void check_operand(const State& s, int index) {
  if (index == kNoTensor) return;
  check_index(s, index, "input");
  if (s.status_of(index) == Status::Untouched && !has_data(s, index) && !is_empty_constant(s, index))
    fail_layer(s, "tensor '" + s.tensor_name(index) + "' is used before it is computed");
}

// What an unknown operator writes is of no interest: only that it is written.
void refuse_operator(State& s, const Node& node) {
  refuse(s, {"the operators " + all_names(), s.layer.op});
  for (const int index : *node.outputs()) {
    if (s.status_of(index) != Status::Untouched) fail_layer(s, "an output is written twice");
    s.status_of(index) = Status::Unsupported;
  }
}

void check_input_count(const State& s, const Node& node, const Operator& known) {
  const fb::uoffset_t inputs = node.inputs()->size();
  if (inputs < known.least_inputs || inputs > known.most_inputs)
    fail_layer(s, "has " + std::to_string(inputs) + " inputs");
}

bool has_int8_weights(const State& s, const Node& node, OpKind kind) {
  const bool weighted =
      kind == OpKind::Conv2D || kind == OpKind::DepthwiseConv2D || kind == OpKind::FullyConnected;
  if (!weighted || node.inputs()->size() < 2 || node.inputs()->Get(1) == kNoTensor) return false;
  return s.file_tensor(node.inputs()->Get(1)).type() == tflite::TensorType::INT8;
}

// Takes name and operands of the node into the state; they are sound then.
void open_layer(State& s, const Node& node, Code code) {
  s.layer.op = operator_name(code);
  if (code == Code::CUSTOM) {
    s.layer.op += " ";
    s.layer.op += file_name(s.model.operator_codes()->Get(node.opcode_index())->custom_name());
  }
  if (node.outputs() == nullptr || node.outputs()->size() == 0)
    fail("an operator " + s.layer.op + " has no output");
  if (node.inputs() == nullptr || node.inputs()->size() == 0)
    fail("an operator " + s.layer.op + " has no input");
  for (const int index : *node.outputs()) check_index(s, index, "output");
  s.layer.name = s.layer_names.unique(s.tensor_name(node.outputs()->Get(0)));
  for (const int index : *node.inputs()) check_operand(s, index);
}

}  // namespace

Code code_of(const State& s, const Node& node) {
  const auto* codes = s.model.operator_codes();
  if (codes == nullptr || node.opcode_index() >= codes->size())
    fail("operator code " + std::to_string(node.opcode_index()) + " out of range");
  const tflite::OperatorCode& code = *codes->Get(node.opcode_index());
  return std::max(code.code(), Code(code.deprecated_code()));
}

void import_operator(State& s, const Node& node) {
  const Code code = code_of(s, node);
  open_layer(s, node, code);
  if (folds(s, node, code)) return;
  const std::size_t refusals_before = s.result.refusals.size();
  const auto* const known = std::find_if(std::begin(kOperators), std::end(kOperators),
                                         [&](const Operator& o) { return o.code == code; });
  if (known == std::end(kOperators)) return refuse_operator(s, node);
  if (known->import == nullptr) {
    check_input_count(s, node, *known);
    return import_split(s, node);
  }
  if (node.outputs()->size() != 1) fail_layer(s, "one output expected");
  if (regroups(s, node, code)) return;
  s.uses_int8_weights = has_int8_weights(s, node, known->kind);
  Op op;
  op.name = s.layer.name;
  op.kind = known->kind;
  op.output = node.outputs()->Get(0);
  produce_output(s, op);
  check_input_count(s, node, *known);
  if (!known->import(s, node, op) || s.result.refusals.size() != refusals_before) return;
  check_types(s, op);
  append(s, std::move(op));
}

void produce_output(State& s, const Op& op) {
  if (has_data(s, op.output)) fail_layer(s, "output '" + s.tensor_name(op.output) + "' is a constant");
  if (op.kind == OpKind::ArgMax) {
    produce_positions(s, op.output);
  } else if (op.kind == OpKind::ToFloat && s.file_tensor(op.output).type() == tflite::TensorType::FLOAT32) {
    produce_float(s, op.output);
  } else {
    produce(s, op.output);
  }
}

void check_types(const State& s, const Op& op) {
  if (op.kind == OpKind::Quantize || op.kind == OpKind::ArgMax || op.kind == OpKind::ToInt8 ||
      op.kind == OpKind::ToFloat)
    return;
  const ElementType type = s.graph.output_of(op).model_type;
  bool same = op.weights == kNoTensor || s.graph.weights_of(op).model_type == type;
  for (const int input : op.inputs) same = same && s.tensor(input).model_type == type;
  if (!same) fail_layer(s, "mixes int8 and uint8");
}

}  // namespace kaiten::importing::from_tflite
