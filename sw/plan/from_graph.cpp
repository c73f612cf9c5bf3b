// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/from_graph.h"

#include <algorithm>
#include <optional>

#include "base/error.h"

namespace kaiten::plan {

namespace {

// Of more than one image, which the host alone works on, the rows of all.
Map map_of(const Tensor& t) {
  const Nhwc s = t.nhwc();
  return {s.n * s.h, s.w, s.c};
}

class Converter {
 public:
  Converter(const Graph& graph, Inputs inputs)
      : graph_(graph), inputs_(inputs), map_of_(graph.tensors.size(), -1), host_(graph.tensors.size()) {}

  Network run() {
    n_.name = graph_.name;
    n_.source = "model";
    if (inputs_ == Inputs::kOne ? graph_.inputs.size() != 1 : graph_.inputs.empty()) {
      throw InputError("model '" + graph_.name +
                       "': limit: one input, found: " + std::to_string(graph_.inputs.size()));
    }
    n_.maps.push_back(map_of(graph_.tensors[std::size_t(graph_.inputs.front())]));
    for (int tensor : graph_.inputs) map_of_[std::size_t(tensor)] = 0;
    for (std::size_t i = 0; i < graph_.ops.size(); i++) {
      if (n_.layer_count() == kMaxLayers) {
        throw InputError("model '" + graph_.name + "': limit: " + std::to_string(kMaxLayers) +
                         " layers, found: more");
      }
      op(graph_.ops[i], int(i));
    }
    if (n_.layers.empty() && inputs_ == Inputs::kOne)
      throw InputError("model '" + graph_.name + "': limit: layers on the device, found: none");
    for (int tensor : graph_.outputs) take_output(map_of_[std::size_t(tensor)]);
    const auto read = consumers(n_);
    for (int map = 1; map < n_.layer_count(); map++) {
      if (read[std::size_t(map)].empty()) take_output(map);
    }
    std::sort(n_.outputs.begin(), n_.outputs.end());
    return std::move(n_);
  }

 private:
  void take_output(int map) {
    if (map > 0 && map < n_.layer_count() &&
        std::find(n_.outputs.begin(), n_.outputs.end(), map) == n_.outputs.end()) {
      n_.outputs.push_back(map);
    }
  }

  void op(const kaiten::Op& o, int number) {
    Layer l;
    l.name = o.name;
    l.number = number;
    for (int tensor : o.inputs) {
      const int map = map_of_[std::size_t(tensor)];
      if (map >= 0) l.inputs.push_back(map);
    }
    if (l.inputs.empty()) return;  // constants only
    const Tensor& out = graph_.output_of(o);
    int& result = map_of_[std::size_t(o.output)];
    // Same bytes, or the host's work: what is read is what there was. Behind the host's work nothing is the
    // device's.
    const bool tail = !n_.layers.empty() && (o.kind == OpKind::Softmax || o.kind == OpKind::ArgMax ||
                                             o.kind == OpKind::ToFloat || o.kind == OpKind::HostFloat);
    if (tail || std::any_of(o.inputs.begin(), o.inputs.end(), [&](int t) { return host_[std::size_t(t)]; })) {
      host_[std::size_t(o.output)] = true;
    }
    if (runs_on_host(o.kind) || o.on_host || host_[std::size_t(o.output)]) {
      result = l.inputs.front();
      // In front of the network the shape that follows is the image's.
      if (result == 0 && n_.layers.empty() && out.type == ElementType::Int8) n_.maps[0] = map_of(out);
      return;
    }
    const Map in = n_.maps[std::size_t(l.inputs.front())];
    switch (o.kind) {
      case OpKind::Conv2D:
      case OpKind::DepthwiseConv2D:
      case OpKind::AveragePool:
      case OpKind::MaxPool:
        l.op = o.kind == OpKind::Conv2D            ? Op::kConv
               : o.kind == OpKind::DepthwiseConv2D ? Op::kDepthwise
                                                   : Op::kPool;
        l.kernel_h = o.window.kernel_h;
        l.kernel_w = o.window.kernel_w;
        l.stride_h = o.window.stride_h;
        l.stride_w = o.window.stride_w;
        l.dilation_h = o.window.dilation_h;
        l.dilation_w = o.window.dilation_w;
        l.pad_top = o.window.pad.top;
        l.pad_bottom = o.window.pad.bottom;
        l.pad_left = o.window.pad.left;
        l.pad_right = o.window.pad.right;
        l.groups = o.kind == OpKind::Conv2D ? o.groups : 1;
        break;
      case OpKind::FullyConnected:
        // Over the last dimension of a map it is a convolution of one cell.
        l.op = std::int64_t(graph_.weights_of(o).nhwc().c) == in.elements() ? Op::kFc : Op::kConv;
        break;
      case OpKind::Mean:
        l.op = o.dims.empty() ? Op::kGlobalPool : Op::kMove;
        if (const auto [rows, columns] = mean_window(graph_, o); !o.dims.empty() && rows > 0) {
          l.op = Op::kPool;
          l.kernel_h = rows;
          l.kernel_w = columns;
        }
        break;
      case OpKind::Add:
      case OpKind::Sub:
      case OpKind::Mul:
        l.op = l.inputs.size() < 2 ? Op::kMove : o.kind == OpKind::Mul ? Op::kMul : Op::kAdd;
        break;
      case OpKind::Concat:
        l.op = Op::kConcat;
        break;
      default:
        l.op = Op::kMove;
        break;
    }
    result = n_.layer_count() + 1;
    n_.layers.push_back(std::move(l));
    n_.maps.push_back(map_of(out));
  }

