// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Random small networks for the planner: chains with residual edges (the class whose optimum is the paper's),
// and graphs with branches, concatenations and products.
#ifndef KAITEN_TESTS_SW_PLAN_RANDOM_NETWORK_H
#define KAITEN_TESTS_SW_PLAN_RANDOM_NETWORK_H

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "base/error.h"
#include "plan/network.h"

namespace kaiten::plan::test {

struct Shape {
  int layers = 6;
  bool half_padded = false;      // pad <= kernel / 2
  bool equal_residuals = false;  // residual edges between maps of equal shape only
  bool drifting = false;         // residual edges of other strides than the layers between
  bool branches = false;         // layers that read other maps than the last, and joins
  int max_side = 12;
  int max_channels = 4;
  int max_stride = 2;
};

class RandomNetwork {
 public:
  RandomNetwork(std::mt19937_64& rng, const Shape& shape) : rng_(rng), shape_(shape) {}

  Network make() {
    n_.name = "random";
    n_.maps.push_back(
        {uniform(1, shape_.max_side), uniform(1, shape_.max_side), uniform(1, shape_.max_channels)});
    while (n_.layer_count() < shape_.layers) layer();
    const auto read = consumers(n_);
    for (int map = 1; map < n_.layer_count(); map++) {
      if (read[std::size_t(map)].empty()) n_.outputs.push_back(map);
    }
    return n_;
  }

 private:
  int uniform(int low, int high) { return low + int(rng_() % std::uint64_t(high - low + 1)); }

  void layer() {
    Layer l;
    const int last = n_.layer_count();
    l.name = "layer" + std::to_string(last);
    l.number = last;
    l.inputs = {last};
    if (shape_.branches && uniform(0, 3) == 0) l.inputs = {uniform(0, last)};
    int channels = 0;
    switch (uniform(0, shape_.branches ? 6 : 3)) {
      case 0:
        l.op = Op::kPool;
        break;
      case 1:
        l.op = Op::kDepthwise;
        break;
      case 4:
      case 5: {
        l.op = uniform(0, 1) != 0 ? Op::kAdd : Op::kConcat;
        const Map& a = n_.maps[std::size_t(l.inputs.front())];
        for (int map = 0; map <= last; map++) {
          const Map& b = n_.maps[std::size_t(map)];
          const bool fits = l.op == Op::kAdd ? a == b : a.height == b.height && a.width == b.width;
          if (map != l.inputs.front() && fits && uniform(0, 1) != 0) l.inputs.push_back(map);
        }
        break;
      }
      default:
        channels = uniform(1, shape_.max_channels);
        break;
    }
    if (l.op == Op::kConv || l.op == Op::kDepthwise || l.op == Op::kPool) {
      const Map& in = n_.maps[std::size_t(l.inputs.front())];
      l.kernel_h = std::min(uniform(1, 4), in.height);
      l.kernel_w = std::min(uniform(1, 4), in.width);
      l.stride_h = l.stride_w = uniform(0, 2) == 0 ? uniform(1, shape_.max_stride) : 1;
      const int pad_h = shape_.half_padded ? l.kernel_h / 2 : l.kernel_h - 1;
      const int pad_w = shape_.half_padded ? l.kernel_w / 2 : l.kernel_w - 1;
      l.pad_top = uniform(0, pad_h);
      l.pad_bottom = uniform(0, pad_h);
      l.pad_left = uniform(0, pad_w);
      l.pad_right = uniform(0, pad_w);
    }
    try {
      n_.maps.push_back(output_map(n_, l, channels));
    } catch (const InputError&) {
      return;  // another one
    }
    const Map& out = n_.maps.back();
    if (uniform(0, 2) == 0) {
      const int a = uniform(0, last);
      const Map& from = n_.maps[std::size_t(a)];
      const bool fits = from == out ||
                        (!shape_.equal_residuals && !shape_.branches && projects(a, l.stride_h, from, out)) ||
                        (shape_.drifting && projected(from, out));
      if (fits && a != l.inputs.front()) l.adds.push_back(a);
    }
    n_.layers.push_back(std::move(l));
  }

  static bool projected(const Map& from, const Map& out) {
    try {
      check_projection(from, out);
      return true;
    } catch (const InputError&) {
      return false;
    }
  }

  // A 1x1 projection of the strides on the way gives the shape.
  bool projects(int a, int stride, const Map& from, const Map& out) const {
    for (int m = a; m < n_.layer_count(); m++) stride *= n_.layers[std::size_t(m)].stride_h;
    const int ratio = int(std::lround(double(from.height) / out.height));
    return ratio == stride && (from.height - 1) / stride + 1 == out.height &&
           (from.width - 1) / stride + 1 == out.width;
  }

  std::mt19937_64& rng_;
  Shape shape_;
  Network n_;
};

}  // namespace kaiten::plan::test

#endif  // KAITEN_TESTS_SW_PLAN_RANDOM_NETWORK_H
