// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "volume_device/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/arithmetic.h"
#include "compile/compiler.h"

namespace kaiten::volume {

using fft::Size;

namespace {

// Images of a batch that are compiled; what more of them take is extrapolated.
constexpr int kMostModelled = 2;

bool several_convolutions(const Network& network, std::size_t begin, std::size_t end) {
  return end - begin > 1 && network.layers[begin + 1].convolution;
}

bool one_convolution(const Network& network, std::size_t begin, std::size_t end) {
  return network.layers[begin].convolution && !several_convolutions(network, begin, end);
}

// Bricks by the number of parts of plane and depth: for each plane, ever thinner ones.
std::vector<std::vector<Size>> bricks_of(const Size& result, int side, const std::vector<int>& plane_parts) {
  std::vector<std::vector<Size>> bricks;
  const auto parts = [side](int n) { return ceil_div(n, side); };
  for (const int more : plane_parts) {
    std::vector<Size> thinner;
    const int rows = parts(result.height) * more, columns = parts(result.width) * more;
    if (more > 1 && rows > result.height && columns > result.width) continue;
    for (int slabs = parts(result.depth);; slabs *= 2) {
      const Size brick{ceil_div(result.depth, slabs), ceil_div(result.height, std::min(rows, result.height)),
                       ceil_div(result.width, std::min(columns, result.width))};
      thinner.push_back(brick);
      if (brick.depth == 1) break;
    }
    bricks.push_back(std::move(thinner));
  }
  return bricks;
}

void add(StagesPlanned& sum, const StagesPlanned& more) {
  sum.stages.insert(sum.stages.end(), more.stages.begin(), more.stages.end());
  sum.cycles += more.cycles;
  sum.link_bytes += more.link_bytes;
  sum.memory_bytes = std::max(sum.memory_bytes, more.memory_bytes);
  sum.seconds += more.seconds;
}

// The faster one.
void take_better(std::optional<StagesPlanned>& best, std::optional<StagesPlanned> other) {
  if (other && (!best || other->seconds < best->seconds)) best = std::move(other);
}

}  // namespace

std::vector<Stage> whole_stages(const Network& network, const Plan& plan) {
  const std::vector<Maps> maps = maps_of(network, plan);
  std::vector<Stage> stages;
  std::size_t begin = 0;
  for (const std::size_t end : slice_cuts(network)) {
    stages.push_back({begin, end, maps[end].size, maps[begin].batch, maps[end].channels});
    begin = end;
  }
  return stages;
}

void require_stages(const Network& network, const Plan& plan, std::span<const Stage> stages) {
  const std::vector<Maps> maps = maps_of(network, plan);
  std::size_t at = 0;
  for (const Stage& s : stages) {
    bool fits = s.begin == at && s.begin < s.end && s.end < maps.size();
    for (std::size_t i = s.begin + 1; fits && i + 1 < s.end; i++) fits = network.layers[i].convolution;
    fits = fits && (network.layers[s.begin].convolution || s.end == s.begin + 1) &&
           s.brick.inside(maps[s.end].size) && Size{}.inside(s.brick) && s.images > 0 &&
           maps[s.begin].batch % s.images == 0 && s.maps > 0 &&
           (s.maps == maps[s.end].channels || one_convolution(network, s.begin, s.end));
    if (!fits) throw InputError(fmt::format("stages of another plan: layers {} to {}", s.begin + 1, s.end));
    at = s.end;
  }
  if (at + 1 != maps.size()) throw InputError(fmt::format("stages of another plan: {} layers", at));
}

std::uint64_t stage_runs(const Network& network, const Plan& plan, const Stage& stage) {
  const std::vector<Maps> maps = maps_of(network, plan);
  return std::uint64_t(maps[stage.begin].batch / stage.images) *
         blocks_of(maps[stage.end].size, stage.brick).elements();
}

Plan stage_plan(const Plan& plan, const Stage& stage) {
  return {
      stage.brick,
      stage.images,
      {plan.layers.begin() + std::ptrdiff_t(stage.begin), plan.layers.begin() + std::ptrdiff_t(stage.end)}};
}

Int8Network stage_layers(const Int8Network& network, const Stage& stage, int first, int count) {
  Int8Network layers = some_layers(network, stage.begin, stage.end);
  return layers.network.outputs() == count ? layers : some_outputs(layers, first, count);
}

SliceGraph stage_graph(const Int8Network& layers, const Plan& stage, const Config& config) {
  return slice_graph(layers, {0,
                              layers.layers.size(),
                              maps_of(layers.network, stage).front().size,
                              stage.layers.back().fragments,
                              false,
                              {config.kp, config.cp}});
}

Size stage_origin(const Network& layers, const Size& brick) {
  const Size step = layers.pooled();
  return {brick.depth * step.depth, brick.height * step.height, brick.width * step.width};
}

std::uint64_t memory_bytes(const Program& program) {
  return std::uint64_t(program.constant_bytes) + program.command_blocks() * kCommandBytes +
         std::uint64_t(program.activation_bytes + program.input_bytes + program.output_bytes);
}

bool all_on_device(const Program& program) {
  return std::none_of(program.layers.begin(), program.layers.end(),
                      [](const LayerInfo& l) { return l.place == Place::kHost; });
}

struct StagePlanner::Cost {
  std::int64_t cycles = 0, memory = 0, maps = 0, constants = 0;  // maps: that come in and go out

