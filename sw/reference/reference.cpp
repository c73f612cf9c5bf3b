// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "reference/reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "reference/fft_oracle.h"
#include "reference/host_float.h"
#include "reference/host_int8.h"
#include "reference/kernels.h"

namespace kaiten {
namespace {

std::span<const int8_t> weights_of(const Graph& graph, const Op& op) {
  const std::vector<uint8_t>& data = graph.weights_of(op).data;
  return {reinterpret_cast<const int8_t*>(data.data()), data.size()};
}

Int8Values values_of(const Graph& graph, const Op& op, size_t i, const std::vector<Int8Values>& tensors) {
  const Tensor& tensor = graph.input_of(op, i);
  return tensor.is_constant() ? Int8Values(tensor.data.begin(), tensor.data.end())
                              : tensors[size_t(op.inputs[i])];
}

// Values of operand i, repeated to the output's shape where it is smaller (numpy broadcasting).
Int8Values operand(const Graph& graph, const Op& op, size_t i, const std::vector<Int8Values>& tensors) {
  Int8Values values = values_of(graph, op, i, tensors);
  const std::vector<int>& to = graph.output_of(op).shape;
  const std::vector<int>& from = graph.input_of(op, i).shape;
  const size_t elements = graph.output_of(op).elements();
  if (values.size() == elements) return values;
  std::vector<int> dims{0};
  int step = int(values.size());
  for (size_t d = 0; d < to.size(); d++) {
    const int size = d + from.size() < to.size() ? 1 : from[d + from.size() - to.size()];
    step /= size;
    dims.insert(dims.end(), {to[d], size == 1 ? 0 : step});
  }
  return reference::rearrange(dims, values, elements);
}

// The four-dimensional index arithmetic of Pad, Slice and Concat: copies a box of `size` cells from `from`
// to `to`, each from its corner on.
using Box = std::array<int, 4>;

// Where a box begins in a tensor of this shape.
struct Corner {
  Box shape;
  Box begin;
};

Box box_of(const Nhwc& s) { return {s.n, s.h, s.w, s.c}; }

void copy_box(const Box& size, const Int8Values& from, const Corner& from_corner, Int8Values& to,
              const Corner& to_corner) {
  const auto index = [](const Corner& c, int n, int y, int x) {
    const auto& [shape, begin] = c;
    return size_t((((begin[0] + n) * int64_t(shape[1]) + begin[1] + y) * shape[2] + begin[2] + x) * shape[3] +
                  begin[3]);
  };
  for (int n = 0; n < size[0]; n++) {
    for (int y = 0; y < size[1]; y++) {
      for (int x = 0; x < size[2]; x++) {
        std::copy_n(from.begin() + ptrdiff_t(index(from_corner, n, y, x)), size[3],
                    to.begin() + ptrdiff_t(index(to_corner, n, y, x)));
      }
    }
  }
}

void run_add(const Graph& graph, const Op& op, const std::vector<Int8Values>& tensors, Int8Values& output) {
  std::vector<Int8Values> operands;
  for (size_t i = 0; i < op.inputs.size(); i++) operands.push_back(operand(graph, op, i, tensors));
  reference::add(add_params(graph, op),
                 std::vector<std::span<const int8_t>>(operands.begin(), operands.end()), output);
}

// Dimension `axis` of a tensor of this rank in the four-dimensional view.
size_t view_axis(const Tensor& tensor, int axis) { return size_t(4 - int(tensor.shape.size()) + axis); }

void run_concat(const Graph& graph, const Op& op, const std::vector<Int8Values>& tensors,
                Int8Values& output) {
  const ConcatParams params = concat_params(graph, op);
  const std::vector<int>& shape = graph.output_of(op).shape;
  size_t lines = 1;
  for (int d = 0; d < op.axis; d++) lines *= size_t(shape[size_t(d)]);
  const size_t pitch = output.size() / lines;
  size_t begin = 0;
  for (size_t i = 0; i < op.inputs.size(); i++) {
    Int8Values values = values_of(graph, op, i, tensors);
    reference::look_up(params.tables[i], values, values);
    const size_t length = values.size() / lines;
    for (size_t line = 0; line < lines; line++)
      std::copy_n(values.begin() + ptrdiff_t(line * length), length,
                  output.begin() + ptrdiff_t(line * pitch + begin));
    begin += length;
  }
}

Box begins(const Tensor& tensor, const Op& op, size_t step) {
  Box begin{};
  for (size_t d = 0; d < tensor.shape.size(); d++) begin[view_axis(tensor, int(d))] = op.dims[d * step];
  return begin;
}

// Stored order to model order and back, for float tensors of rank 4 in NCHW.
auto resize_of(const Graph& graph, const Op& op) {
  if (!op.bilinear) return reference::resize_nearest;
  const bool floats =
      graph.framework == Framework::TfLite && graph.output_of(op).model_type == ElementType::UInt8;
  return floats ? reference::resize_bilinear_uint8 : reference::resize_bilinear;
}

void to_int8(const Graph& graph, const Op& op, const Int8Values& input, Int8Values& output) {
  const std::vector<float> values = floats_of(input);
  const Tensor& out = graph.output_of(op);
  const float scale = out.quantization.scale.front();
  std::vector<uint8_t> bytes(values.size());
  const int shift = out.model_type == ElementType::UInt8 ? 128 : 0;
  for (size_t i = 0; i < values.size(); i++) {
    const float quotient = values[i] / scale;
    // LiteRT rounds halves away from zero, onnxruntime to even.
    const float nearest =
        graph.framework == Framework::TfLite ? std::round(quotient) : std::nearbyint(quotient);
    const float rounded = std::clamp(nearest, -1.0e6F, 1.0e6F);
    const int stored = std::clamp((std::isnan(values[i]) ? 0 : int(rounded)) + out.zero_point(), -128, 127);
    bytes[i] = uint8_t(stored + shift);
  }
  output = from_model(out, bytes);
}

void to_float(const Graph& graph, const Op& op, const Int8Values& input, Int8Values& output) {
  const Tensor& in = graph.input_of(op);
  const std::vector<uint8_t> bytes = to_model(in, input);
  const int shift = in.model_type == ElementType::UInt8 ? 128 : 0;
  std::vector<float> values(bytes.size());
  for (size_t i = 0; i < bytes.size(); i++) {
    const int stored = int(shift != 0 ? bytes[i] : uint8_t(bytes[i] ^ 0x80)) - 128;
    values[i] = float(stored - in.zero_point()) * in.quantization.scale.front();
  }
  output = bytes_of(values);
}

// A quantised tensor's values as its user sees them, in the model's order.
std::vector<float> model_values(const Tensor& tensor, const Int8Values& values) {
  std::vector<float> numbers;
  for (const uint8_t byte : to_model(tensor, values))
    numbers.push_back(tensor.model_type == ElementType::UInt8 ? float(byte) : float(int8_t(byte)));
  return numbers;
}

// The positions as int32 or int64.
Int8Values arg_max(const Graph& graph, const Op& op, const Int8Values& input) {
  const Tensor& in = graph.input_of(op);
  const std::vector<int> shape = in.model_shape();
  size_t inner = 1;
  for (size_t d = size_t(op.axis) + 1; d < shape.size(); d++) inner *= size_t(shape[d]);
  std::vector<float> values = in.type == ElementType::Float32 ? floats_of(input) : model_values(in, input);
  if (op.smallest) std::transform(values.begin(), values.end(), values.begin(), std::negate<>());
  const std::vector<int64_t> positions =
      reference::arg_max(values, size_t(shape[size_t(op.axis)]), inner, op.last_of_equals);
  const Tensor& out = graph.output_of(op);
  const auto width = size_t(element_bytes(out.type));
  Int8Values bytes(out.bytes());
  for (size_t i = 0; i < positions.size(); i++) std::memcpy(bytes.data() + i * width, &positions[i], width);
  return bytes;
}

void run_convolution(const Graph& graph, const Op& op, RoundingStyle style, const Int8Values& input,
                     FftOracle* oracle, Int8Values& output) {
  const Nhwc in = graph.input_of(op).nhwc();
  const Nhwc out = graph.output_of(op).nhwc();
  const ConvParams params = conv_params(graph, op, style);
  const std::span<const int8_t> weights = weights_of(graph, op);
  if (oracle != nullptr && oracle->run(op, params, in, input, weights, out, output)) return;
  const reference::Convolution convolution{params, op.window, in, out, op.groups};
  (op.kind == OpKind::Conv2D ? reference::conv2d : reference::depthwise)(convolution, input, weights, output);
}

template <class F>
Int8Values pairwise(const Graph& graph, const Op& op, const std::vector<Int8Values>& tensors, F f) {
  Int8Values a = operand(graph, op, 0, tensors);
  const Int8Values b = operand(graph, op, 1, tensors);
  std::transform(a.begin(), a.end(), b.begin(), a.begin(), f);
  return a;
}

Int8Values run_host_float(const Graph& graph, const Op& op, const std::vector<Int8Values>& tensors) {
  std::vector<std::vector<float>> operands;
  for (size_t i = 0; i < op.inputs.size(); i++) {
    const std::vector<uint8_t>& data = graph.input_of(op, i).data;
    operands.push_back(data.empty() ? floats_of(tensors[size_t(op.inputs[i])])
                                    : floats_of({reinterpret_cast<const int8_t*>(data.data()), data.size()}));
  }
  return bytes_of(reference::host_float(graph, op, operands));
}

Int8Values run_mean(const Graph& graph, const Op& op, const Int8Values& input) {
  const Nhwc in = graph.input_of(op).nhwc();
  if (op.dims.empty())
    return reference::reduce_mean(mean_params(graph, op), {in.n, in.h, in.w, in.c}, {1, 2}, input);
  return reference::reduce_mean(mean_params(graph, op), graph.input_of(op).shape, op.dims, input);
}

void run_quantize(const Graph& graph, const Op& op, const Int8Values& input, Int8Values& output) {
  if (graph.framework == Framework::Onnx) {
    reference::look_up(table_params(graph, op).table, input, output);
  } else {
    reference::quantize(quantize_params(graph, op), input, output);
  }
}

// A mean that is not divided.
Int8Values run_sum(const Graph& graph, const Op& op, const Int8Values& input) {
  const Tensor& in = graph.input_of(op);
  const Tensor& out = graph.output_of(op);
  MeanParams params;
  params.count = int32_t(in.elements() / out.elements());
  params.zp_in = in.zero_point();
  params.multiplier =
      quantize_multiplier(double(in.quantization.scale.front()) / double(out.quantization.scale.front()));
  params.output.zero_point = out.zero_point();
  return reference::reduce_mean(params, in.shape, op.dims, input);
}

// First element of the matrix of an operand that belongs to matrix i of the output.
size_t matrix_of(const std::vector<int>& shape, const std::vector<int>& out, size_t i) {
  size_t step = size_t(shape[shape.size() - 1]) * size_t(shape[shape.size() - 2]);
  size_t first = 0;
  for (size_t d = 2; d < out.size(); d++) {
    const auto size = size_t(out[out.size() - 1 - d]);
    const size_t own = d < shape.size() ? size_t(shape[shape.size() - 1 - d]) : 1;
    if (own != 1) first += i % size * step;
    step *= own;
    i /= size;
  }
  return first;
}

Int8Values run_matmul(const Graph& graph, const Op& op, const std::vector<Int8Values>& tensors) {
  const MulParams params = matmul_params(graph, op);
  const Int8Values a = values_of(graph, op, 0, tensors), b = values_of(graph, op, 1, tensors);
  const std::vector<int>& shape_a = graph.input_of(op, 0).shape;
  const std::vector<int>& shape_b = graph.input_of(op, 1).shape;
  const std::vector<int>& out = graph.output_of(op).shape;
  const auto rows = size_t(out[out.size() - 2]), columns = size_t(out.back());
  const auto width_a = size_t(shape_a.back()), width_b = size_t(shape_b.back());
  const size_t depth = op.transpose_a ? size_t(shape_a[shape_a.size() - 2]) : width_a;
  Int8Values output(graph.output_of(op).elements());
  for (size_t i = 0; i * rows * columns < output.size(); i++) {
    const reference::Matrix left{a, matrix_of(shape_a, out, i), op.transpose_a ? 1 : width_a,
                                 op.transpose_a ? width_a : 1};
    const reference::Matrix right{b, matrix_of(shape_b, out, i), op.transpose_b ? 1 : width_b,
                                  op.transpose_b ? width_b : 1};
    reference::multiply(params, left, right, depth, rows, columns, output.data() + i * rows * columns);
  }
  return output;
}

// What of the operators that no engine has is not in run_operator() itself.
Int8Values made_on_host(const Graph& graph, const Op& op, const std::vector<Int8Values>& tensors) {
  const Int8Values& input = tensors[size_t(op.inputs.front())];
  Int8Values output(graph.output_of(op).bytes());
  switch (op.kind) {
    case OpKind::Constant: {
      const std::vector<uint8_t>& data = graph.weights_of(op).data;
      return {data.begin(), data.end()};
    }
    case OpKind::ArgMax:
      return arg_max(graph, op, input);
    case OpKind::ToInt8:
      to_int8(graph, op, input, output);
      return output;
    case OpKind::ToFloat:
      to_float(graph, op, input, output);
      return output;
    case OpKind::HostFloat:
      return run_host_float(graph, op, tensors);
    case OpKind::ReduceMax:
      return reference::reduce_max(graph.input_of(op).shape, op.dims, input);
    case OpKind::ReduceMin:
      return reference::reduce_min(graph.input_of(op).shape, op.dims, input);
    case OpKind::ReduceSum:
      return run_sum(graph, op, input);
    case OpKind::BatchMatMul:
      return run_matmul(graph, op, tensors);
    case OpKind::L2Norm:
      return reference::l2_norm(graph.input_of(op).zero_point(),
                                graph.input_of(op).model_type == ElementType::UInt8,
                                size_t(graph.input_of(op).shape.back()), input);
    case OpKind::Gather:
      return reference::gather(op.dims, op.axis, graph.input_of(op).shape, input);
    case OpKind::SquaredDifference:
      return pairwise(graph, op, tensors,
                      [params = squared_difference_params(graph, op)](int8_t a, int8_t b) {
                        return reference::squared_difference(params, a, b);
                      });
    case OpKind::Rearrange:
      return reference::rearrange(op.dims, input, output.size());
    case OpKind::Minimum:
      return pairwise(graph, op, tensors, [](int8_t a, int8_t b) { return std::min(a, b); });
    case OpKind::Maximum:
      return pairwise(graph, op, tensors, [](int8_t a, int8_t b) { return std::max(a, b); });
    case OpKind::PRelu:
      return pairwise(graph, op, tensors, [params = prelu_params(graph, op)](int8_t a, int8_t b) {
        return reference::prelu(params, a, b);
      });
    default:
      throw std::logic_error("no operator of the host: " + std::string(name_of(op.kind)));
  }
}

}  // namespace

void run_operator(const Graph& graph, const Op& op, RoundingStyle style, std::vector<Int8Values>& tensors,
                  FftOracle* oracle) {
  const Nhwc in = graph.input_of(op).nhwc();
  const Nhwc out = graph.output_of(op).nhwc();
  const Int8Values& input = tensors[size_t(op.inputs.front())];
  Int8Values output(graph.output_of(op).bytes());
  switch (op.kind) {
    case OpKind::Conv2D:
    case OpKind::DepthwiseConv2D:
      run_convolution(graph, op, style, input, oracle, output);
      break;
    case OpKind::FullyConnected:
      reference::fully_connected(conv_params(graph, op, style), int(out.elements() / size_t(out.c)), input,
                                 weights_of(graph, op), output);
      break;
    case OpKind::Add:
    case OpKind::Sub:
      run_add(graph, op, tensors, output);
      break;
    case OpKind::Mul:
      reference::multiply(mul_params(graph, op), operand(graph, op, 0, tensors),
                          operand(graph, op, 1, tensors), output);
      break;
    case OpKind::Quantize:
      run_quantize(graph, op, input, output);
      break;
    case OpKind::Table:
      reference::look_up(table_params(graph, op).table, input, output);
      break;
    case OpKind::Concat:
      run_concat(graph, op, tensors, output);
      break;
    case OpKind::Pad:
      std::fill(output.begin(), output.end(), int8_t(op.fill.value_or(graph.output_of(op).zero_point())));
      copy_box(box_of(in), input, {box_of(in), {}}, output,
               {box_of(out), begins(graph.output_of(op), op, 2)});
      break;
    case OpKind::Slice:
      copy_box(box_of(out), input, {box_of(in), begins(graph.output_of(op), op, 1)}, output,
               {box_of(out), {}});
      break;
    case OpKind::Resize:
      resize_of(graph, op)(op, in, input, out, output);
      break;
    case OpKind::Shuffle:
      reference::shuffle_channels(op.dims, input, output);
      break;
    case OpKind::AveragePool:
      reference::average_pool(pool_params(graph, op), op.window, in, input, out, output);
      break;
    case OpKind::MaxPool:
      reference::max_pool(pool_params(graph, op), op.window, in, input, out, output);
      break;
    case OpKind::Mean:
      output = run_mean(graph, op, input);
      break;
    case OpKind::Reshape:
      output = input;
      break;
    case OpKind::Softmax:
      if (graph.framework == Framework::Onnx) {
        const Tensor& to = graph.output_of(op);
        reference::qlinear_softmax(graph.input_of(op).quantization.scale.front(),
                                   to.quantization.scale.front(), to.zero_point(), in.c, input, output);
        break;
      }
      (op.logarithm ? reference::log_softmax : reference::softmax)(softmax_params(graph, op), in.c, input,
                                                                   output);
      break;
    default:
      output = made_on_host(graph, op, tensors);
  }
  tensors[size_t(op.output)] = std::move(output);
}

std::vector<Int8Values> run_reference(const Graph& graph, std::span<const Int8Values> inputs,
                                      RoundingStyle style, const std::function<void()>& cancellation_check,
                                      FftOracle* oracle) {
  if (inputs.size() != graph.inputs.size()) {
    throw InputError("the model has " + std::to_string(graph.inputs.size()) + " inputs, given " +
                     std::to_string(inputs.size()));
  }
  std::vector<Int8Values> tensors(graph.tensors.size());
  for (size_t i = 0; i < inputs.size(); i++) {
    const Tensor& tensor = graph.tensors[size_t(graph.inputs[i])];
    if (inputs[i].size() != tensor.bytes()) {
      throw InputError("input '" + tensor.name + "' has " + std::to_string(tensor.bytes()) +
                       " bytes, given " + std::to_string(inputs[i].size()));
    }
    tensors[size_t(graph.inputs[i])] = inputs[i];
  }
  for (const Op& op : graph.ops) {
    if (cancellation_check) cancellation_check();
    run_operator(graph, op, style, tensors, oracle);
  }
  return tensors;
}

std::vector<Int8Values> run_reference_batch(const Graph& graph, int images,
                                            std::span<const Int8Values> inputs, RoundingStyle style,
                                            const std::function<void()>& cancellation_check,
                                            FftOracle* oracle) {
  const size_t each = graph.inputs.size();
  if (inputs.size() != size_t(images) * each) {
    throw InputError("a batch of " + std::to_string(images) + " images has " +
                     std::to_string(size_t(images) * each) + " inputs, given " +
                     std::to_string(inputs.size()));
  }
  std::vector<Int8Values> all;
  for (size_t image = 0; image < size_t(images); image++) {
    std::vector<Int8Values> one =
        run_reference(graph, inputs.subspan(image * each, each), style, cancellation_check, oracle);
    std::move(one.begin(), one.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace kaiten
