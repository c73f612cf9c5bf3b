// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "swap/policy.h"

namespace kaiten::swap {

namespace {

constexpr double kBytesPerSecond = 16e9;  // of the link that Grappler assumes
constexpr double kShortest = 1e-3;        // seconds that a map lives, at least
constexpr double kSmallest = 1024;        // bytes
constexpr int kPasses = 25;

// A device alone, with all the memory it asks for: when an operation starts, and what is in use then.
struct Profile {
  std::vector<double> start, used;
  std::size_t peak = 0;
};

// Operations: forward 0 to n - 1, backward n to 2 n - 1.
int backward(const Training& t, int layer) { return 2 * int(t.steps.size()) - 1 - layer; }

Profile profile_of(const Training& t, double fixed, const std::vector<Swap>& swaps) {
  const int n = int(t.steps.size());
  Profile p;
  p.used.assign(std::size_t(2 * n), fixed);
  p.start.push_back(0);
  for (int op = 0; op < 2 * n; op++) {
    const Step& s = t.steps[std::size_t(op < n ? op : 2 * n - 1 - op)];
    p.start.push_back(p.start.back() + (op < n ? s.forward_seconds : s.backward_seconds));
  }
  const auto add = [&](int from, int to, double bytes) {
    for (int op = from; op <= to; op++) p.used[std::size_t(op)] += bytes;
  };
  for (int m = 0; m < int(t.maps.size()); m++) {
    const HeldMap& map = t.maps[std::size_t(m)];
    const auto swap = std::find_if(swaps.begin(), swaps.end(), [&](const Swap& s) { return s.map == m; });
    if (map.first_backward < 0 || swap != swaps.end()) add(map.producer, map.last_forward, map.bytes);
    if (map.first_backward < 0) continue;
    const bool early =
        map.last_backward == map.producer && t.steps[std::size_t(map.producer)].output_freed_first;
    add(swap == swaps.end() ? map.producer : backward(t, swap->trigger),
        backward(t, map.last_backward) - (early ? 1 : 0), map.bytes);
  }
  double gradients = 0;
  for (int layer = n - 1; layer >= 0; layer--) {
    gradients += t.steps[std::size_t(layer)].gradient_bytes;
    p.used[std::size_t(backward(t, layer))] += gradients;
    gradients -= t.steps[std::size_t(layer)].gradient_freed;
  }
  p.peak = std::size_t(std::max_element(p.used.begin(), p.used.end()) - p.used.begin());
  return p;
}

// The last layer of the backward pass that is done when the transfer must start.
int trigger_of(const Training& t, const Profile& p, const HeldMap& map) {
  const double at = p.start[std::size_t(backward(t, map.first_backward))] - map.wire_bytes / kBytesPerSecond;
  int trigger = map.first_backward;
  while (trigger + 1 < int(t.steps.size()) && p.start[std::size_t(backward(t, trigger))] > at) trigger++;
  return trigger;
}

std::vector<Swap> swaps_of(const Training& t, double fixed, double memory) {
  std::vector<Swap> swaps;
  for (int pass = 0; pass < kPasses; pass++) {
    const Profile p = profile_of(t, fixed, swaps);
    double missing = p.used[p.peak] - memory;
    if (missing <= 0) break;
    std::vector<std::pair<double, int>> fit;
    for (int m = 0; m < int(t.maps.size()); m++) {
      const HeldMap& map = t.maps[std::size_t(m)];
      if (!can_swap(t, m) || map.bytes <= kSmallest) continue;
      const int first = backward(t, map.first_backward);
      const double made = p.start[std::size_t(map.producer)], needed = p.start[std::size_t(first)];
      const bool live = map.producer <= int(p.peak) && int(p.peak) < first;
      const bool done = std::any_of(swaps.begin(), swaps.end(), [&](const Swap& s) { return s.map == m; });
      if (!live || done || needed - made <= kShortest) continue;
      const int uses = 1 + (map.last_backward != map.first_backward ? 1 : 0);
      const double peak = p.start[p.peak];
      fit.emplace_back(std::pow((needed - peak) / uses, 2) + std::pow(made - peak, 2), m);
    }
    if (fit.empty()) break;
    std::stable_sort(fit.begin(), fit.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [fitness, m] : fit) {
      const HeldMap& map = t.maps[std::size_t(m)];
      swaps.push_back({m, trigger_of(t, p, map)});
      missing -= map.bytes;
      if (missing < 0) break;
    }
  }
  return swaps;
}

}  // namespace

Plan grappler_plan(const Scenario& scenario) {
  Plan plan;
  for (std::size_t d = 0; d < scenario.training.size(); d++) {
    const Training& t = scenario.training[d];
    const Device& device = scenario.machine.devices[d];
    const double fixed = device.of_network(t.network).reserved_bytes + 2 * t.weight_bytes + t.input_bytes;
    plan.devices.push_back(swaps_of(t, fixed, device.memory_bytes));
  }
  return plan;
}

}  // namespace kaiten::swap
