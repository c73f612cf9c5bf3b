// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/to_graph.h"

#include "base/error.h"

namespace kaiten::plan {

namespace {

constexpr std::int64_t kMaxWeights = std::int64_t(1) << 30;

class Builder {
 public:
  explicit Builder(const Network& network) : n_(network) { g_.name = network.name; }

  Graph run() {
    for (const Map& m : n_.maps) tensor({1, m.height, m.width, m.channels});
    for (std::size_t m = 0; m < n_.maps.size(); m++) {
      g_.tensors[m].name = m == 0 ? "input" : n_.layers[m - 1].name;
    }
    g_.inputs = {0};
    g_.outputs = n_.outputs;
    g_.outputs.push_back(n_.layer_count());
    for (int m = 0; m < n_.layer_count(); m++) layer(m);
    return std::move(g_);
  }

 private:
  int tensor(std::vector<int> shape) {
    Tensor t;
    t.shape = std::move(shape);
    t.quantization.scale = {0.05F};
    t.quantization.zero_point = {0};
    g_.tensors.push_back(std::move(t));
    return int(g_.tensors.size()) - 1;
  }

  int weights(std::vector<int> shape, std::int64_t elements) {
    weights_ += elements;
    if (weights_ > kMaxWeights) {
      throw InputError("network '" + n_.name + "': limit: weights of " + std::to_string(kMaxWeights) +
                       " bytes, found: more");
    }
    const int t = tensor(std::move(shape));
    g_.tensors.back().name = "weights" + std::to_string(t);
    g_.tensors.back().data.assign(std::size_t(elements), 0);
    return t;
  }

  void layer(int m) {
    const Layer& l = n_.layers[std::size_t(m)];
    const Map& in = n_.in(m);
    const Map& out = n_.out(m);
    kaiten::Op o;
    o.name = l.name;
    o.inputs = l.inputs;
    o.output = m + 1;
    o.window = {l.kernel_h,
                l.kernel_w,
                l.stride_h,
                l.stride_w,
                l.dilation_h,
                l.dilation_w,
                {l.pad_top, l.pad_bottom, l.pad_left, l.pad_right}};
    const std::int64_t elements = n_.weight_elements(m);
    switch (l.op) {
      case Op::kConv:
        o.kind = OpKind::Conv2D;
        o.groups = l.groups;
        o.weights = weights({out.channels, l.kernel_h, l.kernel_w, in.channels / l.groups}, elements);
        break;
      case Op::kDepthwise:
        o.kind = OpKind::DepthwiseConv2D;
        o.depth_multiplier = out.channels / in.channels;
        o.weights = weights({1, l.kernel_h, l.kernel_w, out.channels}, elements);
        break;
      case Op::kFc:
        o.kind = OpKind::FullyConnected;
        o.window = {};
        o.weights = weights({out.channels, int(in.elements())}, elements);
        break;
      case Op::kPool:
        o.kind = OpKind::MaxPool;
        break;
      case Op::kGlobalPool:
        o.kind = OpKind::Mean;
        o.window = {};
        break;
      case Op::kAdd:
        o.kind = OpKind::Add;
        break;
      case Op::kMul:
        o.kind = OpKind::Mul;
        break;
      case Op::kConcat:
        o.kind = OpKind::Concat;
        o.axis = 3;
        break;
      case Op::kMove:
        throw InputError("layer '" + l.name + "': limit: layers of a table, found: move");
    }
    g_.ops.push_back(std::move(o));
  }

  const Network& n_;
  Graph g_;
  std::int64_t weights_ = 0;
};

}  // namespace

Graph graph_of(const Network& network) { return Builder(network).run(); }

}  // namespace kaiten::plan
