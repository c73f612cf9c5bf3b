// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/tflite/tensors.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace kaiten::importing::from_tflite {

namespace {

// Element i of a vector of 64-bit integers; files need not align them.
std::int64_t int64_at(const fb::Vector<std::int64_t>& values, fb::uoffset_t i) {
  std::int64_t value = 0;
  std::memcpy(&value, values.Data() + std::size_t(i) * sizeof(value), sizeof(value));
  return fb::EndianScalar(value);
}

std::string quoted(const State& s, int index) { return "'" + s.tensor_name(index) + "'"; }

void refuse_activation_type(State& s, int index) {
  refuse(s, {"int8 activations", type_name(s.file_tensor(index).type()),
             "convert with full integer quantisation: a representative dataset, TFLITE_BUILTINS_INT8"});
}

// Of an activation; empty, and kept in mind, where the file leaves it out.
std::optional<Shape> activation_shape(State& s, int index) {
  if (s.reads_inputs || states_shape(s, index)) return read_shape(s, index);
  s.open.insert(index);
  return Shape{};
}

bool convert_activation(State& s, int index) {
  const tflite::Tensor& source = s.file_tensor(index);
  Tensor& tensor = s.tensor(index);
  const std::string named = quoted(s, index);
  if (source.is_variable()) {
    refuse(s, {"networks without state", "variable tensor " + named});
    return false;
  }
  if (source.type() != tflite::TensorType::INT8 && source.type() != tflite::TensorType::UINT8) {
    refuse_activation_type(s, index);
    return false;
  }
  const std::optional<Shape> shape = activation_shape(s, index);
  if (!shape) return false;
  tensor.type = ElementType::Int8;
  tensor.shape = *shape;
  charge_activation(s, std::int64_t(tensor.elements()), " at tensor " + named);
  if (!read_quantization(s, index, tensor.quantization)) {
    if (source.quantization() == nullptr || tensor.quantization.empty()) {
      refuse(s, {"quantised activations", named + " without scale and zero point",
                 "convert with full integer quantisation"});
    }
    return false;
  }
  if (tensor.quantization.per_channel()) {
    refuse(s, one_scale(named + " with " + std::to_string(tensor.quantization.scale.size()) + " scales"));
    return false;
  }
  shift_zero_point(s, index, tensor);
  return true;
}

void check_written_once(const State& s, int index) {
  if (s.status_of(index) != Status::Untouched)
    fail_layer(s, "tensor " + quoted(s, index) + " is written twice");
}

}  // namespace

std::string file_name(const fb::String* text) {
  if (text == nullptr) return {};
  const std::string_view joined = text->string_view();
  return clean_name(joined.substr(0, joined.find(';')));
}

std::string type_name(tflite::TensorType type) {
  const std::string name = tflite::EnumNameTensorType(type);
  return name.empty() ? "type " + std::to_string(int(type)) : name;
}

void check_index(const State& s, int index, const char* role) {
  if (index >= 0 && fb::uoffset_t(index) < s.tensors->size()) return;
  fail(std::string(role) + " tensor " + std::to_string(index) + " out of range: the file has " +
       std::to_string(s.tensors->size()));
}

bool is_of_file(const State& s, int index) { return fb::uoffset_t(index) < s.tensors->size(); }

const tflite::Buffer& buffer_of(const State& s, int index) {
  const std::uint32_t buffer = s.file_tensor(index).buffer();
  if (buffer >= s.model.buffers()->size()) {
    fail("tensor " + quoted(s, index) + " uses buffer " + std::to_string(buffer) + " of " +
         std::to_string(s.model.buffers()->size()));
  }
  return *s.model.buffers()->Get(buffer);
}

bool has_data(const State& s, int index) {
  const tflite::Buffer& buffer = buffer_of(s, index);
  return buffer.offset() > 1 || (buffer.data() != nullptr && buffer.data()->size() > 0);
}

std::optional<Shape> stated_shape(const State& s, int index) {
  const auto* dims = s.file_tensor(index).shape();
  if (dims == nullptr) return std::nullopt;
  return Shape(dims->begin(), dims->end());
}

std::int64_t check_shape(const State& s, int index, const Shape& shape) {
  return checked_elements(shape, "tensor " + quoted(s, index) + " has ");
}

bool states_shape(const State& s, int index) {
  const auto* dims = s.file_tensor(index).shape();
  if (dims == nullptr || dims->size() == 0) return false;
  const auto* signature = s.file_tensor(index).shape_signature();
  const bool fits = signature != nullptr && signature->size() == dims->size();
  for (fb::uoffset_t i = 1; fits && i < signature->size(); i++) {
    if (signature->Get(i) < 0) return false;
  }
  return true;
}

void infer_shape(State& s, int index, const Shape& shape) {
  s.open.erase(index);
  check_shape(s, index, shape);
  if (shape.size() > kMaxHostRank) fail_layer(s, "makes " + shape_text(shape));
  Tensor& tensor = s.tensor(index);
  tensor.shape = shape;
  charge_activation(s, std::int64_t(tensor.bytes()));
}

