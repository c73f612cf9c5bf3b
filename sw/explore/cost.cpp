// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "explore/cost.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "compile/compile_lowering.h"
#include "compile/emit/cycle_model.h"
#include "compile/sections.h"

namespace kaiten::explore {

namespace {

// Bytes of weights that an operator brings from memory; those of the vector engine cross the bus as whole rows of VWB.
std::int64_t weight_bytes(const LoweredOp& op) {
  if (op.engine == Engine::kWindow && op.depthwise.data != nullptr)
    return std::int64_t(op.depthwise.channels) * op.depthwise.rows * op.depthwise.columns;
  if (op.engine != Engine::kConv) return 0;
  std::int64_t bytes = 0;
  for (int tile = 0; tile < op.array.tiles; tile++) {
    for (int pass = 0; pass < op.array.passes; pass++) bytes += op.array.pass_bytes(tile, pass);
  }
  return bytes * op.array.kernel_tiles();
}

// Slots of its engine, none of them waiting for the next pass's weights, no column of the input read that stripes might leave
// out.
std::int64_t slots(LoweredOp op) {
  op.stages = 0;
  op.in.w = std::min(op.in.w, (op.out.w - 1) * op.column_stride + 1);
  return op.cycles(op.tiles(), op.out.h);
}

const Tensor& weights_of(const Graph& graph, const Op& op) { return graph.tensors[std::size_t(op.weights)]; }
// Of weights OHWI or OI.
int kernels_of(const Graph& graph, const Op& op) { return weights_of(graph, op).shape.front(); }
int channels_of(const Graph& graph, const Op& op) { return weights_of(graph, op).shape.back(); }

// Convolutions and fully connected layers, by name.
std::map<std::string_view, const Op*> weighted(const Graph& graph) {
  std::map<std::string_view, const Op*> found;
  for (const Op& op : graph.ops) {
    if ((op.kind == OpKind::Conv2D && op.groups == 1) || op.kind == OpKind::FullyConnected)
      found.emplace(op.name, &op);
  }
  return found;
}

// The kernels and channels that both have are the same bytes.
bool same_prefix(const Graph& a, const Op& x, const Graph& b, const Op& y) {
  const Tensor &left = weights_of(a, x), &right = weights_of(b, y);
  const auto taps = [](const Tensor& t) {
    return t.elements() / std::size_t(t.shape.front()) / std::size_t(t.shape.back());
  };
  if (x.kind != y.kind || taps(left) != taps(right) || x.window.kernel_h != y.window.kernel_h) return false;
  const auto channels = std::size_t(std::min(channels_of(a, x), channels_of(b, y)));
  const std::size_t runs = std::size_t(std::min(kernels_of(a, x), kernels_of(b, y))) * taps(left);
  for (std::size_t i = 0; i < runs; i++) {
    const auto run = [&](const Tensor& t) {
      return t.data.begin() + std::ptrdiff_t(i * std::size_t(t.shape.back()));
    };
    if (!std::equal(run(left), run(left) + std::ptrdiff_t(channels), run(right))) return false;
  }
  return true;
}

bool share_weights(const Graph& a, const Graph& b) {
  const auto there = weighted(b);
  const auto here = weighted(a);
  return std::any_of(here.begin(), here.end(), [&](const auto& layer) {
    const auto found = there.find(layer.first);
    const std::vector<std::uint8_t>& data = weights_of(a, *layer.second).data;
    const bool known =
        std::any_of(data.begin(), data.end(), [](std::uint8_t w) { return w != 0; });  // no layer table
    return known && found != there.end() && same_prefix(a, *layer.second, b, *found->second);
  });
}

}  // namespace

Groups sharing(std::span<const Graph> networks) {
  Groups groups;
  for (std::size_t i = 0; i < networks.size(); i++) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const std::vector<std::size_t>& g) {
      return share_weights(networks[g.front()], networks[i]);
    });
    if (group == groups.end()) {
      groups.push_back({i});
    } else {
      group->push_back(i);
    }
  }
  return groups;
}

