// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "explore/cost.h"

#include <algorithm>
#include <cmath>
#include <set>

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

}  // namespace

ResidentWeights resident_of(const Graph& graph, const Config& config, int rows) {
  const std::set<std::string> layers = resident_layers(graph, config);
  struct Layer {
    std::int64_t pixels;
    ResidentWish wish;
  };
  std::vector<Layer> all;
  for (const Op& op : graph.ops) {
    if (!layers.contains(op.name)) continue;
    const Nhwc out = graph.tensors[std::size_t(op.output)].nhwc();
    const Nhwc in = graph.tensors[std::size_t(op.inputs.front())].nhwc();
    all.push_back({std::int64_t(out.h) * out.w, {op.name, out.c, in.c}});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Layer& a, const Layer& b) { return a.pixels < b.pixels; });
  std::vector<ResidentWish> wishes;
  wishes.reserve(all.size());
  for (const Layer& l : all) wishes.push_back(l.wish);
  return place_resident(graph, config, wishes, rows, NoRoom::kLeaveOut);
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
  CompiledSections compiled = try_compile_sections(graph, candidate.config, compile);
  if (!compiled.refusals.empty()) return {0, compiled.refusals.front()};
  if (!compiled.moved.empty()) return {0, compiled.moved.front()};
  Cost cost;
  for (Section& s : compiled.sections) {
    if (options.bytes_per_cycle > 0 && options.bytes_per_cycle < candidate.config.axi_bytes)
      limit_bandwidth(s.program, options.bytes_per_cycle);
    cost.cycles += s.program.modelled_cycles;
  }
  return cost;
}

}  // namespace kaiten::explore
