// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "serve/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/arithmetic.h"
#include "base/parallel.h"

namespace kaiten::serve {

namespace {

using supernet::Encoding;
using supernet::Extent;
using supernet::Slot;

constexpr std::int64_t kClasses = 1000;

std::int64_t array_cycles(const Accelerator& a, const Slot& slot, Extent e) {
  const std::int64_t kernels = ceil_div(e.kernels, a.kp);
  if (slot.kernel == 1) return kernels * ceil_div(e.channels, 9 * a.cp) * slot.pixels;
  return kernels * ceil_div(e.channels, a.cp) * slot.pixels * ceil_div(slot.area(), 9);
}

std::int64_t vector_cycles(const Accelerator& a, const Slot& slot, Extent e) {
  const std::int64_t slots = std::int64_t(ceil_div(slot.kernel, 3)) * ceil_div(slot.kernel, 3);
  return ceil_div(e.kernels, 3 * a.cp) * slot.pixels * slots;
}

std::vector<int> code_of(const Encoding& encoding) {
  std::vector<int> code;
  for (const Extent& e : encoding) {
    code.push_back(e.kernels);
    code.push_back(e.channels);
  }
  return code;
}

}  // namespace

Cost analytic_cost(const Accelerator& a, const supernet::SuperNet& net, const Encoding& subnet,
                   const Encoding& subgraph) {
  const Encoding held = supernet::intersection(subnet, subgraph);
  Cost cost;
  cost.other_bytes = std::int64_t(net.image) * net.image * 3 + kClasses;
  bool first = true;
  for (std::size_t i = 0; i < net.slots.size(); i++) {
    const Slot& slot = net.slots[i];
    if (subnet[i].kernels == 0) continue;
    const std::int64_t compute =
        slot.depthwise ? vector_cycles(a, slot, subnet[i]) : array_cycles(a, slot, subnet[i]);
    const std::int64_t all = std::int64_t(subnet[i].kernels) * subnet[i].channels;
    const std::int64_t bytes = slot.area() * (all - std::int64_t(held[i].kernels) * held[i].channels);
    const double fetch = double(bytes) / a.bus_bytes;
    (slot.depthwise ? cost.vector_cycles : cost.array_cycles) += compute;
    cost.weight_bytes += bytes;
    cost.cycles += first ? double(compute) + fetch : std::max(double(compute), fetch);
    first = false;
  }
  cost.bus_cycles = double(cost.weight_bytes + cost.other_bytes) / a.bus_bytes;
  cost.cycles += double(cost.other_bytes) / a.bus_bytes;
  return cost;
}

Table fill(const supernet::Family& family, std::span<const Candidate> candidates, const Accelerator& a,
           const Costs& costs, const std::string& origin, int threads) {
  Table t;
  t.supernet = family.name;
  t.origin = origin;
  t.accuracies = family.accuracies;
  for (const supernet::SubNet& s : family.subnets)
    t.subnets.push_back({s.name, s.accuracy, code_of(s.encoding)});
  std::vector<Encoding> held = {Encoding(family.net.slots.size())};
  t.subgraphs.push_back({std::string(Table::kNothing), 0, 0, code_of(held.front())});
  for (const Candidate& c : candidates) {
    const auto bytes = double(supernet::weight_bytes(family.net, c.encoding));
    t.subgraphs.push_back({c.name, bytes / a.bus_bytes / a.megahertz / 1e3, bytes, code_of(c.encoding)});
    held.push_back(c.encoding);
  }
  const std::size_t columns = held.size(), entries = family.subnets.size() * columns;
  t.latency_ms.resize(entries);
  t.weight_bytes.resize(entries);
  t.other_bytes.resize(family.subnets.size());
  parallel(family.subnets.size(), threads, [&](std::size_t row) {
    for (std::size_t column = 0; column < columns; column++) {
      const Cost cost = costs(family.subnets[row].encoding, held[column]);
      t.latency_ms[row * columns + column] = cost.cycles / a.megahertz / 1e3;
      t.weight_bytes[row * columns + column] = double(cost.weight_bytes);
      t.other_bytes[row] = double(cost.other_bytes);
    }
  });
  check(t, "table of " + family.name);
  return t;
}

}  // namespace kaiten::serve
