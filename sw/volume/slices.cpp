// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "volume/slices.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "base/arithmetic.h"

namespace kaiten::volume {

using fft::Size;

namespace {

constexpr int kMostTogether = 4;  // slices of a group

// Outputs [begin, end) of a group, which see so many slices of the input from `slice` of the group on.
struct Run {
  int begin = 0;
  int end = 0;
  int slice = 0;
  int slices = 0;
};

// Tiles that see the same slices together.
std::vector<Run> runs_of(int group, int pitch, int depth, int tile) {
  std::vector<Run> runs;
  for (int o = 0; o < group * pitch; o += tile) {
    const int end = std::min(o + tile, group * pitch);
    const int first = o / pitch, slices = (end - 1) / pitch - first + depth;
    if (!runs.empty() && runs.back().slice == first && runs.back().slices == slices) {
      runs.back().end = end;
    } else {
      runs.push_back({o, end, first, slices});
    }
  }
  return runs;
}

// Passes of the array a slice, but for a factor.
double passes(int group, int pitch, int depth, int in_pitch, const ArrayShape& array) {
  double sum = 0;
  for (const Run& r : runs_of(group, pitch, depth, array.outputs))
    sum += double(ceil_div(r.end - r.begin, array.outputs)) * ceil_div(r.slices * in_pitch, array.channels);
  return sum / group;
}

int best_group(int pitch, int depth, int in_pitch, int slices, const ArrayShape& array) {
  int best = 1;
  for (int g = 2; g <= std::min(kMostTogether, slices); g++) {
    if (passes(g, pitch, depth, in_pitch, array) < passes(best, pitch, depth, in_pitch, array)) best = g;
  }
  return best;
}

class Builder {
 public:
  Builder(const Int8Network& network, const SliceOptions& options) : network_(network), o_(options) {
    made_.graph.name = "slices";
  }

  SliceGraph build() {
    const Layer& first = network_.network.layers[o_.begin];
    map_ = {kNoTensor, 0, o_.size.depth, maps_before(o_.begin), 0, o_.size};
    map_.pitch = align_up(map_.maps, o_.array.channels);
    // What is read slice by slice begins at whole words; few channels are brought without gaps, a tensor for each range.
    if (!first.convolution || map_.pitch == map_.maps) map_.tensor = input(map_);
    for (std::size_t i = o_.begin; i < o_.end; i++) {
      if (network_.network.layers[i].convolution) {
        convolution(i);
        if (o_.show_all && i + 1 < o_.end) {
          made_.shown++;
          output(map_);
        }
        if (i + 1 == o_.end) output(map_);
      } else {
        pooling(i);
      }
    }
    return std::move(made_);
  }

 private:
  int maps_before(std::size_t layer) const {
    int maps = network_.network.inputs;
    for (std::size_t i = 0; i < layer; i++) {
      if (network_.network.layers[i].convolution) maps = network_.network.layers[i].maps;
    }
    return maps;
  }

  int tensor(int rows, int columns, int channels, const Int8Scale& scale) {
    Tensor t;
    t.name = "t" + std::to_string(made_.graph.tensors.size());
    t.shape = {1, rows, columns, channels};
    t.quantization.scale = {scale.scale};
    t.quantization.zero_point = {scale.zero_point};
    made_.graph.tensors.push_back(std::move(t));
    return int(made_.graph.tensors.size()) - 1;
  }

  int input(const SliceTensor& t) {
    SliceTensor in = t;
    in.tensor = tensor(t.size.height, t.size.width, t.slices * t.pitch, network_.maps[o_.begin]);
    made_.graph.inputs.push_back(in.tensor);
    made_.inputs.push_back(in);
    return in.tensor;
  }

  void output(const SliceTensor& t) {
    made_.graph.outputs.push_back(t.tensor);
    made_.outputs.push_back(t);
  }

  Op op(OpKind kind, std::vector<int> inputs, int output) const {
    Op op;
    op.kind = kind;
    op.inputs = std::move(inputs);
    op.output = output;
    op.name = std::string(name_of(kind)) + " " + std::to_string(made_.graph.ops.size());
    return op;
  }
  int add(Op op) {
    made_.graph.ops.push_back(std::move(op));
    return made_.graph.ops.back().output;
  }

  int slice(int from, const std::array<int, 3>& begin, int rows, int columns, int channels,
            const Int8Scale& scale) {
    Op o = op(OpKind::Slice, {from}, tensor(rows, columns, channels, scale));
    o.dims = {0, begin[0], begin[1], begin[2]};
    return add(std::move(o));
  }

