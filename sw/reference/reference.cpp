#include "reference/reference.h"

#include <string>

#include "graph/error.h"
#include "reference/kernels.h"

namespace kaiten {
namespace {

std::span<const int8_t> weights_of(const Graph& graph, const Op& op) {
  const std::vector<uint8_t>& data = graph.weights_of(op).data;
  return {reinterpret_cast<const int8_t*>(data.data()), data.size()};
}

}  // namespace

void run_operator(const Graph& graph, const Op& op, RoundingStyle style, std::vector<Int8Values>& tensors) {
  const Nhwc in = graph.input_of(op).nhwc();
  const Nhwc out = graph.output_of(op).nhwc();
  const Int8Values& input = tensors[size_t(op.inputs.front())];
  Int8Values output(graph.output_of(op).elements());
  switch (op.kind) {
    case OpKind::Conv2D:
      reference::conv2d(conv_params(graph, op, style), op.window, in, input, weights_of(graph, op), out,
                        output);
      break;
    case OpKind::DepthwiseConv2D:
      reference::depthwise(conv_params(graph, op, style), op.window, in, input, weights_of(graph, op), out,
                           output);
      break;
    case OpKind::FullyConnected:
      reference::fully_connected(conv_params(graph, op, style), 1, input, weights_of(graph, op), output);
      break;
    case OpKind::Add:
      reference::add(add_params(graph, op), input, tensors[size_t(op.inputs[1])], output);
      break;
    case OpKind::AveragePool:
      reference::average_pool(pool_params(graph, op), op.window, in, input, out, output);
      break;
    case OpKind::MaxPool:
      reference::max_pool(pool_params(graph, op), op.window, in, input, out, output);
      break;
    case OpKind::Mean:
      reference::mean(mean_params(graph, op), in, input, output);
      break;
    case OpKind::Reshape:
      output = input;
      break;
    case OpKind::Softmax:
      reference::softmax(softmax_params(graph, op), in.c, input, output);
      break;
  }
  tensors[size_t(op.output)] = std::move(output);
}

std::vector<Int8Values> run_reference(const Graph& graph, std::span<const Int8Values> inputs,
                                      RoundingStyle style) {
  if (inputs.size() != graph.inputs.size()) {
    throw InputError("the model has " + std::to_string(graph.inputs.size()) + " inputs, given " +
                     std::to_string(inputs.size()));
  }
  std::vector<Int8Values> tensors(graph.tensors.size());
  for (size_t i = 0; i < inputs.size(); i++) {
    const Tensor& tensor = graph.tensors[size_t(graph.inputs[i])];
    if (inputs[i].size() != tensor.elements()) {
      throw InputError("input '" + tensor.name + "' has " + std::to_string(tensor.elements()) +
                       " elements, given " + std::to_string(inputs[i].size()));
    }
    tensors[size_t(graph.inputs[i])] = inputs[i];
  }
  for (const Op& op : graph.ops) run_operator(graph, op, style, tensors);
  return tensors;
}

}  // namespace kaiten
