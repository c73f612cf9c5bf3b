// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The layers of transformers, whose maps are tokens and matrices.
#include <cmath>
#include <numeric>

#include "generate/operator_codes.h"
#include "generate/random_network.h"

namespace kaiten::generate {
namespace {

size_t elements(const std::vector<int>& shape) {
  return std::accumulate(shape.begin(), shape.end(), size_t(1),
                         [](size_t n, int d) { return n * size_t(d); });
}

}  // namespace

std::vector<double> RandomNetwork::reals(int tensor) const {
  std::vector<double> values;
  for (size_t i = 0; i < values_[size_t(tensor)].size(); i++) values.push_back(real(tensor, i));
  return values;
}

int RandomNetwork::reshape(int in, const std::vector<int>& shape) {
  const int out = activation("reshape", shape, scale_of(in), zero_point_of(in));
  values_[size_t(out)] = values_[size_t(in)];
  operation(kReshape, {in, numbers("shape", shape)}, out);
  return out;
}

int RandomNetwork::tokens(int map) {
  const Nhwc s = shape_of(map);
  return reshape(map, {1, s.h * s.w, s.c});
}

int RandomNetwork::transpose(int in, const std::vector<int>& order) {
  const std::vector<int> from = file_.tensors[size_t(in)].shape;
  std::vector<int> shape;
  std::vector<size_t> step;  // of the input, along each dimension of the output
  for (const int d : order) {
    shape.push_back(from[size_t(d)]);
    step.push_back(elements({from.begin() + d + 1, from.end()}));
  }
  const int out = activation("transpose", shape, scale_of(in), zero_point_of(in));
  for (size_t i = 0; i < elements(shape); i++) {
    size_t rest = i, at = 0;
    for (size_t d = shape.size(); d-- > 0; rest /= size_t(shape[d])) at += rest % size_t(shape[d]) * step[d];
    values_[size_t(out)].push_back(values_[size_t(in)][at]);
  }
  operation(kTranspose, {in, numbers("order", order)}, out);
  return out;
}

int RandomNetwork::batch_matmul(int a, int b, bool transpose_b, double factor) {
  const std::vector<int> left = file_.tensors[size_t(a)].shape, right = file_.tensors[size_t(b)].shape;
  const auto depth = size_t(left.back()), rows = size_t(left[left.size() - 2]);
  const auto columns = size_t(right[right.size() - (transpose_b ? 2 : 1)]);
  const std::vector<double> x = reals(a), y = reals(b);
  std::vector<int> shape = left;
  shape.back() = int(columns);
  std::vector<double> products;
  for (size_t matrix = 0; matrix < x.size() / (rows * depth); matrix++) {
    for (size_t i = 0; i < rows * columns; i++) {
      double sum = 0;
      for (size_t k = 0; k < depth; k++) {
        const size_t at = transpose_b ? i % columns * depth + k : k * columns + i % columns;
        sum += x[(matrix * rows + i / columns) * depth + k] * y[matrix * depth * columns + at];
      }
      products.push_back(sum);
    }
  }
  const int out = elementwise("matmul", shape, products);
  operation(kBatchMatMul, {a, b}, out).transpose_b = transpose_b;
  // The division of scores by the root of their depth is a choice of scale.
  file_.tensors[size_t(out)].scale.front() *= float(factor);
  return out;
}

int RandomNetwork::combined(int code, const std::string& kind, int a, int b,
                            double (*value)(double, double)) {
  const std::vector<double> x = reals(a), y = reals(b);
  std::vector<double> results;
  for (size_t i = 0; i < x.size(); i++) results.push_back(value(x[i], y[i / (x.size() / y.size())]));
  const int out = elementwise(kind, file_.tensors[size_t(a)].shape, results);
  operation(code, {a, b}, out);
  return out;
}

int RandomNetwork::function(int code, const std::string& kind, int in, double (*value)(double)) {
  std::vector<double> results = reals(in);
  for (double& r : results) r = value(r);
  const int out = elementwise(kind, file_.tensors[size_t(in)].shape, results);
  operation(code, {in}, out);
  return out;
}

int RandomNetwork::gelu(int in) {
  return function(kGelu, "gelu", in, [](double x) { return 0.5 * x * std::erfc(-x * std::sqrt(0.5)); });
}

int RandomNetwork::mean_of_channels(int in) {
  std::vector<int> shape = file_.tensors[size_t(in)].shape;
  const auto channels = size_t(shape.back());
  const std::vector<double> values = reals(in);
  std::vector<double> means(values.size() / channels);
  for (size_t i = 0; i < values.size(); i++) means[i / channels] += values[i] / double(channels);
  const int axis = int(shape.size()) - 1;
  shape.back() = 1;
  const int out = elementwise("mean", shape, means);
  operation(kMean, {in, numbers("axes", {axis})}, out);
  return out;
}

int RandomNetwork::layer_norm(int in) {
  const int mean = mean_of_channels(in);
  const int square = combined(kSquaredDifference, "squared_difference", in, mean,
                              [](double x, double m) { return (x - m) * (x - m); });
  const int inverse = function(kRsqrt, "rsqrt", mean_of_channels(square),
                               [](double v) { return 1.0 / std::sqrt(std::max(v, 1e-3)); });
  const int centred = combined(kSub, "sub", in, mean, [](double x, double m) { return x - m; });
  return combined(kMul, "mul", centred, inverse, [](double x, double r) { return x * r; });
}

int RandomNetwork::constant_add(int in) {
  const std::vector<int> shape = file_.tensors[size_t(in)].shape;
  std::vector<uint8_t> stored(elements(shape));
  for (uint8_t& v : stored) v = uint8_t(random_() >> 56);
  const int added = constant("positions", FileType::Int8, shape, stored);
  file_.tensors[size_t(added)].scale = {scale_of(in) / 4};
  file_.tensors[size_t(added)].zero_point = {0};
  values_[size_t(added)].assign(stored.begin(), stored.end());
  return combined(kAdd, "add", in, added, [](double x, double y) { return x + y; });
}

int RandomNetwork::mean_of_tokens(int in) {
  const std::vector<int> shape = file_.tensors[size_t(in)].shape;
  const auto channels = size_t(shape.back());
  const std::vector<double> values = reals(in);
  std::vector<double> means(channels);
  for (size_t i = 0; i < values.size(); i++)
    means[i % channels] += values[i] * double(channels) / double(values.size());
  const int out = elementwise("mean", {1, shape.back()}, means);
  operation(kMean, {in, numbers("axes", {1})}, out).keep_dims = false;
  return out;
}

}  // namespace kaiten::generate