  // Slices [first, first + count) of the map, as one tensor.
  int slices(int first, int count, const Int8Scale& scale) {
    if (map_.tensor == kNoTensor) {
      const auto [at, is_new] = parts_.try_emplace({first, count}, 0);
      if (is_new) {
        at->second = input(
            {kNoTensor, first, count, map_.maps, map_.maps, {count, map_.size.height, map_.size.width}});
      }
      return at->second;
    }
    if (count == map_.slices) return map_.tensor;
    return slice(map_.tensor, {0, 0, first * map_.pitch}, map_.size.height, map_.size.width,
                 count * map_.pitch, scale);
  }

  void convolution(std::size_t i) {
    const Layer& l = network_.network.layers[i];
    const Size out = fft::valid(map_.size, l.window);
    const int pitch = align_up(l.maps, o_.array.channels);
    const int in_pitch = map_.tensor == kNoTensor ? map_.maps : map_.pitch;
    const int together = best_group(pitch, l.window.depth, in_pitch, out.depth, o_.array);
    constants_.clear();
    std::vector<int> parts;
    for (int z = 0; z < out.depth; z += together) {
      const int group = std::min(together, out.depth - z);
      for (const Run& r : runs_of(group, pitch, l.window.depth, o_.array.outputs)) {
        const int in = slices(z + r.slice, r.slices, network_.maps[i]);
        Op o = op(OpKind::Conv2D, {in}, tensor(out.height, out.width, r.end - r.begin, network_.maps[i + 1]));
        o.window.kernel_h = l.window.height;
        o.window.kernel_w = l.window.width;
        o.activation = Activation::Relu;
        std::tie(o.weights, o.bias) = constants(i, r, pitch, in_pitch);
        parts.push_back(add(std::move(o)));
      }
    }
    int whole = parts.front();
    if (parts.size() > 1) {
      Op o =
          op(OpKind::Concat, parts, tensor(out.height, out.width, out.depth * pitch, network_.maps[i + 1]));
      o.axis = 3;
      whole = add(std::move(o));
    }
    map_ = {whole, 0, out.depth, l.maps, pitch, out};
  }

  // Kernels and biases of a run of outputs, once for all groups.
  std::pair<int, int> constants(std::size_t i, const Run& r, int pitch, int in_pitch) {
    const int first = r.begin - r.slice * pitch;
    const auto [at, is_new] = constants_.try_emplace({first, r.end - r.begin, r.slices});
    if (!is_new) return at->second;
    const Layer& l = network_.network.layers[i];
    const Int8Layer& q = network_.layers[i];
    const Size& k = l.window;
    const int count = r.end - r.begin, channels = r.slices * in_pitch;
    Tensor weights, bias;
    weights.name = "weights " + std::to_string(made_.graph.tensors.size());
    weights.shape = {count, k.height, k.width, channels};
    weights.data.resize(weights.elements());
    bias.name = "bias " + std::to_string(made_.graph.tensors.size());
    bias.type = ElementType::Int32;
    bias.shape = {count};
    const auto taps = k.elements();
    for (int n = 0; n < count; n++) {
      // Of a slice of the group, a map, or a gap behind the maps.
      const int slice = (first + n) / pitch, map = (first + n) % pitch;
      const bool gap = map >= l.maps;
      const std::size_t o = gap ? 0 : std::size_t(map);
      const auto b = std::uint32_t(gap ? 0 : q.bias[o]);
      for (unsigned byte = 0; byte < 4; byte++) bias.data.push_back(std::uint8_t(b >> (8 * byte)));
      weights.quantization.scale.push_back(q.scales[o]);
      weights.quantization.zero_point.push_back(0);
      if (gap) continue;
      for (int c = 0; c < map_.maps; c++) {
        for (int t = 0; t < int(taps); t++) {
          const int dz = t / (k.height * k.width), in_plane = t % (k.height * k.width);
          const std::size_t to = (std::size_t(n) * std::size_t(k.height * k.width) + std::size_t(in_plane)) *
                                     std::size_t(channels) +
                                 std::size_t((slice + dz) * in_pitch + c);
          weights.data[to] =
              std::uint8_t(q.kernels[(o * std::size_t(map_.maps) + std::size_t(c)) * taps + std::size_t(t)]);
        }
      }
    }
    made_.graph.tensors.push_back(std::move(weights));
    made_.graph.tensors.push_back(std::move(bias));
    at->second = {int(made_.graph.tensors.size()) - 2, int(made_.graph.tensors.size()) - 1};
    return at->second;
  }

