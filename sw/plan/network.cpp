// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/network.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace kaiten::plan {

namespace {

std::string text_of(const Map& m) {
  return std::to_string(m.height) + "x" + std::to_string(m.width) + "x" + std::to_string(m.channels);
}

// No overflow: a product that passes the limit stops there.
std::int64_t product(std::initializer_list<std::int64_t> factors) {
  std::int64_t p = 1;
  for (std::int64_t f : factors) {
    if (f != 0 && p > kMaxElements / f) return kMaxElements + 1;
    p *= f;
  }
  return p;
}

void require_size(std::int64_t elements, const std::string& what) {
  if (elements > kMaxElements) {
    throw InputError("limit: " + what + " of " + std::to_string(kMaxElements) + " elements, found: more");
  }
}

int window_side(int in, int before, int after, int kernel, int dilation, int stride, const char* side) {
  const std::int64_t extent = (std::int64_t(kernel) - 1) * dilation + 1;
  const std::int64_t padded = std::int64_t(in) + before + after;
  if (extent > padded) {
    throw InputError(std::string("limit: kernels inside the padded map, found: ") + side + " of " +
                     std::to_string(extent) + " over " + std::to_string(padded));
  }
  return int((padded - extent) / stride) + 1;
}

}  // namespace

std::string_view name_of(Op op) {
  constexpr std::string_view kNames[] = {"conv", "depthwise", "pool",   "global_pool", "fc",
                                         "add",  "mul",       "concat", "move"};
  return kNames[std::size_t(op)];
}

std::int64_t Network::weight_elements(int layer) const {
  const Layer& l = layers[std::size_t(layer)];
  const Map& from = in(layer);
  const Map& to = out(layer);
  switch (l.op) {
    case Op::kConv:
      return product({l.kernel_h, l.kernel_w, from.channels / l.groups, to.channels});
    case Op::kDepthwise:
      return product({l.kernel_h, l.kernel_w, to.channels});
    case Op::kFc:
      return product({from.height, from.width, from.channels, to.channels});
    default:
      return 0;
  }
}

std::int64_t Network::macs(int layer) const {
  const Layer& l = layers[std::size_t(layer)];
  const std::int64_t pixels = std::int64_t(out(layer).height) * out(layer).width;
  return l.op == Op::kFc ? weight_elements(layer) : weight_elements(layer) * pixels;
}

std::int64_t Network::macs() const {
  std::int64_t sum = 0;
  for (int m = 0; m < layer_count(); m++) sum += macs(m);
  return sum;
}

int Network::stride_over(int layer, int map) const {
  const Layer& l = layers[std::size_t(layer)];
  if (std::find(l.inputs.begin(), l.inputs.end(), map) != l.inputs.end()) {
    if (l.op == Op::kConv || l.op == Op::kDepthwise || l.op == Op::kPool) return l.stride_h;
    return 1;
  }
  const int from = maps[std::size_t(map)].height;
  const int to = out(layer).height;
  return projection_stride(from, to);
}

int Network::extent_over(int layer, int map) const {
  const Layer& l = layers[std::size_t(layer)];
  if (std::find(l.inputs.begin(), l.inputs.end(), map) == l.inputs.end()) return 1;
  if (l.op == Op::kGlobalPool || l.op == Op::kFc) return maps[std::size_t(map)].height;
  if (l.op == Op::kMove && out(layer).height != maps[std::size_t(map)].height)
    return maps[std::size_t(map)].height;
  return l.extent_h();
}

int Network::pad_over(int layer, int map) const {
  const Layer& l = layers[std::size_t(layer)];
  const bool main = std::find(l.inputs.begin(), l.inputs.end(), map) != l.inputs.end();
  return main && l.op != Op::kMove ? l.pad_top : 0;
}

int projection_stride(int from, int to) { return std::max(1, (2 * from + to) / (2 * to)); }

void check_projection(const Map& from, const Map& to) {
  const auto check = [](int in, int out, const std::string& sides) {
    const int stride = projection_stride(in, out);
    const int made = (in - 1) / stride + 1;
    if (made == out) return;
    throw InputError("limit: residual edges that a 1x1 projection fits to the output, found: " +
                     std::to_string(in) + " " + sides + " for " + std::to_string(out) + ", of which stride " +
                     std::to_string(stride) + " makes " + std::to_string(made));
  };
  check(from.height, to.height, "rows");
  check(from.width, to.width, "columns");
}

