// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Random networks of several layers with branches that meet again, for whole-program tests.
#ifndef KAITEN_TESTS_SYSTEM_RANDOM_NETWORK_H
#define KAITEN_TESTS_SYSTEM_RANDOM_NETWORK_H

#include <algorithm>
#include <vector>

#include "tests/support/graph_builder.h"

namespace kaiten::test {

// One random layer behind `in`: a convolution on the array (half of them), or something of the vector engine.
inline int add_random_layer(GraphBuilder& g, int in) {
  const Nhwc s = g.graph.tensors[std::size_t(in)].nhwc();
  for (;;) {
    const int kind = g.uniform(0, 8);
    const int kh = g.uniform(1, 5);
    const int kw = g.uniform(0, 2) ? kh : g.uniform(1, 5);
    const int stride = g.uniform(1, kind <= 2 ? 2 : 3);
    const Padding pad = g.padding(s.h, s.w, kh, kw, stride);
    const int rows = window_outputs(s.h, pad.top, pad.bottom, kh, stride);
    const int columns = window_outputs(s.w, pad.left, pad.right, kw, stride);
    // Every window must touch the map.
    if (rows < 1 || columns < 1) continue;
    if (pad.top >= s.h || pad.left >= s.w || (rows - 1) * stride - pad.top >= s.h ||
        (columns - 1) * stride - pad.left >= s.w)
      continue;
    switch (kind) {
      case 0:
      case 1:
      case 2:
        return g.conv(in, g.uniform(1, 40), kh, kw, stride, pad, g.activation());
      case 3:
        return g.depthwise(in, kh, kw, stride, pad, g.activation());
      case 4:
        return g.pool(OpKind::AveragePool, in, kh, kw, stride, pad, g.activation());
      case 5:
        return g.pool(OpKind::MaxPool, in, kh, kw, stride, pad, g.activation());
      case 6:
        return g.element_with_constant(in, g.activation());
      case 7:
        return g.table(in);
      default:
        return g.element(g.uniform(0, 1) ? OpKind::Add : OpKind::Mul, in, in, g.activation());
    }
  }
}

// Branches behind `in`, concatenated; sometimes `in` is one of them.
inline int add_random_branches(GraphBuilder& g, int in) {
  std::vector<int> parts;
  if (g.uniform(0, 2) == 0) parts.push_back(in);
  for (int n = g.uniform(2, 3); n > 0; n--) {
    const int kernel = g.uniform(0, 1) ? 3 : 1, pad = kernel / 2;
    const int channels = g.uniform(0, 1) ? 8 * g.uniform(1, 2) : g.uniform(1, 14);
    parts.push_back(g.conv(in, channels, kernel, kernel, 1, {pad, pad, pad, pad}, g.activation()));
    g.share_scale(parts.back(), parts[0]);
  }
  return g.concat(parts);
}

// A range of channels, now and then of rows and columns.
inline int add_random_slice(GraphBuilder& g, int in) {
  const Nhwc s = g.graph.tensors[std::size_t(in)].nhwc();
  const int channel = g.uniform(0, 1) ? g.uniform(0, (s.c - 1) / 8) * 8 : g.uniform(0, s.c - 1);
  const int row = g.uniform(0, 2) ? 0 : g.uniform(0, s.h - 1),
            column = g.uniform(0, 2) ? 0 : g.uniform(0, s.w - 1);
  const bool all = row == 0 && column == 0;
  const int rows = all ? s.h : g.uniform(1, s.h - row), columns = all ? s.w : g.uniform(1, s.w - column);
  return g.slice(in, {0, row, column, all ? channel : 0},
                 {1, rows, columns, all ? g.uniform(1, s.c - channel) : s.c});
}

// Two to `layers` layers; residual additions where shapes allow, sometimes a fully connected layer and a softmax at the
// end, sometimes a tensor of the middle as a second output.
inline GraphBuilder random_network(std::uint64_t seed, int side, int channels, int layers) {
  GraphBuilder g(seed);
  g.uint8 = seed % 3 == 0;
  std::vector<int> tensors{g.input(g.uniform(3, side), g.uniform(3, side), g.uniform(1, channels))};
  const auto shape = [&](int t) { return g.graph.tensors[std::size_t(t)].shape; };
  for (int n = g.uniform(2, layers); n > 0; n--) {
    const int in =
        g.uniform(0, 3) ? tensors.back() : tensors[std::size_t(g.uniform(0, int(tensors.size()) - 1))];
    int out = -1;
    if (g.uniform(0, 1) == 0) {
      for (int other : tensors) {
        if (other == in || shape(other) != shape(in)) continue;
        static constexpr OpKind kKinds[] = {OpKind::Add, OpKind::Add, OpKind::Sub, OpKind::Mul};
        out = g.element(kKinds[g.uniform(0, 3)], in, other, g.activation());
        break;
      }
    }
    const Nhwc s = g.graph.tensors[std::size_t(in)].nhwc();
    if (out < 0 && g.uniform(0, 2) == 0) {
      out = g.conv(in, g.uniform(0, 1) ? s.c : g.uniform(1, channels), 3, 3, 1, {1, 1, 1, 1}, g.activation());
    }
    if (out < 0 && s.c < 4 * channels && g.uniform(0, 4) == 0) out = add_random_branches(g, in);
    if (out < 0 && g.uniform(0, 6) == 0) out = add_random_slice(g, in);
    if (out < 0 && g.uniform(0, 6) == 0) {
      out = g.shuffle(g.uniform(0, 1) ? in : g.conv(in, g.uniform(2, 24), 1, 1, 1, {}, g.activation()));
    }
    if (out < 0 && s.h + s.w < 3 * side && g.uniform(0, 6) == 0) {
      out = g.pad(in, {g.uniform(0, 3), g.uniform(0, 3), g.uniform(0, 3), g.uniform(0, 3)});
    }
    if (out < 0 && g.uniform(0, 6) == 0) {
      const int d = g.uniform(2, 3);
      out = g.uniform(0, 1) ? g.conv(in, g.uniform(1, 12), 3, 3, 1, {d, d, d, d}, g.activation(), d)
                            : g.depthwise(in, 3, 3, 1, {d, d, d, d}, g.activation(), 1, d);
    }
    tensors.push_back(out < 0 ? add_random_layer(g, in) : out);
  }
  const std::size_t middle = tensors.size() / 2;
  if (g.uniform(0, 2) == 0) {
    const int mean = g.mean(tensors.back());
    tensors.push_back(g.softmax(g.fully_connected(mean, g.uniform(1, 12), Activation::None)));
  } else if (g.uniform(0, 1)) {
    tensors.push_back(g.fully_connected(tensors.back(), g.uniform(1, 12), Activation::None));
  }
  int last = tensors.back();
  if (g.uniform(0, 5) == 0) last = g.resize(last, g.uniform(1, 20), g.uniform(1, 20), g.uniform(0, 1) == 1);
  g.output(g.uniform(0, 5) ? last : g.arg_max(last));
  if (g.uniform(0, 3) == 0 && middle > 0) g.output(tensors[middle]);
  return g;
}

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SYSTEM_RANDOM_NETWORK_H
