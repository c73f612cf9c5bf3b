// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/graph.h"

#include <algorithm>
#include <cstring>

#include "base/arithmetic.h"

namespace kaiten {

int element_bytes(ElementType type) {
  switch (type) {
    case ElementType::Int8:
    case ElementType::UInt8:
      return 1;
    case ElementType::Int64:
      return 8;
    case ElementType::Int32:
    case ElementType::Float32:
      return 4;
  }
  return 0;
}

std::string_view name_of(ElementType type) {
  switch (type) {
    case ElementType::Int8:
      return "int8";
    case ElementType::UInt8:
      return "uint8";
    case ElementType::Int32:
      return "int32";
    case ElementType::Int64:
      return "int64";
    case ElementType::Float32:
      return "float32";
  }
  return "?";
}

size_t Tensor::elements() const {
  size_t product = 1;
  for (const int dim : shape) product *= size_t(dim);
  return product;
}

Nhwc Tensor::nhwc() const {
  int dims[4] = {1, 1, 1, 1};
  const size_t rank = shape.size();
  for (size_t i = 0; i < rank; i++) dims[3 - std::min<size_t>(i, 3)] *= shape[rank - 1 - i];
  if (type != ElementType::Int8 && model_layout == Layout::Nchw && rank == 4) {
    return {dims[0], dims[2], dims[3], dims[1]};
  }
  return {dims[0], dims[1], dims[2], dims[3]};
}

std::vector<int> Tensor::model_shape() const {
  if (type != ElementType::Int8 || model_layout != Layout::Nchw || shape.size() != 4) return shape;
  return {shape[0], shape[3], shape[1], shape[2]};
}

std::vector<int32_t> Tensor::int32_values() const {
  std::vector<int32_t> values(data.size() / sizeof(int32_t));
  if (!values.empty()) std::memcpy(values.data(), data.data(), values.size() * sizeof(int32_t));
  return values;
}

std::string shape_text(const std::vector<int>& shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (const int dim : shape) {
    if (!text.empty()) text += 'x';
    text += std::to_string(dim);
  }
  return text;
}

namespace {

// Byte of the model's order for byte i of the stored order.
size_t model_index(const Tensor& tensor, size_t i) {
  if (tensor.model_layout != Layout::Nchw || tensor.shape.size() != 4) return i;
  const Nhwc s = tensor.nhwc();
  const size_t c = i % size_t(s.c);
  const size_t pixel = i / size_t(s.c);
  const size_t pixels = size_t(s.h) * size_t(s.w);
  return ((pixel / pixels) * size_t(s.c) + c) * pixels + pixel % pixels;
}

uint8_t sign_flip(const Tensor& tensor) { return tensor.model_type == ElementType::UInt8 ? 0x80 : 0; }

}  // namespace

std::vector<int8_t> from_model(const Tensor& tensor, std::span<const uint8_t> bytes) {
  if (tensor.type != ElementType::Int8) return {bytes.begin(), bytes.end()};
  std::vector<int8_t> values(bytes.size());
  for (size_t i = 0; i < values.size(); i++)
    values[i] = int8_t(bytes[model_index(tensor, i)] ^ sign_flip(tensor));
  return values;
}

std::vector<uint8_t> to_model(const Tensor& tensor, std::span<const int8_t> values) {
  if (tensor.type != ElementType::Int8) return {values.begin(), values.end()};
  std::vector<uint8_t> bytes(values.size());
  for (size_t i = 0; i < values.size(); i++)
    bytes[model_index(tensor, i)] = uint8_t(values[i]) ^ sign_flip(tensor);
  return bytes;
}

std::string_view name_of(OpKind kind) {
  switch (kind) {
    case OpKind::Conv2D:
      return "conv";
    case OpKind::DepthwiseConv2D:
      return "depthwise";
    case OpKind::FullyConnected:
      return "fc";
    case OpKind::Add:
      return "add";
    case OpKind::AveragePool:
      return "average_pool";
    case OpKind::MaxPool:
      return "max_pool";
    case OpKind::Mean:
      return "mean";
    case OpKind::Reshape:
      return "reshape";
    case OpKind::Softmax:
      return "softmax";
    case OpKind::Sub:
      return "sub";
    case OpKind::Mul:
      return "mul";
    case OpKind::Quantize:
      return "quantize";
    case OpKind::Concat:
      return "concat";
    case OpKind::Pad:
      return "pad";
    case OpKind::Slice:
      return "slice";
    case OpKind::Table:
      return "table";
    case OpKind::Resize:
      return "resize";
    case OpKind::Shuffle:
      return "channel_shuffle";
    case OpKind::ArgMax:
      return "argmax";
    case OpKind::ToInt8:
      return "to_int8";
    case OpKind::ToFloat:
      return "to_float";
    case OpKind::HostFloat:
      return "host_float";
    case OpKind::Rearrange:
      return "rearrange";
    case OpKind::Minimum:
      return "minimum";
    case OpKind::Maximum:
      return "maximum";
    case OpKind::PRelu:
      return "prelu";
    case OpKind::ReduceMax:
      return "reduce_max";
    case OpKind::ReduceMin:
      return "reduce_min";
    case OpKind::ReduceSum:
      return "reduce_sum";
    case OpKind::SquaredDifference:
      return "squared_difference";
    case OpKind::BatchMatMul:
      return "batch_matmul";
    case OpKind::L2Norm:
      return "l2_norm";
    case OpKind::Gather:
      return "gather";
    case OpKind::Constant:
      return "constant";
  }
  return "?";
}

std::string_view name_of(Function function) {
  switch (function) {
    case Function::LeakyRelu:
      return "leaky_relu";
    case Function::HardSwish:
      return "hard_swish";
    case Function::Sigmoid:
      return "sigmoid";
    case Function::Tanh:
      return "tanh";
    case Function::HardSigmoid:
      return "hard_sigmoid";
    case Function::Clamp:
      return "clamp";
    case Function::Exp:
      return "exp";
    case Function::Log:
      return "log";
    case Function::Sqrt:
      return "sqrt";
    case Function::Rsqrt:
      return "rsqrt";
    case Function::Abs:
      return "abs";
    case Function::Neg:
      return "neg";
    case Function::Gelu:
      return "gelu";
    case Function::GeluTanh:
      return "gelu_tanh";
    case Function::Elu:
      return "elu";
    case Function::Values:
      return "values";
  }
  return "?";
}

std::string_view name_of(HostKind kind) {
  constexpr std::string_view kNames[] = {"none",
                                         "reshape",
                                         "rearrange",
                                         "pad",
                                         "gemm",
                                         "conv_transpose",
                                         "softmax",
                                         "log_softmax",
                                         "global_average_pool",
                                         "global_max_pool",
                                         "average_pool",
                                         "max_pool",
                                         "reduce_mean",
                                         "reduce_sum",
                                         "reduce_max",
                                         "reduce_min",
                                         "concat",
                                         "lrn",
                                         "layer_norm",
                                         "instance_norm",
                                         "add",
                                         "sub",
                                         "mul",
                                         "div",
                                         "min",
                                         "max",
                                         "pow",
                                         "prelu",
                                         "clip",
                                         "leaky_relu",
                                         "elu",
                                         "hard_sigmoid",
                                         "sigmoid",
                                         "tanh",
                                         "hard_swish",
                                         "erf",
                                         "gelu",
                                         "softplus",
                                         "exp",
                                         "log",
                                         "sqrt",
                                         "reciprocal",
                                         "abs",
                                         "neg",
                                         "floor",
                                         "ceil",
                                         "round",
                                         "sign"};
  return kNames[size_t(kind)];
}

std::string_view name_of(Activation activation) {
  switch (activation) {
    case Activation::None:
      return "none";
    case Activation::Relu:
      return "relu";
    case Activation::Relu6:
      return "relu6";
    case Activation::ReluN1To1:
      return "relu_n1_to_1";
  }
  return "?";
}

std::array<int, 2> mean_window(const Graph& graph, const Op& op) {
  const Nhwc in = graph.input_of(op).nhwc();
  if (op.dims.empty()) return {in.h, in.w};
  const Nhwc out = graph.output_of(op).nhwc();
  if (graph.input_of(op).shape.size() != 4 || out.n != in.n || out.c != in.c) return {0, 0};
  if (op.dims == std::vector<int>{1} && out.h == 1 && out.w == in.w) return {in.h, 1};
  if (op.dims == std::vector<int>{2} && out.h == in.h && out.w == 1) return {1, in.w};
  return {0, 0};
}

bool runs_on_host(OpKind kind) {
  switch (kind) {
    case OpKind::Softmax:
    case OpKind::ArgMax:
    case OpKind::Reshape:
    case OpKind::ToInt8:
    case OpKind::ToFloat:
    case OpKind::HostFloat:
    case OpKind::Rearrange:
    case OpKind::Minimum:
    case OpKind::Maximum:
    case OpKind::PRelu:
    case OpKind::ReduceMax:
    case OpKind::ReduceMin:
    case OpKind::ReduceSum:
    case OpKind::SquaredDifference:
    case OpKind::BatchMatMul:
    case OpKind::L2Norm:
    case OpKind::Gather:
    case OpKind::Constant:
      return true;
    default:
      return false;
  }
}

Quantization quantization_of(const Graph& graph, int input) {
  for (const Op& op : graph.ops) {
    if (op.kind == OpKind::ToInt8 && op.inputs.front() == input) return graph.output_of(op).quantization;
  }
  return graph.tensors[size_t(input)].quantization;
}

uint64_t macs(const Graph& graph, const Op& op) {
  const uint64_t outputs = graph.output_of(op).elements();
  switch (op.kind) {
    case OpKind::Conv2D: {
      const Nhwc kernel = graph.weights_of(op).nhwc();
      return outputs * uint64_t(kernel.h) * uint64_t(kernel.w) * uint64_t(kernel.c);
    }
    case OpKind::DepthwiseConv2D: {
      const Nhwc kernel = graph.weights_of(op).nhwc();
      return outputs * uint64_t(kernel.h) * uint64_t(kernel.w);
    }
    case OpKind::FullyConnected:
      return outputs * uint64_t(graph.weights_of(op).nhwc().c);
    default:
      return 0;
  }
}

uint64_t macs(const Graph& graph) {
  uint64_t sum = 0;
  for (const Op& op : graph.ops) sum += macs(graph, op);
  return sum;
}

int window_outputs(int in, int before, int after, int extent, int stride) {
  const int64_t room = int64_t(in) + before + after - extent;
  return room < 0 ? 0 : int(room / stride) + 1;
}

std::array<int, 2> same_padding(int in, int extent, int stride) {
  const int64_t out = ceil_div(int64_t(in), stride);
  const int64_t total = (out - 1) * stride + extent - in;
  if (total <= 0) return {0, 0};
  return {int(total / 2), int(total - total / 2)};
}

}  // namespace kaiten