  // The maximum of a map's slices z .. z + depth - 1, for every z.
  void deep_maximum(int depth, const Int8Scale& scale) {
    const SliceTensor whole = map_;
    for (int d = 1; d < depth; d++) {
      const int count = whole.slices - d, channels = count * whole.pitch;
      const int rows = whole.size.height, columns = whole.size.width;
      const int a = slices(0, count, scale);
      const int b = slice(whole.tensor, {0, 0, d * whole.pitch}, rows, columns, channels, scale);
      Op less = op(OpKind::Sub, {b, a}, tensor(rows, columns, channels, {scale.scale, -128}));
      less.activation = Activation::Relu;
      const int more = add(std::move(less));
      map_.tensor = add(op(OpKind::Add, {a, more}, tensor(rows, columns, channels, scale)));
      map_.slices = map_.size.depth = count;
    }
  }

  void pooling(std::size_t i) {
    const Size& w = network_.network.layers[i].window;
    const Int8Scale& scale = network_.maps[i];
    deep_maximum(w.depth, scale);
    const int offsets = o_.fragments ? w.height * w.width : 1;
    for (int offset = 0; offset < offsets; offset++) {
      const int oy = offset / w.width, ox = offset % w.width;
      const Size size{map_.slices, (map_.size.height - oy) / w.height, (map_.size.width - ox) / w.width};
      const int channels = map_.slices * map_.pitch;
      int from = map_.tensor;
      if (offset > 0)
        from = slice(from, {oy, ox, 0}, size.height * w.height, size.width * w.width, channels, scale);
      Op o = op(OpKind::MaxPool, {from}, tensor(size.height, size.width, channels, scale));
      o.window.kernel_h = o.window.stride_h = w.height;
      o.window.kernel_w = o.window.stride_w = w.width;
      SliceTensor result = map_;
      result.tensor = add(std::move(o));
      result.size = size;
      output(result);
    }
  }

  const Int8Network& network_;
  SliceOptions o_;
  SliceGraph made_;
  SliceTensor map_;  // what the next layer reads; no tensor: its parts come in one by one
  std::map<std::pair<int, int>, int> parts_;  // inputs, by first slice and their number
  std::map<std::array<int, 3>, std::pair<int, int>>
      constants_;  // weights, bias: first output, outputs, slices
};

}  // namespace

std::vector<std::size_t> slice_cuts(const Network& network) {
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < network.layers.size(); i++) {
    if (!network.layers[i].convolution || i + 1 == network.layers.size()) ends.push_back(i + 1);
  }
  return ends;
}

SliceGraph slice_graph(const Int8Network& network, const SliceOptions& options) {
  return Builder(network, options).build();
}

Int8Values slice_values(const SliceTensor& t, std::span<const std::int8_t> maps, const Size& size,
                        int zero_point) {
  Int8Values values(size.elements() / std::size_t(size.depth) * std::size_t(t.slices) * std::size_t(t.pitch),
                    std::int8_t(zero_point));
  const std::size_t plane = std::size_t(size.height) * std::size_t(size.width);
  for (std::size_t p = 0; p < plane; p++) {
    for (int s = 0; s < t.slices; s++) {
      for (int m = 0; m < t.maps; m++) {
        values[(p * std::size_t(t.slices) + std::size_t(s)) * std::size_t(t.pitch) + std::size_t(m)] =
            maps[(std::size_t(m) * std::size_t(size.depth) + std::size_t(t.first + s)) * plane + p];
      }
    }
  }
  return values;
}

Int8Maps maps_of_slices(const SliceTensor& t, std::span<const std::int8_t> values, int first, int step,
                        int count) {
  Int8Maps maps(t.maps, {count, t.size.height, t.size.width});
  const std::size_t plane = std::size_t(t.size.height) * std::size_t(t.size.width);
  for (int m = 0; m < t.maps; m++) {
    for (int z = 0; z < count; z++) {
      const auto from = std::size_t(first + z * step) * std::size_t(t.pitch) + std::size_t(m);
      for (std::size_t p = 0; p < plane; p++)
        maps.values[(std::size_t(m) * std::size_t(count) + std::size_t(z)) * plane + p] =
            values[p * std::size_t(t.slices) * std::size_t(t.pitch) + from];
    }
  }
  return maps;
}

}  // namespace kaiten::volume
