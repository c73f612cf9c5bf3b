// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/operators.h"

#include <algorithm>
#include <iterator>

#include "import/onnx/fold.h"
#include "import/onnx/fuse.h"
#include "import/onnx/host.h"
#include "import/onnx/moves.h"
#include "import/onnx/operands.h"
#include "import/onnx/picks.h"
#include "import/onnx/qdq.h"
#include "import/onnx/qlinear.h"
#include "import/onnx/resize.h"
#include "import/onnx/shapes.h"
#include "import/onnx/stored.h"
#include "import/onnx/windows.h"

namespace kaiten::importing::from_onnx {

namespace {

// name, shape, quantised, on the host, on stored values
constexpr Operator kOperators[] = {
    {"Abs", same_shape, nullptr, host_function},
    {"Add", shape_of_binary, fuse_add, host_pair<HostKind::Add>},
    {"ArgMax", shape_of_arg_max, nullptr, host_arg_max, stored_arg_max},
    {"AveragePool", shape_of_pool, fuse_average_pool, host_pool},
    {"BatchNormalization", same_shape, fuse_batch_normalisation, host_batch_normalisation},
    {"Ceil", same_shape, nullptr, host_function},
    {"Celu", same_shape, nullptr, nullptr},
    {"Clip", same_shape, nullptr, host_function},
    {"Concat", shape_of_concat, fuse_concat, host_concat, stored_concat},
    {"Conv", shape_of_conv, fuse_conv},
    {"ConvTranspose", shape_of_conv_transpose, nullptr, host_conv_transpose},
    {"DepthToSpace", shape_of_pick, fuse_pick, host_pick, stored_pick},
    {"Div", shape_of_binary, nullptr, host_pair<HostKind::Div>},
    {"Dropout", shape_of_dropout, fuse_reshape, host_single<HostKind::Reshape>, stored_reshape},
    {"Elu", same_shape, nullptr, host_function},
    {"Erf", same_shape, nullptr, host_function},
    {"Exp", same_shape, nullptr, host_function},
    {"Expand", shape_of_pick, fuse_pick, host_pick, stored_pick},
    {"Flatten", shape_of_flatten, fuse_reshape, host_single<HostKind::Reshape>, stored_reshape},
    {"Floor", same_shape, nullptr, host_function},
    {"Gather", shape_of_pick, fuse_pick, host_pick, stored_pick},
    {"Gelu", same_shape, nullptr, host_function},
    {"Gemm", shape_of_gemm, fuse_gemm, host_gemm},
    {"GlobalAveragePool", shape_of_global_pool, fuse_global_average,
     host_single<HostKind::GlobalAveragePool>},
    {"GlobalMaxPool", shape_of_global_pool, nullptr, host_single<HostKind::GlobalMaxPool>},
    {"HardSigmoid", same_shape, fuse_table, host_function},
    {"HardSwish", same_shape, nullptr, host_function},
    {"Identity", same_shape, fuse_reshape, host_single<HostKind::Reshape>, stored_reshape},
    {"InstanceNormalization", same_shape, nullptr, host_instance_norm},
    {"LRN", same_shape, nullptr, host_lrn},
    {"LayerNormalization", same_shape, nullptr, host_layer_norm},
    {"LeakyRelu", same_shape, fuse_table, host_function},
    {"Log", same_shape, nullptr, host_function},
    {"LogSoftmax", same_shape, nullptr, host_softmax},
    {"MatMul", shape_of_matmul, fuse_gemm, host_gemm},
    {"Max", shape_of_sum, nullptr, host_chain<HostKind::Max>},
    {"MaxPool", shape_of_pool, fuse_max_pool, host_pool, stored_max_pool},
    {"Min", shape_of_sum, nullptr, host_chain<HostKind::Min>},
    {"Mish", same_shape, nullptr, nullptr},
    {"Mul", shape_of_binary, fuse_mul, host_pair<HostKind::Mul>},
    {"Neg", same_shape, nullptr, host_function},
    {"PRelu", shape_of_binary, nullptr, host_pair<HostKind::PRelu>},
    {"Pad", shape_of_move, fuse_move, host_pad, stored_move},
    {"Pow", shape_of_binary, nullptr, host_pair<HostKind::Pow>},
    {"Reciprocal", same_shape, nullptr, host_function},
    {"ReduceMax", shape_of_mean, nullptr, host_reduction<HostKind::ReduceMax>},
    {"ReduceMean", shape_of_mean, nullptr, host_reduction<HostKind::ReduceMean>},
    {"ReduceMin", shape_of_mean, nullptr, host_reduction<HostKind::ReduceMin>},
    {"ReduceSum", shape_of_mean, nullptr, host_reduction<HostKind::ReduceSum>},
    {"Relu", same_shape, nullptr, host_function},
    {"Reshape", shape_of_reshape, fuse_reshape, host_single<HostKind::Reshape>, stored_reshape},
    {"Resize", shape_of_resize, fuse_resize, host_resize, stored_resize},
    {"Round", same_shape, nullptr, host_function},
    {"Selu", same_shape, nullptr, nullptr},
    {"Sigmoid", same_shape, fuse_table, host_function},
    {"Sign", same_shape, nullptr, host_function},
    {"Slice", shape_of_pick, fuse_slice, host_pick, stored_slice},
    {"Softmax", same_shape, nullptr, host_softmax},
    {"Softplus", same_shape, nullptr, host_function},
    {"Softsign", same_shape, nullptr, nullptr},
    {"SpaceToDepth", shape_of_pick, fuse_pick, host_pick, stored_pick},
    {"Split", shape_of_move, fuse_move, host_pick, stored_move},
    {"Sqrt", same_shape, nullptr, host_function},
    {"Squeeze", shape_of_squeeze, fuse_reshape, host_single<HostKind::Reshape>, stored_reshape},
    {"Sub", shape_of_binary, fuse_sub, host_pair<HostKind::Sub>},
    {"Sum", shape_of_sum, nullptr, host_chain<HostKind::Add>},
    {"Swish", same_shape, nullptr, nullptr},
    {"Tanh", same_shape, fuse_table, host_function},
    {"ThresholdedRelu", same_shape, nullptr, nullptr},
    {"Tile", shape_of_pick, fuse_pick, host_pick, stored_pick},
    {"Transpose", shape_of_transpose, fuse_pick, host_pick, stored_transpose},
    {"Unsqueeze", shape_of_unsqueeze, fuse_reshape, host_single<HostKind::Reshape>, stored_reshape},
};

struct QuantisingOperator {
  std::string_view name;
  Quantising make;
};

constexpr QuantisingOperator kQuantising[] = {
    {"Constant", constant_node},
    {"DequantizeLinear", dequantize_linear},
    {"QGemm", qlinear_matmul},
    {"QLinearAdd", qlinear_binary},
    {"QLinearAveragePool", qlinear_average_pool},
    {"QLinearConcat", qlinear_concat},
    {"QLinearConv", qlinear_conv},
    {"QLinearGlobalAveragePool", qlinear_global_pool},
    {"QLinearLeakyRelu", qlinear_table},
    {"QLinearMatMul", qlinear_matmul},
    {"QLinearMul", qlinear_binary},
    {"QLinearSigmoid", qlinear_table},
    {"QLinearSoftmax", qlinear_softmax},
    {"QuantizeLinear", quantize_linear},
};

// The line of a table that has this name; null where none has.
template <typename Line, std::size_t Lines>
const Line* find_line(const Line (&table)[Lines], std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(table), std::end(table), [&](const Line& line) { return line.name == name; });
  return found == std::end(table) ? nullptr : found;
}

}  // namespace

std::vector<std::string> imported_operators() {
  std::vector<std::string> all;
  for (const Operator& known : kOperators) all.emplace_back(known.name);
  for (const QuantisingOperator& known : kQuantising) all.emplace_back(known.name);
  return all;
}

Expression expression_of(const State& s, int value) {
  const Value& v = s.at(value);
  return {value, *v.node, v.operands, v.shape, v.part, v.name};
}

const Operator& operator_of(const Node& node) {
  const std::string& name = node.op_type();
  if (const Operator* known = find_line(kOperators, name)) return *known;
  throw Unsupported{"the operators of docs/compiler/imported_operators.md", clean_name(name)};
}

Shape infer(State& s, const Node& node, const Operands& operands, int part) {
  return operator_of(node).shape(s, node, operands, part);
}

Quantising find_quantising(std::string_view name) {
  const QuantisingOperator* const known = find_line(kQuantising, name);
  return known == nullptr ? nullptr : known->make;
}

Value on_stored(State& s, const Node& node, int part) {
  const Operator* const known = find_line(kOperators, node.op_type());
  if (known == nullptr || known->on_stored == nullptr) refuse_stored(s, node);
  return known->on_stored(s, node, part);
}

}  // namespace kaiten::importing::from_onnx
