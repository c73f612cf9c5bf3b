// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "volume/int8_reference.h"

#include <algorithm>

namespace kaiten::volume {

using fft::Size;

namespace {

template <typename F>
void each_place(const Size& size, const F& f) {
  for (int z = 0; z < size.depth; z++)
    for (int y = 0; y < size.height; y++)
      for (int x = 0; x < size.width; x++) f(z, y, x);
}

}  // namespace

Int8Maps reference_convolution(const Int8Network& network, std::size_t layer, const Int8Maps& in) {
  const Int8Layer& q = network.layers[layer];
  const Size kernel = network.network.layers[layer].window;
  const int zero = network.maps[layer].zero_point;
  Int8Maps out(network.network.layers[layer].maps, fft::valid(in.size, kernel));
  for (int o = 0; o < out.maps; o++) {
    each_place(out.size, [&](int z, int y, int x) {
      std::int32_t sum = 0;
      std::size_t w = std::size_t(o) * std::size_t(in.maps) * kernel.elements();
      for (int c = 0; c < in.maps; c++)
        each_place(kernel, [&](int dz, int dy, int dx) {
          sum += (in.at(c, z + dz, y + dy, x + dx) - zero) * q.kernels[w++];
        });
      out.values[out.index(o, z, y, x)] = q.result(std::size_t(o), sum);
    });
  }
  return out;
}

Int8Maps reference_pooling(const Int8Maps& in, const Size& window, const Size& offset) {
  Int8Maps out(in.maps, {(in.size.depth - offset.depth) / window.depth,
                         (in.size.height - offset.height) / window.height,
                         (in.size.width - offset.width) / window.width});
  for (int m = 0; m < out.maps; m++) {
    each_place(out.size, [&](int z, int y, int x) {
      std::int8_t most = -128;
      each_place(window, [&](int dz, int dy, int dx) {
        most = std::max(most,
                        in.at(m, offset.depth + z * window.depth + dz, offset.height + y * window.height + dy,
                              offset.width + x * window.width + dx));
      });
      out.values[out.index(m, z, y, x)] = most;
    });
  }
  return out;
}

Int8Maps reference_at_every_position(const Int8Network& network, const Int8Maps& volume) {
  const Size view = network.network.field_of_view();
  Int8Maps result(network.network.outputs(), fft::valid(volume.size, view));
  each_place(result.size, [&](int z, int y, int x) {
    Int8Maps maps(volume.maps, view);
    for (int m = 0; m < volume.maps; m++)
      each_place(view, [&](int dz, int dy, int dx) {
        maps.values[maps.index(m, dz, dy, dx)] = volume.at(m, z + dz, y + dy, x + dx);
      });
    for (std::size_t i = 0; i < network.layers.size(); i++) {
      const Layer& l = network.network.layers[i];
      maps = l.convolution ? reference_convolution(network, i, maps) : reference_pooling(maps, l.window);
    }
    for (int m = 0; m < result.maps; m++) result.values[result.index(m, z, y, x)] = maps.at(m, 0, 0, 0);
  });
  return result;
}

}  // namespace kaiten::volume
