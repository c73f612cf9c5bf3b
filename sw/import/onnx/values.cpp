// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/values.h"

#include <map>

#include "import/common/text.h"
#include "import/import.h"

namespace kaiten::importing::from_onnx {

const char* const kStaticQuantisation = "quantise it first: kaiten quantize MODEL --calibrate IMAGES";

std::string type_name(int type) {
  static const std::map<int, std::string> kNames = {
      {kFloat, "float32"}, {kUint8, "uint8"}, {kInt8, "int8"}, {4, "uint16"}, {5, "int16"},
      {kInt32, "int32"},   {kInt64, "int64"}, {8, "string"},   {9, "bool"},   {10, "float16"},
      {11, "double"},      {16, "bfloat16"},  {21, "uint4"},   {22, "int4"}};
  const auto found = kNames.find(type);
  return found == kNames.end() ? "type " + std::to_string(type) : found->second;
}

std::int64_t elements_of(const Shape& shape) {
  std::int64_t product = 1;
  for (const int dim : shape) product *= dim;
  return product;
}

Shape nhwc_shape(const Shape& s) { return s.size() == 4 ? Shape{s[0], s[2], s[3], s[1]} : s; }

int nhwc_axis(int axis, std::size_t rank) {
  constexpr int kPlace[] = {0, 3, 1, 2};
  return rank == 4 ? kPlace[axis] : axis;
}

Constant read_constant(const onnx::TensorProto& tensor) {
  const std::string named = "tensor '" + clean_name(tensor.name()) + "'";
  Constant c;
  c.type = tensor.data_type();
  if (tensor.dims_size() > 8) fail(named + " has rank " + std::to_string(tensor.dims_size()));
  std::int64_t elements = 1;
  for (const std::int64_t dim : tensor.dims()) {
    if (dim < 0 || dim > kMaxTensorElements) fail(named + " has a dimension of " + std::to_string(dim));
    elements *= dim;
    if (elements > kMaxTensorElements) fail(named + " has too many elements");
    c.shape.push_back(int(dim));
  }
  const bool known = c.type == kFloat || c.type == kUint8 || c.type == kInt8 || c.type == kInt32 ||
                     c.type == kInt64 || c.type == 9;
  if (!known) {
    c.bytes.clear();
    return c;  // refused where it is used
  }
  const std::size_t bytes = std::size_t(elements) * Constant::width(c.type);
  if (tensor.has_raw_data()) {
    if (tensor.raw_data().size() != bytes) {
      fail(named + " needs " + std::to_string(bytes) + " bytes, has " +
           std::to_string(tensor.raw_data().size()));
    }
    c.bytes.assign(tensor.raw_data().begin(), tensor.raw_data().end());
    return c;
  }
  const std::int64_t stored = c.type == kFloat   ? tensor.float_data_size()
                              : c.type == kInt64 ? tensor.int64_data_size()
                                                 : tensor.int32_data_size();
  if (stored != elements) {
    fail(named + " needs " + std::to_string(elements) + " values, has " + std::to_string(stored));
  }
  c.bytes.resize(bytes);
  for (int i = 0; i < int(elements); i++) {
    std::uint8_t* to = c.bytes.data() + std::size_t(i) * Constant::width(c.type);
    if (c.type == kFloat) {
      const float value = tensor.float_data(i);
      std::memcpy(to, &value, sizeof(value));
    } else if (c.type == kInt64) {
      const std::int64_t value = tensor.int64_data(i);
      std::memcpy(to, &value, sizeof(value));
    } else if (c.type == kInt32) {
      const std::int32_t value = tensor.int32_data(i);
      std::memcpy(to, &value, sizeof(value));
    } else {
      *to = std::uint8_t(tensor.int32_data(i));
    }
  }
  return c;
}

}  // namespace kaiten::importing::from_onnx
