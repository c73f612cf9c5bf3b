// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "volume_device/device_plan.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/arithmetic.h"
#include "base/error.h"
#include "compile/compiler.h"
#include "volume/search.h"
#include "volume/slices.h"
#include "volume_device/device_evaluate.h"

namespace kaiten::volume {

using fft::Size;

namespace {

// Images of a batch that are compiled; for more of them time is extrapolated.
constexpr int kMostModelled = 2;
// Sides of a fragment that are tried.
constexpr std::array kSides = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};

Plan plan_of(const Network& network, bool fragments, int side, const Size& result) {
  Plan plan{{}, 1, std::vector<Choice>(network.layers.size(), {fft::Method::Blocked, fragments})};
  for (std::size_t i = 0; i < network.layers.size(); i++) {
    const Pooling wanted = network.layers[i].pooling;
    if (wanted != Pooling::kAny) plan.layers[i].fragments = wanted == Pooling::kFragments;
  }
  const Size pooled = network.pooled();
  plan.fragment = {std::min(side, ceil_div(result.depth, pooled.depth)),
                   std::min(side, ceil_div(result.height, pooled.height)),
                   std::min(side, ceil_div(result.width, pooled.width))};
  return plan;
}

}  // namespace

std::uint64_t predicted_cycles(const Int8Network& network, const Plan& plan, std::size_t begin,
                               std::size_t end, const std::string& config,
                               const std::function<void()>& tick) {
  const Config& c = preset(config);
  const std::vector<Maps> maps = maps_of(network.network, plan);
  std::uint64_t cycles = 0;
  for (const std::size_t cut : slice_cuts(network.network)) {
    if (cut <= begin) continue;
    const std::size_t last = std::min(cut, end);
    const SliceGraph slices = slice_graph(
        network, {begin, last, maps[begin].size, plan.layers[last - 1].fragments, false, {c.kp, c.cp}});
    const auto compiled = [&](int images) {
      CompileOptions options;
      options.images = images;
      options.cancellation_check = tick;
      return compile(slices.graph, c, options).modelled_cycles;
    };
    const int images = maps[begin].batch;
    const std::int64_t some = compiled(std::min(images, kMostModelled));
    // Each further image takes what the last ones did.
    const std::int64_t more = images > kMostModelled ? (some - compiled(kMostModelled / 2)) * 2 *
                                                           (images - kMostModelled) / kMostModelled
                                                     : 0;
    cycles += std::uint64_t(some + more);
    begin = last;
    if (begin == end) break;
  }
  return cycles;
}

std::vector<Plan> plans_tried(const Network& network, const DeviceSearch& search) {
  const Size result = fft::valid(search.volume, network.field_of_view());
  const bool choice = std::any_of(network.layers.begin(), network.layers.end(), [](const Layer& l) {
    return !l.convolution && l.pooling == Pooling::kAny;
  });
  std::vector<Plan> plans;
  for (const bool fragments : {true, false}) {
    if (!fragments && !choice) continue;
    std::optional<Size> last;
    for (const int side : kSides) {
      Plan plan = plan_of(network, fragments, side, result);
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
  for (const Plan& plan : plans_tried(n, search)) {
    DevicePlanned p{plan, 0, 0, 0};
    try {
      p.cycles = predicted_cycles(network, plan, 0, n.layers.size(), search.config, search.tick);
    } catch (const InputError& e) {
      if (!error) error = e;
      continue;
    }
    p.macs = volume_macs(n, p.plan, 0, n.layers.size());
    p.voxels_a_cycle = double(result.elements()) / (double(p.cycles) * double(runs_of(n, p.plan, result)));
    found.push_back(std::move(p));
  }
  if (found.empty()) throw InputError(*error);
  std::stable_sort(found.begin(), found.end(), [](const DevicePlanned& a, const DevicePlanned& b) {
    return a.voxels_a_cycle > b.voxels_a_cycle;
  });
  return found;
}

}  // namespace kaiten::volume