namespace {

// Whether the file leaves the first dimension open, and states another size than `shape` for that alone.
bool differs_where_open(const State& s, int index, const Shape& shape) {
  Shape stated = s.tensor(index).shape;
  if (stated == shape || stated.size() != shape.size() || !is_of_file(s, index)) return false;
  const auto* signature = s.file_tensor(index).shape_signature();
  if (signature == nullptr || signature->size() != shape.size() || signature->Get(0) >= 0) return false;
  stated.front() = shape.front();
  return stated == shape;
}

}  // namespace

bool takes_shape(State& s, int index, const Shape& shape) {
  if (s.open.contains(index) || differs_where_open(s, index, shape)) infer_shape(s, index, shape);
  return s.tensor(index).shape == shape;
}

std::optional<Shape> read_shape(State& s, int index) {
  const auto* dims = s.file_tensor(index).shape();
  if (dims == nullptr) return Shape{};
  if (dims->size() > kMaxHostRank) {
    refuse(s, {"tensors of rank " + std::to_string(kMaxHostRank) + " at most",
               quoted(s, index) + " of rank " + std::to_string(dims->size())});
    return std::nullopt;
  }
  const auto* signature = s.file_tensor(index).shape_signature();
  if (signature != nullptr && signature->size() == dims->size()) {
    // The batch may be left open, as converters do; it is 1 here.
    for (fb::uoffset_t i = 1; i < signature->size(); i++) {
      if (signature->Get(i) >= 0) continue;
      refuse(s, {"fixed shapes", quoted(s, index) + " with an open dimension " + std::to_string(i),
                 "convert with a fixed input shape"});
      return std::nullopt;
    }
  }
  Shape shape(dims->begin(), dims->end());
  check_shape(s, index, shape);
  return shape;
}

bool read_quantization(State& s, int index, Quantization& out) {
  const tflite::Quantization* q = s.file_tensor(index).quantization();
  if (q == nullptr || q->scale() == nullptr || q->scale()->size() == 0) return false;
  const std::string named = quoted(s, index);
  if (q->details_type() != 0) {
    refuse(s, {"affine quantisation (scale and zero point)", named + " with custom quantisation details"});
    return false;
  }
  const fb::uoffset_t count = q->scale()->size();
  const bool has_zero_points = q->zero_point() != nullptr && q->zero_point()->size() != 0;
  if (has_zero_points && q->zero_point()->size() != count) {
    fail("tensor " + named + " has " + std::to_string(count) + " scales but " +
         std::to_string(q->zero_point()->size()) + " zero points");
  }
  charge_constant(s, std::int64_t(count) * 8);
  for (fb::uoffset_t i = 0; i < count; i++) {
    const float scale = q->scale()->Get(i);
    if (!(scale > 0.0F) || !std::isfinite(scale))
      fail("tensor " + named + " has scale " + number(scale) + ", scales must be positive and finite");
    const std::int64_t zero_point = has_zero_points ? int64_at(*q->zero_point(), i) : 0;
    if (zero_point < std::numeric_limits<std::int32_t>::min() ||
        zero_point > std::numeric_limits<std::int32_t>::max()) {
      fail("tensor " + named + " has zero point " + std::to_string(zero_point));
    }
    out.scale.push_back(scale);
    out.zero_point.push_back(std::int32_t(zero_point));
  }
  out.axis = q->dimension();
  return true;
}

void shift_zero_point(const State& s, int index, Tensor& tensor) {
  const bool was_uint8 = s.file_tensor(index).type() == tflite::TensorType::UINT8;
  const int offset = was_uint8 ? 128 : 0;
  for (std::int32_t& zero_point : tensor.quantization.zero_point) {
    if (zero_point < offset - 128 || zero_point > offset + 127) {
      fail("tensor '" + tensor.name + "' is " + (was_uint8 ? "uint8" : "int8") + " but has zero point " +
           std::to_string(zero_point));
    }
    zero_point -= offset;
  }
  tensor.model_type = was_uint8 ? ElementType::UInt8 : ElementType::Int8;
}

void produce(State& s, int index) {
  check_written_once(s, index);
  s.status_of(index) = convert_activation(s, index) ? Status::Ready : Status::Unsupported;
}

void produce_float(State& s, int index) {
  check_written_once(s, index);
  s.status_of(index) = Status::Unsupported;
  const std::optional<Shape> shape = activation_shape(s, index);
  if (!shape) return;
  Tensor& tensor = s.tensor(index);
  tensor.type = tensor.model_type = ElementType::Float32;
  tensor.shape = *shape;
  charge_activation(s, std::int64_t(tensor.bytes()));
  s.status_of(index) = Status::Ready;
}

void produce_positions(State& s, int index) {
  check_written_once(s, index);
  s.status_of(index) = Status::Unsupported;
  const tflite::TensorType type = s.file_tensor(index).type();
  if (type != tflite::TensorType::INT32 && type != tflite::TensorType::INT64) {
    refuse(s, {"positions of int32 or int64", quoted(s, index) + " of " + type_name(type)});
    return;
  }
  const std::optional<Shape> shape = activation_shape(s, index);
  if (!shape) return;
  Tensor& tensor = s.tensor(index);
  tensor.type = tensor.model_type =
      type == tflite::TensorType::INT32 ? ElementType::Int32 : ElementType::Int64;
  tensor.shape = *shape;
  charge_activation(s, std::int64_t(tensor.bytes()));
  s.status_of(index) = Status::Ready;
}

}  // namespace kaiten::importing::from_tflite
