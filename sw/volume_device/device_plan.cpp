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
    CompileOptions options;
    options.images = maps[begin].batch;
    options.cancellation_check = tick;
    cycles += std::uint64_t(compile(slices.graph, c, options).modelled_cycles);
    begin = last;
    if (begin == end) break;
  }
  return cycles;
}

std::vector<DevicePlanned> device_plans(const Int8Network& network, const DeviceSearch& search) {
  const Network& n = network.network;
  const Size result = fft::valid(search.volume, n.field_of_view());
  std::vector<DevicePlanned> found;
  std::optional<InputError> error;
  const bool choice = std::any_of(n.layers.begin(), n.layers.end(), [](const Layer& l) {
    return !l.convolution && l.pooling == Pooling::kAny;
  });
  for (const bool fragments : {true, false}) {
    if (!fragments && !choice) continue;
    std::optional<Size> last;
    for (const int side : kSides) {
      DevicePlanned p{plan_of(n, fragments, side, result), 0, 0, 0};
      const Size block = block_result(n, p.plan);
      if (last == block) break;
      last = block;
      if (side > 1 && std::max({block.depth, block.height, block.width}) > search.most_side) break;
      try {
        p.cycles = predicted_cycles(network, p.plan, 0, n.layers.size(), search.config, search.tick);
      } catch (const InputError& e) {
        if (!error) error = e;
        break;  // larger ones do not fit either
      }
      p.macs = volume_macs(n, p.plan, 0, n.layers.size());
      p.voxels_a_cycle = double(result.elements()) / (double(p.cycles) * double(runs_of(n, p.plan, result)));
      found.push_back(std::move(p));
    }
  }
  if (found.empty()) throw InputError(*error);
  std::stable_sort(found.begin(), found.end(), [](const DevicePlanned& a, const DevicePlanned& b) {
    return a.voxels_a_cycle > b.voxels_a_cycle;
  });
  return found;
}

}  // namespace kaiten::volume
