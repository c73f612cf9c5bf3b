// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "serve/model.h"

namespace kaiten::serve {

namespace {

using supernet::Encoding;
using supernet::Family;
using supernet::SuperNet;

// Of `wanted`, slots in this order, each whole or its first kernels, as far as the bytes reach.
Encoding taken(const SuperNet& net, const Encoding& wanted, const std::vector<std::size_t>& order,
               std::int64_t bytes) {
  Encoding out(wanted.size());
  for (const std::size_t i : order) {
    const std::int64_t kernel = net.slots[i].area() * wanted[i].channels;  // bytes of one
    if (kernel == 0) continue;
    const int kernels = int(std::min<std::int64_t>(wanted[i].kernels, bytes / kernel));
    if (kernels == 0) continue;
    out[i] = {kernels, wanted[i].channels};
    bytes -= kernel * kernels;
  }
  return out;
}

// All kernels of a SubNet times the largest share that fits.
Encoding scaled(const SuperNet& net, const Encoding& wanted, std::int64_t bytes) {
  const auto by = [&](double share) {
    Encoding out = wanted;
    for (supernet::Extent& e : out) {
      e.kernels = int(share * e.kernels);
      if (e.kernels == 0) e = {};
    }
    return out;
  };
  double low = 0, high = 1;
  if (supernet::weight_bytes(net, wanted) <= bytes) return wanted;
  constexpr int kSteps = 30;
  for (int step = 0; step < kSteps; step++) {
    const double middle = (low + high) / 2;
    (supernet::weight_bytes(net, by(middle)) <= bytes ? low : high) = middle;
  }
  return by(low);
}

// Slots by bytes an output pixel, the most first: their reading is hidden least behind computing.
std::vector<std::size_t> by_need(const SuperNet& net) {
  std::vector<std::size_t> order(net.slots.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return net.slots[a].pixels < net.slots[b].pixels; });
  return order;
}

class Collector {
 public:
  Collector(const SuperNet& net, std::size_t count) : net_(net), count_(count) {}

  bool full() const { return found_.size() >= count_; }
  void add(const std::string& name, const Encoding& encoding) {
    if (full() || supernet::weight_bytes(net_, encoding) == 0 || !known_.insert(encoding).second) return;
    found_.push_back({name, encoding});
  }
  std::vector<Candidate> found() && { return std::move(found_); }

 private:
  const SuperNet& net_;
  std::size_t count_;
  std::set<Encoding> known_;
  std::vector<Candidate> found_;
};

void add_intersections(Collector& collector, const Family& family, const std::vector<std::size_t>& order,
                       std::int64_t bytes) {
  const auto& subnets = family.subnets;
  Encoding all = subnets.front().encoding;
  for (const supernet::SubNet& s : subnets) all = supernet::intersection(all, s.encoding);
  collector.add("shared", taken(family.net, all, order, bytes));
  for (std::size_t i = 0; i < subnets.size() && !collector.full(); i++) {
    for (std::size_t k = i + 1; k < subnets.size() && !collector.full(); k++) {
      const Encoding both = supernet::intersection(subnets[i].encoding, subnets[k].encoding);
      collector.add(subnets[i].name + "&" + subnets[k].name, taken(family.net, both, order, bytes));
    }
  }
}

}  // namespace

std::vector<Candidate> candidates(const Family& family, std::int64_t pb_bytes, std::size_t count,
                                  std::uint64_t seed) {
  Collector collector(family.net, count);
  const std::vector<std::size_t> need = by_need(family.net);
  // SubNets first, so that few columns hold something for each; the many of a large space only as far as a third.
  const std::size_t some = std::min(family.subnets.size(), std::max<std::size_t>(1, count / 3));
  for (std::size_t i = 0; i < some; i++) {
    const supernet::SubNet& s = family.subnets[i * family.subnets.size() / some];
    collector.add(s.name, taken(family.net, s.encoding, need, pb_bytes));
    collector.add(s.name + "*", scaled(family.net, s.encoding, pb_bytes));
  }
  add_intersections(collector, family, need, pb_bytes);
  std::mt19937_64 random(seed);
  constexpr std::size_t kTries = 20;  // for each that is wanted: small spaces run out
  for (std::size_t n = 0; n < kTries * count && !collector.full(); n++) {
    std::vector<std::size_t> order = need;
    for (std::size_t i = order.size(); i > 1; i--) std::swap(order[i - 1], order[random() % i]);
    const supernet::SubNet& s = family.subnets[random() % family.subnets.size()];
    collector.add(s.name + "/" + std::to_string(n), taken(family.net, s.encoding, order, pb_bytes));
  }
  return std::move(collector).found();
}

}  // namespace kaiten::serve
