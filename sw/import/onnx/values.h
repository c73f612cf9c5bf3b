// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What the values of an ONNX model are while it is imported.
#ifndef KAITEN_IMPORT_ONNX_VALUES_H
#define KAITEN_IMPORT_ONNX_VALUES_H

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "import/common/channel_shuffle.h"
#include "import/common/shapes.h"
#include "import/onnx/attributes.h"
#include "onnx.pb.h"

namespace kaiten::importing::from_onnx {

// Types of TensorProto.
enum : int { kFloat = 1, kUint8 = 2, kInt8 = 3, kInt32 = 6, kInt64 = 7 };
std::string type_name(int type);  // "float32"

// The way out for float models and dynamic quantisation.
extern const char* const kStaticQuantisation;

std::int64_t elements_of(const Shape& shape);
// Rank 4 from NCHW to NHWC; other ranks stay.
Shape nhwc_shape(const Shape& s);
// The same dimension of a shape of this rank in NHWC order.
int nhwc_axis(int axis, std::size_t rank);

// Copy of a TensorProto. Types the importer does not know have no bytes: they are refused where they are
// used.
struct Constant {
  int type = kFloat;
  Shape shape;  // dimensions may be 0
  std::vector<std::uint8_t> bytes;

  // Of float, or std::int64_t.
  template <typename T>
  static Constant of(const std::vector<T>& values, const Shape& shape) {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, std::int64_t>);
    Constant c{std::is_same_v<T, float> ? kFloat : kInt64, shape, {}};
    c.bytes.resize(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(c.bytes.data(), values.data(), c.bytes.size());
    return c;
  }

  std::size_t size() const { return bytes.size() / width(type); }
  static std::size_t width(int type) { return type == kInt64 ? 8 : type == kFloat || type == kInt32 ? 4 : 1; }

  template <typename T>
  T read(std::size_t i) const {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    return value;
  }
  std::int64_t integer(std::size_t i) const {
    switch (type) {
      case kInt64:
        return read<std::int64_t>(i);
      case kInt32:
        return read<std::int32_t>(i);
      case kInt8:
        return read<std::int8_t>(i);
      default:
        return bytes[i];
    }
  }
  float real(std::size_t i) const { return type == kFloat ? read<float>(i) : float(integer(i)); }
};

// Scales and zero points as a node states them, in the model's own type.
struct Scales {
  std::vector<float> scale;
  std::vector<int> zero_point;  // as many as scales
  int type = kInt8;             // of the quantised values
  int axis = 0;

  bool operator==(const Scales& o) const {
    return scale == o.scale && zero_point == o.zero_point && type == o.type;
  }
};

// A quantised map on its way through a channel shuffle.
struct MapRegrouping : Regrouping {
  Scales scales;          // of the map
  Shape shape;            // of the map
  bool finished = false;  // reshaped again
};

// Every value is one of: a constant; a quantised tensor of the graph; a quantised map between the reshapes of
// a channel shuffle; or a float value that is not computed yet (a model input, a dequantised value, or an
// operator on such).
struct Value {
  enum class Form : std::uint8_t {
    Unsupported,
    Constant,
    Quantised,
    Regrouped,
    FloatInput,
    Dequantised,
    Expression
  };

  Form form = Form::Unsupported;
  std::string name;
  Shape shape;                 // model order
  Constant constant;           // Constant
  int tensor = -1;             // Quantised: in the graph; others: once they are float tensors of the graph
  int type = kInt8;            // Quantised, Regrouped
  int source = -1;             // Dequantised: the Quantised, Regrouped or Constant value
  Scales scales;               // Dequantised, Regrouped
  MapRegrouping regrouping;    // Regrouped
  const Node* node = nullptr;  // Expression
  std::vector<int> operands;   // Expression: values, -1 for an absent one
  int part = 0;                // Expression: which output of the node
  int depth = 0;
};

// Throws InputError where the data does not fit the shape.
Constant read_constant(const onnx::TensorProto& tensor);

// Of a layer: the constant and its scales.
struct Weights {
  const Constant* values = nullptr;
  Scales scales;
  std::string name;
};

struct Bias {
  int value = -1;  // a constant: int32, or dequantised, or float; -1: none
};

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_VALUES_H
