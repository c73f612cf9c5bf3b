// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The TensorFlow Lite importer: see import.h for what it promises.
//
// Order of checks: file size and identifier, flatbuffers verifier (all offsets inside the file), then per
// operator in execution order: indices, single production, element types, quantisation, shapes, parameters,
// accumulator range. Every tensor is converted when its producer is met, so a consumer may rely on it.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "base/error.h"
#include "graph/quantize.h"
#include "import/channel_shuffle.h"
#include "import/import.h"
#include "import/layer_names.h"
#include "tflite_generated.h"

namespace kaiten {
namespace {

namespace fb = flatbuffers;

constexpr size_t kMaxNameBytes = 120;
constexpr int kMaxRank = 4;
constexpr fb::uoffset_t kMaxGroupedRank = 8;  // between the reshapes of a channel shuffle
constexpr int64_t kMaxSharing = 16;  // converters store equal constants once, so some of this is honest

[[noreturn]] void fail(const std::string& what) { throw InputError("bad model file: " + what); }

// Names go into one-line messages and tables: no control characters, no quotes, bounded length. Converters
// join the names of all operators they fused with ';': the first one is enough.
std::string clean_name(const fb::String* text) {
  std::string name;
  if (text == nullptr) return name;
  const size_t bytes = std::min<size_t>(text->size(), kMaxNameBytes);
  for (size_t i = 0; i < bytes; i++) {
    const char c = text->c_str()[i];
    if (c == ';') break;
    name += c >= ' ' && c <= '~' && c != '\'' ? c : '?';
  }
  return name;
}

std::string type_name(tflite::TensorType type) {
  const std::string name = tflite::EnumNameTensorType(type);
  return name.empty() ? "type " + std::to_string(int(type)) : name;
}

std::string operator_name(tflite::Operator code) {
  const std::string name = tflite::EnumNameOperator(code);
  return name.empty() ? "operator " + std::to_string(int(code)) : name;
}

template <typename T>
std::string number(T value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

std::string window_text(int h, int w) { return std::to_string(h) + "x" + std::to_string(w); }

// Element i of a vector of 64-bit integers; files need not align them.
int64_t int64_at(const fb::Vector<int64_t>& values, fb::uoffset_t i) {
  int64_t value = 0;
  std::memcpy(&value, values.Data() + size_t(i) * sizeof(value), sizeof(value));
  return fb::EndianScalar(value);
}

class Importer {
 public:
  Importer(const tflite::Model& model, size_t file_bytes, const std::string& name)
      : model_(model), constant_budget_(kMaxSharing * int64_t(file_bytes)) {
    result_.name = name;
    graph_.name = name;
  }

  ImportResult run() {
    open_subgraph();
    import_inputs();
    for (fb::uoffset_t i = 0; i < operators_->size(); i++) import_operator(*operators_->Get(i));
    import_outputs();
    if (result_.refusals.empty()) result_.graph = std::move(graph_);
    return std::move(result_);
  }

 private:
  // What is known about a tensor of the file.
  enum class State : uint8_t {
    Untouched,
    Ready,      // activation, converted and checked
    Refused,    // activation, produced but not usable; why stands in the refusals
    Regrouped,  // between the reshapes of a channel shuffle: see regrouped_
  };

  // A map on its way through a channel shuffle (channel_shuffle.h): reshaped, perhaps transposed.
  struct Regrouping {
    int map = kNoTensor;
    std::vector<int> dims;   // that it was reshaped to
    std::vector<int> order;  // of the transposition; empty: not transposed yet
  };

  // --- refusals --------------------------------------------------------------------------------------------

  void refuse(const std::string& limit, const std::string& value, const std::string& way_out = "") {
    result_.refusals.push_back({layer_, layer_op_, limit, value, way_out});
  }

  // Prefix of messages about an inconsistent layer.
  std::string here() const { return "layer '" + layer_ + "' (" + layer_op_ + "): "; }

  // --- model level -----------------------------------------------------------------------------------------

  void open_subgraph() {
    layer_ = "model";
    if (model_.version() != 3) fail("format version " + number(model_.version()) + ", expected 3");
    if (model_.subgraphs() == nullptr || model_.subgraphs()->size() == 0) fail("no subgraph");
    if (model_.buffers() == nullptr) fail("no buffers");
    if (model_.subgraphs()->size() > 1) {
      refuse("one subgraph", number(model_.subgraphs()->size()) + " subgraphs", "control flow cannot run");
    }
    subgraph_ = model_.subgraphs()->Get(0);
    tensors_ = subgraph_->tensors();
    operators_ = subgraph_->operators();
    if (tensors_ == nullptr || tensors_->size() == 0) fail("no tensors");
    if (operators_ == nullptr || operators_->size() == 0) fail("no operators");
    if (subgraph_->inputs() == nullptr || subgraph_->inputs()->size() == 0) fail("no inputs");
    if (subgraph_->outputs() == nullptr || subgraph_->outputs()->size() == 0) fail("no outputs");
    state_.assign(tensors_->size(), State::Untouched);
    graph_.tensors.resize(tensors_->size());
    for (fb::uoffset_t i = 0; i < tensors_->size(); i++) {
      std::string name = clean_name(tensors_->Get(i)->name());
      graph_.tensors[i].name = name.empty() ? "tensor" + std::to_string(i) : std::move(name);
    }
  }

  void import_inputs() {
    layer_op_ = "INPUT";
    for (const int index : *subgraph_->inputs()) {
      check_index(index, "input");
      layer_ = graph_.tensors[size_t(index)].name;
      if (has_data(index)) fail("input '" + layer_ + "' is a constant");
      produce(index);
      graph_.inputs.push_back(index);
    }
  }

  void import_outputs() {
    layer_op_ = "OUTPUT";
    for (const int index : *subgraph_->outputs()) {
      check_index(index, "output");
      layer_ = graph_.tensors[size_t(index)].name;
      if (state_[size_t(index)] == State::Untouched) fail("output '" + layer_ + "' is never computed");
      if (state_[size_t(index)] == State::Regrouped)
        refuse(kShuffleLimit, "'" + layer_ + "' in between as an output");
      graph_.outputs.push_back(index);
    }
    for (const Op& op : graph_.ops) {
      for (const int input : op.inputs) {
        const auto producer = softmax_outputs_.find(input);
        if (producer == softmax_outputs_.end()) continue;
        if (op.kind == OpKind::ArgMax) continue;
        if (op.kind == OpKind::Reshape || op.kind == OpKind::Quantize) {
          softmax_outputs_[op.output] = producer->second;
        } else {
          layer_ = producer->second;
          layer_op_ = "SOFTMAX";
          refuse("softmax runs on the host, at the end of the network",
                 "its result feeds layer '" + op.name + "'");
        }
      }
    }
  }

  // --- tensors ---------------------------------------------------------------------------------------------

  void check_index(int index, const char* role) const {
    if (index < 0 || fb::uoffset_t(index) >= tensors_->size()) {
      fail(std::string(role) + " tensor " + std::to_string(index) + " out of range: the file has " +
           std::to_string(tensors_->size()));
    }
  }

  const tflite::Tensor& file_tensor(int index) const { return *tensors_->Get(fb::uoffset_t(index)); }
  const std::string& tensor_name(int index) const { return graph_.tensors[size_t(index)].name; }

  const tflite::Buffer& buffer_of(int index) const {
    const uint32_t buffer = file_tensor(index).buffer();
    if (buffer >= model_.buffers()->size()) {
      fail("tensor '" + tensor_name(index) + "' uses buffer " + std::to_string(buffer) + " of " +
           std::to_string(model_.buffers()->size()));
    }
    return *model_.buffers()->Get(buffer);
  }

  bool has_data(int index) const {
    const tflite::Buffer& buffer = buffer_of(index);
    return buffer.offset() > 1 || (buffer.data() != nullptr && buffer.data()->size() > 0);
  }

  // Elements of a shape that is sound and inside the limits; rank and every dimension are checked.
  int64_t check_shape(int index, const std::vector<int>& shape) const {
    int64_t elements = 1;
    for (const int dim : shape) {
      if (dim < 1) {
        fail("tensor '" + tensor_name(index) + "' has shape " + shape_text(shape) +
             ", dimensions must be positive");
      }
      elements *= dim;  // both factors below 2^31
      if (elements > kMaxTensorElements) {
        fail("tensor '" + tensor_name(index) + "' has shape " + shape_text(shape) + ", limit " +
             std::to_string(kMaxTensorElements) + " elements");
      }
    }
    return elements;
  }

  // The shape of a tensor; std::nullopt after a refusal (rank, dimensions that may change).
  std::optional<std::vector<int>> read_shape(int index) {
    const auto* dims = file_tensor(index).shape();
    std::vector<int> shape;
    if (dims == nullptr) return shape;
    if (dims->size() > kMaxRank) {
      refuse("tensors of rank 4 at most", "'" + tensor_name(index) + "' of rank " + number(dims->size()));
      return std::nullopt;
    }
    shape.assign(dims->begin(), dims->end());
    const auto* signature = file_tensor(index).shape_signature();
    if (signature != nullptr && signature->size() == dims->size()) {
      // The batch may be left open, as converters do; it is 1 here.
      for (fb::uoffset_t i = 1; i < signature->size(); i++) {
        if (signature->Get(i) >= 0) continue;
        refuse("fixed shapes", "'" + tensor_name(index) + "' with an open dimension " + std::to_string(i),
               "convert with a fixed input shape");
        return std::nullopt;
      }
    }
    check_shape(index, shape);
    return shape;
  }

  // Copies scales and zero points. False, after a refusal or where there are none, if they cannot be used.
  bool read_quantization(int index, Quantization& out) {
    const tflite::Quantization* q = file_tensor(index).quantization();
    if (q == nullptr || q->scale() == nullptr || q->scale()->size() == 0) return false;
    const std::string named = "'" + tensor_name(index) + "'";
    if (q->details_type() != 0) {
      refuse("affine quantisation (scale and zero point)", named + " with custom quantisation details");
      return false;
    }
    const fb::uoffset_t count = q->scale()->size();
    if (q->zero_point() != nullptr && q->zero_point()->size() != count && q->zero_point()->size() != 0) {
      fail("tensor " + named + " has " + number(count) + " scales but " + number(q->zero_point()->size()) +
           " zero points");
    }
    charge(int64_t(count) * 8);
    for (fb::uoffset_t i = 0; i < count; i++) {
      const float scale = q->scale()->Get(i);
      if (!(scale > 0.0F) || !std::isfinite(scale)) {
        fail("tensor " + named + " has scale " + number(scale) + ", scales must be positive and finite");
      }
      int64_t zero_point = 0;
      if (q->zero_point() != nullptr && q->zero_point()->size() != 0)
        zero_point = int64_at(*q->zero_point(), i);
      if (zero_point < std::numeric_limits<int32_t>::min() ||
          zero_point > std::numeric_limits<int32_t>::max()) {
        fail("tensor " + named + " has zero point " + number(zero_point));
      }
      out.scale.push_back(scale);
      out.zero_point.push_back(int32_t(zero_point));
    }
    out.axis = q->dimension();
    return true;
  }

  // Constants may share a buffer, so copies could add up to far more than the file.
  void charge(int64_t bytes) {
    constant_budget_ -= bytes;
    if (constant_budget_ < 0)
      fail("its constants add up to more than " + number(kMaxSharing) + " times the file");
  }

  // A new activation: graph input or operator output. Refusals name the current layer.
  void produce(int index) {
    State& state = state_[size_t(index)];
    if (state != State::Untouched) fail(here() + "tensor '" + tensor_name(index) + "' is written twice");
    state = convert_activation(index) ? State::Ready : State::Refused;
  }

  bool convert_activation(int index) {
    const tflite::Tensor& source = file_tensor(index);
    Tensor& tensor = graph_.tensors[size_t(index)];
    const std::string named = "'" + tensor.name + "'";
    if (source.is_variable()) {
      refuse("networks without state", "variable tensor " + named);
      return false;
    }
    if (source.type() != tflite::TensorType::INT8 && source.type() != tflite::TensorType::UINT8) {
      refuse_activation_type(index);
      return false;
    }
    const std::optional<std::vector<int>> shape = read_shape(index);
    if (!shape) return false;
    tensor.type = ElementType::Int8;
    tensor.shape = *shape;
    activation_bytes_ += int64_t(tensor.elements());
    if (activation_bytes_ > kMaxActivationBytes) {
      fail("its activations exceed the limit of " + std::to_string(kMaxActivationBytes) +
           " bytes at tensor " + named);
    }
    if (tensor.shape.size() > 1 && tensor.shape.front() != 1) {
      refuse(
          "batch of 1", named + " with a batch of " + std::to_string(tensor.shape.front()),
          "convert the model with batch size 1; kaiten run --batch runs several inputs one after the other");
      return false;
    }
    if (!read_quantization(index, tensor.quantization)) {
      if (file_tensor(index).quantization() == nullptr || tensor.quantization.empty()) {
        refuse("quantised activations", named + " without scale and zero point",
               "convert with full integer quantisation");
      }
      return false;
    }
    if (tensor.quantization.per_channel()) {
      refuse("one scale per activation tensor",
             named + " with " + number(tensor.quantization.scale.size()) + " scales",
             "quantise activations per tensor; only weights may be per channel");
      return false;
    }
    return shift_zero_point(index, tensor);
  }

  // Checks the zero point against the type; uint8 becomes int8 less 128.
  bool shift_zero_point(int index, Tensor& tensor) {
    const bool was_uint8 = file_tensor(index).type() == tflite::TensorType::UINT8;
    const int offset = was_uint8 ? 128 : 0;
    for (int32_t& zero_point : tensor.quantization.zero_point) {
      if (zero_point < offset - 128 || zero_point > offset + 127) {
        fail("tensor '" + tensor.name + "' is " + (was_uint8 ? "uint8" : "int8") + " but has zero point " +
             std::to_string(zero_point));
      }
      zero_point -= offset;
    }
    tensor.model_type = was_uint8 ? ElementType::UInt8 : ElementType::Int8;
    return true;
  }

  // The bytes of an int8 or uint8 constant as int8.
  void copy_int8(int index, const fb::Vector<uint8_t>& data, Tensor& tensor) {
    charge(int64_t(data.size()));
    tensor.data.assign(data.begin(), data.end());
    if (file_tensor(index).type() != tflite::TensorType::UINT8) return;
    for (uint8_t& value : tensor.data) value ^= 0x80;
  }

  // int8, or uint8 where the file has that.
  tflite::TensorType byte_type(int index) const {
    return file_tensor(index).type() == tflite::TensorType::UINT8 ? tflite::TensorType::UINT8
                                                                  : tflite::TensorType::INT8;
  }

  // A quantised constant as an operand of ADD, SUB or MUL.
  bool import_constant_operand(int index) {
    Tensor& tensor = graph_.tensors[size_t(index)];
    if (tensor.is_constant()) return true;  // shared by several layers
    const std::optional<std::vector<int>> shape = read_shape(index);
    if (!shape) return false;
    const auto* data = constant_data(index, "operand", byte_type(index), check_shape(index, *shape));
    if (data == nullptr) return false;
    Quantization quantization;
    if (!read_quantization(index, quantization) || quantization.per_channel()) {
      refuse("operands with one scale and zero point",
             "'" + tensor.name + "' with " + number(quantization.scale.size()) + " scales");
      return false;
    }
    tensor.type = ElementType::Int8;
    tensor.shape = *shape;
    tensor.quantization = std::move(quantization);
    copy_int8(index, *data, tensor);
    return shift_zero_point(index, tensor);
  }

  // The values of an int32 constant: axes, sizes, paddings. Empty after a refusal.
  std::vector<int32_t> import_numbers(int index, const char* role) {
    check_index(index, role);
    const auto* dims = file_tensor(index).shape();
    int64_t count = 1;
    if (dims != nullptr) {
      const std::vector<int> shape(dims->begin(), dims->end());
      count = check_shape(index, shape);
    }
    if (count > 64) fail(here() + role + " '" + tensor_name(index) + "' has " + number(count) + " values");
    const auto* data = constant_data(index, role, tflite::TensorType::INT32, count);
    std::vector<int32_t> values;
    if (data == nullptr) return values;
    for (int64_t i = 0; i < count; i++)
      values.push_back(fb::ReadScalar<int32_t>(data->Data() + size_t(i) * 4));
    return values;
  }

  void refuse_activation_type(int index) {
    const tflite::TensorType type = file_tensor(index).type();
    const std::string value = type_name(type);
    const std::string full_int8 =
        "convert with full integer quantisation: a representative dataset, "
        "TFLITE_BUILTINS_INT8, int8 input and output";
    if (type == tflite::TensorType::FLOAT32 && uses_int8_weights_) {
      refuse("int8 activations", value + " beside int8 weights: dynamic-range quantisation", full_int8);
    } else if (type == tflite::TensorType::FLOAT32 || type == tflite::TensorType::FLOAT16) {
      refuse("int8 activations", value + ": a float model", full_int8);
    } else {
      refuse("int8 activations", value, full_int8);
    }
  }

  // The values of a constant; refuses tensors that are computed or live outside the file. Empty pointer:
  // refused.
  const fb::Vector<uint8_t>* constant_data(int index, const char* role, tflite::TensorType type,
                                           int64_t elements) {
    const std::string named = std::string(role) + " '" + tensor_name(index) + "'";
    if (file_tensor(index).type() != type) {
      refuse(std::string(role) + " of " + type_name(type),
             named + " of " + type_name(file_tensor(index).type()));
      return nullptr;
    }
    const tflite::Buffer& buffer = buffer_of(index);
    if (buffer.offset() > 1) {
      refuse("constants inside the flatbuffer", named + " stored after it");
      return nullptr;
    }
    if (!has_data(index)) {
      refuse("constant " + std::string(role), named + " is computed at run time");
      return nullptr;
    }
    const bool one_byte = type == tflite::TensorType::INT8 || type == tflite::TensorType::UINT8;
    const int64_t bytes = elements * (one_byte ? 1 : 4);
    if (int64_t(buffer.data()->size()) != bytes) {
      fail(here() + named + " needs " + std::to_string(bytes) + " bytes, its buffer has " +
           std::to_string(buffer.data()->size()));
    }
    return buffer.data();
  }

  // Weights: int8 per tensor or per output channel along `axis`, or uint8 per tensor; a zero point other than
  // 0 per tensor only. `expected` is the shape they must have.
  bool import_weights(int index, const std::vector<int>& expected, int axis) {
    check_index(index, "weights");
    Tensor& tensor = graph_.tensors[size_t(index)];
    const std::optional<std::vector<int>> shape = read_shape(index);
    if (!shape) return false;
    if (*shape != expected) {
      fail(here() + "weights have shape " + shape_text(*shape) + ", expected " + shape_text(expected));
    }
    if (file_tensor(index).sparsity() != nullptr) {
      refuse("dense weights", "sparse weights '" + tensor.name + "'");
      return false;
    }
    const int64_t elements = check_shape(index, expected);
    const auto* data = constant_data(index, "weights", byte_type(index), elements);
    if (data == nullptr) return false;
    if (tensor.is_constant()) return check_weight_axis(tensor, expected, axis);  // shared by several layers

    Quantization quantization;
    if (!read_quantization(index, quantization)) {
      if (quantization.empty()) {
        refuse("quantised weights", "'" + tensor.name + "' without scales",
               "convert with full integer quantisation");
      }
      return false;
    }
    for (const int32_t zero_point : quantization.zero_point) {
      const int middle = byte_type(index) == tflite::TensorType::UINT8 ? 128 : 0;
      if (zero_point == middle || !quantization.per_channel()) continue;
      refuse("weights per channel with zero point " + std::to_string(middle),
             "'" + tensor.name + "' with zero point " + std::to_string(zero_point),
             "quantise weights symmetrically, or per tensor");
      return false;
    }
    tensor.type = ElementType::Int8;
    tensor.shape = expected;
    tensor.quantization = std::move(quantization);
    if (!shift_zero_point(index, tensor)) return false;
    copy_int8(index, *data, tensor);
    return check_weight_axis(tensor, expected, axis);
  }

  bool check_weight_axis(const Tensor& tensor, const std::vector<int>& shape, int axis) {
    const Quantization& q = tensor.quantization;
    if (!q.per_channel()) return true;
    if (q.axis != axis) {
      refuse("weight scales along dimension " + std::to_string(axis),
             "'" + tensor.name + "' has them along dimension " + std::to_string(q.axis));
      return false;
    }
    if (q.scale.size() != size_t(shape[size_t(axis)])) {
      fail(here() + "weights '" + tensor.name + "' have " + number(q.scale.size()) + " scales for " +
           std::to_string(shape[size_t(axis)]) + " channels");
    }
    return true;
  }

  // Bias: int32, one per output channel. Its scale is the product of the others by definition and is not
  // read.
  bool import_bias(int index, int channels) {
    check_index(index, "bias");
    Tensor& tensor = graph_.tensors[size_t(index)];
    const auto* dims = file_tensor(index).shape();
    if (dims == nullptr || dims->size() != 1 || dims->Get(0) != channels) {
      fail(here() + "bias '" + tensor.name + "' does not have " + std::to_string(channels) + " elements");
    }
    const auto* data = constant_data(index, "bias", tflite::TensorType::INT32, channels);
    if (data == nullptr) return false;
    if (tensor.is_constant()) return true;  // shared by several layers
    charge(int64_t(data->size()));
    tensor.type = ElementType::Int32;
    tensor.shape = {channels};
    tensor.data.assign(data->begin(), data->end());
    return true;
  }

  // --- operators -------------------------------------------------------------------------------------------

  tflite::Operator code_of(const tflite::OperatorNode& node) const {
    const auto* codes = model_.operator_codes();
    if (codes == nullptr || node.opcode_index() >= codes->size()) {
      fail("operator code " + number(node.opcode_index()) + " out of range");
    }
    const tflite::OperatorCode& code = *codes->Get(node.opcode_index());
    return std::max(code.code(), tflite::Operator(code.deprecated_code()));
  }

  std::string custom_name(const tflite::OperatorNode& node) const {
    return clean_name(model_.operator_codes()->Get(node.opcode_index())->custom_name());
  }

  void import_operator(const tflite::OperatorNode& node) {
    const tflite::Operator code = code_of(node);
    layer_op_ = operator_name(code);
    if (code == tflite::Operator::CUSTOM) layer_op_ += " " + custom_name(node);
    if (node.outputs() == nullptr || node.outputs()->size() == 0)
      fail("an operator " + layer_op_ + " has no output");
    if (node.inputs() == nullptr || node.inputs()->size() == 0)
      fail("an operator " + layer_op_ + " has no input");
    for (const int index : *node.outputs()) check_index(index, "output");
    const int output = node.outputs()->Get(0);
    layer_ = layer_names_.unique(tensor_name(output));
    for (const int index : *node.inputs()) check_operand(index);

    const size_t refusals_before = result_.refusals.size();
    const auto kind = kind_of(code);
    if (!kind) {
      refuse(
          "the operators ADD, ARG_MAX, AVERAGE_POOL_2D, CONCATENATION, CONV_2D, DEPTHWISE_CONV_2D, "
          "FULLY_CONNECTED, "
          "HARD_SWISH, LEAKY_RELU, LOGISTIC, MAX_POOL_2D, MEAN, MUL, PAD, QUANTIZE, RELU, RELU6, RESHAPE, "
          "RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR, SLICE, SOFTMAX, SPLIT, SQUEEZE, STRIDED_SLICE, SUB, "
          "TANH, TRANSPOSE",
          layer_op_,
          code == tflite::Operator::DEQUANTIZE
              ? "convert with int8 input and output (inference_input_type, inference_output_type)"
              : "");
      // What an unknown operator writes is of no interest: only that it is written.
      for (const int index : *node.outputs()) {
        if (state_[size_t(index)] != State::Untouched) fail(here() + "an output is written twice");
        state_[size_t(index)] = State::Refused;
      }
      return;
    }
    if (code == tflite::Operator::SPLIT) return import_split(node);
    if (node.outputs()->size() != 1) fail(here() + "one output expected");
    if (regroups(node, code)) return;
    uses_int8_weights_ = has_int8_weights(*kind, node);
    for (const int index : *node.outputs()) {
      if (has_data(index)) fail(here() + "output '" + tensor_name(index) + "' is a constant");
      if (*kind == OpKind::ArgMax) {
        produce_positions(index);
      } else {
        produce(index);
      }
    }
    Op op;
    op.name = layer_;
    op.kind = *kind;
    op.output = output;
    if (import_details(op, node, code) && result_.refusals.size() == refusals_before) {
      check_types(op);
      graph_.ops.push_back(std::move(op));
    }
  }

  // int8 and uint8 meet in QUANTIZE only.
  void check_types(const Op& op) const {
    if (op.kind == OpKind::Quantize || op.kind == OpKind::ArgMax) return;
    const ElementType type = graph_.output_of(op).model_type;
    bool same = op.weights == kNoTensor || graph_.weights_of(op).model_type == type;
    for (size_t i = 0; i < op.inputs.size(); i++) same = same && graph_.input_of(op, i).model_type == type;
    if (!same) fail(here() + "mixes int8 and uint8");
  }

  // Every operand exists and is available: a constant, or computed before. -1 stands for an absent one.
  void check_operand(int index) const {
    if (index == kNoTensor) return;
    check_index(index, "input");
    if (state_[size_t(index)] == State::Untouched && !has_data(index) && !is_empty_constant(index)) {
      fail(here() + "tensor '" + tensor_name(index) + "' is used before it is computed");
    }
  }

  // The shape operand of a reshape to a scalar is a constant of no bytes.
  bool is_empty_constant(int index) const {
    const auto* shape = file_tensor(index).shape();
    return shape != nullptr && shape->size() == 1 && shape->Get(0) == 0;
  }

  static std::optional<OpKind> kind_of(tflite::Operator code) {
    switch (code) {
      case tflite::Operator::ADD:
        return OpKind::Add;
      case tflite::Operator::AVERAGE_POOL_2D:
        return OpKind::AveragePool;
      case tflite::Operator::CONV_2D:
        return OpKind::Conv2D;
      case tflite::Operator::DEPTHWISE_CONV_2D:
        return OpKind::DepthwiseConv2D;
      case tflite::Operator::FULLY_CONNECTED:
        return OpKind::FullyConnected;
      case tflite::Operator::MAX_POOL_2D:
        return OpKind::MaxPool;
      case tflite::Operator::MEAN:
        return OpKind::Mean;
      case tflite::Operator::RESHAPE:
        return OpKind::Reshape;
      case tflite::Operator::SOFTMAX:
        return OpKind::Softmax;
      case tflite::Operator::SUB:
        return OpKind::Sub;
      case tflite::Operator::MUL:
        return OpKind::Mul;
      case tflite::Operator::QUANTIZE:
        return OpKind::Quantize;
      case tflite::Operator::CONCATENATION:
        return OpKind::Concat;
      case tflite::Operator::PAD:
        return OpKind::Pad;
      case tflite::Operator::SLICE:
      case tflite::Operator::STRIDED_SLICE:
      case tflite::Operator::SPLIT:
        return OpKind::Slice;
      case tflite::Operator::SQUEEZE:
        return OpKind::Reshape;
      case tflite::Operator::TRANSPOSE:
        return OpKind::Shuffle;
      case tflite::Operator::ARG_MAX:
        return OpKind::ArgMax;
      case tflite::Operator::RESIZE_BILINEAR:
      case tflite::Operator::RESIZE_NEAREST_NEIGHBOR:
        return OpKind::Resize;
      case tflite::Operator::LEAKY_RELU:
      case tflite::Operator::HARD_SWISH:
      case tflite::Operator::LOGISTIC:
      case tflite::Operator::TANH:
      case tflite::Operator::RELU:
      case tflite::Operator::RELU6:
        return OpKind::Table;
      default:
        return std::nullopt;
    }
  }

  bool has_int8_weights(OpKind kind, const tflite::OperatorNode& node) const {
    const bool weighted =
        kind == OpKind::Conv2D || kind == OpKind::DepthwiseConv2D || kind == OpKind::FullyConnected;
    if (!weighted || node.inputs()->size() < 2 || node.inputs()->Get(1) == kNoTensor) return false;
    return file_tensor(node.inputs()->Get(1)).type() == tflite::TensorType::INT8;
  }

  bool import_details(Op& op, const tflite::OperatorNode& node, tflite::Operator code) {
    const fb::uoffset_t operands = node.inputs()->size();
    const auto expect_operands = [&](fb::uoffset_t least, fb::uoffset_t most) {
      if (operands < least || operands > most) fail(here() + "has " + number(operands) + " inputs");
    };
    switch (op.kind) {
      case OpKind::Conv2D:
        expect_operands(2, 3);
        return use_input(op, node, 0) && import_conv(op, node);
      case OpKind::DepthwiseConv2D:
        expect_operands(2, 3);
        return use_input(op, node, 0) && import_depthwise(op, node);
      case OpKind::FullyConnected:
        expect_operands(2, 3);
        return use_input(op, node, 0) && import_fully_connected(op, node);
      case OpKind::Add:
      case OpKind::Sub:
      case OpKind::Mul: {
        expect_operands(2, 2);
        const bool first = use_operand(op, node, 0);
        return use_operand(op, node, 1) && first && import_binary(op, node);
      }
      case OpKind::Quantize:
        expect_operands(1, 1);
        return use_input(op, node, 0) && expect_output(op, graph_.input_of(op).shape) && check_arithmetic(op);
      case OpKind::Concat: {
        bool good = true;
        for (fb::uoffset_t i = 0; i < operands; i++) good = use_input(op, node, i) && good;
        return good && import_concat(op, node);
      }
      case OpKind::Pad:
        expect_operands(2, 2);
        return use_input(op, node, 0) && import_pad(op, node);
      case OpKind::Slice:
        expect_operands(3, 4);
        return use_input(op, node, 0) && import_slice(op, node, code == tflite::Operator::STRIDED_SLICE);
      case OpKind::Table:
        expect_operands(1, 1);
        return use_input(op, node, 0) && import_table(op, node, code);
      case OpKind::Resize:
        expect_operands(2, 2);
        return use_input(op, node, 0) && import_resize(op, node, code == tflite::Operator::RESIZE_BILINEAR);
      case OpKind::AveragePool:
      case OpKind::MaxPool:
        expect_operands(1, 1);
        return use_input(op, node, 0) && import_pool(op, node);
      case OpKind::Mean:
        expect_operands(2, 2);
        return use_input(op, node, 0) && import_mean(op, node);
      case OpKind::Reshape:
        expect_operands(1, 2);
        if (const auto r = regrouped_.find(node.inputs()->Get(0)); r != regrouped_.end())
          return state_[size_t(op.output)] == State::Ready && import_shuffle(op, r->second);
        return use_input(op, node, 0) && import_reshape(op);
      case OpKind::Shuffle:
        refuse(kShuffleLimit, "a transposition of something else");
        return false;
      case OpKind::ArgMax:
        expect_operands(2, 2);
        return use_input(op, node, 0) && import_arg_max(op, node);
      case OpKind::Softmax:
        expect_operands(1, 1);
        return use_input(op, node, 0) && import_softmax(op, node);
      case OpKind::ToInt8:
      case OpKind::ToFloat:
      case OpKind::HostFloat:
        break;
    }
    return false;
  }

  // Takes operand i as an activation or as a quantised constant.
  bool use_operand(Op& op, const tflite::OperatorNode& node, fb::uoffset_t i) {
    const int index = node.inputs()->Get(i);
    if (index == kNoTensor || state_[size_t(index)] != State::Untouched) return use_input(op, node, i);
    op.inputs.push_back(index);
    return import_constant_operand(index) && state_[size_t(op.output)] == State::Ready;
  }

  // Takes operand i as an activation. False if it, or the output, was refused.
  bool use_input(Op& op, const tflite::OperatorNode& node, fb::uoffset_t i) {
    const int index = node.inputs()->Get(i);
    if (index == kNoTensor) fail(here() + "operand " + std::to_string(i) + " is absent");
    if (state_[size_t(index)] == State::Untouched) {
      refuse("operands that are activations", "operand '" + tensor_name(index) + "' is a constant");
      return false;
    }
    op.inputs.push_back(index);
    if (state_[size_t(index)] == State::Regrouped) {
      refuse(kShuffleLimit, "'" + tensor_name(index) + "' for another operator");
      return false;
    }
    if (const ElementType type = graph_.tensors[size_t(index)].type; type != ElementType::Int8) {
      refuse("argmax at the end of the network", "its result '" + tensor_name(index) + "' as an operand");
      return false;
    }
    return state_[size_t(index)] == State::Ready && state_[size_t(op.output)] == State::Ready;
  }

  template <typename T>
  const T& options(const tflite::OperatorNode& node) const {
    if (node.options_type() != tflite::OptionsTraits<T>::enum_value || node.options() == nullptr) {
      fail(here() + "its options are missing or of another operator");
    }
    return *static_cast<const T*>(node.options());
  }

  bool import_activation(Op& op, tflite::FusedActivation activation) {
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
    refuse("fused activations NONE, RELU, RELU6, RELU_N1_TO_1",
           name.empty() ? "activation " + std::to_string(int(activation)) : name);
    return false;
  }

  // Completes op.window (kernel, stride, dilation are set) and checks the output's shape against it.
  bool import_window(Op& op, tflite::PaddingKind padding, int out_channels) {
    Window& w = op.window;
    for (const int value : {w.kernel_h, w.kernel_w, w.stride_h, w.stride_w, w.dilation_h, w.dilation_w}) {
      if (value < 1) {
        fail(here() + "kernel " + window_text(w.kernel_h, w.kernel_w) + ", stride " +
             window_text(w.stride_h, w.stride_w) + ", dilation " + window_text(w.dilation_h, w.dilation_w) +
             ": all must be at least 1");
      }
      if (value > kMaxWindow) {
        refuse("kernels, strides and dilations up to " + std::to_string(kMaxWindow), std::to_string(value));
        return false;
      }
    }
    const Nhwc in = graph_.input_of(op).nhwc();
    if (padding == tflite::PaddingKind::SAME) {
      const auto rows = same_padding(in.h, w.extent_h(), w.stride_h);
      const auto columns = same_padding(in.w, w.extent_w(), w.stride_w);
      w.pad = {rows[0], rows[1], columns[0], columns[1]};
    } else if (padding != tflite::PaddingKind::VALID) {
      fail(here() + "padding kind " + std::to_string(int(padding)));
    }
    const std::vector<int> expected = {
        1, window_outputs(in.h, w.pad.top, w.pad.bottom, w.extent_h(), w.stride_h),
        window_outputs(in.w, w.pad.left, w.pad.right, w.extent_w(), w.stride_w), out_channels};
    if (expected[1] < 1 || expected[2] < 1) {
      fail(here() + "kernel " + window_text(w.extent_h(), w.extent_w()) + " does not fit its input " +
           shape_text(graph_.input_of(op).shape));
    }
    return expect_output(op, expected);
  }

  bool expect_output(const Op& op, const std::vector<int>& expected) const {
    const Tensor& output = graph_.output_of(op);
    if (output.shape == expected) return true;
    fail(here() + "output has shape " + shape_text(output.shape) + ", expected " + shape_text(expected));
  }

  bool expect_rank4(const Op& op) const {
    const Tensor& input = graph_.input_of(op);
    if (input.shape.size() == 4) return true;
    fail(here() + "input has shape " + shape_text(input.shape) + ", four dimensions expected");
  }

  // The shape of operand i as the file states it, which must have rank 4.
  std::vector<int> kernel_shape(const tflite::OperatorNode& node) const {
    const int index = node.inputs()->Get(1);
    check_index(index, "weights");
    const auto* dims = file_tensor(index).shape();
    if (dims == nullptr || dims->size() != 4) fail(here() + "weights must have four dimensions");
    std::vector<int> shape(dims->begin(), dims->end());
    check_shape(index, shape);
    return shape;
  }

  bool import_operands(Op& op, const tflite::OperatorNode& node, const std::vector<int>& weights, int axis,
                       int channels) {
    op.weights = node.inputs()->Get(1);
    check_index(op.weights, "weights");
    bool good = import_weights(op.weights, weights, axis);
    if (node.inputs()->size() == 3 && node.inputs()->Get(2) != kNoTensor) {
      op.bias = node.inputs()->Get(2);
      good = import_bias(op.bias, channels) && good;
    }
    return good;
  }

  bool import_conv(Op& op, const tflite::OperatorNode& node) {
    const auto& settings = options<tflite::Conv2DOptions>(node);
    expect_rank4(op);
    const std::vector<int> kernel = kernel_shape(node);
    const int in_channels = graph_.input_of(op).nhwc().c;
    if (kernel[3] != in_channels) {
      if (in_channels % kernel[3] != 0) {
        fail(here() + "weights of shape " + shape_text(kernel) + " do not fit " +
             std::to_string(in_channels) + " input channels");
      }
      op.groups = in_channels / kernel[3];
      if (kernel[0] % op.groups != 0) {
        fail(here() + "weights of shape " + shape_text(kernel) + " do not fit " + std::to_string(op.groups) +
             " groups");
      }
    }
    op.window = {kernel[1],
                 kernel[2],
                 settings.stride_h(),
                 settings.stride_w(),
                 settings.dilation_h(),
                 settings.dilation_w(),
                 {}};
    const bool activation = import_activation(op, settings.activation());
    return import_window(op, settings.padding(), kernel[0]) &&
           import_operands(op, node, kernel, 0, kernel[0]) && activation && check_arithmetic(op);
  }

  bool import_depthwise(Op& op, const tflite::OperatorNode& node) {
    const auto& settings = options<tflite::DepthwiseConv2DOptions>(node);
    expect_rank4(op);
    const std::vector<int> kernel = kernel_shape(node);
    const int in_channels = graph_.input_of(op).nhwc().c;
    if (kernel[0] != 1 || kernel[3] % in_channels != 0) {
      fail(here() + "weights of shape " + shape_text(kernel) + " do not fit " + std::to_string(in_channels) +
           " input channels");
    }
    // The stated multiplier is redundant, and 0 in some files; the shapes decide, as in TensorFlow Lite.
    op.depth_multiplier = kernel[3] / in_channels;
    op.window = {kernel[1],
                 kernel[2],
                 settings.stride_h(),
                 settings.stride_w(),
                 settings.dilation_h(),
                 settings.dilation_w(),
                 {}};
    const bool activation = import_activation(op, settings.activation());
    return import_window(op, settings.padding(), kernel[3]) &&
           import_operands(op, node, kernel, 3, kernel[3]) && activation && check_arithmetic(op);
  }

  bool import_fully_connected(Op& op, const tflite::OperatorNode& node) {
    const auto& settings = options<tflite::FullyConnectedOptions>(node);
    if (settings.weights_format() != 0) {
      refuse("weights in plain order", "weights format " + std::to_string(settings.weights_format()));
      return false;
    }
    const int index = node.inputs()->Get(1);
    check_index(index, "weights");
    const auto* dims = file_tensor(index).shape();
    if (dims == nullptr || dims->size() != 2) fail(here() + "weights must have two dimensions");
    const std::vector<int> kernel(dims->begin(), dims->end());
    check_shape(index, kernel);
    const Tensor& input = graph_.input_of(op);
    const Tensor& output = graph_.output_of(op);
    if (int64_t(input.elements()) % kernel[1] != 0) {
      fail(here() + "weights of shape " + shape_text(kernel) + " do not fit an input of shape " +
           shape_text(input.shape));
    }
    const int64_t rows = int64_t(input.elements()) / kernel[1];
    if (rows != 1) {
      refuse("one row of inputs", std::to_string(rows) + " rows", "express the layer as a 1x1 convolution");
      return false;
    }
    if (int64_t(output.elements()) != kernel[0] || output.nhwc().c != kernel[0]) {
      fail(here() + "output has shape " + shape_text(output.shape) + ", expected 1x" +
           std::to_string(kernel[0]));
    }
    const bool activation = import_activation(op, settings.activation());
    return import_operands(op, node, kernel, 0, kernel[0]) && activation && check_arithmetic(op);
  }

  bool import_binary(Op& op, const tflite::OperatorNode& node) {
    const auto activation = op.kind == OpKind::Add   ? options<tflite::AddOptions>(node).activation()
                            : op.kind == OpKind::Sub ? options<tflite::SubOptions>(node).activation()
                                                     : options<tflite::MulOptions>(node).activation();
    const Tensor& a = graph_.input_of(op, 0);
    const Tensor& b = graph_.input_of(op, 1);
    const Tensor& out = graph_.output_of(op);
    if (a.is_constant() && b.is_constant()) fail(here() + "both operands are constants");
    const auto fits = [&](const Tensor& t) {
      const Nhwc from = t.nhwc();
      const Nhwc to = out.nhwc();
      return from.n == 1 && (from.h == 1 || from.h == to.h) && (from.w == 1 || from.w == to.w) &&
             (from.c == 1 || from.c == to.c);
    };
    if (!fits(a) || !fits(b) || (a.elements() != out.elements() && b.elements() != out.elements())) {
      fail(here() + "operands of shape " + shape_text(a.shape) + " and " + shape_text(b.shape) +
           " do not make " + shape_text(out.shape));
    }
    return import_activation(op, activation) && check_arithmetic(op);
  }

  bool import_concat(Op& op, const tflite::OperatorNode& node) {
    const auto& settings = options<tflite::ConcatenationOptions>(node);
    std::vector<int> expected = graph_.input_of(op).shape;
    const int rank = int(expected.size());
    op.axis = settings.axis() < 0 ? settings.axis() + rank : settings.axis();
    if (op.axis < 0 || op.axis >= rank)
      fail(here() + "axis " + std::to_string(settings.axis()) + " out of range");
    for (size_t i = 1; i < op.inputs.size(); i++) {
      std::vector<int> shape = graph_.input_of(op, i).shape;
      if (int(shape.size()) != rank) fail(here() + "operands of different rank");
      expected[size_t(op.axis)] += shape[size_t(op.axis)];
      shape[size_t(op.axis)] = expected[size_t(op.axis)];
      if (shape != expected)
        fail(here() + "operand " + shape_text(shape) + " does not fit " + shape_text(expected));
    }
    return expect_output(op, expected) && import_activation(op, settings.activation());
  }

  bool import_pad(Op& op, const tflite::OperatorNode& node) {
    const Tensor& in = graph_.input_of(op);
    op.dims = import_numbers(node.inputs()->Get(1), "paddings");
    if (op.dims.empty()) return false;
    std::vector<int> expected = in.shape;
    if (op.dims.size() != 2 * expected.size()) fail(here() + "paddings do not fit " + shape_text(in.shape));
    for (size_t d = 0; d < op.dims.size(); d++) {
      if (op.dims[d] < 0 || op.dims[d] > kMaxWindow)
        fail(here() + "padding of " + std::to_string(op.dims[d]));
      expected[d / 2] += op.dims[d];
    }
    return expect_output(op, expected) && expect_same_quantization(op);
  }

  bool import_slice(Op& op, const tflite::OperatorNode& node, bool strided) {
    const Tensor& in = graph_.input_of(op);
    std::vector<int> begin = import_numbers(node.inputs()->Get(1), "begin");
    std::vector<int> other = import_numbers(node.inputs()->Get(2), strided ? "end" : "size");
    if (begin.empty() || other.empty()) return false;
    const size_t rank = in.shape.size();
    if (begin.size() != rank || other.size() != rank)
      fail(here() + "begin and size do not fit " + shape_text(in.shape));
    if (strided) {
      if (node.inputs()->size() != 4) fail(here() + "has no strides");
      const std::vector<int> strides = import_numbers(node.inputs()->Get(3), "strides");
      const auto& settings = options<tflite::StridedSliceOptions>(node);
      if (settings.ellipsis_mask() != 0 || settings.new_axis_mask() != 0 ||
          settings.shrink_axis_mask() != 0 || strides != std::vector<int>(rank, 1)) {
        refuse("slices of stride 1 that keep all dimensions", "strides or masks of another kind");
        return false;
      }
      for (size_t d = 0; d < rank; d++) {
        const auto position = [&](int value) {
          return std::clamp(value < 0 ? value + in.shape[d] : value, 0, in.shape[d]);
        };
        begin[d] = (settings.begin_mask() >> d & 1) != 0 ? 0 : position(begin[d]);
        const int end = (settings.end_mask() >> d & 1) != 0 ? in.shape[d] : position(other[d]);
        other[d] = end - begin[d];
      }
    }
    for (size_t d = 0; d < rank; d++) {
      if (!strided && other[d] == -1) other[d] = in.shape[d] - begin[d];
      if (begin[d] < 0 || other[d] < 1 || int64_t(begin[d]) + other[d] > in.shape[d]) {
        fail(here() + "slice leaves its input " + shape_text(in.shape));
      }
    }
    op.dims = begin;
    return expect_output(op, other) && expect_same_quantization(op);
  }

  // One slice per output.
  void import_split(const tflite::OperatorNode& node) {
    if (node.inputs()->size() != 2) fail(here() + "has " + number(node.inputs()->size()) + " inputs");
    const size_t refusals_before = result_.refusals.size();
    const std::vector<int32_t> axes = import_numbers(node.inputs()->Get(0), "axis");
    int begin = 0;
    for (const int index : *node.outputs()) {
      if (has_data(index)) fail(here() + "output '" + tensor_name(index) + "' is a constant");
      produce(index);
      Op op;
      op.name = begin == 0 ? layer_ : layer_names_.unique(tensor_name(index));
      op.kind = OpKind::Slice;
      op.output = index;
      if (!use_input(op, node, 1) || axes.empty()) continue;
      const std::vector<int>& shape = graph_.input_of(op).shape;
      const int rank = int(shape.size());
      const int axis = axes.front() < 0 ? axes.front() + rank : axes.front();
      if (axis < 0 || axis >= rank) fail(here() + "axis " + std::to_string(axes.front()) + " out of range");
      const int parts = int(node.outputs()->size());
      if (shape[size_t(axis)] % parts != 0) {
        fail(here() + "cannot split " + shape_text(shape) + " into " + std::to_string(parts));
      }
      op.dims.assign(size_t(rank), 0);
      op.dims[size_t(axis)] = begin;
      std::vector<int> expected = shape;
      expected[size_t(axis)] /= parts;
      begin += expected[size_t(axis)];
      expect_output(op, expected);
      if (!expect_same_quantization(op)) continue;
      check_types(op);
      if (result_.refusals.size() == refusals_before) graph_.ops.push_back(std::move(op));
    }
  }

  bool import_table(Op& op, const tflite::OperatorNode& node, tflite::Operator code) {
    expect_output(op, graph_.input_of(op).shape);
    switch (code) {
      case tflite::Operator::LEAKY_RELU:
        op.function = Function::LeakyRelu;
        op.alpha = options<tflite::LeakyReluOptions>(node).alpha();
        if (!std::isfinite(op.alpha)) fail(here() + "alpha is " + number(op.alpha));
        break;
      case tflite::Operator::HARD_SWISH:
        op.function = Function::HardSwish;
        break;
      case tflite::Operator::LOGISTIC:
        op.function = Function::Sigmoid;
        break;
      case tflite::Operator::TANH:
        op.function = Function::Tanh;
        break;
      default:
        op.function = Function::Clamp;
        op.activation = code == tflite::Operator::RELU6 ? Activation::Relu6 : Activation::Relu;
        break;
    }
    return check_arithmetic(op);
  }

  bool import_resize(Op& op, const tflite::OperatorNode& node, bool bilinear) {
    expect_rank4(op);
    op.bilinear = bilinear;
    if (bilinear) {
      const auto& settings = options<tflite::ResizeBilinearOptions>(node);
      op.align_corners = settings.align_corners();
      op.half_pixel = settings.half_pixel_centers();
    } else {
      const auto& settings = options<tflite::ResizeNearestNeighborOptions>(node);
      op.align_corners = settings.align_corners();
      op.half_pixel = settings.half_pixel_centers();
    }
    const std::vector<int32_t> size = import_numbers(node.inputs()->Get(1), "size");
    if (size.empty()) return false;
    if (size.size() != 2) fail(here() + "size has " + number(size.size()) + " values");
    return expect_output(op, {1, size[0], size[1], graph_.input_of(op).shape[3]}) &&
           expect_same_quantization(op);
  }

  bool import_pool(Op& op, const tflite::OperatorNode& node) {
    const auto& settings = options<tflite::Pool2DOptions>(node);
    expect_rank4(op);
    op.window = {
        settings.filter_h(), settings.filter_w(), settings.stride_h(), settings.stride_w(), 1, 1, {}};
    const bool activation = import_activation(op, settings.activation());
    return import_window(op, settings.padding(), graph_.input_of(op).nhwc().c) &&
           expect_same_quantization(op) && activation && check_arithmetic(op);
  }

  bool expect_same_quantization(const Op& op) {
    const Tensor& in = graph_.input_of(op);
    const Tensor& out = graph_.output_of(op);
    const auto text = [](const Tensor& t) {
      return number(t.quantization.scale.front()) + "/" + std::to_string(t.zero_point());
    };
    if (in.quantization.scale == out.quantization.scale && in.zero_point() == out.zero_point()) return true;
    refuse("equal scale and zero point on both sides", text(in) + " to " + text(out));
    return false;
  }

  bool import_mean(Op& op, const tflite::OperatorNode& node) {
    const auto& settings = options<tflite::ReducerOptions>(node);
    const Tensor& input = graph_.input_of(op);
    const int index = node.inputs()->Get(1);
    check_index(index, "axes");
    const auto* dims = file_tensor(index).shape();
    if (dims != nullptr && dims->size() > 1) fail(here() + "axes must be a list");
    const int64_t count = dims == nullptr || dims->size() == 0 ? 1 : dims->Get(0);
    if (count < 1 || count > kMaxRank) fail(here() + "has " + std::to_string(count) + " axes");
    const auto* data = constant_data(index, "axes", tflite::TensorType::INT32, count);
    if (data == nullptr) return false;
    std::set<int> axes;
    std::string listed;
    for (int64_t i = 0; i < count; i++) {
      const auto axis = fb::ReadScalar<int32_t>(data->Data() + size_t(i) * 4);
      const auto rank = int(input.shape.size());
      if (axis < -rank || axis >= rank) fail(here() + "axis " + std::to_string(axis) + " out of range");
      axes.insert(axis < 0 ? axis + rank : axis);
      listed += (i == 0 ? "" : ", ") + std::to_string(axis);
    }
    if (input.shape.size() != 4 || axes != std::set<int>{1, 2}) {
      refuse("means over rows and columns of a map", "axes " + listed + " of " + shape_text(input.shape));
      return false;
    }
    const int channels = input.shape[3];
    expect_output(op,
                  settings.keep_dims() ? std::vector<int>{1, 1, 1, channels} : std::vector<int>{1, channels});
    return check_arithmetic(op);
  }

  // Steps of a channel shuffle, all but the last: nothing is computed, and the tensors, perhaps of rank 5,
  // are none of the graph.
  bool regroups(const tflite::OperatorNode& node, tflite::Operator code) {
    const int in = node.inputs()->Get(0);
    const int out = node.outputs()->Get(0);
    const bool reshape = code == tflite::Operator::RESHAPE && feeds_transpose(out);
    const bool transpose = code == tflite::Operator::TRANSPOSE && in != kNoTensor &&
                           state_[size_t(in)] == State::Regrouped && regrouped_[in].order.empty();
    if ((!reshape && !transpose) || in == kNoTensor || state_[size_t(in)] == State::Untouched) return false;
    if (reshape && state_[size_t(in)] == State::Regrouped) return false;
    if (reshape && graph_.tensors[size_t(in)].type != ElementType::Int8) return false;
    if (state_[size_t(out)] != State::Untouched || has_data(out)) fail(here() + "an output is written twice");
    state_[size_t(out)] = State::Refused;
    if (state_[size_t(in)] == State::Refused) return true;
    if (file_tensor(in).type() != file_tensor(out).type()) fail(here() + "changes the type");
    const auto* dims = file_tensor(out).shape();
    if (dims == nullptr || dims->size() > kMaxGroupedRank) fail(here() + "output has no sound shape");
    const std::vector<int> shape(dims->begin(), dims->end());
    Regrouping next;
    if (reshape) {
      next = {in, shape, {}};
      if (check_shape(out, shape) != int64_t(graph_.tensors[size_t(in)].elements()))
        fail(here() + "cannot turn shape " + shape_text(graph_.tensors[size_t(in)].shape) + " into " +
             shape_text(shape));
    } else {
      next = regrouped_[in];
      if (node.inputs()->size() != 2) fail(here() + "has " + number(node.inputs()->size()) + " inputs");
      next.order = import_numbers(node.inputs()->Get(1), "order");
      if (next.order.empty()) return true;  // refused
      std::vector<int> sorted = next.order;
      std::sort(sorted.begin(), sorted.end());
      for (size_t d = 0; d < sorted.size(); d++) {
        if (sorted.size() != next.dims.size() || sorted[d] != int(d))
          fail(here() + "its order is no permutation");
      }
      for (size_t d = 0; d < shape.size() || d < sorted.size(); d++) {
        if (shape.size() != sorted.size() || shape[d] != next.dims[size_t(next.order[d])])
          fail(here() + "output has shape " + shape_text(shape));
      }
    }
    regrouped_[out] = std::move(next);
    state_[size_t(out)] = State::Regrouped;
    return true;
  }

  // Whether an operator TRANSPOSE reads the tensor, and nothing else.
  bool feeds_transpose(int tensor) {
    if (!readers_known_) {
      readers_known_ = true;
      for (fb::uoffset_t i = 0; i < operators_->size(); i++) {
        const auto* inputs = operators_->Get(i)->inputs();
        if (inputs == nullptr) continue;
        const bool transpose = code_of(*operators_->Get(i)) == tflite::Operator::TRANSPOSE;
        for (const int in : *inputs) {
          const auto known = transposed_.try_emplace(in, transpose).first;
          known->second = known->second && transpose;
        }
      }
    }
    const auto found = transposed_.find(tensor);
    return found != transposed_.end() && found->second;
  }

  // The last reshape of a channel shuffle.
  bool import_shuffle(Op& op, const Regrouping& regrouping) {
    op.kind = OpKind::Shuffle;
    op.inputs = {regrouping.map};
    const Tensor& in = graph_.input_of(op);
    const Tensor& out = graph_.output_of(op);
    const auto from = regrouping.order.empty()
                          ? std::nullopt
                          : shuffled_channels(regrouping.dims, regrouping.order, in.nhwc().c, true);
    if (!from || in.shape != out.shape) {
      refuse(kShuffleLimit, shape_text(in.shape) + " to " + shape_text(regrouping.dims) +
                                ", transposed, to " + shape_text(out.shape));
      return false;
    }
    op.dims = *from;
    return expect_same_quantization(op);
  }

  // int32 or int64.
  void produce_positions(int index) {
    State& state = state_[size_t(index)];
    if (state != State::Untouched) fail(here() + "tensor '" + tensor_name(index) + "' is written twice");
    state = State::Refused;
    const tflite::TensorType type = file_tensor(index).type();
    if (type != tflite::TensorType::INT32 && type != tflite::TensorType::INT64) {
      refuse("positions of int32 or int64", "'" + tensor_name(index) + "' of " + type_name(type));
      return;
    }
    const std::optional<std::vector<int>> shape = read_shape(index);
    if (!shape) return;
    Tensor& tensor = graph_.tensors[size_t(index)];
    tensor.type = tensor.model_type =
        type == tflite::TensorType::INT32 ? ElementType::Int32 : ElementType::Int64;
    tensor.shape = *shape;
    activation_bytes_ += int64_t(tensor.bytes());
    if (activation_bytes_ > kMaxActivationBytes)
      fail("its activations exceed the limit of " + std::to_string(kMaxActivationBytes) + " bytes");
    state = State::Ready;
  }

  bool import_arg_max(Op& op, const tflite::OperatorNode& node) {
    const std::vector<int32_t> axes = import_numbers(node.inputs()->Get(1), "axis");
    if (axes.empty()) return false;
    std::vector<int> expected = graph_.input_of(op).shape;
    const int rank = int(expected.size());
    op.axis = axes.front() < 0 ? axes.front() + rank : axes.front();
    if (axes.size() != 1 || op.axis < 0 || op.axis >= rank)
      fail(here() + "axis " + std::to_string(axes.front()) + " out of range");
    expected.erase(expected.begin() + op.axis);
    return expect_output(op, expected);
  }

  bool import_reshape(Op& op) {
    const Tensor& in = graph_.input_of(op);
    const Tensor& out = graph_.output_of(op);
    if (in.elements() != out.elements()) {
      fail(here() + "cannot turn shape " + shape_text(in.shape) + " into " + shape_text(out.shape));
    }
    return expect_same_quantization(op);
  }

  bool import_softmax(Op& op, const tflite::OperatorNode& node) {
    const auto& settings = options<tflite::SoftmaxOptions>(node);
    op.beta = settings.beta();
    if (!(op.beta > 0.0F) || !std::isfinite(op.beta)) fail(here() + "beta is " + number(op.beta));
    const Tensor& out = graph_.output_of(op);
    expect_output(op, graph_.input_of(op).shape);
    if (out.quantization.scale.front() != 1.0F / 256.0F || out.zero_point() != -128) {
      refuse("outputs of scale 1/256 and zero point -128",
             number(out.quantization.scale.front()) + " and " + std::to_string(out.zero_point()));
      return false;
    }
    softmax_outputs_[op.output] = op.name;
    return true;
  }

  // Scales must give representable factors, and no input may carry an accumulator out of 32 bits; both for
  // either rounding style, so that --rounding never decides whether a model runs.
  bool check_arithmetic(const Op& op) {
    for (const RoundingStyle style : {RoundingStyle::LiteRt, RoundingStyle::Tflm}) {
      OpParams params;
      try {
        params = op_params(graph_, op, style);
      } catch (const InputError&) {
        refuse("requantisation factors below 2^30", "input, weight and output scales that give a larger one",
               "the scales of this layer look damaged");
        return false;
      }
      const AccumulatorRange range = accumulator_range(graph_, op, params);
      if (!range.fits_int32()) {
        refuse("accumulators of 32 bits for every input, -2147483648 to 2147483647",
               std::to_string(range.min) + " to " + std::to_string(range.max) + " in the worst case");
        return false;
      }
    }
    return true;
  }

  const tflite::Model& model_;
  const tflite::SubGraph* subgraph_ = nullptr;
  const fb::Vector<fb::Offset<tflite::Tensor>>* tensors_ = nullptr;
  const fb::Vector<fb::Offset<tflite::OperatorNode>>* operators_ = nullptr;

  ImportResult result_;
  Graph graph_;
  std::vector<State> state_;
  LayerNames layer_names_;
  std::map<int, Regrouping> regrouped_;
  std::map<int, bool> transposed_;  // tensors that are read: by TRANSPOSE alone
  bool readers_known_ = false;
  std::map<int, std::string> softmax_outputs_;  // tensor -> layer
  int64_t constant_budget_;
  int64_t activation_bytes_ = 0;

  // The layer in hand.
  std::string layer_;
  std::string layer_op_;
  bool uses_int8_weights_ = false;
};

}  // namespace

ImportResult import_tflite(std::span<const uint8_t> file, const std::string& name) {
  constexpr size_t kHeaderBytes = 8;  // root offset and identifier
  if (file.size() < kHeaderBytes) fail("only " + std::to_string(file.size()) + " bytes");
  if (file.size() > kMaxModelBytes) fail("larger than " + std::to_string(kMaxModelBytes) + " bytes");
  if (std::memcmp(file.data() + 4, "TFL3", 4) != 0)
    fail("not a TensorFlow Lite model (no TFL3 at byte 4), and not named .onnx");

  // Offsets in the file are aligned relative to its start, so the start must be aligned too.
  std::vector<uint8_t> aligned;
  if (reinterpret_cast<uintptr_t>(file.data()) % alignof(std::max_align_t) != 0) {
    aligned.assign(file.begin(), file.end());
    file = aligned;
  }
  constexpr fb::uoffset_t kMaxDepth = 16;
  constexpr fb::uoffset_t kMaxTables = 250000;
  fb::Verifier verifier(file.data(), file.size(), kMaxDepth, kMaxTables);
  if (!tflite::VerifyModelBuffer(verifier)) fail("truncated or corrupt (an offset leaves the file)");
  return Importer(*tflite::GetModel(file.data()), file.size(), name).run();
}

}  // namespace kaiten
