// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "target_plan/target_plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <variant>

#include "base/error.h"
#include "compile/compile_lowering.h"
#include "compile/emit/cycle_model.h"
#include "target_plan/program_method.h"

namespace kaiten {

namespace {

// Those that are loaded again for other images of a batch once.
std::int64_t parameter_bytes(const Program& program) {
  std::map<std::int64_t, std::int64_t> bytes;  // by their place in memory
  for (std::size_t i = 0; i < program.commands.size(); i++) {
    const auto* l = std::get_if<LoadParamsCommand>(&program.commands[i].body);
    if (l != nullptr) bytes[l->offset] = program.meta[i].read_bytes;
  }
  return std::accumulate(bytes.begin(), bytes.end(), std::int64_t(0),
                         [](std::int64_t sum, const auto& b) { return sum + b.second; });
}

}  // namespace

TargetPlanner::TargetPlanner(const Graph& graph, const plan::Network& network, bool made_from_network,
                             const Config& config, CompileOptions options, double bytes_per_cycle)
    : graph_(graph),
      network_(network),
      config_(config),
      options_(std::move(options)),
      bytes_per_cycle_(bytes_per_cycle),
      dataflow_(network),
      layer_of_(graph.ops.size(), -1) {
  for (int m = 0; m < network.layer_count(); m++) {
    op_of_.push_back(made_from_network ? m : network.layers[std::size_t(m)].number);
    layer_of_[std::size_t(op_of_.back())] = m;
  }
}

plan::Method TargetPlanner::run(plan::MethodKind kind) {
  using plan::MethodKind;
  CompileOptions options = options_;
  options.order = kind == MethodKind::kOptimal || kind == MethodKind::kBound ? OperatorOrder::kBest
                                                                             : OperatorOrder::kGraph;
  plan::Method m;
  switch (kind) {
    case MethodKind::kOptimal:
    case MethodKind::kBound:
      if (!best_) {
        const Program program = compiled(options);
        parameter_bytes_ = parameter_bytes(program);
        best_ = method(program);
      }
      m = kind == MethodKind::kOptimal ? *best_ : bound();
      break;
    case MethodKind::kPerLayer:
      options.keep_on_chip = false;
      m = method(compiled(options));
      break;
    case MethodKind::kGreedy:
      options.cuts = operators(greedy_cuts());
      m = method(compiled(options));
      break;
    case MethodKind::kResidual:
      options.cuts = operators(residual_cuts());
      m = method(compiled(options));
      break;
    case MethodKind::kLayerFusion:
      throw InputError("--method: layer-fusion is compared in analytic mode only, found --config " +
                       config_.name);
  }
  m.name = plan::name_of(kind);
  return m;
}

Program TargetPlanner::compiled(const CompileOptions& options) {
  Program program = compile_lowering(graph_, config_, lowering(), options);
  limit_bandwidth(program, bytes_per_cycle_);
  return program;
}

plan::Method TargetPlanner::method(const Program& program) const {
  plan::Method m = method_of(graph_, layer_of_, config_, program);
  m.macs = options_.images * network_.macs();
  return m;
}

// Compact weights and parameters once, each image and its outputs once.
plan::Method TargetPlanner::bound() {
  plan::Method m;
  plan::Span s;
  s.last = network_.layer_count() - 1;
  s.boundary = plan::Boundary::kOutput;
  s.bytes.parameters = parameter_bytes_;
  for (int layer = 0; layer < network_.layer_count(); layer++)
    s.bytes.weights += network_.weight_elements(layer);
  s.bytes.input = network_.maps.front().elements();
  s.bytes.output = network_.maps.back().elements();
  for (int map : network_.outputs) s.bytes.output += network_.maps[std::size_t(map)].elements();
  s.bytes.input *= options_.images;
  s.bytes.output *= options_.images;
  s.weights_bytes = s.bytes.weights;
  s.traffic_bytes = s.bytes.total();
  m.bytes = s.bytes;
  m.traffic_bytes = s.traffic_bytes;
  m.macs = options_.images * network_.macs();
  m.spans.push_back(std::move(s));
  return m;
}

std::vector<int> TargetPlanner::operators(const std::vector<int>& cuts) const {
  std::vector<int> ops;
  ops.reserve(cuts.size());
  for (int p : cuts) ops.push_back(op_of_[std::size_t(p) - 1]);
  return ops;
}

const Lowering& TargetPlanner::lowering() {
  if (!lowering_) lowering_ = lower_or_throw(graph_, config_, options_);
  return *lowering_;
}

bool TargetPlanner::fits(const std::vector<int>& cuts) {
  SpanOptions options;
  options.images = options_.images;
  options.cancellation_check = options_.cancellation_check;
  options.cuts = operators(cuts);
  if (options_.cancellation_check) options_.cancellation_check();
  try {
    plan_spans(graph_, lowering(), config_, options, spans_seen_);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

std::vector<int> TargetPlanner::greedy_cuts() {
  const int n = network_.layer_count();
  const auto with_rest = [&](std::vector<int> cuts, int from) {
    for (int p = from; p <= n; p++) cuts.push_back(p);
    return cuts;
  };
  std::vector<int> cuts;
  int begin = 0;
  while (begin < n) {
    int end = begin + 1;
    while (end < n && !dataflow_.fans_out(end) && fits(with_rest(cuts, end + 1))) end++;
    cuts.push_back(begin = end);
  }
  return cuts;
}

std::vector<int> TargetPlanner::residual_cuts() {
  const int n = network_.layer_count();
  const std::vector<bool> clean = plan::clean_cuts(dataflow_);
  std::vector<int> cuts;
  for (int begin = 0, end = 1; end <= n; end++) {
    if (end < n && !clean[std::size_t(end)]) continue;
    std::vector<int> attempt = cuts;
    for (int p = end; p <= n; p++) attempt.push_back(p);
    if (fits(attempt)) {
      cuts.push_back(end);
    } else {
      for (int p = begin + 1; p <= end; p++) cuts.push_back(p);
    }
    begin = end;
  }
  return cuts;
}

}  // namespace kaiten
