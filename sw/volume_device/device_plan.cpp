// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "volume_device/device_plan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/arithmetic.h"
#include "base/error.h"
#include "volume/search.h"
#include "volume_device/device_evaluate.h"

namespace kaiten::volume {

using fft::Size;

namespace {

// Sides of fragments that are tried: those of so many blocks along the longest axis, of all numbers of blocks, ascending.
std::vector<int> sides_of(const Network& network, const Size& result) {
  const Size pooled = network.pooled();
  const int most = std::max({ceil_div(result.depth, pooled.depth), ceil_div(result.height, pooled.height),
                             ceil_div(result.width, pooled.width)});
  std::vector<int> sides;
  for (int side = 1; side <= most; side++) {
    if (ceil_div(most, ceil_div(most, side)) == side) sides.push_back(side);
  }
  return sides;
}

Plan plan_of(const Network& network, std::vector<Choice> choices, int side, const Size& result) {
  for (Choice& c : choices) c.method = fft::Method::Blocked;
  const Size pooled = network.pooled();
  return {{std::min(side, ceil_div(result.depth, pooled.depth)),
           std::min(side, ceil_div(result.height, pooled.height)),
           std::min(side, ceil_div(result.width, pooled.width))},
          1,
          std::move(choices)};
}

}  // namespace

std::vector<Plan> plans_tried(const Network& network, const DeviceSearch& search) {
  const Size result = fft::valid(search.volume, network.field_of_view());
  std::vector<Plan> plans;
  for (const std::vector<Choice>& choices : poolings(network)) {
    std::optional<Size> last;
    for (const int side : sides_of(network, result)) {
      Plan plan = plan_of(network, choices, side, result);
      const Size block = block_result(network, plan);
      if (last == block) break;
      last = block;
      if (side > 1 && std::max({block.depth, block.height, block.width}) > search.most_side) break;
      plans.push_back(std::move(plan));
    }
  }
  return plans;
}

std::vector<DevicePlanned> device_plans(const Int8Network& network, const DeviceSearch& search) {
  const Network& n = network.network;
  const Size result = fft::valid(search.volume, n.field_of_view());
  std::vector<DevicePlanned> found;
  std::optional<InputError> error;
  StagePlanner planner(network, search.stages);
  for (const Plan& plan : plans_tried(n, search)) {
    DevicePlanned p{plan, {}, 0, 0};
    try {
      p.device = planner.plan(plan, 0);
    } catch (const InputError& e) {
      if (!error) error = e;
      continue;
    }
    p.macs = volume_macs(n, p.plan, 0, n.layers.size());
    p.voxels_a_cycle =
        double(result.elements()) / (double(p.device.cycles) * double(runs_of(n, p.plan, result)));
    found.push_back(std::move(p));
  }
  if (found.empty()) throw InputError(*error);
  const auto seconds = [&](const DevicePlanned& p) {
    return p.device.seconds * double(runs_of(n, p.plan, result));
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const DevicePlanned& a, const DevicePlanned& b) { return seconds(a) < seconds(b); });
  return found;
}

}  // namespace kaiten::volume
