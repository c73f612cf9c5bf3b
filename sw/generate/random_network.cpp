// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "generate/random_network.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "generate/operator_codes.h"
#include "reference/kernels.h"

namespace kaiten::generate {
namespace {

// Share of the values of a layer that may lie beyond the range of int8.
constexpr double kBeyond = 0.001;

// The value that a share of the others is below.
double quantile(std::vector<double>& values, double share) {
  const auto at = values.begin() + std::ptrdiff_t(std::round(share * double(values.size() - 1)));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

std::vector<double> of_channel(const std::vector<int32_t>& sums, size_t channels, size_t channel) {
  std::vector<double> values;
  for (size_t i = channel; i < sums.size(); i += channels) values.push_back(double(sums[i]));
  return values;
}

int8_t quantized(double real, float scale, int zero_point, bool relu) {
  const double value = std::nearbyint(real / double(scale)) + zero_point;
  return int8_t(std::clamp(value, relu ? std::max(-128.0, double(zero_point)) : -128.0, 127.0));
}

std::vector<uint8_t> bytes_of(const std::vector<int32_t>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(int32_t));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// Padding and outputs of a square window, as TensorFlow Lite has them.
Window window_of(Nhwc in, int kernel, int stride, bool same) {
  Window w{.kernel_h = kernel, .kernel_w = kernel, .stride_h = stride, .stride_w = stride};
  if (same) {
    const auto rows = same_padding(in.h, kernel, stride);
    const auto columns = same_padding(in.w, kernel, stride);
    w.pad = {rows[0], rows[1], columns[0], columns[1]};
  }
  return w;
}

Nhwc output_of(const Window& w, Nhwc in, int channels) {
  return {1, window_outputs(in.h, w.pad.top, w.pad.bottom, w.kernel_h, w.stride_h),
          window_outputs(in.w, w.pad.left, w.pad.right, w.kernel_w, w.stride_w), channels};
}

std::vector<int> dims(Nhwc s) { return {s.n, s.h, s.w, s.c}; }

// Bell-shaped, as trained weights are: four dice of 256 sides.
int8_t bell(uint32_t bits) {
  const auto die = [&](int n) { return int(bits >> (8 * n) & 0xff); };
  return int8_t((die(0) + die(1) + die(2) + die(3) - 510) / 4);
}

}  // namespace

int8_t supernet_weight(uint64_t seed, int slot, int kernel, int position, int channel) {
  // Every place has its own number below 2^48; the mixing is SplitMix64's (Steele et al., OOPSLA 2014).
  const uint64_t place =
      ((uint64_t(slot) << 12 | uint64_t(kernel)) << 7 | uint64_t(position)) << 12 | uint64_t(channel);
  uint64_t x = seed * 0xd1342543de82ef95 + (place + 1) * 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return bell(uint32_t(x ^ x >> 31));
}

std::vector<int8_t> random_image(int size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int8_t> image(size_t(size) * size_t(size) * 3);
  for (int8_t& x : image) x = int8_t(random() & 0xff);
  return image;
}

RandomNetwork::RandomNetwork(int size, uint64_t seed, int zeros)
    : random_(seed), seed_(seed), zeros_(unsigned(zeros)) {
  // An image of mean 0 and deviation about 1, as networks are given it.
  const int in = activation("image", {1, size, size, 3}, 1.0F / 64.0F, 0);
  file_.inputs = {in};
  values_[size_t(in)] = random_image(size, seed);
}

// --- tensors and operators

Nhwc RandomNetwork::shape_of(int tensor) const {
  const std::vector<int>& s = file_.tensors[size_t(tensor)].shape;
  if (s.size() == 3) return {1, s[1], 1, s[2]};  // tokens
  return s.size() == 4 ? Nhwc{s[0], s[1], s[2], s[3]} : Nhwc{1, 1, 1, s.back()};
}

double RandomNetwork::real(int tensor, size_t i) const {
  return double(scale_of(tensor)) * (values_[size_t(tensor)][i] - zero_point_of(tensor));
}

// The distributions of the standard library differ between implementations.
double RandomNetwork::uniform(double low, double high) {
  return low + (high - low) * double(random_() >> 11) * 0x1p-53;
}

float RandomNetwork::shared_scale() { return float(uniform(0.02, 0.08)); }

int RandomNetwork::activation(const std::string& kind, const std::vector<int>& shape, float scale,
                              int zero_point) {
  FileTensor t;
  t.name = kind + "_" + std::to_string(file_.ops.size() + 1);
  t.shape = shape;
  t.scale = {scale};
  t.zero_point = {zero_point};
  file_.tensors.push_back(t);
  values_.emplace_back();
  return int(file_.tensors.size()) - 1;
}

int RandomNetwork::constant(const std::string& kind, FileType type, const std::vector<int>& shape,
                            std::vector<uint8_t> data) {
  FileTensor t;
  t.name = kind + "_" + std::to_string(file_.ops.size() + 1);
  t.type = type;
  t.shape = shape;
  t.data = std::move(data);
  file_.tensors.push_back(std::move(t));
  values_.emplace_back();
  return int(file_.tensors.size()) - 1;
}

int RandomNetwork::numbers(const std::string& kind, const std::vector<int>& values) {
  return constant(kind, FileType::Int32, {int(values.size())}, bytes_of(values));
}

FileOp& RandomNetwork::operation(int code, const std::vector<int>& inputs, int output) {
  FileOp op;
  op.code = code;
  op.inputs = inputs;
  op.outputs = {output};
  file_.ops.push_back(op);
  return file_.ops.back();
}

// --- layers with weights

int RandomNetwork::conv(int in, const ConvShape& shape) {
  Weighted l;
  l.code = kConv;
  l.in = shape_of(in);
  l.groups = shape.groups;
  l.window = window_of(l.in, shape.kernel, shape.stride, shape.same);
  l.out = output_of(l.window, l.in, shape.channels);
  l.weights_shape = {shape.channels, shape.kernel, shape.kernel, l.in.c / shape.groups};
  l.out_shape = dims(l.out);
  l.shape = shape;
  return weighted(in, l);
}

int RandomNetwork::depthwise(int in, const ConvShape& shape) {
  Weighted l;
  l.code = kDepthwise;
  l.in = shape_of(in);
  l.groups = l.in.c;
  l.window = window_of(l.in, shape.kernel, shape.stride, true);
  l.out = output_of(l.window, l.in, l.in.c);
  l.weights_shape = {1, shape.kernel, shape.kernel, l.in.c};
  l.out_shape = dims(l.out);
  l.shape = shape;
  return weighted(in, l);
}

int RandomNetwork::fully_connected(int in, int channels, bool relu, int slot, const std::string& name) {
  Weighted l;
  l.code = kFullyConnected;
  const bool of_tokens = file_.tensors[size_t(in)].shape.size() == 3;
  l.in = of_tokens ? shape_of(in) : Nhwc{1, 1, 1, int(shape_of(in).elements())};
  l.out = {1, l.in.h, 1, channels};
  l.weights_shape = {channels, l.in.c};
  l.out_shape = of_tokens ? std::vector<int>{1, l.in.h, channels} : std::vector<int>{1, channels};
  l.shape.relu = relu;
  l.shape.slot = slot;
  l.shape.name = name;
  return weighted(in, l);
}

std::vector<int8_t> RandomNetwork::random_weights(const Weighted& l) {
  std::vector<int8_t> weights(
      Nhwc{1, 1, l.out.c, l.window.kernel_h * l.window.kernel_w * l.in.c / l.groups}.elements());
  uint64_t bits = 0;
  for (size_t i = 0; l.shape.slot < 0 && i < weights.size(); i++) {
    bits = i % 2 == 0 ? random_() : bits >> 32;
    weights[i] = bell(uint32_t(bits));
  }
  const int channels = l.in.c / l.groups, positions = l.window.kernel_h * l.window.kernel_w;
  for (size_t i = 0; l.shape.slot >= 0 && i < weights.size(); i++) {
    const int at = int(i);
    weights[i] = supernet_weight(seed_, l.shape.slot, at / (channels * positions), at / channels % positions,
                                 at % channels);
  }
  if (zeros_ > 0) {
    for (int8_t& w : weights) {
      if (random_() % 100 < zeros_) w = 0;
    }
  }
  return weights;
}

int RandomNetwork::weighted(int in, const Weighted& l) {
  const std::vector<int8_t> weights = random_weights(l);
  ConvParams params;
  params.zp_in = zero_point_of(in);
  std::vector<int32_t> sums(l.out.elements());
  const size_t channels = size_t(l.out.c);
  reference::conv2d_sums({params, l.window, l.in, l.out, l.groups}, values_[size_t(in)], weights,
                         [&](size_t pixel, std::span<const int32_t> some) {
                           std::copy(some.begin(), some.end(),
                                     sums.begin() + std::ptrdiff_t(pixel * channels));
                         });
  Calibration c =
      l.shape.relu ? with_relu(in, l.shape, sums, channels) : without_relu(in, l.shape, sums, channels);
  if (l.shape.gate) {
    for (std::size_t o = 0; o < channels; o++)
      c.bias[o] += int32_t(3.0 / (double(scale_of(in)) * double(c.weight_scale[o])));
    c.out_scale = 6.0F / 255.0F;
    c.out_zero_point = -128;
  }

  const std::string kind = l.code == kConv ? "conv" : l.code == kDepthwise ? "depthwise" : "fc";
  std::vector<uint8_t> stored(weights.size());
  const size_t taps = weights.size() / channels;
  for (size_t i = 0; i < weights.size(); i++) {
    const size_t at = l.code == kDepthwise ? i % taps * channels + i / taps : i;  // HWO there
    stored[at] = uint8_t(weights[i]);
  }
  const int kernel = constant(kind + "_weights", FileType::Int8, l.weights_shape, std::move(stored));
  FileTensor& k = file_.tensors[size_t(kernel)];
  k.scale = c.weight_scale;
  k.zero_point.assign(channels, 0);
  k.axis = l.code == kDepthwise ? 3 : 0;
  const int bias = constant(kind + "_bias", FileType::Int32, {l.out.c}, bytes_of(c.bias));
  FileTensor& b = file_.tensors[size_t(bias)];
  for (const float scale : c.weight_scale) b.scale.push_back(scale_of(in) * scale);
  b.zero_point.assign(channels, 0);

  const int out = activation(kind, l.out_shape, c.out_scale, c.out_zero_point);
  if (!l.shape.name.empty()) file_.tensors[size_t(out)].name = l.shape.name;
  std::vector<int8_t>& result = values_[size_t(out)];
  for (size_t i = 0; i < sums.size(); i++) {
    const size_t o = i % channels;
    const double value = (double(sums[i]) + c.bias[o]) * double(scale_of(in)) * double(c.weight_scale[o]);
    result.push_back(quantized(value, c.out_scale, c.out_zero_point, l.shape.relu));
  }
  FileOp& op = operation(l.code, {in, kernel, bias}, out);
  op.padding = l.shape.same ? 0 : 1;
  op.keep_num_dims = l.out_shape.size() == 3;
  op.stride_h = op.stride_w = l.shape.stride;
  op.activation = l.shape.relu ? kRelu : l.shape.gate ? kRelu6 : 0;
  return out;
}

// Per channel: the bias puts zero in the middle of the sums, the scale what lies above into 255 steps.
RandomNetwork::Calibration RandomNetwork::with_relu(int in, const ConvShape& shape,
                                                    const std::vector<int32_t>& sums, size_t channels) {
  Calibration c;
  c.out_scale = shape.out_scale > 0 ? shape.out_scale : shared_scale();
  c.out_zero_point = -128;
  const bool together = sums.size() / channels < kFewPixels;
  std::vector<double> all;
  if (together) all.assign(sums.begin(), sums.end());
  for (size_t o = 0; o < channels; o++) {
    std::vector<double> values = together ? std::vector<double>() : of_channel(sums, channels, o);
    std::vector<double>& v = together ? all : values;
    const double middle = quantile(v, together ? 0.5 : uniform(0.35, 0.65));
    const double reach = std::max(quantile(v, 1.0 - kBeyond) - middle, 256.0);
    const double steps = 255.0 * uniform(0.7, 1.05);
    c.bias.push_back(int32_t(-middle));
    c.weight_scale.push_back(float(steps * double(c.out_scale) / (double(scale_of(in)) * reach)));
  }
  return c;
}

// Where the result is added to another tensor and goes through a ReLU then, the bias puts zero into the
// middle of the additions' results, and the result's reach suits the other operand's.
RandomNetwork::Calibration RandomNetwork::without_relu(int in, const ConvShape& shape,
                                                       const std::vector<int32_t>& sums, size_t channels) {
  Calibration c;
  const bool adds = shape.add_to >= 0;
  const double step = adds ? double(scale_of(shape.add_to)) : double(shared_scale());
  const bool together = sums.size() / channels < kFewPixels;
  std::vector<double> all;
  if (together) all.assign(sums.begin(), sums.end());
  std::vector<double> reals(sums.size());
  for (size_t o = 0; o < channels; o++) {
    std::vector<double> values = together ? std::vector<double>() : of_channel(sums, channels, o);
    std::vector<double>& v = together ? all : values;
    const double reach = std::max(quantile(v, 1.0 - kBeyond) - quantile(v, kBeyond), 256.0);
    const double steps = 200.0 * uniform(0.7, 1.0);
    c.weight_scale.push_back(float(steps * step / (double(scale_of(in)) * reach)));
    const double unit = double(scale_of(in)) * double(c.weight_scale[o]);  // of a sum
    std::vector<double> results;
    for (size_t i = o; i < sums.size(); i += channels) {
      results.push_back(double(sums[i]) + (adds ? real(shape.add_to, i) / unit : 0.0));
    }
    std::vector<double>& r = together && !adds ? all : results;
    c.bias.push_back(int32_t(-quantile(r, adds ? uniform(0.35, 0.65) : 0.5)));
    for (size_t i = o; i < sums.size(); i += channels) reals[i] = (double(sums[i]) + c.bias[o]) * unit;
  }
  const double low = std::min(quantile(reals, kBeyond), 0.0);
  const double high = std::max(quantile(reals, 1.0 - kBeyond), 0.0);
  c.out_scale = float(std::max(high - low, step) / 255.0);
  c.out_zero_point = int(std::clamp(std::nearbyint(-128.0 - low / double(c.out_scale)), -128.0, 127.0));
  return c;
}

// --- layers without

int RandomNetwork::elementwise(const std::string& kind, const std::vector<int>& shape,
                               const std::vector<double>& reals) {
  std::vector<double> order = reals;
  const double low = std::min(quantile(order, kBeyond), 0.0);
  const double high = std::max(quantile(order, 1.0 - kBeyond), 0.0);
  const auto scale = float(std::max(high - low, 1e-3) / 255.0);
  const auto zero_point = int(std::clamp(std::nearbyint(-128.0 - low / double(scale)), -128.0, 127.0));
  const int out = activation(kind, shape, scale, zero_point);
  for (const double r : reals) values_[size_t(out)].push_back(quantized(r, scale, zero_point, false));
  return out;
}

int RandomNetwork::add(int a, int b, bool relu) {
  std::vector<double> sums;
  for (size_t i = 0; i < values_[size_t(a)].size(); i++) {
    const double sum = real(a, i) + real(b, i);
    sums.push_back(relu ? std::max(0.0, sum) : sum);
  }
  const int out = elementwise("add", file_.tensors[size_t(a)].shape, sums);
  operation(kAdd, {a, b}, out).activation = relu ? kRelu : 0;
  return out;
}

int RandomNetwork::multiply(int map, int factors) {
  const size_t channels = values_[size_t(factors)].size();
  std::vector<double> products;
  for (size_t i = 0; i < values_[size_t(map)].size(); i++)
    products.push_back(real(map, i) * real(factors, i % channels));
  const int out = elementwise("mul", file_.tensors[size_t(map)].shape, products);
  operation(kMul, {map, factors}, out);
  return out;
}

int RandomNetwork::hard_swish(int in) {
  std::vector<double> results;
  for (size_t i = 0; i < values_[size_t(in)].size(); i++) {
    const double x = real(in, i);
    results.push_back(x * std::clamp(x + 3.0, 0.0, 6.0) / 6.0);
  }
  const int out = elementwise("hard_swish", file_.tensors[size_t(in)].shape, results);
  operation(kHardSwish, {in}, out);
  return out;
}

FileOp& RandomNetwork::pool(int code, int in, const Window& w, Nhwc to, bool same) {
  const std::string kind = code == kMaxPool ? "max_pool" : "average_pool";
  const int out = activation(kind, dims(to), scale_of(in), zero_point_of(in));
  values_[size_t(out)].resize(to.elements());
  PoolParams params;
  (code == kMaxPool ? reference::max_pool : reference::average_pool)(
      params, w, shape_of(in), values_[size_t(in)], to, values_[size_t(out)]);
  FileOp& op = operation(code, {in}, out);
  op.padding = same ? 0 : 1;
  op.stride_h = op.stride_w = w.stride_h;
  op.filter_h = op.filter_w = w.kernel_h;
  return op;
}

int RandomNetwork::max_pool(int in, int kernel, int stride, bool same) {
  const Window w = window_of(shape_of(in), kernel, stride, same);
  return pool(kMaxPool, in, w, output_of(w, shape_of(in), shape_of(in).c), same).outputs.front();
}

int RandomNetwork::average_pool(int in, int kernel, int stride) {
  const Window w = window_of(shape_of(in), kernel, stride, true);
  return pool(kAveragePool, in, w, output_of(w, shape_of(in), shape_of(in).c), true).outputs.front();
}

int RandomNetwork::channel_shuffle(int in, int groups) {
  const Nhwc s = shape_of(in);
  const int split = reshape(in, {1, s.h, s.w, groups, s.c / groups});
  return reshape(transpose(split, {0, 1, 2, 4, 3}), dims(s));
}

int RandomNetwork::mean(int in) {
  const Nhwc from = shape_of(in);
  const size_t pixels = size_t(from.h) * size_t(from.w);
  std::vector<double> means(size_t(from.c));
  for (size_t i = 0; i < pixels * means.size(); i++) means[i % means.size()] += real(in, i) / double(pixels);
  const auto [least, largest] = std::minmax_element(means.begin(), means.end());
  const double low = std::min(*least, 0.0);
  const auto scale = float(std::max(*largest - low, 1e-3) / 255.0);
  const int zero_point = int(std::nearbyint(-128.0 - low / double(scale)));
  const int axes = numbers("axes", {1, 2});
  const int out = activation("mean", {1, 1, 1, from.c}, scale, zero_point);
  for (const double m : means) values_[size_t(out)].push_back(quantized(m, scale, zero_point, false));
  operation(kMean, {in, axes}, out);
  return out;
}

int RandomNetwork::concat(const std::vector<int>& operands) {
  Nhwc to = shape_of(operands.front());
  to.c = 0;
  for (const int t : operands) to.c += shape_of(t).c;
  const int out = activation("concat", dims(to), scale_of(operands.front()), zero_point_of(operands.front()));
  std::vector<int8_t>& result = values_[size_t(out)];
  for (size_t pixel = 0; pixel < size_t(to.h) * size_t(to.w); pixel++) {
    for (const int t : operands) {
      const auto channels = std::ptrdiff_t(shape_of(t).c);
      const auto first = values_[size_t(t)].begin() + std::ptrdiff_t(pixel) * channels;
      result.insert(result.end(), first, first + channels);
    }
  }
  operation(kConcat, operands, out).axis = 3;
  return out;
}

int RandomNetwork::softmax(int in) {
  const std::vector<int> shape = file_.tensors[size_t(in)].shape;
  const int out = activation("softmax", shape, 1.0F / 256.0F, -128);
  std::vector<double> values = reals(in);
  const auto channels = std::ptrdiff_t(shape.back());
  for (auto row = values.begin(); row != values.end(); row += channels) {
    const double most = *std::max_element(row, row + channels);
    double sum = 0;
    std::for_each(row, row + channels, [&](double& v) { sum += v = std::exp(v - most); });
    std::for_each(row, row + channels, [&](double& v) { v /= sum; });
  }
  for (const double v : values) values_[size_t(out)].push_back(quantized(v, 1.0F / 256.0F, -128, false));
  operation(kSoftmax, {in}, out);
  return out;
}

std::vector<uint8_t> RandomNetwork::file(int tensor, const std::string& description) {
  file_.outputs = {tensor};
  file_.description = description;
  return file_.file();
}

}  // namespace kaiten::generate