Map output_map(const Network& network, const Layer& layer, int channels) {
  const Map& in = network.maps[std::size_t(layer.inputs.front())];
  Map out = in;
  switch (layer.op) {
    case Op::kConv:
    case Op::kDepthwise:
    case Op::kPool:
      out.height = window_side(in.height, layer.pad_top, layer.pad_bottom, layer.kernel_h, layer.dilation_h,
                               layer.stride_h, "rows");
      out.width = window_side(in.width, layer.pad_left, layer.pad_right, layer.kernel_w, layer.dilation_w,
                              layer.stride_w, "columns");
      if (layer.op == Op::kConv) {
        out.channels = channels;
        if (in.channels % layer.groups != 0 || channels % layer.groups != 0) {
          throw InputError("limit: channels that groups divide, found: " + std::to_string(layer.groups) +
                           " groups of " + std::to_string(in.channels) + " and " + std::to_string(channels) +
                           " channels");
        }
      } else if (channels > 0 &&
                 (layer.op == Op::kPool ? channels != in.channels : channels % in.channels != 0)) {
        throw InputError("limit: " + std::string(layer.op == Op::kPool ? "as many" : "a multiple of the") +
                         " channels of the input, " + std::to_string(in.channels) +
                         ", found: " + std::to_string(channels));
      } else if (channels > 0) {
        out.channels = channels;
      }
      break;
    case Op::kGlobalPool:
      out.height = out.width = 1;
      break;
    case Op::kFc:
      out = {1, 1, channels};
      break;
    case Op::kAdd:
    case Op::kMul:
      // The largest operand is the map; others are equal or one pixel, broadcast.
      for (int i : layer.inputs) {
        const Map& m = network.maps[std::size_t(i)];
        if (m.elements() > out.elements()) out = m;
      }
      for (int i : layer.inputs) {
        const Map& m = network.maps[std::size_t(i)];
        if (m != out && !(m.height == 1 && m.width == 1 && (m.channels == out.channels || m.channels == 1))) {
          throw InputError("limit: operands of equal shapes or of one pixel, found: " + text_of(out) +
                           " and " + text_of(m));
        }
      }
      break;
    case Op::kConcat: {
      std::int64_t sum = 0;
      for (int i : layer.inputs) {
        const Map& m = network.maps[std::size_t(i)];
        if (m.height != in.height || m.width != in.width) {
          throw InputError("limit: operands of equal height and width, found: " + text_of(in) + " and " +
                           text_of(m));
        }
        sum += m.channels;
      }
      if (sum > kMaxSide)
        throw InputError("limit: " + std::to_string(kMaxSide) + " channels, found: " + std::to_string(sum));
      out.channels = int(sum);
      break;
    }
    case Op::kMove:
      break;
  }
  require_size(product({out.height, out.width, out.channels}), "maps");
  if (layer.op == Op::kFc) {
    require_size(product({in.height, in.width, in.channels, out.channels}), "weights");
  }
  if (layer.op == Op::kConv) {
    require_size(product({layer.kernel_h, layer.kernel_w, in.channels / layer.groups, out.channels}),
                 "weights");
  }
  if (layer.op == Op::kDepthwise)
    require_size(product({layer.kernel_h, layer.kernel_w, out.channels}), "weights");
  return out;
}

Network without_classifier(const Network& network) {
  Network n;
  n.name = network.name;
  n.source = network.source;
  n.maps.push_back(network.maps.front());
  const int end = network.head >= 0 ? network.head : network.layer_count();
  std::vector<int> stands_for(network.maps.size(), 0);  // old map to new
  for (int m = 0; m < end; m++) {
    Layer l = network.layers[std::size_t(m)];
    for (int& map : l.inputs) map = stands_for[std::size_t(map)];
    for (int& map : l.adds) map = stands_for[std::size_t(map)];
    if (l.op == Op::kFc) {
      stands_for[std::size_t(m) + 1] = l.inputs.front();
      continue;
    }
    n.layers.push_back(std::move(l));
    n.maps.push_back(network.out(m));
    stands_for[std::size_t(m) + 1] = int(n.layers.size());
  }
  if (n.layers.empty()) {
    throw InputError("network '" + network.name + "': nothing to plan, it has fully connected layers only");
  }
  for (int map : network.outputs) {
    if (map <= end && stands_for[std::size_t(map)] != n.layer_count() && stands_for[std::size_t(map)] > 0) {
      n.outputs.push_back(stands_for[std::size_t(map)]);
    }
  }
  // What no layer reads any more is returned too (a branch that led into the classifier).
  const auto read = consumers(n);
  for (int map = 1; map < n.layer_count(); map++) {
    if (read[std::size_t(map)].empty()) n.outputs.push_back(map);
  }
  std::sort(n.outputs.begin(), n.outputs.end());
  n.outputs.erase(std::unique(n.outputs.begin(), n.outputs.end()), n.outputs.end());
  return n;
}

Network transposed(const Network& network) {
  Network n = network;
  for (Map& m : n.maps) std::swap(m.height, m.width);
  for (Layer& l : n.layers) {
    std::swap(l.kernel_h, l.kernel_w);
    std::swap(l.stride_h, l.stride_w);
    std::swap(l.dilation_h, l.dilation_w);
    std::swap(l.pad_top, l.pad_left);
    std::swap(l.pad_bottom, l.pad_right);
  }
  return n;
}

std::vector<std::vector<Consumer>> consumers(const Network& network) {
  std::vector<std::vector<Consumer>> all(network.maps.size());
  for (int m = 0; m < network.layer_count(); m++) {
    const Layer& l = network.layers[std::size_t(m)];
    for (int map : l.inputs) {
      auto& r = all[std::size_t(map)];
      if (r.empty() || r.back().layer != m) r.push_back({m, false});
    }
    for (int map : l.adds) all[std::size_t(map)].push_back({m, true});
  }
  return all;
}

}  // namespace kaiten::plan
