// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "volume_device/split.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "volume/slices.h"

namespace kaiten::volume {

using fft::Array;

namespace {

Plan first_plan(const Network& network, const Plan& plan, std::size_t theta) {
  const Maps between = maps_of(network, plan)[theta];
  return {between.size, plan.batch, {plan.layers.begin(), plan.layers.begin() + std::ptrdiff_t(theta)}};
}

Plan rest_plan(const Network& network, const Plan& plan, std::size_t theta) {
  const Maps between = maps_of(network, plan)[theta];
  return {plan.fragment, between.batch, {plan.layers.begin() + std::ptrdiff_t(theta), plan.layers.end()}};
}

class Search {
 public:
  Search(const Int8Network& network, const Calibration& calibration, const SplitSearch& search,
         fft::Workers& workers)
      : network_(network), calibration_(calibration), s_(search), workers_(workers) {}

  std::vector<SplitPlanned> run() {
    const Network& n = network_.network;
    for (const Plan& plan : plans_tried(n, s_.device)) look_at(plan);
    if (best_.empty()) throw InputError(error_ ? error_->what() : "--memory: no split fits");
    std::vector<SplitPlanned> found;
    for (auto& [theta, planned] : best_) found.push_back(std::move(planned));
    std::stable_sort(found.begin(), found.end(), [](const SplitPlanned& a, const SplitPlanned& b) {
      return a.voxels_a_second > b.voxels_a_second;
    });
    return found;
  }

 private:
  void look_at(Plan plan) {
    const Network& n = network_.network;
    const fft::Size result = fft::valid(s_.device.volume, n.field_of_view());
    const std::vector<Maps> maps = maps_of(n, plan);
    choose_methods(plan, maps);
    std::map<std::size_t, std::uint64_t> parts;  // cycles of whole parts, by their first layer
    // From the last theta on: where the rest does not fit the accelerator, a longer rest does not either.
    for (std::size_t theta = s_.theta_to + 1; theta-- > s_.theta_from;) {
      SplitPlanned p{plan, theta, 0, 0, 0};
      bool fits = true;
      for (std::size_t i = 0; i < theta; i++) {
        p.processor_seconds += layer_seconds(calibration_, n.layers[i], plan.layers[i], maps[i]);
        fits = fits && int8_layer_bytes(n.layers[i], plan.layers[i], maps[i], workers_) <= s_.memory;
      }
      if (!fits) continue;
      try {
        p.cycles = rest_cycles(plan, theta, parts);
      } catch (const InputError& e) {
        if (!error_) error_ = e;
        break;
      }
      const double seconds = pipeline_seconds({p.processor_seconds, double(p.cycles) / (s_.clock_mhz * 1e6)},
                                              runs_of(n, plan, result));
      p.voxels_a_second = double(result.elements()) / seconds;
      const auto at = best_.find(theta);
      if (at == best_.end() || p.voxels_a_second > at->second.voxels_a_second)
        best_.insert_or_assign(theta, std::move(p));
    }
  }

  // The fastest ones.
  void choose_methods(Plan& plan, const std::vector<Maps>& maps) const {
    for (std::size_t i = 0; i < plan.layers.size(); i++) {
      const Layer& l = network_.network.layers[i];
      if (!l.convolution) continue;
      const auto seconds = [&](fft::Method m) {
        return layer_seconds(calibration_, l, {m, plan.layers[i].fragments}, maps[i]);
      };
      plan.layers[i].method =
          *std::min_element(kInt8Methods.begin(), kInt8Methods.end(),
                            [&](fft::Method a, fft::Method b) { return seconds(a) < seconds(b); });
    }
  }

  std::uint64_t rest_cycles(const Plan& plan, std::size_t theta,
                            std::map<std::size_t, std::uint64_t>& parts) const {
    std::uint64_t sum = 0;
    for (const std::size_t cut : slice_cuts(network_.network)) {
      if (cut <= theta) continue;
      const auto [at, is_new] = parts.try_emplace(theta, 0);
      if (is_new) at->second = predicted_cycles(network_, plan, theta, cut, s_.device.config, s_.device.tick);
      sum += at->second;
      theta = cut;
    }
    return sum;
  }

  const Int8Network& network_;
  const Calibration& calibration_;
  const SplitSearch& s_;
  fft::Workers& workers_;
  std::map<std::size_t, SplitPlanned> best_;  // by theta
  std::optional<InputError> error_;
};

}  // namespace

double pipeline_seconds(std::span<const BlockTimes> blocks) {
  double queued = 0, begun = 0, done = 0;  // of the block before: it entered the queue, left it, was finished
  for (const BlockTimes& b : blocks) {
    queued = std::max(queued + b.producer, begun);
    begun = std::max(queued, done);
    done = begun + b.consumer;
  }
  return done;
}

double pipeline_seconds(const BlockTimes& block, std::int64_t blocks) {
  return blocks == 0 ? 0
                     : block.producer + block.consumer +
                           double(blocks - 1) * std::max(block.producer, block.consumer);
}

std::vector<SplitPlanned> split_plans(const Int8Network& network, const Calibration& calibration,
                                      const SplitSearch& search, fft::Workers& workers) {
  return Search(network, calibration, search, workers).run();
}

SplitEvaluator::SplitEvaluator(const Int8Network& network, const Plan& plan, std::size_t theta,
                               fft::Workers& workers, fft::Memory& memory, const DeviceOptions& options)
    : network_(network),
      plan_(plan),
      first_network_(first_layers(network, theta)),
      rest_network_(other_layers(network, theta)),
      first_(first_network_, first_plan(network.network, plan, theta), workers, memory),
      rest_(rest_network_, rest_plan(network.network, plan, theta), memory, options) {}

Array<std::int8_t> SplitEvaluator::evaluate(Array<std::int8_t> images) const {
  images = first_.evaluate(std::move(images));
  const std::uint64_t before = rest_.work().cycles;
  images = rest_.evaluate(std::move(images));
  cycles_.push_back(rest_.work().cycles - before);
  return images;
}

}  // namespace kaiten::volume
