// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What the TensorFlow Lite importer knows while it walks the operators of a file, which stand in execution
// order. Every tensor is converted when its producer is met, so a consumer may rely on it. Tensors of the
// graph have the file's indices.
#ifndef KAITEN_IMPORT_TFLITE_STATE_H
#define KAITEN_IMPORT_TFLITE_STATE_H

#include <climits>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "import/common/channel_shuffle.h"
#include "import/common/shapes.h"
#include "import/common/state.h"
// POSIX lets limits.h define it; the schema has an operator of this name.
#undef ARG_MAX

#include "tflite_generated.h"

namespace kaiten::importing::from_tflite {

namespace fb = flatbuffers;
using Node = tflite::OperatorNode;
using Code = tflite::Operator;

// What is known about a tensor of the file.
enum class Status : std::uint8_t {
  Untouched,
  Ready,        // activation, converted and checked
  Unsupported,  // activation, produced but not usable; why stands in the refusals
  Regrouped,    // between the reshapes of a channel shuffle: see State::regrouped
  Folded,       // integers whose values are known: see State::folded
  Real,         // float32 values that no operator of the graph computes: see State::reals
  Spread,       // a batch before or after a convolution that is a dilated one: see State::dilations
};

// Integers that are known: a list, or a single number of rank 0.
struct Folded {
  Shape shape;
  std::vector<std::int64_t> values;
};

// A convolution of the maps of a batch, which are every so many cells of one map: a dilated convolution of that map.
struct Dilation {
  int map = kNoTensor;
  int rows = 1;  // from one cell to the next
  int columns = 1;
  Padding pad;             // added around the map, less what is cut off the result
  int result = kNoTensor;  // the map that the convolution's results become
  int line = kNoTensor;    // of three dimensions: what that map becomes

  int written() const { return line == kNoTensor ? result : line; }  // the tensor of the file
};

// Float32 values that are a function of a quantised activation.
struct Real {
  int source = kNoTensor;       // the activation
  int dequantised = kNoTensor;  // what DEQUANTIZE makes of it
  std::vector<float> values;    // of each stored value, from -128 on
};

struct State : ImportState {
  State(const tflite::Model& model, std::size_t file_bytes, const std::string& name);

  const tflite::Model& model;
  const tflite::SubGraph* subgraph = nullptr;
  const fb::Vector<fb::Offset<tflite::Tensor>>* tensors = nullptr;
  const fb::Vector<fb::Offset<Node>>* operators = nullptr;

  std::vector<Status> status;  // of each tensor
  std::map<int, Regrouping> regrouped;
  std::map<int, Dilation> dilations;           // of the batches that a convolution reads
  std::map<int, Folded> folded;                // computed ones, and constants that were asked for
  std::map<int, Real> reals;                   // what DEQUANTIZE makes, and functions of it
  std::optional<std::map<int, bool>> readers;  // tensors that are read: by TRANSPOSE alone
  std::set<int> open;              // activations of no stated shape: the operator that writes one knows
  bool reads_inputs = true;        // of the network, which must state theirs
  std::map<int, int> activations;  // of constants, where an operator takes nothing else

  Status& status_of(int index) { return status[std::size_t(index)]; }
  Status status_of(int index) const { return status[std::size_t(index)]; }
  const tflite::Tensor& file_tensor(int index) const { return *tensors->Get(fb::uoffset_t(index)); }
  Tensor& tensor(int index) { return graph.tensors[std::size_t(index)]; }
  const Tensor& tensor(int index) const { return graph.tensors[std::size_t(index)]; }
  const std::string& tensor_name(int index) const { return tensor(index).name; }
};

}  // namespace kaiten::importing::from_tflite

#endif  // KAITEN_IMPORT_TFLITE_STATE_H
