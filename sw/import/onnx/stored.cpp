// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/stored.h"

#include <string>
#include <utility>

#include "import/onnx/layers.h"
#include "import/onnx/moves.h"
#include "import/onnx/operands.h"
#include "import/onnx/operators.h"
#include "import/onnx/picks.h"
#include "import/onnx/resize.h"
#include "import/onnx/shapes.h"
#include "import/onnx/shuffle.h"
#include "import/onnx/tensors.h"

namespace kaiten::importing::from_onnx {

Value stored_arg_max(State& s, const Node& node, int) {
  const int source = input(s, node, 0);
  const Shape shape = infer(s, node, {source});
  Value value;
  value.form = Form::FloatInput;  // a tensor of the host
  value.shape = shape;
  value.tensor = arg_max(s, node, s.at(source).shape, plain(s, s.at(source).tensor), s.layer.name, shape);
  return value;
}

Value stored_max_pool(State& s, const Node& node, int) {
  const int source = input(s, node, 0);
  const Scales scales = scales_of_tensor(s, source);
  const Shape shape = infer(s, node, {source});
  const int tensor = pool(s, node, {}, plain(s, s.at(source).tensor), shape, scales);
  return quantised_value(tensor, shape, scales.type);
}

Value stored_move(State& s, const Node& node, int part) {
  const int source = input(s, node, 0);
  const Scales scales = scales_of_tensor(s, source);
  const int moved = move(s, node, s.at(source).shape, part, s.at(source).tensor, scales);
  return quantised_value(moved, model_shape(s, moved), scales.type);
}

Value stored_reshape(State& s, const Node& node, int) {
  const int source = input(s, node, 0);
  const Shape shape = infer(s, node, {source});
  if (const auto regrouping = regroup(s, node, source, shape))
    return regrouped(s, *regrouping, shape, {}, regrouping->scales);
  const Scales scales = scales_of_tensor(s, source);
  const int reshaped = reshape(s, s.at(source).tensor, s.at(source).shape, shape, scales);
  return quantised_value(reshaped, shape, scales.type);
}

Value stored_resize(State& s, const Node& node, int) {
  const int source = input(s, node, 0);
  const Scales scales = scales_of_tensor(s, source);
  const int resized = resize(s, node, s.at(source).shape, s.at(source).tensor, scales);
  return quantised_value(resized, model_shape(s, resized), scales.type);
}

Value stored_transpose(State& s, const Node& node, int) {
  const int source = input(s, node, 0);
  const Shape shape = infer(s, node, {source});
  if (const auto regrouping = regroup(s, node, source, shape))
    return regrouped(s, *regrouping, shape, {}, regrouping->scales);
  return stored_pick(s, node, 0);
}

Value stored_slice(State& s, const Node& node, int part) {
  return has_steps(s, node) ? stored_pick(s, node, part) : stored_move(s, node, part);
}

// The operands' scales are those of the first: the model says nothing else.
Value stored_concat(State& s, const Node& node, int) {
  Operands operands;
  Op op;
  op.kind = OpKind::Concat;
  for (int i = 0; i < node.input_size(); i++) {
    operands.push_back(input(s, node, i));
    if (s.at(operands.back()).form != Form::Quantised) throw Unsupported{"quantised operands", "another one"};
  }
  const Scales scales = scales_of_tensor(s, operands[0]);
  for (const int operand : operands) op.inputs.push_back(plain(s, read_as(s, operand, scales)));
  const Shape shape = concat_shape(s, node, operands);
  op.axis = nhwc_axis(concat_axis(s, node, shape), shape.size());
  return quantised_value(emit_quantised(s, std::move(op), s.layer.name, shape, scales), shape, scales.type);
}

void refuse_stored(const State& s, const Node& node) {
  throw Unsupported{
      "ArgMax, MaxPool, Pad, Resize, Slice, Split, Flatten, Reshape, Squeeze, Unsqueeze, Identity on "
      "quantised values",
      clean_name(node.op_type()) + " on " + type_name(s.at(input(s, node, 0)).type)};
}

}  // namespace kaiten::importing::from_onnx
