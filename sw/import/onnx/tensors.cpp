// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <cstring>

#include "base/error.h"
#include "graph/quantize.h"
#include "import/onnx/importer.h"

namespace kaiten::onnx_import {

int Importer::new_tensor(Tensor tensor) {
  if (tensor.shape.size() > kMaxRank) {
    throw Refused{"tensors of rank 4 at most",
                  "'" + tensor.name + "' of rank " + std::to_string(tensor.shape.size()), ""};
  }
  int64_t elements = 1;
  for (const int dim : tensor.shape) {
    if (dim < 1) fail(here() + "shape " + shape_text(tensor.shape) + ", dimensions must be positive");
    elements *= dim;
    if (elements > kMaxTensorElements) {
      fail(here() + "shape " + shape_text(tensor.shape) + ", limit " + std::to_string(kMaxTensorElements) +
           " elements");
    }
  }
  activation_bytes_ += elements * element_bytes(tensor.type);
  if (activation_bytes_ > kMaxActivationBytes) {
    fail("its activations exceed the limit of " + std::to_string(kMaxActivationBytes) + " bytes");
  }
  if (tensor.shape.size() == 4) tensor.model_layout = Layout::Nchw;
  graph_.tensors.push_back(std::move(tensor));
  return int(graph_.tensors.size()) - 1;
}

int Importer::new_host_tensor(const std::string& name, ElementType type, const Shape& shape) {
  Tensor tensor;
  tensor.name = name;
  tensor.type = type;
  tensor.model_type = type;
  tensor.shape = shape;
  return new_tensor(std::move(tensor));
}

int Importer::new_float_tensor(const std::string& name, const Shape& shape) {
  return new_host_tensor(name, ElementType::Float32, shape);
}

int Importer::new_quantised_tensor(const std::string& name, const Shape& shape, const Scales& scales) {
  if (scales.scale.size() != 1) {
    throw Refused{"one scale per activation tensor", std::to_string(scales.scale.size()) + " scales",
                  "quantise activations per tensor; only weights may be per channel"};
  }
  if (scales.type != kInt8 && scales.type != kUint8) {
    throw Refused{"activations of int8 or uint8", type_name(scales.type),
                  "quantise with QInt8 or QUInt8 activations"};
  }
  check_batch(shape);
  if (shape.size() > kMaxRank)
    throw Refused{"tensors of rank 4 at most", "rank " + std::to_string(shape.size()), ""};
  Tensor tensor;
  tensor.name = name;
  tensor.shape = nhwc_shape(shape);
  tensor.quantization = stored(scales);
  tensor.model_type = scales.type == kUint8 ? ElementType::UInt8 : ElementType::Int8;
  return new_tensor(std::move(tensor));
}

Quantization Importer::stored(const Scales& scales) {
  Quantization q;
  q.scale = scales.scale;
  for (const int zero_point : scales.zero_point)
    q.zero_point.push_back(zero_point - (scales.type == kUint8 ? 128 : 0));
  return q;
}

void Importer::emit(Op op) {
  op.name = layer_names_.unique(graph_.tensors[size_t(op.output)].name);
  check_arithmetic(op);
  graph_.ops.push_back(std::move(op));
}

void Importer::check_arithmetic(const Op& op) const {
  OpParams params;
  try {
    params = op_params(graph_, op, RoundingStyle::LiteRt);
  } catch (const InputError&) {
    throw Refused{"requantisation factors below 2^30",
                  "input, weight and output scales that give a larger one",
                  "the scales of this layer look damaged"};
  }
  const AccumulatorRange range = accumulator_range(graph_, op, params);
  if (range.fits_int32()) return;
  throw Refused{"accumulators of 32 bits for every input, -2147483648 to 2147483647",
                std::to_string(range.min) + " to " + std::to_string(range.max) + " in the worst case", ""};
}

int Importer::plain(int tensor) const {
  if (flattened_.contains(tensor)) {
    throw Refused{"flattened maps feed fully connected layers only", "layer '" + layer_ + "' reads one",
                  "pool to one pixel before flattening"};
  }
  return tensor;
}

int Importer::read_as(int value, const Scales& scales) {
  require_not_regrouped(value);
  const int tensor = at(value).tensor;
  if (scales.scale.size() != 1) {
    throw Refused{"one scale per activation tensor", std::to_string(scales.scale.size()) + " scales",
                  "quantise activations per tensor; only weights may be per channel"};
  }
  if (scales.type != at(value).type)
    fail(here() + "reads " + type_name(at(value).type) + " as " + type_name(scales.type));
  const Quantization wanted = stored(scales);
  Tensor& t = graph_.tensors[size_t(tensor)];
  if (assumed_.erase(tensor) > 0) t.quantization = wanted;
  if (t.quantization.scale == wanted.scale && t.quantization.zero_point == wanted.zero_point) return tensor;
  Tensor view = t;
  view.quantization = wanted;
  view.name += "/view";
  Op op;
  op.kind = OpKind::Reshape;
  op.inputs = {tensor};
  op.output = new_tensor(std::move(view));
  const int output = op.output;
  if (flattened_.contains(tensor)) flattened_[output] = flattened_[tensor];
  emit(std::move(op));
  return output;
}

Value Importer::quantised_value(int tensor, const Shape& shape, int type) const {
  Value value;
  value.form = Form::Quantised;
  value.tensor = tensor;
  value.shape = shape;
  value.type = type;
  return value;
}

void Importer::charge(int64_t bytes) {
  float_budget_ -= bytes;
  if (float_budget_ < 0)
    fail("its constants add up to more than " + std::to_string(kMaxFloatBytes) + " times the file");
}

Shape Importer::model_shape(int tensor) const { return graph_.tensors[size_t(tensor)].model_shape(); }

Scales Importer::scales_of_tensor(int value) {
  const Tensor& t = graph_.tensors[size_t(at(value).tensor)];
  return {t.quantization.scale, {t.zero_point() + (at(value).type == kUint8 ? 128 : 0)}, at(value).type, 0};
}

int Importer::float_constant(const std::string& name, const Shape& shape, const std::vector<float>& values) {
  charge(int64_t(values.size()) * 4);
  const int index = new_float_tensor(name, shape);
  Tensor& tensor = graph_.tensors[size_t(index)];
  tensor.data.resize(values.size() * 4);
  if (values.empty()) fail(here() + "a constant is empty");
  std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return index;
}

}  // namespace kaiten::onnx_import
