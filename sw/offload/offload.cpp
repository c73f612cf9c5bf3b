// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "offload/offload.h"

#include <algorithm>

#include "base/error.h"
#include "codec/statistics.h"

namespace kaiten::offload {

namespace {

bool computes(plan::Op op) {
  return op == plan::Op::kConv || op == plan::Op::kDepthwise || op == plan::Op::kFc;
}

// The layer a map travels with: its last consumer. Nothing for what does not travel.
std::vector<int> carriers(const plan::Network& network) {
  std::vector<int> carrier(network.maps.size(), -1);
  const auto edges = plan::consumers(network);
  for (std::size_t map = 1; map + 1 < network.maps.size(); map++) {
    for (const plan::Consumer& consumer : edges[map]) {
      if (network.layers[std::size_t(consumer.layer)].op != plan::Op::kConcat)
        carrier[map] = std::max(carrier[map], consumer.layer);
    }
  }
  return carrier;
}

void time_layer(const plan::Network& network, int m, const Options& o, Step& step) {
  const plan::Layer& layer = network.layers[std::size_t(m)];
  const double scale = double(o.batch) * o.element_bits / 8;
  double in = 0;
  for (const auto* sources : {&layer.inputs, &layer.adds}) {
    for (int map : *sources) in += double(network.maps[std::size_t(map)].elements()) * scale;
  }
  const double out = double(network.out(m).elements()) * scale;
  const double weights = double(network.weight_elements(m)) * o.element_bits / 8;
  const double memory = (in + out + weights) / o.device.bytes_per_second;
  if (!computes(layer.op)) {
    // Concatenation: its parts are written to their places.
    step.forward_seconds = layer.op == plan::Op::kConcat ? 0 : memory;
    step.backward_seconds = 2 * step.forward_seconds;
    return;
  }
  const double operations = 2 * double(network.macs(m)) * o.batch;
  const double compute = std::max(memory, operations / (o.device.operations_per_second * o.efficiency));
  const double relu = m + 1 == network.layer_count() ? 0 : 2 * out / o.device.bytes_per_second;
  step.forward_seconds = compute + relu;
  step.backward_seconds = (m == 0 ? 1 : 2) * compute + 1.5 * relu;
}

Policy run(const std::vector<Step>& steps, const std::string& name, double link, double read_limit) {
  Policy p;
  p.name = name;
  p.stalls.resize(steps.size());
  const bool compressed = read_limit > 0;
  const auto transfer = [&](const Step& s) {
    if (link <= 0) return 0.0;
    return compressed ? std::max(s.packed_bytes / link, s.raw_bytes / read_limit) : s.raw_bytes / link;
  };
  const auto take = [&](std::size_t layer, double compute, double moved) {
    const double stall = std::max(0.0, moved - compute);
    p.stalls[layer] += stall;
    p.stall_seconds += stall;
    p.seconds += compute + stall;
  };
  for (std::size_t m = 0; m < steps.size(); m++) {
    take(m, steps[m].forward_seconds, transfer(steps[m]));
    if (link > 0) p.link_bytes += compressed ? steps[m].packed_bytes : steps[m].raw_bytes;
  }
  // Backward; what the last layer read comes back before anything can be computed.
  take(steps.size() - 1, 0, transfer(steps.back()));
  for (std::size_t m = steps.size(); m-- > 0;)
    take(m, steps[m].backward_seconds, m == 0 ? 0 : transfer(steps[m - 1]));
  return p;
}

}  // namespace

const std::vector<Device>& devices() {
  static const std::vector<Device> all{{"titan-x", 6.6e12, 336e9}, {"titan-xp", 12.1e12, 548e9}};
  return all;
}

double Result::raw_bytes() const {
  double sum = 0;
  for (const Step& s : steps) sum += s.raw_bytes;
  return sum;
}

double Result::density() const {
  double elements = 0, coded = 0;
  for (const Step& s : steps) {
    elements += s.elements;
    coded += s.coded;
  }
  return elements == 0 ? 0 : coded / elements;
}

double Result::ratio() const {
  double packed = 0;
  for (const Step& s : steps) packed += s.packed_bytes;
  return packed == 0 ? 1 : raw_bytes() / packed;
}

double Result::best_ratio() const {
  double best = 1;
  for (const Step& s : steps) {
    if (s.packed_bytes > 0) best = std::max(best, s.raw_bytes / s.packed_bytes);
  }
  return best;
}

Result simulate(const plan::Network& network, const std::vector<double>& density, const Options& o) {
  if (density.size() != network.layers.size()) {
    throw InputError("offload: " + std::to_string(density.size()) + " densities for " +
                     std::to_string(network.layers.size()) + " layers");
  }
  Result r;
  r.steps.resize(network.layers.size());
  for (int m = 0; m < network.layer_count(); m++) {
    r.steps[std::size_t(m)].name = network.layers[std::size_t(m)].name;
    time_layer(network, m, o, r.steps[std::size_t(m)]);
  }
  const std::vector<int> carrier = carriers(network);
  for (std::size_t map = 1; map < network.maps.size(); map++) {
    if (carrier[map] < 0) continue;
    Step& step = r.steps[std::size_t(carrier[map])];
    const double elements = double(network.maps[map].elements()) * o.batch;
    const double bytes = elements * o.element_bits / 8, d = density[map - 1];
    step.elements += elements;
    step.coded += elements * d;
    step.raw_bytes += bytes;
    step.packed_bytes += bytes / std::max(1.0, codec::zvc_limit(o.element_bits, d));
  }
  r.policies = {run(r.steps, "vdnn", o.link_bytes_per_second, 0),
                run(r.steps, "cdma", o.link_bytes_per_second, o.compress_bytes_per_second),
                run(r.steps, "cdma-aware", o.link_bytes_per_second, o.aware_bytes_per_second),
                run(r.steps, "oracle", 0, 0)};
  return r;
}

}  // namespace kaiten::offload
