// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "run/analysis.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "codec/codec.h"
#include "codec/statistics.h"
#include "compile/sections.h"
#include "plan/from_graph.h"
#include "plan/methods.h"
#include "reference/reference.h"
#include "report/compress_report.h"
#include "report/inspect.h"
#include "report/json_report.h"
#include "report/plan_report.h"
#include "sim/sim_device.h"
#include "target_plan/sections_plan.h"

namespace kaiten {

Inspection inspect(const ImportResult& model, const std::string& config) {
  const Config& target = preset(config);
  Inspection inspection;
  if (!model.graph) {
    for (const Refusal& r : model.refusals) inspection.reasons.push_back(r.text());
    inspection.text = inspect_text(model);
    return inspection;
  }
  const Graph& graph = *model.graph;
  const CompiledSections compiled = try_compile_sections(graph, target, {});
  inspection.reasons = compiled.refusals;
  std::vector<std::string> where(graph.ops.size(), "-");
  if (!inspection.reasons.empty()) where = places(graph, inspection.reasons);
  for (const Section& section : compiled.sections) {
    const std::vector<std::string> here = places(*section.graph, section.program);
    for (std::size_t i = 0; i < here.size(); i++) where[std::size_t(section.ops[i])] = here[i];
  }
  for (std::size_t i = 0; i < graph.ops.size(); i++) {
    const Op& op = graph.ops[i];
    inspection.layers.push_back({op.name, std::string(name_of(op.kind)), shape_text(graph.input_of(op).shape),
                                 shape_text(graph.output_of(op).shape), macs(graph, op),
                                 op.weights == kNoTensor ? 0 : std::uint64_t(graph.weights_of(op).bytes()),
                                 where[i]});
  }
  inspection.text = inspect_text(model, where);
  return inspection;
}

std::vector<std::string> simulated_configs() { return sim::sim_configs(); }

std::vector<Int8Values> reference_tensors(const Graph& graph, std::span<const Int8Values> inputs, int images,
                                          RoundingStyle rounding,
                                          const std::function<void()>& cancellation_check) {
  return run_reference_batch(graph, images, inputs, rounding, cancellation_check);
}

namespace {

void plan_capacity(const Graph& graph, const PlanRequest& request, plan::MethodKind kind,
                   PlanReport& report) {
  if (request.capacity_bytes < 1 || request.capacity_bytes > plan::kMaxCapacity) {
    throw InputError("capacity: expected 1 to " + std::to_string(plan::kMaxCapacity) + " bytes, found " +
                     std::to_string(request.capacity_bytes));
  }
  if (request.closure != "rolling" && request.closure != "paper")
    throw InputError("closure: expected rolling or paper, found '" + request.closure + "'");
  report.mode = "paper";
  report.network = plan::without_classifier(plan::with_residual_edges(plan::network_of(graph)));
  const plan::Dataflow dataflow(report.network);
  plan::PaperOptions options;
  options.capacity_bytes = report.capacity_bytes = request.capacity_bytes;
  options.closure = request.closure == "paper" ? plan::Closure::kPaper : plan::Closure::kRolling;
  options.batch = request.batch;
  report.methods.push_back(plan::run_method(kind, dataflow, options));
  const bool chained = kind != plan::MethodKind::kPerLayer && kind != plan::MethodKind::kBound;
  report.energies.push_back(
      plan::energy_of(report.network, report.methods.back(), request.batch, chained, report.energy));
}

void plan_config(const Graph& graph, const PlanRequest& request, plan::MethodKind kind, PlanReport& report,
                 const std::function<void()>& cancellation_check) {
  const Config& config = preset(request.config);
  if (kind == plan::MethodKind::kLayerFusion)
    throw InputError("method: layer-fusion plans for a capacity, not for a configuration");
  report.mode = "hardware";
  report.config = config.name;
  report.compress = "off";
  report.array_macs_per_cycle = config.array_multipliers();
  report.capacity_bytes =
      9LL * config.cp * (config.wb_rows + config.vwb_rows + config.sb_depth + config.vb_depth);
  CompileOptions options;
  options.images = request.batch;
  options.cancellation_check = cancellation_check;
  SectionsPlanner planner(graph, config, options);
  report.network = planner.network();
  report.methods.push_back(planner.run(kind));
  report.energies.push_back(
      plan::energy_of(report.network, report.methods.back(), request.batch, false, report.energy));
  report.sections = planner.sections(0);
}

CompressItem packed(const Tensor& tensor, std::span<const std::uint8_t> bytes, const std::string& codec) {
  const codec::Elements elements{1, std::uint8_t(tensor.zero_point())};
  CompressItem item;
  item.shape = shape_text(tensor.shape);
  item.bytes = bytes.size();
  item.elements = double(bytes.size());
  item.coded = codec::density_of(bytes, elements) * item.elements;
  item.entropy_bits = codec::entropy_of(bytes, elements) * item.elements;
  item.by.push_back(codec::measure(*codec::make_codec(codec, elements), bytes));
  return item;
}

}  // namespace

std::string plan_json(const Graph& graph, const PlanRequest& request,
                      const std::function<void()>& cancellation_check) {
  if ((request.capacity_bytes == 0) == request.config.empty())
    throw InputError("plan: expected a capacity in bytes or a configuration, one of them");
  const std::optional<plan::MethodKind> kind = plan::method_of(request.method);
  if (!kind) {
    throw InputError(
        "method: expected one of optimal, per-layer, greedy, residual, layer-fusion, bound, found '" +
        request.method + "'");
  }
  if (request.batch < 1 || request.batch > plan::kMaxBatch) {
    throw InputError("batch: expected 1 to " + std::to_string(plan::kMaxBatch) + ", found " +
                     std::to_string(request.batch));
  }
  PlanReport report;
  report.batch = request.batch;
  report.energy = plan::default_energy();
  const auto start = std::chrono::steady_clock::now();
  if (request.config.empty()) {
    plan_capacity(graph, request, *kind, report);
  } else {
    plan_config(graph, request, *kind, report, cancellation_check);
  }
  report.planning_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return json_text(json_of(report));
}

std::string compress_json(const Graph& graph, std::span<const Int8Values> tensors, const std::string& codec) {
  CompressReport report;
  report.title = graph.name;
  report.codecs.push_back(codec);
  report.layouts.push_back(codec::MapLayout::kNhwc);
  CompressGroup activations{"activations", {}}, weights{"weights", {}};
  const auto add_map = [&](int t, const std::string& name, const std::string& op) {
    const Tensor& tensor = graph.tensors[std::size_t(t)];
    const Int8Values& values = tensors[std::size_t(t)];
    if (tensor.type != ElementType::Int8) return;
    CompressItem item =
        packed(tensor, {reinterpret_cast<const std::uint8_t*>(values.data()), values.size()}, codec);
    item.name = name;
    item.op = op;
    activations.items.push_back(std::move(item));
  };
  for (const int t : graph.inputs) add_map(t, graph.tensors[std::size_t(t)].name, "input");
  for (const Op& op : graph.ops) {
    if (op.kind != OpKind::Reshape) add_map(op.output, op.name, std::string(name_of(op.kind)));
    if (op.weights == kNoTensor || graph.weights_of(op).type != ElementType::Int8) continue;
    CompressItem item = packed(graph.weights_of(op), graph.weights_of(op).data, codec);
    item.name = op.name;
    item.op = name_of(op.kind);
    weights.items.push_back(std::move(item));
  }
  for (CompressGroup* group : {&activations, &weights}) {
    if (!group->items.empty()) report.groups.push_back(std::move(*group));
  }
  if (report.groups.empty()) throw InputError("'" + graph.name + "' has no int8 tensors");
  return json_text(json_of(report));
}

}  // namespace kaiten
