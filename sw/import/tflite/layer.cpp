// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/tflite/layer.h"

#include <optional>
#include <string>

#include "import/common/windows.h"
#include "import/tflite/constants.h"
#include "import/tflite/operators.h"
#include "import/tflite/tensors.h"

namespace kaiten::importing::from_tflite {

bool use_activation(State& s, const Node& node, Op& op, fb::uoffset_t i) {
  const int index = node.inputs()->Get(i);
  if (index == kNoTensor) fail_layer(s, "operand " + std::to_string(i) + " is absent");
  if (s.status_of(index) == Status::Regrouped) complete_regrouping(s, index);
  const Status status = s.status_of(index);
  if (status == Status::Folded) {
    refuse(s, {"quantised operands", "operand '" + s.tensor_name(index) + "' of integers"});
    return false;
  }
  if (status == Status::Real) {
    refuse(s, not_quantised(s, index));
    return false;
  }
  op.inputs.push_back(index);
  if (status == Status::Untouched)
    return import_constant_operand(s, index) && s.status_of(op.output) == Status::Ready;
  return status == Status::Ready && s.status_of(op.output) == Status::Ready;
}

Unsupported not_quantised(const State& s, int index) {
  const std::string named = "'" + s.tensor_name(index) + "'";
  if (s.tensor(index).type == ElementType::Float32)
    return {"float32 values before QUANTIZE and after DEQUANTIZE alone",
            named + " as an operand of " + s.layer.op};
  return {"argmax at the end of the network", "its result " + named + " as an operand"};
}

bool require_int8(State& s, const Op& op) {
  for (const int index : op.inputs) {
    if (s.tensor(index).type == ElementType::Int8) continue;
    refuse(s, not_quantised(s, index));
    return false;
  }
  return true;
}

bool use_input(State& s, const Node& node, Op& op, fb::uoffset_t i) {
  const bool ready = use_activation(s, node, op, i);
  return ready && require_int8(s, op);
}

bool is_clamped(const Node& node) {
  const auto clamps = [](const auto* settings) {
    return settings != nullptr && settings->activation() != tflite::FusedActivation::NONE;
  };
  return clamps(node.options_as_AddOptions()) || clamps(node.options_as_SubOptions()) ||
         clamps(node.options_as_MulOptions()) || clamps(node.options_as_DivOptions());
}

bool import_activation(State& s, Op& op, tflite::FusedActivation activation) {
  switch (activation) {
    case tflite::FusedActivation::NONE:
      op.activation = Activation::None;
      return true;
    case tflite::FusedActivation::RELU:
      op.activation = Activation::Relu;
      return true;
    case tflite::FusedActivation::RELU6:
      op.activation = Activation::Relu6;
      return true;
    case tflite::FusedActivation::RELU_N1_TO_1:
      op.activation = Activation::ReluN1To1;
      return true;
    default:
      break;
  }
  const std::string name = tflite::EnumNameFusedActivation(activation);
  refuse(s, {"fused activations NONE, RELU, RELU6, RELU_N1_TO_1",
             name.empty() ? "activation " + std::to_string(int(activation)) : name});
  return false;
}

bool import_window(State& s, Op& op, tflite::PaddingKind padding, int out_channels,
                   const std::optional<Padding>& pad) {
  const auto by = [](int h, int w) { return std::to_string(h) + "x" + std::to_string(w); };
  Window& w = op.window;
  for (const int side : sides_of(w)) {
    if (side < 1) {
      fail_layer(s, "kernel " + by(w.kernel_h, w.kernel_w) + ", stride " + by(w.stride_h, w.stride_w) +
                        ", dilation " + by(w.dilation_h, w.dilation_w) + ": all must be at least 1");
    }
    if (const auto limit = window_limit(side)) {
      refuse(s, *limit);
      return false;
    }
  }
  const Tensor& input = s.graph.input_of(op);
  const MapSize in = {input.nhwc().h, input.nhwc().w};
  if (pad) {
    w.pad = *pad;
  } else if (padding == tflite::PaddingKind::SAME) {
    w.pad = same_pad(w, in);
  } else if (padding != tflite::PaddingKind::VALID) {
    fail_layer(s, "padding kind " + std::to_string(int(padding)));
  }
  const MapSize out = window_outputs(w, in);
  if (out.rows < 1 || out.columns < 1) {
    fail_layer(
        s, "kernel " + by(w.extent_h(), w.extent_w()) + " does not fit its input " + shape_text(input.shape));
  }
  expect_output(s, op, {1, out.rows, out.columns, out_channels});
  return true;
}

void expect_output(State& s, const Op& op, const Shape& expected) {
  if (takes_shape(s, op.output, expected)) return;
  fail_layer(s, "output has shape " + shape_text(s.graph.output_of(op).shape) + ", expected " +
                    shape_text(expected));
}

bool require_map(State& s, const Op& op) {
  const Shape& shape = s.graph.input_of(op).shape;
  if (shape.size() != 4) fail_layer(s, "input has shape " + shape_text(shape) + ", four dimensions expected");
  if (shape.front() == 1) return true;
  refuse(s, {"windows and resizing over one map",
             "a batch of " + std::to_string(shape.front()) + " inside the network", ""});
  return false;
}

bool expect_same_quantization(State& s, const Op& op, std::size_t i) {
  const Tensor& in = s.graph.input_of(op, i);
  const Tensor& out = s.graph.output_of(op);
  if (same_quantization(in.quantization, out.quantization)) return true;
  const auto text = [](const Tensor& t) {
    return number(double(t.quantization.scale.front())) + "/" + std::to_string(t.zero_point());
  };
  refuse(s, {"equal scale and zero point on both sides", text(in) + " to " + text(out)});
  return false;
}

bool check_arithmetic(State& s, const Op& op) {
  auto limit = arithmetic_limit(s.graph, op);
  if (limit &&
      (s.layer.name.find("lstm") != std::string::npos || s.layer.name.find("LSTM") != std::string::npos))
    limit = {"networks without recurrent layers",
             "an LSTM cell of single operators with scales beyond all accumulators", ""};
  if (limit) refuse(s, *limit);
  return !limit;
}

}  // namespace kaiten::importing::from_tflite
