// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Tensors of a TensorFlow Lite file: indices, buffers, shapes, quantisation, and the activations of the graph
// that they become.
#ifndef KAITEN_IMPORT_TFLITE_TENSORS_H
#define KAITEN_IMPORT_TFLITE_TENSORS_H

#include <optional>
#include <string>

#include "import/tflite/state.h"

namespace kaiten::importing::from_tflite {

// Converters join the names of all operators they fused with ';': the first one is enough.
std::string file_name(const fb::String* text);
std::string type_name(tflite::TensorType type);  // "INT8"

// InputError where the index is none of the file's; `role`: "weights".
void check_index(const State& s, int index, const char* role);
// Not one that the importer made.
bool is_of_file(const State& s, int index);
const tflite::Buffer& buffer_of(const State& s, int index);
// Whether the tensor is a constant.
bool has_data(const State& s, int index);

// The dimensions as the file states them; nothing where it states none.
std::optional<Shape> stated_shape(const State& s, int index);
// checked_elements() with the tensor's name.
std::int64_t check_shape(const State& s, int index, const Shape& shape);
// Whether the file fixes the shape: some leave it out, or open, for all but the inputs.
bool states_shape(const State& s, int index);
// The shape of an activation that the file leaves out or open.
void infer_shape(State& s, int index, const Shape& shape);
// Likewise `shape` where the file leaves it out, or its first dimension open and states another size for that alone. Whether
// the activation has this shape then.
bool takes_shape(State& s, int index, const Shape& shape);
// The shape of a tensor; nothing after a refusal (rank, dimensions that may change).
std::optional<Shape> read_shape(State& s, int index);

// Copies scales and zero points. False, after a refusal or where there are none, if they cannot be used.
bool read_quantization(State& s, int index, Quantization& out);
// Checks the zero points against the type; uint8 becomes int8 less 128.
void shift_zero_point(const State& s, int index, Tensor& tensor);

// A new activation: graph input or operator output. Refusals name the layer in hand.
void produce(State& s, int index);
// Likewise one of positions, which an ARG_MAX gives: int32 or int64.
void produce_positions(State& s, int index);
// Likewise float32 values, at the ends of the network.
void produce_float(State& s, int index);

}  // namespace kaiten::importing::from_tflite

#endif  // KAITEN_IMPORT_TFLITE_TENSORS_H
