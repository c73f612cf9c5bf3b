// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "serve/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/error.h"

namespace kaiten::serve {

namespace {

using supernet::Encoding;
using supernet::Slot;

constexpr std::int64_t kClasses = 1000;

// What PB holds of the layers that count: what all SubNets have, in whole kernels as far as it reaches.
Encoding shared_by_all(const supernet::Family& family, std::int64_t pb_bytes,
                       const std::function<bool(const Slot&)>& counts) {
  const std::vector<Slot>& slots = family.net.slots;
  Encoding all = family.subnets.front().encoding;
  for (const supernet::SubNet& s : family.subnets) all = supernet::intersection(all, s.encoding);
  std::vector<std::size_t> order(slots.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return slots[a].pixels < slots[b].pixels; });
  Encoding held(slots.size());
  for (const std::size_t i : order) {
    const std::int64_t kernel = slots[i].area() * all[i].channels;
    if (kernel == 0 || !counts(slots[i])) continue;
    const int kernels = int(std::min<std::int64_t>(all[i].kernels, pb_bytes / kernel));
    if (kernels > 0) held[i] = {kernels, all[i].channels};
    pb_bytes -= kernel * kernels;
  }
  return held;
}

}  // namespace

std::vector<RoofPoint> roofline(const supernet::Family& family, const Roof& roof, int kernel) {
  const std::vector<Slot>& slots = family.net.slots;
  const auto counts = [&](const Slot& s) { return kernel == 0 || (s.kernel == kernel && !s.depthwise); };
  if (std::none_of(slots.begin(), slots.end(), counts))
    throw InputError(fmt::format("'{}': no layer of {} x {}", family.name, kernel, kernel));
  const Encoding shared = shared_by_all(family, roof.pb_bytes, counts);
  const std::int64_t other =
      kernel == 0 ? std::int64_t(family.net.image) * family.net.image * 3 + kClasses : 0;
  std::vector<RoofPoint> points;
  for (const supernet::SubNet& subnet : family.subnets) {
    RoofPoint p{subnet.name, 0, {}, {}};
    const Encoding held = supernet::intersection(subnet.encoding, shared);
    for (std::size_t i = 0; i < slots.size(); i++) {
      if (!counts(slots[i])) continue;
      const auto weights = [&](const supernet::Extent& e) {
        return slots[i].area() * e.kernels * e.channels;
      };
      const std::int64_t all = weights(subnet.encoding[i]), macs = all * slots[i].pixels;
      p.macs += macs;
      for (const auto& [side, bytes] : {std::pair{&p.without, all}, {&p.with, all - weights(held[i])}}) {
        side->bytes += bytes;
        side->cycles += std::max(double(macs) / roof.macs_per_cycle, double(bytes) / roof.bytes_per_cycle);
      }
    }
    for (RoofSide* side : {&p.without, &p.with}) {
      side->bytes += other;
      side->cycles += double(other) / roof.bytes_per_cycle;
      side->intensity = 2 * double(p.macs) / double(std::max<std::int64_t>(1, side->bytes));
      side->attained = std::min(2 * roof.macs_per_cycle, side->intensity * roof.bytes_per_cycle);
    }
    points.push_back(p);
  }
  return points;
}

}  // namespace kaiten::serve
