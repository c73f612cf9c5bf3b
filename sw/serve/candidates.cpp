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
using supernet::Extent;
using supernet::Family;
using supernet::SuperNet;

// The SuperNet and what of it PB can hold.
struct Room {
  const Family& family;
  const Accelerator& accelerator;

  Extent rounded(std::size_t slot, Extent e) const { return useful(accelerator, family, slot, e); }
  std::int64_t bytes(std::size_t slot, Extent e) const {
    return family.net.slots[slot].area() * e.kernels * e.channels;
  }
};

// `out`, and of `wanted` what it lacks: slots in this order, each whole or its first kernels, as far as the bytes reach.
Encoding taken(const Room& room, const Encoding& wanted, const std::vector<std::size_t>& order,
               Encoding out = {}) {
  out.resize(wanted.size());
  std::int64_t left = room.accelerator.pb_bytes - supernet::weight_bytes(room.family.net, out);
  for (const std::size_t i : order) {
    const std::int64_t kernel = room.bytes(i, {1, wanted[i].channels}), there = room.bytes(i, out[i]);
    if (kernel == 0) continue;
    const int kernels = int(std::min<std::int64_t>(wanted[i].kernels, (left + there) / kernel));
    if (kernels <= out[i].kernels) continue;
    out[i] = room.rounded(i, {kernels, wanted[i].channels});
    left -= room.bytes(i, out[i]) - there;
  }
  return out;
}

// All kernels of a SubNet times the largest share that fits in whole tiles, and more of some where that leaves room.
Encoding scaled(const Room& room, const Encoding& wanted, const std::vector<std::size_t>& order) {
  const auto by = [&](double share) {
    Encoding out(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); i++) {
      const int kernels = int(share * wanted[i].kernels);
      if (kernels > 0) out[i] = room.rounded(i, {kernels, wanted[i].channels});
    }
    return out;
  };
  const auto fits = [&](const Encoding& e) {
    return supernet::weight_bytes(room.family.net, e) <= room.accelerator.pb_bytes;
  };
  if (fits(by(1))) return by(1);
  double low = 0, high = 1;
  constexpr int kSteps = 30;
  for (int step = 0; step < kSteps; step++) {
    const double middle = (low + high) / 2;
    (fits(by(middle)) ? low : high) = middle;
  }
  return taken(room, wanted, order, by(low));
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

void add_intersections(Collector& collector, const Room& room, const std::vector<std::size_t>& order) {
  const auto& subnets = room.family.subnets;
  Encoding all = subnets.front().encoding;
  for (const supernet::SubNet& s : subnets) all = supernet::intersection(all, s.encoding);
  collector.add("shared", taken(room, all, order));
  for (std::size_t i = 0; i < subnets.size() && !collector.full(); i++) {
    for (std::size_t k = i + 1; k < subnets.size() && !collector.full(); k++) {
      const Encoding both = supernet::intersection(subnets[i].encoding, subnets[k].encoding);
      collector.add(subnets[i].name + "&" + subnets[k].name, taken(room, both, order));
    }
  }
}

}  // namespace

supernet::Extent useful(const Accelerator& a, const Family& family, std::size_t slot, Extent e) {
  const supernet::Slot& s = family.net.slots[slot];
  const int pass = s.depthwise ? 1 : (s.kernel == 1 ? 9 : 1) * a.cp;
  Extent most{e.kernels / a.kp * a.kp, e.channels / pass * pass};
  for (const supernet::SubNet& net : family.subnets) {
    const Extent& has = net.encoding[slot];
    if (has.kernels <= e.kernels) most.kernels = std::max(most.kernels, has.kernels);
    if (has.channels <= e.channels) most.channels = std::max(most.channels, has.channels);
  }
  return most.kernels > 0 && most.channels > 0 ? most : Extent{};
}

std::vector<Candidate> candidates(const Family& family, const Accelerator& accelerator, std::size_t count,
                                  std::uint64_t seed) {
  const Room room{family, accelerator};
  Collector collector(family.net, count);
  const std::vector<std::size_t> need = by_need(family.net);
  // SubNets first, so that few columns hold something for each; the many of a large space only as far as a third.
  const std::size_t some = std::min(family.subnets.size(), std::max<std::size_t>(1, count / 3));
  for (std::size_t i = 0; i < some; i++) {
    const supernet::SubNet& s = family.subnets[i * family.subnets.size() / some];
    collector.add(s.name, taken(room, s.encoding, need));
    collector.add(s.name + "*", scaled(room, s.encoding, need));
  }
  add_intersections(collector, room, need);
  std::mt19937_64 random(seed);
  constexpr std::size_t kTries = 20;  // for each that is wanted: small spaces run out
  for (std::size_t n = 0; n < kTries * count && !collector.full(); n++) {
    std::vector<std::size_t> order = need;
    for (std::size_t i = order.size(); i > 1; i--) std::swap(order[i - 1], order[random() % i]);
    const supernet::SubNet& s = family.subnets[random() % family.subnets.size()];
    collector.add(s.name + "/" + std::to_string(n), taken(room, s.encoding, order));
  }
  return std::move(collector).found();
}

}  // namespace kaiten::serve
