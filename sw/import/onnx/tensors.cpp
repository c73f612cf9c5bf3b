// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/tensors.h"

#include <cstring>
#include <utility>

#include "import/onnx/rearrange.h"
#include "import/onnx/shuffle.h"

namespace kaiten::importing::from_onnx {

namespace {

std::string host_rank_limit() { return "tensors of rank " + std::to_string(kMaxHostRank) + " at most"; }

int new_tensor(State& s, Tensor tensor) {
  if (tensor.shape.size() > kMaxHostRank)
    throw Unsupported{host_rank_limit(),
                      "'" + tensor.name + "' of rank " + std::to_string(tensor.shape.size())};
  charge_activation(s, checked_elements(tensor.shape, here(s)) * element_bytes(tensor.type));
  if (tensor.shape.size() == 4) tensor.model_layout = Layout::Nchw;
  s.graph.tensors.push_back(std::move(tensor));
  return int(s.graph.tensors.size()) - 1;
}

void require_one_scale(const Scales& scales) {
  if (scales.scale.size() != 1) throw one_scale(std::to_string(scales.scale.size()) + " scales");
}

}  // namespace

void check_batch(const State& s, const Shape& shape) {
  if (shape.size() == 4 && shape[0] != 1 && !s.options.float_models)
    throw one_batch("a batch of " + std::to_string(shape[0]), "export with batch size 1");
}

int new_host_tensor(State& s, const std::string& name, ElementType type, const Shape& shape) {
  Tensor tensor;
  tensor.name = name;
  tensor.type = type;
  tensor.model_type = type;
  tensor.shape = shape;
  return new_tensor(s, std::move(tensor));
}

int new_float_tensor(State& s, const std::string& name, const Shape& shape) {
  return new_host_tensor(s, name, ElementType::Float32, shape);
}

int new_quantised_tensor(State& s, const std::string& name, const Shape& shape, const Scales& scales) {
  require_one_scale(scales);
  if (scales.type != kInt8 && scales.type != kUint8) {
    throw Unsupported{"activations of int8 or uint8", type_name(scales.type),
                      "quantise with QInt8 or QUInt8 activations"};
  }
  check_batch(s, shape);
  if (shape.size() > kMaxHostRank)
    throw Unsupported{host_rank_limit(), "rank " + std::to_string(shape.size())};
  Tensor tensor;
  tensor.name = name;
  tensor.shape = nhwc_shape(shape);
  tensor.quantization = stored(scales);
  tensor.model_type = scales.type == kUint8 ? ElementType::UInt8 : ElementType::Int8;
  return new_tensor(s, std::move(tensor));
}

int float_constant(State& s, const std::string& name, const Shape& shape, const std::vector<float>& values) {
  charge_constant(s, std::int64_t(values.size()) * 4);
  const int index = new_float_tensor(s, name, shape);
  if (values.empty()) fail_layer(s, "a constant is empty");
  std::vector<std::uint8_t>& data = s.tensor(index).data;
  data.resize(values.size() * 4);
  std::memcpy(data.data(), values.data(), data.size());
  return index;
}

int emit(State& s, Op op) {
  const int output = op.output;
  op.name = s.layer_names.unique(s.tensor(output).name);
  if (const auto limit = rank_limit(s.graph, op)) throw Unsupported{*limit};
  if (const auto limit = arithmetic_limit(s.graph, op)) throw Unsupported{*limit};
  s.graph.ops.push_back(std::move(op));
  return output;
}

int emit_quantised(State& s, Op op, const std::string& name, const Shape& shape, const Scales& out) {
  op.output = new_quantised_tensor(s, name, shape, out);
  return emit(s, std::move(op));
}

int emit_float(State& s, Op op, const std::string& name, const Shape& shape) {
  op.output = new_float_tensor(s, name, shape);
  return emit(s, std::move(op));
}

Quantization stored(const Scales& scales) {
  Quantization q;
  q.scale = scales.scale;
  for (const int zero_point : scales.zero_point)
    q.zero_point.push_back(zero_point - (scales.type == kUint8 ? 128 : 0));
  return q;
}

Scales scales_of_tensor(const State& s, int value) {
  const Value& v = s.at(value);
  const Tensor& t = s.tensor(v.tensor);
  return {t.quantization.scale, {t.zero_point() + (v.type == kUint8 ? 128 : 0)}, v.type, 0};
}

Shape model_shape(const State& s, int tensor) { return s.tensor(tensor).model_shape(); }

int plain(State& s, int tensor) { return s.flattened.contains(tensor) ? unflattened(s, tensor) : tensor; }

void keep_flattening(State& s, int from, int to) {
  if (const auto found = s.flattened.find(from); found != s.flattened.end()) s.flattened[to] = found->second;
}

int read_as(State& s, int value, const Scales& scales) {
  settle(s, value);
  const int tensor = s.at(value).tensor;
  require_one_scale(scales);
  if (scales.type != s.at(value).type)
    fail_layer(s, "reads " + type_name(s.at(value).type) + " as " + type_name(scales.type));
  const Quantization wanted = stored(scales);
  Tensor& t = s.tensor(tensor);
  if (s.assumed.erase(tensor) > 0) t.quantization = wanted;
  if (same_quantization(t.quantization, wanted)) return tensor;
  Tensor view = t;
  view.quantization = wanted;
  view.name += "/view";
  Op op;
  op.kind = OpKind::Reshape;
  op.inputs = {tensor};
  op.output = new_tensor(s, std::move(view));
  keep_flattening(s, tensor, op.output);
  return emit(s, std::move(op));
}

int activation_of(State& s, int value) { return read_as(s, s.at(value).source, s.at(value).scales); }

Value quantised_value(int tensor, const Shape& shape, int type) {
  Value value;
  value.form = Form::Quantised;
  value.tensor = tensor;
  value.shape = shape;
  value.type = type;
  return value;
}

}  // namespace kaiten::importing::from_onnx