ResidentWeights resident_of(std::span<const Graph* const> networks, const Config& config, int rows) {
  const Graph& first = *networks.front();
  struct Layer {
    std::int64_t pixels;
    ResidentWish wish;
  };
  const auto channels = [](const Graph& g, const Op& op) {
    return g.tensors[std::size_t(op.inputs.front())].nhwc().c;
  };
  std::vector<Layer> all;
  const std::set<std::string> layers = resident_layers(first, config);
  std::vector<std::map<std::string_view, const Op*>> others;
  for (const Graph* g : networks.subspan(1)) others.push_back(weighted(*g));
  for (const Op& op : first.ops) {
    if (!layers.contains(op.name)) continue;
    const Nhwc out = first.tensors[std::size_t(op.output)].nhwc();
    Layer layer{std::int64_t(out.h) * out.w, {op.name, kernels_of(first, op), channels(first, op)}};
    bool shared = true;
    for (std::size_t i = 0; i < others.size() && shared; i++) {
      const Graph& g = *networks[i + 1];
      const auto found = others[i].find(op.name);
      shared = found != others[i].end() && same_prefix(first, op, g, *found->second);
      if (!shared) break;
      layer.wish.kernels = std::min(layer.wish.kernels, kernels_of(g, *found->second));
      layer.wish.channels = std::min(layer.wish.channels, channels(g, *found->second));
    }
    if (shared) all.push_back(std::move(layer));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Layer& a, const Layer& b) { return a.pixels < b.pixels; });
  std::vector<ResidentWish> wishes;
  wishes.reserve(all.size());
  for (const Layer& l : all) wishes.push_back(l.wish);
  return place_resident(first, config, wishes, rows, NoRoom::kLeaveOut);
}

Cost least(const Graph& graph, const Candidate& candidate, const CostOptions& options) {
  const Config& config = candidate.config;
  const SectionLowerings lowered = lower_sections(graph, config, {});
  if (!lowered.refusals.empty()) return {0, lowered.refusals.front()};
  const auto bus = double(config.axi_bytes);
  const double rate = options.bytes_per_cycle > 0 ? std::min(options.bytes_per_cycle, bus) : bus;
  const std::int64_t held = std::int64_t(candidate.pb_rows) * 9 * config.cp;
  Cost cost;
  std::int64_t weights = 0, largest = 0;
  for (const Lowering& l : lowered.lowerings) {
    std::int64_t array = 0, vector = 0;
    for (const LoweredOp& op : l.ops) {
      if (op.engine == Engine::kConv) {
        array += slots(op);
      } else if (on_device(op.engine)) {
        vector += slots(op);
      }
      weights += weight_bytes(op);
    }
    largest += std::max(array, vector);  // sections follow each other
  }
  const double fetch = double(std::max<std::int64_t>(0, weights - held)) / rate;
  cost.cycles = std::max(largest, std::int64_t(std::floor(fetch)));
  return cost;
}

Cost modelled(const Graph& graph, const Candidate& candidate, const ResidentWeights* resident,
              const CostOptions& options) {
  CompileOptions compile;
  compile.cancellation_check = options.cancellation_check;
  compile.resident = resident;
  compile.constants = false;
  CompiledSections compiled = try_compile_sections(graph, candidate.config, compile);
  if (!compiled.refusals.empty()) return {0, compiled.refusals.front()};
  if (!compiled.moved.empty()) return {0, compiled.moved.front()};
  Cost cost;
  for (Section& s : compiled.sections) {
    limit_bandwidth(s.program, options.bytes_per_cycle);
    cost.cycles += s.program.modelled_cycles;
  }
  return cost;
}

std::vector<Cost> modelled_all(std::span<const Graph> networks, const Groups& groups,
                               const Candidate& candidate, const CostOptions& options) {
  std::vector<Cost> costs(networks.size());
  for (const std::vector<std::size_t>& group : groups) {
    ResidentWeights held;
    std::vector<const Graph*> members;
    members.reserve(group.size());
    for (const std::size_t i : group) members.push_back(&networks[i]);
    if (candidate.pb_rows > 0) held = resident_of(members, candidate.config, candidate.pb_rows);
    for (const std::size_t i : group) {
      costs[i] = modelled(networks[i], candidate, nullptr, options);
      if (held.rows == 0) continue;
      const Cost with = modelled(networks[i], candidate, &held, options);
      if (with.refusal.empty() && (!costs[i].refusal.empty() || with.cycles < costs[i].cycles))
        costs[i] = with;
    }
  }
  return costs;
}

}  // namespace kaiten::explore
