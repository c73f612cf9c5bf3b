// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "volume_device/split.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"

namespace kaiten::volume {

using fft::Array;

namespace {

Plan first_plan(const Network& network, const Plan& plan, std::size_t theta) {
  const Maps between = maps_of(network, plan)[theta];
  return {between.size, plan.batch, {plan.layers.begin(), plan.layers.begin() + std::ptrdiff_t(theta)}};
}

Plan rest_plan(const Network& network, const Plan& plan, std::size_t theta, int groups) {
  const Maps between = maps_of(network, plan)[theta];
  if (groups < 1 || between.batch % groups != 0)
    throw InputError("groups of another plan: " + std::to_string(groups));
  return {plan.fragment,
          between.batch / groups,
          {plan.layers.begin() + std::ptrdiff_t(theta), plan.layers.end()}};
}

class Search {
 public:
  Search(const Int8Network& network, const Calibration& calibration, const SplitSearch& search,
         fft::Workers& workers)
      : network_(network),
        calibration_(calibration),
        s_(search),
        workers_(workers),
        planner_(network, search.device.stages) {}

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
  void look_at(const Plan& tried) {
    const Network& n = network_.network;
    const fft::Size result = fft::valid(s_.device.volume, n.field_of_view());
    // From the last theta on: where the rest does not fit the accelerator, a longer rest does not either.
    for (std::size_t theta = s_.theta_to + 1; theta-- > s_.theta_from;) {
      // All images through layer after layer, or one image after the other through all layers, which takes less memory.
      const int images = maps_of(n, tried)[theta].batch;
      if (!look_at({tried, theta, 1, 0, {}, 0, 0}, result)) break;
      if (images > 1 && theta < n.layers.size()) look_at({tried, theta, images, 0, {}, 0, 0}, result);
    }
  }

  // False where the accelerator cannot run its layers.
  bool look_at(SplitPlanned p, const fft::Size& result) {
    p.bytes = bytes_beside(p);
    if (!on_processors(p)) return true;
    try {
      p.device = planner_.plan(p.plan, p.theta, p.groups);
    } catch (const InputError& e) {
      if (!error_) error_ = e;
      return false;
    }
    for (Stage& stage : p.device.stages) stage.begin -= p.theta, stage.end -= p.theta;
    const double seconds =
        pipeline_seconds({p.processor_seconds, p.device.seconds}, runs_of(network_.network, p.plan, result));
    p.voxels_a_second = double(result.elements()) / seconds;
    const auto at = best_.find(p.theta);
    if (at == best_.end() || p.voxels_a_second > at->second.voxels_a_second)
      best_.insert_or_assign(p.theta, std::move(p));
    return true;
  }

  // Of everything but the processors' layers: blocks, what waits in the queue, and what goes into the accelerator's layers
  // and comes out of them.
  std::uint64_t bytes_beside(const SplitPlanned& p) const {
    const Network& n = network_.network;
    const std::vector<Maps> maps = maps_of(n, p.plan);
    const auto bytes = [&](std::size_t i, int groups) {
      return fft::array_bytes(maps[i].elements() / std::uint64_t(groups), 1);
    };
    std::uint64_t layers = 0;
    std::size_t begin = p.theta;
    for (std::size_t end = p.theta + 1; end < maps.size(); end++) {
      const bool pooled = end + 1 < maps.size() && !n.layers[end].convolution;
      if (pooled && n.layers[end - 1].convolution) continue;  // one stage
      layers = std::max(layers, fft::sum({bytes(begin, p.groups), bytes(end, p.groups)}));
      begin = end;
    }
    if (p.groups > 1) layers = fft::sum({layers, bytes(p.theta, 1), bytes(n.layers.size(), 1)});
    const bool both = p.theta > 0 && p.theta < n.layers.size();
    return fft::sum({block_bytes(n, p.plan, Numbers::kInt8), layers, both ? bytes(p.theta, 1) : 0});
  }

  // The fastest methods that fit; false where none does.
  bool on_processors(SplitPlanned& p) const {
    const std::vector<Maps> maps = maps_of(network_.network, p.plan);
    std::uint64_t most = 0;
    for (std::size_t i = 0; i < p.theta; i++) {
      const Layer& l = network_.network.layers[i];
      std::optional<Choice> best;
      double least = INFINITY;
      for (const fft::Method m : kInt8Methods) {
        const Choice c{m, p.plan.layers[i].fragments};
        const double seconds = layer_seconds(calibration_, l, c, maps[i]);
        if (!(seconds < least) || fft::sum({p.bytes, bytes_of(i, c, maps[i])}) > s_.memory) continue;
        best = c;
        least = seconds;
      }
      if (!best) return false;
      p.plan.layers[i] = *best;
      p.processor_seconds += least;
      most = std::max(most, bytes_of(i, *best, maps[i]));
    }
    p.bytes = fft::sum({p.bytes, most});
    return p.bytes <= s_.memory;
  }

  std::uint64_t bytes_of(std::size_t i, const Choice& c, const Maps& in) const {
    return int8_layer_bytes(network_.network.layers[i], c, in, workers_);
  }

  const Int8Network& network_;
  const Calibration& calibration_;
  const SplitSearch& s_;
  fft::Workers& workers_;
  StagePlanner planner_;
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

SplitEvaluator::SplitEvaluator(const Int8Network& network, const Plan& plan, std::size_t theta, int groups,
                               std::span<const Stage> stages, fft::Workers& workers, fft::Memory& memory,
                               const DeviceOptions& options)
    : network_(network),
      plan_(plan),
      groups_(groups),
      memory_(memory),
      first_network_(some_layers(network, 0, theta)),
      rest_network_(some_layers(network, theta, network.layers.size())),
      first_(first_network_, first_plan(network.network, plan, theta), workers, memory),
      rest_(rest_network_, rest_plan(network.network, plan, theta, groups), stages, memory, options) {}

Array<std::int8_t> SplitEvaluator::evaluate(Array<std::int8_t> images) const {
  images = first_.evaluate(std::move(images));
  const std::uint64_t before = rest_.work().cycles;
  images = groups_ == 1 ? rest_.evaluate(std::move(images)) : by_groups(images);
  cycles_.push_back(rest_.work().cycles - before);
  return images;
}

Array<std::int8_t> SplitEvaluator::by_groups(const Array<std::int8_t>& images) const {
  Array<std::int8_t> results(memory_, maps_of(network_.network, plan_).back().elements());
  const std::size_t in = images.size() / std::size_t(groups_), out = results.size() / std::size_t(groups_);
  for (std::size_t g = 0; g < std::size_t(groups_); g++) {
    Array<std::int8_t> group = rest_.make_images();
    std::copy_n(images.data() + g * in, in, group.data());
    group = rest_.evaluate(std::move(group));
    std::copy_n(group.data(), out, results.data() + g * out);
  }
  return results;
}

}  // namespace kaiten::volume