  // Each further image takes what the last one did.
  Cost extrapolated(const Cost& one_less, int images) const {
    const auto more = [&](std::int64_t last, std::int64_t before) { return last + (last - before) * images; };
    return {more(cycles, one_less.cycles), more(memory, one_less.memory), more(maps, one_less.maps),
            constants};
  }
};

StagePlanner::StagePlanner(const Int8Network& network, StageSearch search)
    : network_(network), search_(std::move(search)) {}

StagePlanner::~StagePlanner() = default;

// What a program takes does not depend on the values of the weights.
const std::optional<StagePlanner::Cost>& StagePlanner::compiled(const Stage& stage, const Plan& one,
                                                                const Results& results) {
  Key key = {one.batch,          one.fragment.depth, one.fragment.height,
             one.fragment.width, results.count,      results.before};
  for (std::size_t i = stage.begin; i < stage.end; i++) {
    const Layer& l = network_.network.layers[i];
    const bool fragments = !l.convolution && one.layers[i - stage.begin].fragments;
    key.insert(key.end(), {l.window.depth, l.window.height, l.window.width,
                           !l.convolution      ? 0
                           : i + 1 < stage.end ? l.maps
                                               : -1,
                           fragments ? 1 : 0});
  }
  const auto [at, is_new] = compiled_.try_emplace(std::move(key));
  if (!is_new) return at->second;
  const Int8Network layers = stage_layers(network_, stage, results.first, results.count);
  CompileOptions options;
  options.images = one.batch;
  options.constants = false;
  options.cancellation_check = search_.tick;
  const Config& config = preset(search_.config);
  try {
    const Program p = compile(stage_graph(layers, one, config).graph, config, options);
    if (!all_on_device(p))
      throw InputError(fmt::format(
          "layers {} to {} do not fit '{}' as slices of {}: some would run on the host", stage.begin + 1,
          stage.end, config.name, maps_of(layers.network, one).front().size.text()));
    at->second = Cost{p.modelled_cycles, std::int64_t(memory_bytes(p)), p.input_bytes + p.output_bytes,
                      p.constant_bytes};
  } catch (const InputError& e) {
    if (!error_) error_ = e;
  }
  return at->second;
}

std::optional<StagePlanner::Cost> StagePlanner::program(const Stage& stage, Plan one,
                                                        const Results& results) {
  const int images = one.batch;
  one.batch = std::min(images, kMostModelled);
  const std::optional<Cost> last = compiled(stage, one, results);
  if (!last || images <= kMostModelled) return last;
  one.batch--;
  const std::optional<Cost>& before = compiled(stage, one, results);
  if (!before) return before;
  return last->extrapolated(*before, images - kMostModelled);
}

std::optional<StagesPlanned> StagePlanner::cost(const Plan& plan, const Stage& stage) {
  const Plan one = stage_plan(plan, stage);
  const std::uint64_t runs = stage_runs(network_.network, plan, stage);
  const std::vector<Maps> all = maps_of(network_.network, plan);
  const int maps = all[stage.end].channels;
  StagesPlanned p{{stage}, 0, 0, 0, 0};
  for (int first = 0; first < maps; first += stage.maps) {
    const auto c =
        program(stage, one, {first, std::min(stage.maps, maps - first), all[stage.begin].channels});
    if (!c) return std::nullopt;
    p.cycles += runs * std::uint64_t(c->cycles);
    p.link_bytes += runs * std::uint64_t(c->maps) + std::uint64_t(groups_) * std::uint64_t(c->constants);
    p.memory_bytes = std::max(p.memory_bytes, std::uint64_t(c->memory));
  }
  if (search_.memory > 0 && p.memory_bytes > search_.memory) {
    refuse(stage, p.memory_bytes);
    return std::nullopt;
  }
  p.seconds = double(p.cycles) / ((search_.clock_mhz > 0 ? search_.clock_mhz : 1) * 1e6) +
              (search_.link > 0 ? double(p.link_bytes) / search_.link : 0);
  return p;
}

// The least that is needed makes the message.
void StagePlanner::refuse(const Stage& stage, std::uint64_t bytes) {
  const bool same = refused_.begin == stage.begin && refused_.end == stage.end && bytes < least_bytes_;
  if (error_ && !same) return;
  refused_ = stage;
  least_bytes_ = bytes;
  error_ = InputError(fmt::format("--device-memory: layers {} to {} take {} bytes at least, limit {}",
                                  stage.begin + 1, stage.end, bytes, search_.memory));
}

// Of bricks that are ever thinner the first that fits, with one image and with as many as make a run as large as the largest.
std::optional<StagesPlanned> StagePlanner::best_of(const Plan& plan, Stage stage, const Maps& in,
                                                   const std::vector<std::vector<Size>>& bricks) {
  std::optional<StagesPlanned> found;
  const auto most = std::uint64_t(search_.most_side);
  for (const std::vector<Size>& thinner : bricks) {
    for (const Size& brick : thinner) {
      stage.brick = brick;
      stage.images = 1;
      auto fits = cost(plan, stage);
      if (!fits) continue;
      take_better(found, std::move(fits));
      int images = 1;
      while (in.batch / groups_ % (2 * images) == 0 &&
             2 * std::uint64_t(images) * brick.elements() <= most * most * most)
        images *= 2;
      for (; images > 1; images /= 2) {
        stage.images = images;
        fits = cost(plan, stage);
        if (!fits) continue;
        take_better(found, std::move(fits));
        break;
      }
      break;
    }
  }
  return found;
}

// The layers as one program, in bricks where there is one convolution.
std::optional<StagesPlanned> StagePlanner::best(const Plan& plan, std::size_t begin, std::size_t end) {
  const Network& n = network_.network;
  const std::vector<Maps> maps = maps_of(n, plan);
  const Size& result = maps[end].size;
  Stage stage{begin, end, result, 1, maps[end].channels};
  if (several_convolutions(n, begin, end)) {
    const int side = std::max({result.depth, result.height, result.width});
    return side > search_.most_side ? std::nullopt : best_of(plan, stage, maps[begin], {{result}});
  }
  const bool parts = n.layers[begin].convolution;
  for (const std::vector<int>& planes : {std::vector{1, 2}, std::vector{4, 8, 16}}) {
    const auto bricks = bricks_of(result, search_.most_side, planes);
    for (stage.maps = maps[end].channels;; stage.maps = ceil_div(stage.maps, 2)) {
      auto found = best_of(plan, stage, maps[begin], bricks);
      if (found) return found;
      if (!parts || stage.maps == 1) break;
    }
  }
  return std::nullopt;
}

// Each convolution by itself, pooling with the last one.
std::optional<StagesPlanned> StagePlanner::separate(const Plan& plan, std::size_t begin, std::size_t end) {
  StagesPlanned sum;
  while (begin < end) {
    const std::size_t next = several_convolutions(network_.network, begin, end) ? begin + 1 : end;
    const auto stage = best(plan, begin, next);
    if (!stage) return std::nullopt;
    add(sum, *stage);
    begin = next;
  }
  return sum;
}

StagesPlanned StagePlanner::plan(const Plan& plan, std::size_t begin, int groups) {
  StagesPlanned sum;
  groups_ = groups;
  for (const std::size_t end : slice_cuts(network_.network)) {
    if (end <= begin) continue;
    std::optional<StagesPlanned> found = separate(plan, begin, end);
    if (several_convolutions(network_.network, begin, end)) take_better(found, best(plan, begin, end));
    if (!found)
      throw InputError(error_ ? std::string(error_->what())
                              : fmt::format("layers {} to {} fit the accelerator in no way", begin + 1, end));
    add(sum, *found);
    begin = end;
  }
  return sum;
}

StagesPlanned StagePlanner::cost(const Plan& plan, const std::vector<Stage>& stages) {
  StagesPlanned sum;
  groups_ = 1;
  for (const Stage& stage : stages) {
    const auto found = cost(plan, stage);
    if (!found) throw InputError(error_ ? std::string(error_->what()) : "a stage does not fit");
    add(sum, *found);
  }
  return sum;
}

}  // namespace kaiten::volume
