// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/tflite/constants.h"

#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "import/tflite/operators.h"
#include "import/tflite/tensors.h"

namespace kaiten::importing::from_tflite {

namespace {

using Bytes = fb::Vector<std::uint8_t>;

// The values of a constant; refuses tensors that are computed or live outside the file. Empty pointer:
// refused.
const Bytes* constant_data(State& s, int index, const char* role, tflite::TensorType type,
                           std::int64_t elements) {
  const std::string named = std::string(role) + " '" + s.tensor_name(index) + "'";
  const tflite::TensorType found = s.file_tensor(index).type();
  if (found != type) {
    refuse(s, {std::string(role) + " of " + type_name(type), named + " of " + type_name(found)});
    return nullptr;
  }
  const tflite::Buffer& buffer = buffer_of(s, index);
  if (buffer.offset() > 1) {
    refuse(s, {"constants inside the flatbuffer", named + " stored after it"});
    return nullptr;
  }
  if (!has_data(s, index)) {
    refuse(s, {"constant " + std::string(role), named + " is computed at run time"});
    return nullptr;
  }
  const bool one_byte = type == tflite::TensorType::INT8 || type == tflite::TensorType::UINT8;
  const std::int64_t bytes = elements * (one_byte ? 1 : 4);
  if (std::int64_t(buffer.data()->size()) != bytes) {
    fail_layer(s, named + " needs " + std::to_string(bytes) + " bytes, its buffer has " +
                      std::to_string(buffer.data()->size()));
  }
  return buffer.data();
}

bool is_uint8(const State& s, int index) { return s.file_tensor(index).type() == tflite::TensorType::UINT8; }

// int8, or uint8 where the file has that.
tflite::TensorType byte_type(const State& s, int index) {
  return is_uint8(s, index) ? tflite::TensorType::UINT8 : tflite::TensorType::INT8;
}

// The bytes of an int8 or uint8 constant as int8.
void copy_int8(State& s, int index, const Bytes& data, Tensor& tensor) {
  charge_constant(s, std::int64_t(data.size()));
  tensor.data.assign(data.begin(), data.end());
  if (!is_uint8(s, index)) return;
  for (std::uint8_t& value : tensor.data) value ^= 0x80;
}

bool check_weight_axis(State& s, const Tensor& tensor, const Shape& shape, int axis) {
  const Quantization& q = tensor.quantization;
  if (!q.per_channel()) return true;
  if (q.axis != axis) {
    refuse(s, {"weight scales along dimension " + std::to_string(axis),
               "'" + tensor.name + "' has them along dimension " + std::to_string(q.axis)});
    return false;
  }
  const int channels = shape[std::size_t(axis)];
  if (q.scale.size() != std::size_t(channels)) {
    fail_layer(s, "weights '" + tensor.name + "' have " + std::to_string(q.scale.size()) + " scales for " +
                      std::to_string(channels) + " channels");
  }
  return true;
}

// A zero point other than 0 (128 of uint8) is per tensor only.
bool check_weight_zero_points(State& s, int index, const Quantization& quantization) {
  const int middle = is_uint8(s, index) ? 128 : 0;
  for (const std::int32_t zero_point : quantization.zero_point) {
    if (zero_point == middle || !quantization.per_channel()) continue;
    refuse(s, {"weights per channel with zero point " + std::to_string(middle),
               "'" + s.tensor_name(index) + "' with zero point " + std::to_string(zero_point),
               "quantise weights symmetrically, or per tensor"});
    return false;
  }
  return true;
}

// Weights: int8 per tensor or per output channel along `axis`, or uint8 per tensor.
bool import_weights(State& s, int index, const Shape& expected, int axis) {
  Tensor& tensor = s.tensor(index);
  const std::optional<Shape> shape = read_shape(s, index);
  if (!shape) return false;
  if (*shape != expected)
    fail_layer(s, "weights have shape " + shape_text(*shape) + ", expected " + shape_text(expected));
  if (s.file_tensor(index).sparsity() != nullptr) {
    refuse(s, {"dense weights", "sparse weights '" + tensor.name + "'"});
    return false;
  }
  const std::int64_t elements = check_shape(s, index, expected);
  const Bytes* data = constant_data(s, index, "weights", byte_type(s, index), elements);
  if (data == nullptr) return false;
  if (tensor.is_constant()) return check_weight_axis(s, tensor, expected, axis);  // shared by several layers

  Quantization quantization;
  if (!read_quantization(s, index, quantization)) {
    if (quantization.empty()) {
      refuse(s, {"quantised weights", "'" + tensor.name + "' without scales",
                 "convert with full integer quantisation"});
    }
    return false;
  }
  if (!check_weight_zero_points(s, index, quantization)) return false;
  tensor.type = ElementType::Int8;
  tensor.shape = expected;
  tensor.quantization = std::move(quantization);
  shift_zero_point(s, index, tensor);
  copy_int8(s, index, *data, tensor);
  return check_weight_axis(s, tensor, expected, axis);
}

// Bias: int32, one per output channel. Its scale is the product of the others by definition and is not read.
bool import_bias(State& s, int index, int channels) {
  check_index(s, index, "bias");
  Tensor& tensor = s.tensor(index);
  if (stated_shape(s, index) != Shape{channels})
    fail_layer(s, "bias '" + tensor.name + "' does not have " + std::to_string(channels) + " elements");
  const Bytes* data = constant_data(s, index, "bias", tflite::TensorType::INT32, channels);
  if (data == nullptr) return false;
  if (tensor.is_constant()) return true;  // shared by several layers
  charge_constant(s, std::int64_t(data->size()));
  tensor.type = ElementType::Int32;
  tensor.shape = {channels};
  tensor.data.assign(data->begin(), data->end());
  return true;
}

bool import_float_constant(State& s, int index) {
  Tensor& tensor = s.tensor(index);
  if (tensor.is_constant()) return true;
  const std::optional<Shape> shape = read_shape(s, index);
  if (!shape) return false;
  const Bytes* data =
      constant_data(s, index, "operand", tflite::TensorType::FLOAT32, check_shape(s, index, *shape));
  if (data == nullptr) return false;
  charge_constant(s, std::int64_t(data->size()));
  tensor.type = tensor.model_type = ElementType::Float32;
  tensor.shape = *shape;
  tensor.data.assign(data->begin(), data->end());
  return true;
}

}  // namespace

std::vector<int> import_numbers(State& s, int index, const char* role) {
  constexpr std::int64_t kMost = 64;
  check_index(s, index, role);
  if (const Folded* folded = folded_integers(s, index)) {
    if (folded->values.empty()) fail_layer(s, std::string(role) + " without values");
    std::vector<int> values;
    for (const std::int64_t v : folded->values) {
      if (v < std::numeric_limits<int>::min() || v > std::numeric_limits<int>::max())
        fail_layer(s, std::string(role) + " of " + std::to_string(v));
      values.push_back(int(v));
    }
    return values;
  }
  const std::optional<Shape> shape = stated_shape(s, index);
  const std::int64_t count = shape ? check_shape(s, index, *shape) : 1;
  if (count > kMost) {
    fail_layer(
        s, std::string(role) + " '" + s.tensor_name(index) + "' has " + std::to_string(count) + " values");
  }
  const Bytes* data = constant_data(s, index, role, tflite::TensorType::INT32, count);
  std::vector<int> values;
  if (data == nullptr) return values;
  for (std::int64_t i = 0; i < count; i++)
    values.push_back(fb::ReadScalar<std::int32_t>(data->Data() + std::size_t(i) * 4));
  return values;
}

bool import_constant_operand(State& s, int index) {
  if (s.file_tensor(index).type() == tflite::TensorType::FLOAT32) return import_float_constant(s, index);
  Tensor& tensor = s.tensor(index);
  const std::optional<Shape> shape = read_shape(s, index);
  if (!shape) return false;
  const std::int64_t elements = check_shape(s, index, *shape);
  const Bytes* data = constant_data(s, index, "operand", byte_type(s, index), elements);
  if (data == nullptr) return false;
  Quantization quantization = tensor.quantization;  // of a constant that another layer reads too
  if (!tensor.is_constant()) read_quantization(s, index, quantization);
  if (quantization.scale.size() != 1) {
    refuse(s, {"operands with one scale and zero point",
               "'" + tensor.name + "' with " + std::to_string(quantization.scale.size()) + " scales"});
    return false;
  }
  if (tensor.is_constant()) return true;
  tensor.type = ElementType::Int8;
  tensor.shape = *shape;
  tensor.quantization = std::move(quantization);
  copy_int8(s, index, *data, tensor);
  shift_zero_point(s, index, tensor);
  return true;
}

Shape weights_shape(const State& s, const Node& node, std::size_t rank, const char* rank_text) {
  const int index = node.inputs()->Get(1);
  check_index(s, index, "weights");
  std::optional<Shape> shape = stated_shape(s, index);
  if (!shape || shape->size() != rank)
    fail_layer(s, "weights must have " + std::string(rank_text) + " dimensions");
  check_shape(s, index, *shape);
  return *std::move(shape);
}

bool import_weights_and_bias(State& s, const Node& node, Op& op, const Shape& weights, int axis,
                             fb::uoffset_t bias) {
  op.weights = node.inputs()->Get(1);
  bool good = import_weights(s, op.weights, weights, axis);
  if (node.inputs()->size() > bias && node.inputs()->Get(bias) != kNoTensor) {
    op.bias = node.inputs()->Get(bias);
    good = import_bias(s, op.bias, weights[std::size_t(axis)]) && good;
  }
  return good;
}

}  // namespace kaiten::importing::from_tflite
