// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/support/model_builder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace kaiten::test {
namespace {

constexpr float kTypicalScale = 0.01F;  // of weights

int code_of(Activation activation) {
  switch (activation) {
    case Activation::None:
      return 0;
    case Activation::Relu:
      return 1;
    case Activation::ReluN1To1:
      return 2;
    case Activation::Relu6:
      return 3;
  }
  return 0;
}

int draw(std::mt19937_64& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

std::vector<uint8_t> bytes_of(const std::vector<int32_t>& values) {
  std::vector<uint8_t> bytes(values.size() * 4);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

int window_side(int in, int kernel, int dilation, int stride, bool same) {
  const int extent = (kernel - 1) * dilation + 1;
  return same ? (in + stride - 1) / stride : window_outputs(in, 0, 0, extent, stride);
}

// Biases with which some accumulators come as near to the ends of int32 as weights of up to `largest` allow.
std::vector<int32_t> biases_at_the_limits(int channels, int fan_in, int largest, std::mt19937_64& random) {
  const int64_t reach = int64_t(fan_in) * 255 * largest;
  const int64_t limit = std::max<int64_t>(0, std::numeric_limits<int32_t>::max() - reach);
  std::vector<int32_t> biases;
  for (int c = 0; c < channels; c++) {
    const int choice = draw(random, 0, 2);
    biases.push_back(int32_t(choice == 0 ? limit : choice == 1 ? -limit : draw(random, -5000, 5000)));
  }
  return biases;
}

}  // namespace

int ModelBuilder::activation_tensor(const std::string& kind, const std::vector<int>& shape,
                                    ActivationScale quantization) {
  FileTensor tensor;
  tensor.name = kind + "_" + std::to_string(tensors.size());
  tensor.shape = shape;
  tensor.scale = {quantization.scale};
  tensor.zero_point = {quantization.zero_point};
  tensors.push_back(tensor);
  return int(tensors.size()) - 1;
}

int ModelBuilder::input(const std::vector<int>& shape, ActivationScale quantization) {
  const int index = activation_tensor("input", shape, quantization);
  inputs.push_back(index);
  return index;
}

int ModelBuilder::weighted_layer(int code, int in, ConvSpec spec, const std::vector<int>& kernel, int fan_in,
                                 int channels, int axis, const std::vector<int>& out_shape) {
  size_t weight_count = 1;
  for (const int dim : kernel) weight_count *= size_t(dim);
  if (spec.weights.empty()) {
    spec.weights.resize(weight_count);
    for (int8_t& w : spec.weights) w = int8_t(draw(random_, -127, 127));
  }
  const float mean_scale = spec.weight_scales.empty() ? kTypicalScale : spec.weight_scales.front();
  if (spec.weight_scales.empty()) {
    const auto spread = [&] { return mean_scale * std::exp2(float(draw(random_, -100, 100)) / 100.0F); };
    for (int c = 0; c < (spec.per_channel ? channels : 1); c++) spec.weight_scales.push_back(spread());
  }
  // Standard deviation of a sum of fan_in products of uniform int8 values: about 73 * 73 * sqrt(fan_in).
  const double deviation = 73.0 * 73.0 * std::sqrt(double(fan_in));
  if (spec.has_bias && spec.bias.empty()) {
    for (int c = 0; c < channels; c++) {
      spec.bias.push_back(int32_t(double(draw(random_, -1000, 1000)) / 1000.0 * deviation));
    }
  }
  if (spec.out_scale == 0.0F) {
    constexpr double kOutputDeviation = 50.0;
    spec.out_scale =
        float(double(tensors[size_t(in)].scale.front()) * double(mean_scale) * deviation / kOutputDeviation);
  }

  const std::string kind = code == 3 ? "conv" : code == 4 ? "depthwise" : "fc";
  FileTensor weights;
  weights.name = kind + "_weights_" + std::to_string(tensors.size());
  weights.shape = kernel;
  weights.scale = spec.weight_scales;
  weights.zero_point.assign(spec.weight_scales.size(), 0);
  weights.axis = axis;
  weights.data.assign(spec.weights.begin(), spec.weights.end());
  tensors.push_back(weights);

  FileOp op;
  op.code = code;
  op.inputs = {in, int(tensors.size()) - 1};
  if (spec.has_bias) {
    FileTensor bias;
    bias.name = kind + "_bias_" + std::to_string(tensors.size());
    bias.type = FileType::Int32;
    bias.shape = {channels};
    for (const float scale : spec.weight_scales)
      bias.scale.push_back(tensors[size_t(in)].scale.front() * scale);
    bias.zero_point.assign(bias.scale.size(), 0);
    bias.data = bytes_of(spec.bias);
    tensors.push_back(bias);
    op.inputs.push_back(int(tensors.size()) - 1);
  }
  op.outputs = {activation_tensor(kind, out_shape, {spec.out_scale, spec.out_zero_point})};
  op.padding = spec.same ? 0 : 1;
  op.stride_h = spec.stride_h;
  op.stride_w = spec.stride_w;
  op.dilation_h = spec.dilation_h;
  op.dilation_w = spec.dilation_w;
  op.depth_multiplier = spec.depth_multiplier;
  op.activation = code_of(spec.activation);
  ops.push_back(op);
  return op.outputs.front();
}

int ModelBuilder::conv(int in, const ConvSpec& spec) {
  const std::vector<int> shape = tensors[size_t(in)].shape;
  const int h = window_side(shape[1], spec.kernel_h, spec.dilation_h, spec.stride_h, spec.same);
  const int w = window_side(shape[2], spec.kernel_w, spec.dilation_w, spec.stride_w, spec.same);
  const int fan_in = spec.kernel_h * spec.kernel_w * shape[3];
  return weighted_layer(3, in, spec, {spec.channels, spec.kernel_h, spec.kernel_w, shape[3]}, fan_in,
                        spec.channels, 0, {shape[0], h, w, spec.channels});
}

int ModelBuilder::depthwise(int in, const ConvSpec& spec) {
  const std::vector<int> shape = tensors[size_t(in)].shape;
  const int h = window_side(shape[1], spec.kernel_h, spec.dilation_h, spec.stride_h, spec.same);
  const int w = window_side(shape[2], spec.kernel_w, spec.dilation_w, spec.stride_w, spec.same);
  const int channels = shape[3] * spec.depth_multiplier;
  return weighted_layer(4, in, spec, {1, spec.kernel_h, spec.kernel_w, channels},
                        spec.kernel_h * spec.kernel_w, channels, 3, {shape[0], h, w, channels});
}

int ModelBuilder::fully_connected(int in, const ConvSpec& spec) {
  int depth = 1;
  for (const int dim : tensors[size_t(in)].shape) depth *= dim;
  return weighted_layer(9, in, spec, {spec.channels, depth}, depth, spec.channels, 0, {1, spec.channels});
}

int ModelBuilder::add(int a, int b, const AddSpec& spec) {
  float scale = spec.out_scale;
  if (scale == 0.0F) scale = tensors[size_t(a)].scale.front() + tensors[size_t(b)].scale.front();
  FileOp op;
  op.code = 0;
  op.inputs = {a, b};
  const std::vector<int> shape = tensors[size_t(a)].shape;
  op.outputs = {activation_tensor("add", shape, {scale, spec.out_zero_point})};
  op.activation = code_of(spec.activation);
  ops.push_back(op);
  return op.outputs.front();
}

int ModelBuilder::pool(int code, int in, const PoolSpec& spec) {
  const std::vector<int> shape = tensors[size_t(in)].shape;
  const ActivationScale quantization{tensors[size_t(in)].scale.front(),
                                     int(tensors[size_t(in)].zero_point.front())};
  FileOp op;
  op.code = code;
  op.inputs = {in};
  op.outputs = {
      activation_tensor(code == 1 ? "average_pool" : "max_pool",
                        {shape[0], window_side(shape[1], spec.kernel_h, 1, spec.stride_h, spec.same),
                         window_side(shape[2], spec.kernel_w, 1, spec.stride_w, spec.same), shape[3]},
                        quantization)};
  op.padding = spec.same ? 0 : 1;
  op.stride_h = spec.stride_h;
  op.stride_w = spec.stride_w;
  op.filter_h = spec.kernel_h;
  op.filter_w = spec.kernel_w;
  op.activation = code_of(spec.activation);
  ops.push_back(op);
  return op.outputs.front();
}

int ModelBuilder::average_pool(int in, const PoolSpec& spec) { return pool(1, in, spec); }
int ModelBuilder::max_pool(int in, const PoolSpec& spec) { return pool(17, in, spec); }

int ModelBuilder::mean(int in, ActivationScale quantization, bool keep_dims) {
  const std::vector<int> shape = tensors[size_t(in)].shape;
  FileTensor axes;
  axes.name = "axes_" + std::to_string(tensors.size());
  axes.type = FileType::Int32;
  axes.shape = {2};
  axes.data = bytes_of({1, 2});
  tensors.push_back(axes);
  FileOp op;
  op.code = 40;
  op.inputs = {in, int(tensors.size()) - 1};
  op.keep_dims = keep_dims;
  const std::vector<int> out =
      keep_dims ? std::vector<int>{shape[0], 1, 1, shape[3]} : std::vector<int>{shape[0], shape[3]};
  op.outputs = {activation_tensor("mean", out, quantization)};
  ops.push_back(op);
  return op.outputs.front();
}

int ModelBuilder::numbers(const std::string& kind, const std::vector<int>& values) {
  FileTensor tensor;
  tensor.name = kind + "_" + std::to_string(tensors.size());
  tensor.type = FileType::Int32;
  tensor.shape = {int(values.size())};
  tensor.data = bytes_of({values.begin(), values.end()});
  tensors.push_back(tensor);
  return int(tensors.size()) - 1;
}

int ModelBuilder::reshape(int in, const std::vector<int>& shape) {
  const ActivationScale quantization{tensors[size_t(in)].scale.front(),
                                     int(tensors[size_t(in)].zero_point.front())};
  FileOp op;
  op.code = 22;
  op.inputs = {in, numbers("shape", shape)};
  op.outputs = {activation_tensor("reshape", shape, quantization)};
  ops.push_back(op);
  return op.outputs.front();
}

int ModelBuilder::transpose(int in, const std::vector<int>& order) {
  const FileTensor from = tensors[size_t(in)];
  std::vector<int> shape;
  for (const int d : order) shape.push_back(from.shape[size_t(d)]);
  FileOp op;
  op.code = 39;
  op.inputs = {in, numbers("order", order)};
  op.outputs = {activation_tensor("transpose", shape, {from.scale.front(), int(from.zero_point.front())})};
  ops.push_back(op);
  return op.outputs.front();
}

int ModelBuilder::channel_shuffle(int in, int groups) {
  const std::vector<int> s = tensors[size_t(in)].shape;
  const int grouped = reshape(in, {s[0], s[1], s[2], groups, s[3] / groups});
  return reshape(transpose(grouped, {0, 1, 2, 4, 3}), s);
}

int ModelBuilder::arg_max(int in, int axis, FileType type) {
  std::vector<int> shape = tensors[size_t(in)].shape;
  shape.erase(shape.begin() + (axis < 0 ? axis + int(shape.size()) : axis));
  FileOp op;
  op.code = 56;
  op.inputs = {in, numbers("axis", {axis})};
  op.outputs = {int(tensors.size())};
  FileTensor out;
  out.name = "arg_max_" + std::to_string(tensors.size());
  out.type = type;
  out.shape = shape;
  tensors.push_back(out);
  ops.push_back(op);
  return op.outputs.front();
}

int ModelBuilder::softmax(int in, float beta) {
  FileOp op;
  op.code = 25;
  op.inputs = {in};
  op.beta = beta;
  const std::vector<int> shape = tensors[size_t(in)].shape;
  op.outputs = {activation_tensor("softmax", shape, {1.0F / 256.0F, -128})};
  ops.push_back(op);
  return op.outputs.front();
}

void ModelBuilder::make_uint8(int weight_zero_point) {
  for (FileTensor& tensor : tensors) {
    if (tensor.type != FileType::Int8) continue;
    tensor.type = FileType::UInt8;
    for (uint8_t& value : tensor.data) value ^= 0x80;
    for (int64_t& zero_point : tensor.zero_point)
      zero_point += 128 + (tensor.data.empty() ? 0 : weight_zero_point);
  }
}

ModelBuilder random_layer(uint64_t seed, OpKind kind, const RandomLayerLimits& limits) {
  ModelBuilder model(seed);
  std::mt19937_64& random = model.random();
  const auto zero_point = [&] {
    const int choice = draw(random, 0, 3);
    return choice == 0 ? -128 : choice == 1 ? 127 : draw(random, -128, 127);
  };
  const auto activation = [&] { return Activation(draw(random, 0, 3)); };
  const int h = draw(random, 1, limits.max_side);
  const int w = draw(random, 1, limits.max_side);
  const int c = draw(random, 1, limits.max_channels);
  const int in = model.input({1, h, w, c}, {0.02F, zero_point()});

  ConvSpec spec;
  spec.channels = draw(random, 1, limits.max_channels);
  spec.same = draw(random, 0, 1) == 1;
  spec.dilation_h = draw(random, 1, limits.max_dilation);
  spec.dilation_w = draw(random, 1, limits.max_dilation);
  // Without padding the kernel must fit the map.
  const auto side = [&](int map, int dilation) {
    const int most = spec.same ? limits.max_kernel : std::min(limits.max_kernel, (map - 1) / dilation + 1);
    return draw(random, 1, most);
  };
  spec.kernel_h = side(h, spec.dilation_h);
  spec.kernel_w = side(w, spec.dilation_w);
  spec.stride_h = draw(random, 1, limits.max_stride);
  spec.stride_w = draw(random, 1, limits.max_stride);
  spec.out_zero_point = zero_point();
  // A ReLU above a high zero point would leave hardly any values.
  spec.activation = spec.out_zero_point > 64 ? Activation::None : activation();
  spec.per_channel = draw(random, 0, 2) != 0;
  spec.has_bias = draw(random, 0, 3) != 0;
  int weight_zero = 0;
  if (limits.uint8) {
    weight_zero = draw(random, 0, 2) ? draw(random, -30, 30) : zero_point();
    spec.per_channel = false;
  }
  const PoolSpec pool{spec.kernel_h, spec.kernel_w, spec.stride_h, spec.stride_w, spec.same, spec.activation};

  const bool depthwise = kind == OpKind::DepthwiseConv2D;
  if (depthwise) spec.depth_multiplier = draw(random, 1, limits.max_depth_multiplier);
  const int fan_in =
      kind == OpKind::FullyConnected ? h * w * c : spec.kernel_h * spec.kernel_w * (depthwise ? 1 : c);
  if (limits.uint8) {  // sums are wider than without a zero point, and not around 0
    const double spread = 73.0 * std::hypot(73.0, weight_zero) * std::sqrt(fan_in);
    const double middle =
        std::abs(double(model.tensors[size_t(in)].zero_point.front()) * weight_zero) * fan_in;
    spec.out_scale = float(0.02 * double(kTypicalScale) * (spread + middle) / 50.0);
  }
  if (spec.has_bias && draw(random, 0, 3) == 0) {
    spec.bias = biases_at_the_limits(depthwise ? c * spec.depth_multiplier : spec.channels, fan_in,
                                     limits.uint8 ? 255 : 127, random);
    // Half of them with a scale under which such sums do not saturate.
    if (draw(random, 0, 1) == 1) spec.out_scale = kTypicalScale * 0.02F * 0x1p31F / 100.0F;
  }

  switch (kind) {
    case OpKind::Conv2D:
      model.output(model.conv(in, spec));
      break;
    case OpKind::DepthwiseConv2D:
      model.output(model.depthwise(in, spec));
      break;
    case OpKind::FullyConnected:
      model.output(model.fully_connected(in, spec));
      break;
    case OpKind::Add: {
      ConvSpec branch;
      branch.channels = c;
      branch.per_channel = !limits.uint8;
      branch.kernel_h = branch.kernel_w = 1;
      branch.out_zero_point = zero_point();
      branch.out_scale = 0.02F * std::exp2(float(draw(random, -300, 300)) / 100.0F);
      const int other = model.conv(in, branch);
      const bool swapped = draw(random, 0, 1) == 1;
      const AddSpec add{spec.activation, 0.0F, zero_point()};
      model.output(swapped ? model.add(other, in, add) : model.add(in, other, add));
      break;
    }
    case OpKind::AveragePool:
      model.output(model.average_pool(in, pool));
      break;
    case OpKind::MaxPool:
      model.output(model.max_pool(in, pool));
      break;
    case OpKind::Mean: {
      // Means lie close together: put their middle into the output's range, mostly.
      const float ratio = std::exp2(float(draw(random, -100, 0)) / 100.0F);
      const int zp_in = int(model.tensors[size_t(in)].zero_point.front());
      const int zp_out = draw(random, 0, 3) == 0 ? zero_point() : int(ratio * float(zp_in));
      model.output(model.mean(in, {0.02F / ratio, zp_out}, draw(random, 0, 1) == 1));
      break;
    }
    case OpKind::Reshape:
      model.output(model.reshape(in, {1, h * w * c}));
      break;
    case OpKind::Softmax:
      model.output(model.softmax(in));
      break;
    default:
      break;
  }
  if (limits.uint8) model.make_uint8(weight_zero);
  return model;
}

std::vector<int8_t> random_values(size_t count, std::mt19937_64& random) {
  constexpr int8_t kExtremes[] = {-128, 127, 0, -128};
  std::vector<int8_t> values(count);
  for (int8_t& value : values) {
    const uint64_t bits = random();
    value = (bits & 3) == 0 ? kExtremes[(bits >> 2) & 3] : int8_t(bits >> 8);
  }
  return values;
}

}  // namespace kaiten::test
