// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/fuse.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "import/onnx/host.h"
#include "import/onnx/layers.h"
#include "import/onnx/moves.h"
#include "import/onnx/nodes.h"
#include "import/onnx/operands.h"
#include "import/onnx/picks.h"
#include "import/onnx/rearrange.h"
#include "import/onnx/resize.h"
#include "import/onnx/shapes.h"
#include "import/onnx/tensors.h"
#include "import/onnx/weighted.h"
#include "import/onnx/weights.h"

namespace kaiten::importing::from_onnx {

namespace {

bool is_dequantised_constant(const State& s, int value) {
  return is_constant_value(s, value) && s.at(value).form == Form::Dequantised;
}

// Operators whose results are values of their input: as exact before DequantizeLinear as behind it.
bool moves_values(const std::string& op_type) {
  for (const char* name : {"Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout",
                           "Slice", "Split", "Gather", "DepthToSpace", "SpaceToDepth", "Pad", "MaxPool"}) {
    if (op_type == name) return true;
  }
  return false;
}

// Makes moved values of a dequantised activation a dequantised activation themselves, where they are one.
void move_before_dequantising(State& s, int value) {
  if (s.at(value).form != Form::Expression || !moves_values(s.at(value).node->op_type())) return;
  const Node& node = *s.at(value).node;
  const int operand = s.at(value).operands[0];
  move_before_dequantising(s, operand);
  if (!is_dequantised_activation(s, operand)) return;
  const Scales scales = s.at(operand).scales;
  const int tensor = operator_of(node).fuse(s, expression_of(s, value), {}, scales);
  const int moved = add_value(s, "", quantised_value(tensor, s.at(value).shape, scales.type));
  Value& made = s.at(value);
  made.form = Form::Dequantised;
  made.source = moved;
  made.scales = scales;
}

ScaledInput scaled_input(State& s, int value) { return {activation_of(s, value), s.at(value).scales}; }

// The dequantised activations that a sum of sums adds, first to last; nothing where it is no such sum.
std::vector<int> addends_of(const State& s, int value) {
  const Value& v = s.at(value);
  if (v.form != Form::Expression || v.node->op_type() != "Add") return {};
  for (std::size_t i = 0; i < 2; i++) {
    const int sum = v.operands[i];
    const int last = v.operands[1 - i];
    if (!is_dequantised_activation(s, last) || s.at(last).shape != v.shape) continue;
    std::vector<int> addends = is_dequantised_activation(s, sum) ? std::vector<int>{sum} : addends_of(s, sum);
    if (addends.empty() || s.at(sum).shape != v.shape) continue;
    addends.push_back(last);
    return addends;
  }
  return {};
}

// Add, Sub or Mul (op.kind) of these values: dequantised activations and constants, and convolutions in float32 that were
// quantised before, which the host does not compute.
int fuse_operands(State& s, const Expression& e, const std::vector<int>& values, Op op, const Scales& out) {
  std::vector<std::string> notes;
  for (const int value : values) {
    if (is_dequantised_activation(s, value)) {
      op.inputs.push_back(of_rank(s, plain(s, activation_of(s, value)), s.at(value).shape,
                                  int(e.shape.size()), s.at(value).scales));
    } else if (is_dequantised_constant(s, value)) {
      op.inputs.push_back(quantised_operand(s, value, int(e.shape.size())));
    } else if (const auto found = s.quantised_as.find(value);
               found != s.quantised_as.end() && !can_be_float(s, value)) {
      op.inputs.push_back(plain(s, found->second));
      notes.push_back("layer '" + s.layer.name + "' reads '" + s.at(value).name + "' as quantised in '" +
                      s.tensor(found->second).name + "', where the model adds in float32");
    } else {
      return kNoTensor;
    }
  }
  s.graph.notes.insert(s.graph.notes.end(), notes.begin(), notes.end());
  return emit_quantised(s, std::move(op), s.layer.name, e.shape, out);
}

// A MatMul of a dequantised activation and dequantised weights.
bool is_quantised_product(const State& s, int value) {
  const Value& v = s.at(value);
  return v.form == Form::Expression && v.node->op_type() == "MatMul" &&
         is_dequantised_activation(s, v.operands[0]) && is_dequantised_constant(s, v.operands[1]);
}

// A Conv of a dequantised activation and dequantised weights.
bool is_quantised_convolution(const State& s, int value) {
  const Value& v = s.at(value);
  return v.form == Form::Expression && v.node->op_type() == "Conv" &&
         is_dequantised_activation(s, v.operands[0]) && is_dequantised_constant(s, v.operands[1]);
}

// The bias among the operands of a convolution; -1: none.
int bias_operand(const State& s, int convolution) {
  const std::vector<int>& operands = s.at(convolution).operands;
  return operands.size() > 2 ? operands[2] : -1;
}

// What a constant adds to each channel of a map; nothing where it depends on rows or columns.
std::optional<std::vector<float>> values_of_channels(State& s, int value, const Shape& map) {
  if (!is_constant_value(s, value)) return std::nullopt;
  Shape shape = s.at(value).shape;
  if (shape.size() < map.size()) shape.insert(shape.begin(), map.size() - shape.size(), 1);
  if (shape != Shape{1, map[1], 1, 1}) return std::nullopt;
  return real_values(s, value);
}

// A convolution whose channels are multiplied by factors (empty: 1) and to which offsets are added, in the place of its bias.
int scaled_conv(State& s, int convolution, Op op, const std::vector<float>& factors,
                const std::vector<float>& offsets, const Scales& out) {
  const std::vector<int> x = s.at(convolution).operands;
  const Node& node = *s.at(convolution).node;
  const int bias_value = add_constant(s, "", Constant::of(offsets, {int(offsets.size())}));
  WeightedOperands operands{scaled_input(s, x[0]), weights_of(s, x[1]), {bias_value}, out};
  const Constant scaled = factors.empty() ? Constant{} : scale_channels(s, operands.weights, factors);
  if (!factors.empty()) operands.weights.values = &scaled;
  return conv(s, node, std::move(op), operands);
}

// The parameters of a function of one value.
void set_function(const Node& node, Op& op) {
  const std::string& kind = node.op_type();
  op.kind = OpKind::Table;
  if (kind == "LeakyRelu") {
    op.function = Function::LeakyRelu;
    op.alpha = real(node, "alpha", 0.01F);
  } else if (kind == "HardSigmoid") {
    op.function = Function::HardSigmoid;
    op.alpha = real(node, "alpha", 0.2F);
    op.beta = real(node, "beta", 0.5F);
  } else if (kind == "Sigmoid") {
    op.function = Function::Sigmoid;
  } else {
    op.function = Function::Tanh;
  }
}

}  // namespace

void move_operands_before_dequantising(State& s, int value) {
  const Value& v = s.at(value);
  if (v.form != Form::Expression) return;
  const std::string& kind = v.node->op_type();
  const std::vector<int> operands = v.operands;
  if (kind == "Add" || kind == "BatchNormalization") {
    for (const int operand : operands) move_operands_before_dequantising(s, operand);
  } else if (is_reshape(kind)) {
    move_operands_before_dequantising(s, operands[0]);
  } else if (kind == "Conv" || kind.ends_with("Pool")) {
    move_before_dequantising(s, operands[0]);
  } else if (kind == "Gemm" || kind == "MatMul") {
    try {
      move_before_dequantising(s, operands[0]);
    } catch (const Unsupported&) {
      return;  // a product on the host
    }
  }
}

int fuse(State& s, int value, const Op& op, const Scales& out) {
  const Value& v = s.at(value);
  if (is_dequantised_activation(s, value)) return requantise(s, activation_of(s, value), v.shape, op, out);
  if (v.form != Form::Expression) return kNoTensor;
  const Operator& known = operator_of(*v.node);
  return known.fuse == nullptr ? kNoTensor : known.fuse(s, expression_of(s, value), op, out);
}

int fuse_add(State& s, const Expression& e, Op op, const Scales& out) {
  // A product and a constant: a fully connected layer with a bias.
  for (std::size_t i = 0; i < 2; i++) {
    const int product = e.operands[i];
    const int bias = e.operands[1 - i];
    if (!is_quantised_product(s, product) || !is_constant_value(s, bias)) continue;
    const std::vector<int> x = s.at(product).operands;
    const WeightedOperands operands{scaled_input(s, x[0]), weights_of(s, x[1]), bias_of(s, {bias}, 0), out};
    return fully_connected(s, std::move(op), operands, false, e.shape);
  }
  // A convolution and a constant for each channel.
  for (std::size_t i = 0; i < 2; i++) {
    const int product = e.operands[i];
    if (!is_quantised_convolution(s, product) || bias_operand(s, product) >= 0) continue;
    const auto offsets = values_of_channels(s, e.operands[1 - i], s.at(product).shape);
    if (!offsets) continue;
    return scaled_conv(s, product, std::move(op), {}, *offsets, out);
  }
  op.kind = OpKind::Add;
  const std::vector<int> addends = addends_of(s, e.value);
  const bool all = addends.size() >= 2 && addends.size() <= kMaxAddends;
  return fuse_operands(s, e, all ? addends : e.operands, std::move(op), out);
}

// After a convolution its channels' weights take the factors.
int fuse_batch_normalisation(State& s, const Expression& e, Op op, const Scales& out) {
  const int product = e.operands[0];
  if (!is_quantised_convolution(s, product)) return kNoTensor;
  BatchNormalisation normal = batch_normalisation_of(s, e);
  if (const int bias = bias_operand(s, product); bias >= 0) {
    const std::vector<float> before = real_values(s, bias);
    if (before.size() != normal.factor.size()) fail_layer(s, "bias of " + std::to_string(before.size()));
    for (std::size_t i = 0; i < before.size(); i++) normal.offset[i] += before[i] * normal.factor[i];
  }
  return scaled_conv(s, product, std::move(op), normal.factor, normal.offset, out);
}

int fuse_average_pool(State& s, const Expression& e, Op op, const Scales& out) {
  if (!is_dequantised_activation(s, e.operands[0])) return kNoTensor;
  return pool(s, e.node, std::move(op), plain(s, activation_of(s, e.operands[0])), e.shape, out);
}

int fuse_concat(State& s, const Expression& e, Op op, const Scales& out) {
  op.kind = OpKind::Concat;
  op.axis = nhwc_axis(concat_axis(s, e.node, e.shape), e.shape.size());
  for (const int operand : e.operands) {
    if (!is_dequantised_activation(s, operand)) return kNoTensor;
    op.inputs.push_back(plain(s, activation_of(s, operand)));
  }
  return emit_quantised(s, std::move(op), s.layer.name, e.shape, out);
}

// Of an expression whose operands are input, weights and, perhaps, bias.
WeightedOperands weighted_operands(State& s, const Expression& e, const Scales& out) {
  return {scaled_input(s, e.operands[0]), weights_of(s, e.operands[1]), bias_of(s, e.operands, 2), out};
}

int fuse_conv(State& s, const Expression& e, Op op, const Scales& out) {
  if (!is_dequantised_activation(s, e.operands[0]))
    throw Unsupported{"convolutions of quantised values", "a float convolution", kStaticQuantisation};
  return conv(s, e.node, std::move(op), weighted_operands(s, e, out));
}

int fuse_gemm(State& s, const Expression& e, Op op, const Scales& out) {
  const Node& node = e.node;
  const bool plain_product = real(node, "alpha", 1.0F) == 1.0F && real(node, "beta", 1.0F) == 1.0F &&
                             integer(node, "transA", 0) == 0;
  if (!is_dequantised_activation(s, e.operands[0]) || !is_dequantised_constant(s, e.operands[1]) ||
      !plain_product)
    return kNoTensor;
  return fully_connected(s, std::move(op), weighted_operands(s, e, out), integer(node, "transB", 0) != 0,
                         e.shape);
}

int fuse_max_pool(State& s, const Expression& e, Op op, const Scales& out) {
  const int x = e.operands[0];
  if (!is_dequantised_activation(s, x)) return kNoTensor;
  const int in = plain(s, activation_of(s, x));
  const Scales& scales = s.at(x).scales;
  if (scales == out) return pool(s, e.node, std::move(op), in, e.shape, scales);
  return requantise(s, pool(s, e.node, {}, in, e.shape, scales), e.shape, std::move(op), out);
}

int fuse_global_average(State& s, const Expression& e, Op op, const Scales& out) {
  const int x = e.operands[0];
  if (!is_dequantised_activation(s, x)) return kNoTensor;
  const Shape& in = s.at(x).shape;
  op.kind = OpKind::AveragePool;
  op.window = {.kernel_h = in[2], .kernel_w = in[3]};
  op.additions = Additions::InLanes;
  op.inputs = {plain(s, activation_of(s, x))};
  return emit_quantised(s, std::move(op), s.layer.name, e.shape, out);
}

int fuse_move(State& s, const Expression& e, Op op, const Scales& out) {
  const int x = e.operands[0];
  if (!is_dequantised_activation(s, x)) return kNoTensor;
  const auto [in, scales] = scaled_input(s, x);
  const int moved = move(s, e.node, s.at(x).shape, e.part, in, scales);
  return requantise(s, moved, e.shape, std::move(op), out);
}

int fuse_mul(State& s, const Expression& e, Op op, const Scales& out) {
  op.kind = OpKind::Mul;
  return fuse_operands(s, e, e.operands, std::move(op), out);
}

int fuse_reshape(State& s, const Expression& e, Op op, const Scales& out) {
  const int x = e.operands[0];
  if (s.at(x).form == Form::Expression) {  // quantised before it is reshaped
    const int tensor = fuse(s, x, op, out);
    return tensor == kNoTensor ? kNoTensor : reshape(s, tensor, s.at(x).shape, e.shape, out);
  }
  if (!is_dequantised_activation(s, x)) return kNoTensor;
  const auto [in, scales] = scaled_input(s, x);
  const int reshaped = reshape(s, in, s.at(x).shape, e.shape, scales);
  return requantise(s, reshaped, e.shape, std::move(op), out);
}

int fuse_resize(State& s, const Expression& e, Op op, const Scales& out) {
  const int x = e.operands[0];
  if (!is_dequantised_activation(s, x) || text(e.node, "mode", "nearest") == "linear") return kNoTensor;
  const auto [in, scales] = scaled_input(s, x);
  const int resized = resize(s, e.node, s.at(x).shape, in, scales);
  return requantise(s, resized, e.shape, std::move(op), out);
}

int fuse_slice(State& s, const Expression& e, Op op, const Scales& out) {
  return has_steps(s, e.node) ? fuse_pick(s, e, std::move(op), out) : fuse_move(s, e, std::move(op), out);
}

int fuse_sub(State& s, const Expression& e, Op op, const Scales& out) {
  op.kind = OpKind::Sub;
  return fuse_operands(s, e, e.operands, std::move(op), out);
}

int fuse_table(State& s, const Expression& e, Op op, const Scales& out) {
  if (!is_dequantised_activation(s, e.operands[0])) return kNoTensor;
  set_function(e.node, op);
  op.inputs = {plain(s, activation_of(s, e.operands[0]))};
  return emit_quantised(s, std::move(op), s.layer.name, e.shape, out);
}

}  // namespace kaiten::importing::from_onnx
