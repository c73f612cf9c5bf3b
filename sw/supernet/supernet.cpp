// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "supernet/supernet.h"

#include <algorithm>
#include <stdexcept>

namespace kaiten::supernet {

namespace {

void require_fit(const SuperNet& net, const Encoding& encoding) {
  if (encoding.size() != net.slots.size()) throw std::logic_error("encoding of another SuperNet");
}

}  // namespace

std::int64_t weight_bytes(const SuperNet& net, const Encoding& encoding, bool classifier) {
  require_fit(net, encoding);
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < net.slots.size(); i++) {
    if (net.slots[i].classifier && !classifier) continue;
    bytes += net.slots[i].area() * encoding[i].kernels * encoding[i].channels;
  }
  return bytes;
}

std::int64_t macs(const SuperNet& net, const Encoding& encoding) {
  require_fit(net, encoding);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < net.slots.size(); i++)
    sum += net.slots[i].area() * net.slots[i].pixels * encoding[i].kernels * encoding[i].channels;
  return sum;
}

Encoding intersection(const Encoding& a, const Encoding& b) {
  if (a.size() != b.size()) throw std::logic_error("encodings of two SuperNets");
  Encoding both(a.size());
  for (std::size_t i = 0; i < a.size(); i++) {
    both[i] = {std::min(a[i].kernels, b[i].kernels), std::min(a[i].channels, b[i].channels)};
    if (both[i].kernels == 0 || both[i].channels == 0) both[i] = {};
  }
  return both;
}

int rounded_channels(double wish) {
  constexpr int kStep = 8;
  const int nearest = std::max(kStep, int(wish + kStep / 2.0) / kStep * kStep);
  return nearest < 0.9 * wish ? nearest + kStep : nearest;
}

}  // namespace kaiten::supernet
