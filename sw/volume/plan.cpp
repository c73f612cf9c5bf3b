// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "volume/plan.h"

#include <algorithm>

#include "base/arithmetic.h"
#include "fft/memory.h"

namespace kaiten::volume {

using fft::Size;

namespace {

Size times(const Size& a, const Size& b) {
  return {a.depth * b.depth, a.height * b.height, a.width * b.width};
}

// What a layer needs for such a result, along an axis.
int before(const Layer& l, bool fragments, int n, int window) {
  if (l.convolution) return n + window - 1;
  return fragments ? (n + 1) * window - 1 : n * window;
}

// Voxels along depth between neighbours of what enters the layer.
int depth_step(const Network& network, std::size_t layer) {
  int step = 1;
  for (std::size_t i = 0; i < layer; i++)
    if (!network.layers[i].convolution) step *= network.layers[i].window.depth;
  return step;
}

}  // namespace

std::uint64_t Maps::elements() const {
  return fft::product({std::uint64_t(batch), std::uint64_t(channels), size.elements()});
}

std::vector<Maps> maps_of(const Network& network, const Plan& plan) {
  const std::size_t n = network.layers.size();
  std::vector<Maps> maps(n + 1);
  maps[n].size = plan.fragment;
  for (std::size_t i = n; i-- > 0;) {
    const Layer& l = network.layers[i];
    const Size& after = maps[i + 1].size;
    const bool f = plan.layers[i].fragments;
    maps[i].size = {before(l, f, after.depth, l.window.depth), before(l, f, after.height, l.window.height),
                    before(l, f, after.width, l.window.width)};
  }
  if (plan.halos_kept) {
    const int depth = block_result(network, plan).depth;
    for (std::size_t i = 0; i < n; i++)
      maps[i].size.depth = depth / depth_step(network, i) + halo_of(network.layers[i], plan.layers[i]);
  }
  maps[0].batch = plan.batch;
  maps[0].channels = network.inputs;
  for (std::size_t i = 0; i < n; i++) {
    const Layer& l = network.layers[i];
    maps[i + 1].batch =
        maps[i].batch * (!l.convolution && plan.layers[i].fragments ? int(l.window.elements()) : 1);
    maps[i + 1].channels = l.convolution ? l.maps : maps[i].channels;
  }
  return maps;
}

fft::LayerShape shape_of(const Layer& layer, const Maps& in) {
  return {in.batch, in.channels, layer.maps, in.size, layer.window};
}

Size block_result(const Network& network, const Plan& plan) { return times(plan.fragment, network.pooled()); }

Size block_input(const Network& network, const Plan& plan) {
  const Size result = block_result(network, plan), view = network.field_of_view();
  const int beyond = plan.halos_kept
                         ? halo_of(network.layers.front(), plan.layers.front()) + most_shift(network, plan)
                         : view.depth - 1;
  return {result.depth + beyond, result.height + view.height - 1, result.width + view.width - 1};
}

Size plain_windows(const Network& network, const Plan& plan) {
  Size p;
  for (std::size_t i = 0; i < network.layers.size(); i++) {
    if (!network.layers[i].convolution && !plan.layers[i].fragments) p = times(p, network.layers[i].window);
  }
  return p;
}

Size shift_of(const Network& network, const Plan& plan, int run) {
  Size shift = {0, 0, 0}, step;
  for (std::size_t i = 0; i < network.layers.size(); i++) {
    const Layer& l = network.layers[i];
    if (l.convolution) continue;
    if (!plan.layers[i].fragments) {
      const Size& w = l.window;
      const int o = run % int(w.elements());
      run /= int(w.elements());
      const Size offset = {o / (w.height * w.width), o / w.width % w.height, o % w.width};
      shift = {shift.depth + step.depth * offset.depth, shift.height + step.height * offset.height,
               shift.width + step.width * offset.width};
    }
    step = times(step, l.window);
  }
  return shift;
}

int blocks_together(const Network& network, const Plan& plan) {
  return ceil_div(plan.batch, int(plain_windows(network, plan).elements()));
}

Size blocks_of(const Size& result, const Size& block) {
  return {ceil_div(result.depth, block.depth), ceil_div(result.height, block.height),
          ceil_div(result.width, block.width)};
}

Size grid_of(const Network& network, const Plan& plan, const Size& result) {
  Size reached = result;
  reached.depth += lag_of(network, plan, network.layers.size());
  return blocks_of(reached, block_result(network, plan));
}

int halo_of(const Layer& layer, const Choice& choice) {
  return layer.convolution || choice.fragments ? layer.window.depth - 1 : 0;
}

int most_shift(const Network& network, const Plan& plan) {
  return shift_of(network, plan, int(plain_windows(network, plan).elements()) - 1).depth;
}

int lag_of(const Network& network, const Plan& plan, std::size_t layer) {
  if (!plan.halos_kept) return 0;
  int lag = most_shift(network, plan);
  // The first layer's halo is read with the block.
  for (std::size_t i = 1; i < layer; i++)
    lag += depth_step(network, i) * halo_of(network.layers[i], plan.layers[i]);
  return lag;
}

int idle_blocks(const Network& network, const Plan& plan, std::size_t layer) {
  if (!plan.halos_kept) return 0;
  // Offsets of the runs bring what is computed closer again.
  const int before = lag_of(network, plan, layer + 1) - most_shift(network, plan);
  return before / block_result(network, plan).depth;
}

std::vector<std::vector<Choice>> poolings(const Network& network) {
  std::vector<std::vector<Choice>> all = {std::vector<Choice>(network.layers.size())};
  for (std::size_t i = network.layers.size(); i-- > 0;) {
    const Layer& l = network.layers[i];
    if (l.convolution) continue;
    std::vector<std::vector<Choice>> more;
    for (const bool fragments : {true, false}) {
      if (l.pooling == (fragments ? Pooling::kPlain : Pooling::kFragments)) continue;
      for (std::vector<Choice>& choices : all) {
        choices[i].fragments = fragments;
        more.push_back(choices);
      }
    }
    all = std::move(more);
  }
  return all;
}

std::string text_of(const Network& network, const Plan& plan) {
  std::string text;
  for (std::size_t i = 0; i < network.layers.size(); i++) {
    if (i > 0) text += ' ';
    text += network.layers[i].convolution ? std::string(fft::name_of(plan.layers[i].method))
            : plan.layers[i].fragments    ? "MPF"
                                          : "pool";
  }
  return text;
}

}  // namespace kaiten::volume
