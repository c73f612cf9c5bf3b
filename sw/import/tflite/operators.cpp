// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/tflite/operators.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "import/tflite/layer.h"
#include "import/tflite/tensors.h"

namespace kaiten::importing::from_tflite {

namespace {

struct Operator {
  Code code;
  OpKind kind;
  fb::uoffset_t least_inputs;
  fb::uoffset_t most_inputs;
  bool (*import)(State& s, const Node& node, Op& op);  // of one output
  void (*import_several)(State& s, const Node& node);  // of any number, each an operator of the graph
};

constexpr fb::uoffset_t kAny = std::numeric_limits<fb::uoffset_t>::max();

// In the order of the names.
constexpr Operator kOperators[] = {
    {Code::ABS, OpKind::Table, 1, 1, import_abs, nullptr},
    {Code::ADD, OpKind::Add, 2, 2, import_add, nullptr},
    {Code::ARG_MAX, OpKind::ArgMax, 2, 2, import_arg_max, nullptr},
    {Code::ARG_MIN, OpKind::ArgMax, 2, 2, import_arg_min, nullptr},
    {Code::AVERAGE_POOL_2D, OpKind::AveragePool, 1, 1, import_pool, nullptr},
    {Code::BATCH_MATMUL, OpKind::BatchMatMul, 2, 2, import_batch_matmul, nullptr},
    {Code::BATCH_TO_SPACE_ND, OpKind::Rearrange, 3, 3, import_batch_to_space, nullptr},
    {Code::BROADCAST_TO, OpKind::Rearrange, 2, 2, import_broadcast, nullptr},
    {Code::CONCATENATION, OpKind::Concat, 1, kAny, import_concat, nullptr},
    {Code::CONV_2D, OpKind::Conv2D, 2, 3, import_conv, nullptr},
    {Code::DEPTHWISE_CONV_2D, OpKind::DepthwiseConv2D, 2, 3, import_depthwise, nullptr},
    {Code::DEPTH_TO_SPACE, OpKind::Rearrange, 1, 1, import_depth_to_space, nullptr},
    {Code::DEQUANTIZE, OpKind::ToFloat, 1, 1, import_dequantize, nullptr},
    {Code::ELU, OpKind::Table, 1, 1, import_elu, nullptr},
    {Code::EXP, OpKind::Table, 1, 1, import_exp, nullptr},
    {Code::EXPAND_DIMS, OpKind::Reshape, 2, 2, import_reshape, nullptr},
    {Code::FILL, OpKind::Rearrange, 2, 2, import_filled, nullptr},
    {Code::FULLY_CONNECTED, OpKind::FullyConnected, 2, 3, import_fully_connected, nullptr},
    {Code::GATHER, OpKind::Gather, 2, 2, import_gather, nullptr},
    {Code::GELU, OpKind::Table, 1, 1, import_gelu, nullptr},
    {Code::HARD_SWISH, OpKind::Table, 1, 1, import_hard_swish, nullptr},
    {Code::L2_NORMALIZATION, OpKind::L2Norm, 1, 1, import_l2_norm, nullptr},
    {Code::LEAKY_RELU, OpKind::Table, 1, 1, import_leaky_relu, nullptr},
    {Code::LOG, OpKind::Table, 1, 1, import_log, nullptr},
    {Code::LOGISTIC, OpKind::Table, 1, 1, import_logistic, nullptr},
    {Code::LOG_SOFTMAX, OpKind::Softmax, 1, 1, import_log_softmax, nullptr},
    {Code::MAXIMUM, OpKind::Maximum, 2, 2, import_extreme, nullptr},
    {Code::MAX_POOL_2D, OpKind::MaxPool, 1, 1, import_pool, nullptr},
    {Code::MEAN, OpKind::Mean, 2, 2, import_mean, nullptr},
    {Code::MINIMUM, OpKind::Minimum, 2, 2, import_extreme, nullptr},
    {Code::MIRROR_PAD, OpKind::Gather, 2, 2, import_mirror_pad, nullptr},
    {Code::MUL, OpKind::Mul, 2, 2, import_mul, nullptr},
    {Code::NEG, OpKind::Table, 1, 1, import_neg, nullptr},
    {Code::PACK, OpKind::Concat, 1, kAny, import_pack, nullptr},
    {Code::PAD, OpKind::Pad, 2, 2, import_pad, nullptr},
    {Code::PADV2, OpKind::Pad, 3, 3, import_pad, nullptr},
    {Code::PRELU, OpKind::PRelu, 2, 2, import_prelu, nullptr},
    {Code::QUANTIZE, OpKind::Quantize, 1, 1, import_quantize, nullptr},
    {Code::REDUCE_MAX, OpKind::ReduceMax, 2, 2, import_reduction, nullptr},
    {Code::REDUCE_MIN, OpKind::ReduceMin, 2, 2, import_reduction, nullptr},
    {Code::RELU, OpKind::Table, 1, 1, import_relu, nullptr},
    {Code::RELU6, OpKind::Table, 1, 1, import_relu6, nullptr},
    {Code::RELU_N1_TO_1, OpKind::Table, 1, 1, import_relu_n1_to_1, nullptr},
    {Code::RESHAPE, OpKind::Reshape, 1, 2, import_reshape, nullptr},
    {Code::RESIZE_BILINEAR, OpKind::Resize, 2, 2, import_resize_bilinear, nullptr},
    {Code::RESIZE_NEAREST_NEIGHBOR, OpKind::Resize, 2, 2, import_resize_nearest, nullptr},
    {Code::REVERSE_V2, OpKind::Rearrange, 2, 2, import_reverse, nullptr},
    {Code::RSQRT, OpKind::Table, 1, 1, import_rsqrt, nullptr},
    {Code::SLICE, OpKind::Slice, 3, 4, import_slice, nullptr},
    {Code::SOFTMAX, OpKind::Softmax, 1, 1, import_softmax, nullptr},
    {Code::SPACE_TO_BATCH_ND, OpKind::Rearrange, 3, 3, import_space_to_batch, nullptr},
    {Code::SPACE_TO_DEPTH, OpKind::Rearrange, 1, 1, import_space_to_depth, nullptr},
    {Code::SPLIT, OpKind::Slice, 2, 2, nullptr, import_split},
    {Code::SPLIT_V, OpKind::Slice, 3, 3, nullptr, import_split},
    {Code::SQRT, OpKind::Table, 1, 1, import_sqrt, nullptr},
    {Code::SQUARED_DIFFERENCE, OpKind::SquaredDifference, 2, 2, import_squared_difference, nullptr},
    {Code::SQUEEZE, OpKind::Reshape, 1, 2, import_reshape, nullptr},
    {Code::STRIDED_SLICE, OpKind::Slice, 3, 4, import_strided_slice, nullptr},
    {Code::SUB, OpKind::Sub, 2, 2, import_sub, nullptr},
    {Code::SUM, OpKind::ReduceSum, 2, 2, import_reduction, nullptr},
    {Code::TANH, OpKind::Table, 1, 1, import_tanh, nullptr},
    {Code::TILE, OpKind::Rearrange, 2, 2, import_tile, nullptr},
    {Code::TRANSPOSE, OpKind::Rearrange, 2, 2, import_transpose, nullptr},
    {Code::TRANSPOSE_CONV, OpKind::Conv2D, 3, 4, import_transpose_conv, nullptr},
    {Code::UNPACK, OpKind::Rearrange, 1, 1, nullptr, import_unpack},
};

std::string operator_name(Code code) {
  const std::string name = tflite::EnumNameOperator(code);
  return name.empty() ? "operator " + std::to_string(int(code)) : name;
}

constexpr const char* kKnown = "the operators of docs/compiler/imported_operators.md";

// What stands in the way of an operator that is not in the table.
Unsupported missing(Code code, const std::string& name) {
  switch (code) {
    case Code::LSTM:
    case Code::UNIDIRECTIONAL_SEQUENCE_LSTM:
    case Code::BIDIRECTIONAL_SEQUENCE_LSTM:
    case Code::RNN:
    case Code::UNIDIRECTIONAL_SEQUENCE_RNN:
    case Code::BIDIRECTIONAL_SEQUENCE_RNN:
    case Code::SVDF:
      return {"networks without recurrent layers", name, ""};
    case Code::VAR_HANDLE:
    case Code::READ_VARIABLE:
    case Code::ASSIGN_VARIABLE:
    case Code::CALL_ONCE:
      return {"networks without variables", name, "export the state as inputs and outputs"};
    case Code::IF:
    case Code::WHILE:
    case Code::CALL:
      return {"networks without control flow", name, ""};
    case Code::CUSTOM:
      return {"operators that TensorFlow Lite defines", name, "cut the model before it"};
    default:
      return {kKnown, name, ""};
  }
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
  if (s.file_tensor(index).is_variable()) return;  // the state of a recurrent layer
  if (s.status_of(index) == Status::Untouched && !has_data(s, index) && !is_empty_constant(s, index))
    fail_layer(s, "tensor '" + s.tensor_name(index) + "' is used before it is computed");
}

bool is_computed(const State& s, int index) {
  return s.status_of(index) == Status::Real ||
         (s.status_of(index) == Status::Ready && !s.tensor(index).is_constant());
}

// What the node reads that operators of the graph compute; of functions of dequantised values, these values.
std::vector<int> computed_inputs(const State& s, const Node& node) {
  std::vector<int> inputs;
  if (node.inputs() == nullptr) return inputs;
  for (const int index : *node.inputs()) {
    if (index == kNoTensor) continue;
    const bool real = s.status_of(index) == Status::Real;
    if (is_computed(s, index)) inputs.push_back(real ? s.reals.at(index).dequantised : index);
  }
  return inputs;
}

// What the operator writes is of no interest: only that it is written.
void leave_outputs(State& s, const Node& node) {
  if (node.outputs() == nullptr) return;
  for (const int index : *node.outputs()) {
    if (s.status_of(index) != Status::Untouched) fail_layer(s, "an output is written twice");
    s.status_of(index) = Status::Unsupported;
  }
}

// Whether any of its results has bytes.
bool writes_bytes(const State& s, const Node& node) {
  return std::any_of(node.outputs()->begin(), node.outputs()->end(), [&](int index) {
    const tflite::TensorType type = s.file_tensor(index).type();
    return type == tflite::TensorType::INT8 || type == tflite::TensorType::UINT8;
  });
}

void refuse_operator(State& s, const Node& node) {
  const Unsupported what = missing(code_of(s, node), s.layer.op);
  const bool leaves = what.limit == kKnown && node.outputs() != nullptr && !writes_bytes(s, node);
  if ((is_tail(s.layer.op) || leaves) && node.inputs() != nullptr) {
    end_before(s, what, computed_inputs(s, node));
  } else {
    refuse(s, what);
  }
  leave_outputs(s, node);
}

bool has_weights(Code code) {
  return code == Code::CONV_2D || code == Code::DEPTHWISE_CONV_2D || code == Code::FULLY_CONNECTED ||
         code == Code::TRANSPOSE_CONV;
}

// Takes what computes with float32 values or positions, and what follows it, as the tail of the network.
bool is_beyond_quantised(State& s, const Node& node, Code code) {
  if (code == Code::QUANTIZE || has_weights(code) || node.inputs() == nullptr || node.outputs() == nullptr)
    return false;
  const std::vector<int> inputs = computed_inputs(s, node);
  const auto other = std::find_if(node.inputs()->begin(), node.inputs()->end(), [&](int index) {
    return index != kNoTensor && is_computed(s, index) && s.tensor(index).type != ElementType::Int8;
  });
  if (other != node.inputs()->end()) {
    end_before(s, not_quantised(s, *other), inputs);
  } else if (s.tail_operators > 0 && !writes_bytes(s, node) &&
             std::any_of(node.inputs()->begin(), node.inputs()->end(), [&](int index) {
               return index != kNoTensor && s.status_of(index) == Status::Unsupported;
             })) {
    s.before_tail.insert(s.before_tail.end(), inputs.begin(), inputs.end());
  } else {
    return false;
  }
  leave_outputs(s, node);
  return true;
}

void check_input_count(const State& s, const Node& node, const Operator& known) {
  const fb::uoffset_t inputs = node.inputs()->size();
  if (inputs < known.least_inputs || inputs > known.most_inputs)
    fail_layer(s, "has " + std::to_string(inputs) + " inputs");
}

const Operator* known_operator(Code code) {
  const auto* const known = std::find_if(std::begin(kOperators), std::end(kOperators),
                                         [&](const Operator& k) { return k.code == code; });
  return known == std::end(kOperators) ? nullptr : known;
}

// Takes name and operands of the node into the state; they are sound then.
void open_layer(State& s, const Node& node, Code code) {
  s.layer.op = operator_name(code);
  if (code == Code::CUSTOM) {
    s.layer.op += " ";
    s.layer.op += file_name(s.model.operator_codes()->Get(node.opcode_index())->custom_name());
  }
  const bool writes = node.outputs() != nullptr && node.outputs()->size() != 0;
  const bool reads = node.inputs() != nullptr && node.inputs()->size() != 0;
  if (known_operator(code) != nullptr && !writes) fail("an operator " + s.layer.op + " has no output");
  if (known_operator(code) != nullptr && !reads) fail("an operator " + s.layer.op + " has no input");
  if (!writes) s.layer.name = s.layer_names.unique(s.layer.op);
  if (writes) {
    for (const int index : *node.outputs()) check_index(s, index, "output");
    s.layer.name = s.layer_names.unique(s.tensor_name(node.outputs()->Get(0)));
  }
  if (!reads) return;
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

std::vector<std::pair<std::string, OpKind>> imported_operators() {
  std::vector<std::pair<std::string, OpKind>> all;
  for (const Operator& known : kOperators) all.emplace_back(operator_name(known.code), known.kind);
  return all;
}

namespace {

// What the node writes; the map after it where its own output is a batch on the way there.
int output_of(State& s, const Node& node) {
  const int output = node.outputs()->Get(0);
  const auto dilation = s.dilations.find(node.inputs()->Get(0));
  if (dilation == s.dilations.end()) return output;
  Quantization own;
  if (s.status_of(output) != Status::Untouched) fail_layer(s, "an output is written twice");
  if (read_quantization(s, output, own) && !own.per_channel() && !own.zero_point.empty()) {
    Quantization next;
    if (!read_quantization(s, dilation->second.written(), next) || !same_quantization(own, next))
      refuse(s, {"equal scale and zero point on both sides", "BATCH_TO_SPACE_ND with others", ""});
  }
  s.status_of(output) = Status::Spread;
  return dilation->second.result;
}

}  // namespace

void import_operator(State& s, const Node& node) {
  const Code code = code_of(s, node);
  open_layer(s, node, code);
  const Operator* const known = known_operator(code);
  if (node.inputs() != nullptr && node.outputs() != nullptr && folds(s, node, code)) return;
  const std::size_t refusals_before = s.refused_layers;
  if (is_real(s, node, code) || is_beyond_quantised(s, node, code)) return;
  if (known == nullptr) return refuse_operator(s, node);
  if (known->import == nullptr) {
    check_input_count(s, node, *known);
    return known->import_several(s, node);
  }
  if (node.outputs()->size() != 1) fail_layer(s, "one output expected");
  if (regroups(s, node, code) || dilates(s, node, code)) return;
  Op op;
  op.name = s.layer.name;
  op.kind = known->kind;
  op.output = output_of(s, node);
  produce_output(s, op);
  check_input_count(s, node, *known);
  if (!known->import(s, node, op) || s.refused_layers != refusals_before) return;
  check_types(s, op);
  append(s, std::move(op));
}

void produce_output(State& s, const Op& op) {
  if (!is_of_file(s, op.output)) return;
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