  const Graph& graph_;
  Inputs inputs_;
  Network n_;
  std::vector<int> map_of_;  // by tensor
  std::vector<bool> host_;   // made by the host after the device
};

}  // namespace

Network network_of(const Graph& graph, Inputs inputs) { return Converter(graph, inputs).run(); }

Network with_residual_edges(const Network& network) {
  const auto read = consumers(network);
  std::vector<bool> returned(network.maps.size());
  for (int map : network.outputs) returned[std::size_t(map)] = true;
  Network n = network;
  n.layers.clear();
  n.outputs.clear();
  n.maps.resize(1);
  n.head = -1;
  std::vector<int> now(network.maps.size(), 0);
  for (int m = 0; m < network.layer_count(); m++) {
    if (network.head == m) n.head = n.layer_count();
    Layer l = network.layers[std::size_t(m)];
    const bool behind = l.op == Op::kAdd && l.inputs.size() == 2 && m > 0 && l.inputs[0] != l.inputs[1] &&
                        std::find(l.inputs.begin(), l.inputs.end(), m) != l.inputs.end() &&
                        read[std::size_t(m)].size() == 1 && !returned[std::size_t(m)] &&
                        network.maps[std::size_t(m)] == network.out(m) &&
                        now[std::size_t(m)] == n.layer_count();
    if (behind) {
      const int other = l.inputs[0] == m ? l.inputs[1] : l.inputs[0];
      if (network.maps[std::size_t(other)] == network.out(m)) {
        n.layers.back().adds.push_back(now[std::size_t(other)]);
        now[std::size_t(m) + 1] = n.layer_count();
        continue;
      }
    }
    for (int& map : l.inputs) map = now[std::size_t(map)];
    for (int& map : l.adds) map = now[std::size_t(map)];
    n.layers.push_back(std::move(l));
    n.maps.push_back(network.out(m));
    now[std::size_t(m) + 1] = n.layer_count();
  }
  for (int map : network.outputs) {
    if (now[std::size_t(map)] < n.layer_count()) n.outputs.push_back(now[std::size_t(map)]);
  }
  return n;
}

Network with_addition_layers(const Network& network) {
  Network n = network;
  n.layers.clear();
  n.outputs.clear();
  n.maps.resize(1);
  n.head = -1;
  std::vector<int> now(network.maps.size(), 0);
  const auto push = [&](Layer l, const Map& out) {
    if (n.layer_count() == kMaxLayers) {
      throw InputError("network '" + n.name + "': limit: " + std::to_string(kMaxLayers) +
                       " layers with additions, found: more");
    }
    n.layers.push_back(std::move(l));
    n.maps.push_back(out);
    return n.layer_count();
  };
  for (int m = 0; m < network.layer_count(); m++) {
    if (network.head == m) n.head = n.layer_count();
    Layer l = network.layers[std::size_t(m)];
    const Map& out = network.out(m);
    const std::vector<int> adds = std::move(l.adds);
    l.adds.clear();
    for (int& map : l.inputs) map = now[std::size_t(map)];
    const std::string name = l.name;
    const int number = l.number;
    // Projections first: the addition then follows the layer it adds to.
    std::vector<int> operands;
    for (int a : adds) {
      int operand = now[std::size_t(a)];
      const Map& from = network.maps[std::size_t(a)];
      if (from != out) {
        Layer p;
        p.name = name + ".project";
        p.number = number;
        p.inputs = {operand};
        p.stride_h = projection_stride(from.height, out.height);
        p.stride_w = projection_stride(from.width, out.width);
        operand = push(std::move(p), out);
      }
      operands.push_back(operand);
    }
    int at = push(std::move(l), out);
    for (std::size_t i = 0; i < operands.size(); i++) {
      Layer add;
      add.name = name + (operands.size() > 1 ? ".add" + std::to_string(i) : ".add");
      add.op = Op::kAdd;
      add.number = number;
      add.inputs = {operands[i], at};
      at = push(std::move(add), out);
    }
    now[std::size_t(m) + 1] = at;
  }
  for (int map : network.outputs) n.outputs.push_back(now[std::size_t(map)]);
  return n;
}

}  // namespace kaiten::plan
