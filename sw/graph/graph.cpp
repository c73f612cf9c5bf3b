#include "graph/graph.h"

#include <cstring>

namespace kaiten {

int element_bytes(ElementType type) {
  return type == ElementType::Int8 || type == ElementType::UInt8 ? 1 : 4;
}

std::string_view name_of(ElementType type) {
  switch (type) {
    case ElementType::Int8:
      return "int8";
    case ElementType::UInt8:
      return "uint8";
    case ElementType::Int32:
      return "int32";
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
  for (size_t i = 0; i < rank && i < 4; i++) dims[3 - i] = shape[rank - 1 - i];
  return {dims[0], dims[1], dims[2], dims[3]};
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
  }
  return "?";
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

bool runs_on_host(OpKind kind) { return kind == OpKind::Softmax || kind == OpKind::Reshape; }

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
  const int64_t out = (int64_t(in) + stride - 1) / stride;
  const int64_t total = (out - 1) * stride + extent - in;
  if (total <= 0) return {0, 0};
  return {int(total / 2), int(total - total / 2)};
}

}  // namespace kaiten
