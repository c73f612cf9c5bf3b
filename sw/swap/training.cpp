// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "swap/training.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace kaiten::swap {

namespace {

bool is_convolution(plan::Op op) { return op == plan::Op::kConv || op == plan::Op::kDepthwise; }
bool has_weights(plan::Op op) { return is_convolution(op) || op == plan::Op::kFc; }

bool reads_inputs(plan::Op op) { return has_weights(op) || op == plan::Op::kPool || op == plan::Op::kMul; }

// ReLU or maximum.
bool reads_output(const plan::Network& network, int m) {
  const plan::Op op = network.layers[std::size_t(m)].op;
  return op == plan::Op::kPool || op == plan::Op::kAdd || (has_weights(op) && m + 1 < network.layer_count());
}

class Builder {
 public:
  Builder(const plan::Network& network, const Device& device, const TrainingOptions& options)
      : network_(network), device_(device), o_(options), consumers_(plan::consumers(network)) {}

  Training build() {
    t_.network = network_.name;
    t_.batch = o_.batch;
    t_.input_bytes = bytes(network_.maps[0]) * o_.map_overhead;
    for (int m = 0; m < network_.layer_count(); m++) {
      t_.steps.push_back(step(m));
      t_.weight_bytes += t_.steps.back().weight_bytes;
      if (o_.normalised && o_.hold_raw && is_convolution(layer(m).op)) {
        HeldMap raw = held(m, layer(m).name + ":convolution");
        raw.wire_bytes = bytes(network_.out(m));  // no ReLU has set anything to zero
        raw.first_backward = raw.last_backward = raw.last_forward = m;
        t_.maps.push_back(raw);
      }
      t_.maps.push_back(output(m));
    }
    return t_;
  }

 private:
  const plan::Layer& layer(int m) const { return network_.layers[std::size_t(m)]; }
  double bytes(const plan::Map& map) const { return double(map.elements()) * o_.batch * o_.element_bits / 8; }

  // Images have no gradient. That of a map is allocated by the backward pass of its last consumer.
  double gradients_allocated_by(int m) const {
    double sum = m + 1 == network_.layer_count() ? bytes(network_.out(m)) : 0;
    for (const auto* maps : {&layer(m).inputs, &layer(m).adds}) {
      for (int map : *maps) {
        if (map > 0 && consumers_[std::size_t(map)].back().layer == m)
          sum += bytes(network_.maps[std::size_t(map)]);
      }
    }
    return sum;
  }

  Step step(int m) const {
    const plan::Layer& l = layer(m);
    Step s;
    s.name = l.name;
    s.weight_bytes = double(network_.weight_elements(m)) * o_.element_bits / 8;
    double in = 0;
    for (const auto* maps : {&l.inputs, &l.adds}) {
      for (int map : *maps) in += bytes(network_.maps[std::size_t(map)]);
    }
    const double out = bytes(network_.out(m)), efficiency = device_.of_network(network_.name).efficiency;
    // A normalisation reads its input twice and writes; a ReLU reads and writes.
    const double after = has_weights(l.op) ? (o_.normalised && is_convolution(l.op) ? 5 : 2) * out : 0;
    const double operations = 2 * double(network_.macs(m)) * o_.batch;
    const double memory = (in + out + s.weight_bytes) / device_.memory_bytes_per_second;
    const double compute = std::max(memory, operations / device_.operations_per_second);
    s.forward_seconds = (compute + after / device_.memory_bytes_per_second) / efficiency;
    s.backward_seconds =
        ((m == 0 ? 1 : 2) * compute + 1.5 * after / device_.memory_bytes_per_second) / efficiency;
    s.gradient_bytes = gradients_allocated_by(m) * o_.map_overhead;
    const bool has_gradient = m + 1 == network_.layer_count() || !consumers_[std::size_t(m) + 1].empty();
    s.gradient_freed = has_gradient ? out * o_.map_overhead : 0;
    s.output_freed_first = has_weights(l.op);
    return s;
  }

  HeldMap held(int m, const std::string& name) const {
    HeldMap map;
    map.name = name;
    map.bytes = bytes(network_.out(m)) * o_.map_overhead;
    map.wire_bytes =
        bytes(network_.out(m)) / (o_.ratios.empty() ? 1 : std::max(1.0, o_.ratios[std::size_t(m)]));
    map.producer = map.last_forward = m;
    return map;
  }

  HeldMap output(int m) const {
    HeldMap map = held(m, layer(m).name);
    const auto need = [&](int by) {
      map.first_backward = std::max(map.first_backward, by);
      map.last_backward = map.last_backward < 0 ? by : std::min(map.last_backward, by);
    };
    if (reads_output(network_, m)) need(m);
    for (const plan::Consumer& c : consumers_[std::size_t(m) + 1]) {
      map.last_forward = std::max(map.last_forward, c.layer);
      const plan::Op op = layer(c.layer).op;
      if (!c.residual && reads_inputs(op)) need(c.layer);
      map.feeds_convolution = map.feeds_convolution || (!c.residual && is_convolution(op));
    }
    return map;
  }

  const plan::Network& network_;
  const Device& device_;
  const TrainingOptions& o_;
  const std::vector<std::vector<plan::Consumer>> consumers_;
  Training t_;
};

}  // namespace

double Training::held_bytes() const {
  double sum = 0;
  for (const HeldMap& m : maps) sum += m.first_backward >= 0 ? m.wire_bytes : 0;
  return sum;
}

bool is_normalised(const std::string& network) {
  constexpr std::array<std::string_view, 4> kFamilies{"Inception-v3", "ResNet-", "MobileNet", "DenseNet-"};
  return std::any_of(kFamilies.begin(), kFamilies.end(),
                     [&](std::string_view f) { return network.starts_with(f); });
}

Training training_of(const plan::Network& network, const Device& device, const TrainingOptions& options) {
  return Builder(network, device, options).build();
}

}  // namespace kaiten::swap
