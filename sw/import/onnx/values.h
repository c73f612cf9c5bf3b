// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What the values of an ONNX model are while it is imported, and the errors of the import.
#ifndef KAITEN_IMPORT_ONNX_VALUES_H
#define KAITEN_IMPORT_ONNX_VALUES_H

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "onnx.pb.h"

namespace kaiten::onnx_import {

constexpr size_t kMaxNameBytes = 120;
constexpr int kMaxRank = 4;
constexpr int64_t kMaxFloatBytes = 8;  // constants turned to float, times the file

// Types of TensorProto.
enum : int { kFloat = 1, kUint8 = 2, kInt8 = 3, kInt32 = 6, kInt64 = 7 };
std::string type_name(int type);  // "float32"

// A damaged file: InputError.
[[noreturn]] void fail(const std::string& what);

// A limit that a sound node breaks.
struct Refused {
  std::string limit;
  std::string value;
  std::string way_out;
};
// The way out for float models and dynamic quantisation.
extern const char* const kStaticQuantisation;

// Names of the file, made fit to be printed in one line.
std::string clean_name(const std::string& text);
std::string number(double value);

using Shape = std::vector<int>;
int64_t elements_of(const Shape& shape);
// Rank 4 from NCHW to NHWC; other ranks stay.
Shape nhwc_shape(const Shape& s);
// The same dimension of a shape of this rank in NHWC order.
int nhwc_axis(int axis, size_t rank);

// Copy of a TensorProto. Types the importer does not know have no bytes: they are refused where they are
// used.
struct Constant {
  int type = kFloat;
  Shape shape;  // dimensions may be 0
  std::vector<uint8_t> bytes;

  size_t size() const { return bytes.size() / width(type); }
  static size_t width(int type) { return type == kInt64 ? 8 : type == kFloat || type == kInt32 ? 4 : 1; }

  template <typename T>
  T read(size_t i) const {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    return value;
  }
  int64_t integer(size_t i) const {
    switch (type) {
      case kInt64:
        return read<int64_t>(i);
      case kInt32:
        return read<int32_t>(i);
      case kInt8:
        return read<int8_t>(i);
      default:
        return bytes[i];
    }
  }
  float real(size_t i) const { return type == kFloat ? read<float>(i) : float(integer(i)); }
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

// A quantised map on its way through a channel shuffle (channel_shuffle.h): reshaped, perhaps transposed.
struct Regrouping {
  int tensor = -1;         // the map
  Scales scales;           // of it
  Shape map;               // its shape
  Shape dims;              // that it was reshaped to
  std::vector<int> order;  // of the transposition; empty: not transposed yet
  bool finished = false;   // reshaped again
};

// Every value is one of: a constant; a quantised tensor of the graph; a quantised map between the reshapes of
// a channel shuffle; or a float value that is not computed yet (a model input, a dequantised value, or an
// operator on such).
struct Value {
  enum class Form : uint8_t { Refused, Constant, Quantised, Regrouped, FloatInput, Dequantised, Expression };

  Form form = Form::Refused;
  std::string name;
  Shape shape;            // model order
  Constant constant;      // Constant
  int tensor = -1;        // Quantised: in the graph; others: once they are float tensors of the graph
  int type = kInt8;       // Quantised, Regrouped
  int source = -1;        // Dequantised: the Quantised, Regrouped or Constant value
  Scales scales;          // Dequantised, Regrouped
  Regrouping regrouping;  // Regrouped
  const onnx::NodeProto* node = nullptr;  // Expression
  std::vector<int> operands;              // Expression: values, -1 for an absent one
  int part = 0;                           // Expression: which output of the node
  int depth = 0;
};

// Throws InputError where the data does not fit the shape.
Constant read_constant(const onnx::TensorProto& tensor);

// What an output of Pad, Slice or Split takes of the input: cells [begin, begin + size) of each dimension;
// begin is negative in front of the map.
struct Box {
  std::vector<int64_t> begin;
  std::vector<int64_t> size;
};

// Of a layer: the constant and its scales.
struct Weights {
  const Constant* values = nullptr;
  Scales scales;
  std::string name;
};

struct Bias {
  int value = -1;  // a constant: int32, or dequantised, or float; -1: none
};

}  // namespace kaiten::onnx_import

#endif  // KAITEN_IMPORT_ONNX_VALUES_H
