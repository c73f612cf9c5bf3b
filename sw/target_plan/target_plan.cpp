#include "target_plan/target_plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "compile/lower/lower.h"
#include "compile/spans/spans.h"
#include "observe/layer_clock.h"
#include "program/bus_beats.h"

namespace kaiten {

namespace {

int base_of(const Command& c) {
  if (const auto* l = std::get_if<LoadRowsCommand>(&c.body)) return int(l->base);
  if (const auto* s = std::get_if<StoreCommand>(&c.body)) return int(s->base);
  return -1;
}

// The kind of a command's bytes; of a map that goes through memory whether it is a boundary between spans or
// crosses one beside it.
std::int64_t plan::Bytes::*kind_of(const Command& command, const CommandMeta& meta, bool boundary) {
  switch (meta.kind) {
    case CommandMeta::Bytes::kWeights:
      return &plan::Bytes::weights;
    case CommandMeta::Bytes::kParameters:
      return &plan::Bytes::parameters;
    default:
      break;
  }
  const int base = base_of(command);
  if (base == int(Base::kInputs)) return &plan::Bytes::input;
  if (base == int(Base::kOutputs) && meta.written_bytes > 0) return &plan::Bytes::output;
  return boundary ? &plan::Bytes::spilled : &plan::Bytes::residual;
}

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

MachinePlanner::MachinePlanner(const Graph& graph, const plan::Network& network, bool made_from_network,
                               const Config& config, CompileOptions options)
    : graph_(graph),
      network_(network),
      config_(config),
      options_(std::move(options)),
      dataflow_(network),
      layer_of_(graph.ops.size(), -1) {
  for (int m = 0; m < network.layer_count(); m++) {
    op_of_.push_back(made_from_network ? m : network.layers[std::size_t(m)].number);
    layer_of_[std::size_t(op_of_.back())] = m;
  }
}

plan::Method MachinePlanner::run(plan::MethodKind kind) {
  using plan::MethodKind;
  CompileOptions options = options_;
  options.order = kind == MethodKind::kOptimal || kind == MethodKind::kBound ? OperatorOrder::kBest
                                                                             : OperatorOrder::kGraph;
  plan::Method m;
  switch (kind) {
    case MethodKind::kOptimal:
    case MethodKind::kBound:
      if (!best_) {
        const Program program = compile(graph_, config_, options);
        parameter_bytes_ = parameter_bytes(program);
        best_ = method_of(program);
      }
      m = kind == MethodKind::kOptimal ? *best_ : bound();
      break;
    case MethodKind::kPerLayer:
      options.keep_on_chip = false;
      m = method_of(compile(graph_, config_, options));
      break;
    case MethodKind::kGreedy:
      options.cuts = operators(greedy_cuts());
      m = method_of(compile(graph_, config_, options));
      break;
    case MethodKind::kResidual:
      options.cuts = operators(residual_cuts());
      m = method_of(compile(graph_, config_, options));
      break;
    case MethodKind::kLayerFusion:
      throw InputError("--method: layer-fusion is compared in paper mode only, found --config " +
                       config_.name);
  }
  m.name = plan::name_of(kind);
  return m;
}

plan::Method MachinePlanner::method_of(const Program& program) const {
  plan::Method method;
  method.macs = options_.images * network_.macs();
  method.cycles = program.modelled_cycles;
  method.exactly_predicted = program.sizes_known();
  std::vector<int> span_of(graph_.ops.size(), -1);
  std::vector<int> boundary_of(graph_.tensors.size(), -1);  // span whose boundary a tensor is
  for (const SpanInfo& info : program.spans) {
    // The same operator again: its input is read once for each part of its weights.
    const bool seen =
        std::all_of(info.ops.begin(), info.ops.end(), [&](int op) { return span_of[std::size_t(op)] >= 0; });
    if (seen) {
      plan::Span& s = method.spans[std::size_t(span_of[std::size_t(info.ops.front())])];
      s.weights_bytes += info.weights_bytes;
      continue;
    }
    plan::Span s;
    s.weights_bytes = info.weights_bytes;
    s.streamed = info.streamed;
    s.boundary =
        info.boundary == SpanInfo::Boundary::kHeld ? plan::Boundary::kHeld : plan::Boundary::kSpilled;
    for (int op : info.ops) {
      // An operator may be several, for parts of its channels; it counts where the first of them is.
      if (span_of[std::size_t(op)] >= 0) continue;
      span_of[std::size_t(op)] = int(method.spans.size());
      if (layer_of_[std::size_t(op)] >= 0) s.layers.push_back(layer_of_[std::size_t(op)]);
    }
    boundary_of[std::size_t(graph_.ops[std::size_t(info.ops.back())].output)] = int(method.spans.size());
    if (!s.layers.empty()) {
      s.first = *std::min_element(s.layers.begin(), s.layers.end());
      s.last = *std::max_element(s.layers.begin(), s.layers.end());
    }
    for (const SpanInfo::Kept& k : info.kept) {
      int map = 0;
      for (std::size_t op = 0; op < graph_.ops.size(); op++) {
        if (graph_.ops[op].output == k.tensor && layer_of_[op] >= 0) map = layer_of_[op] + 1;
      }
      s.kept.push_back({map, k.rows, k.bytes, k.in_vb ? "VB" : "SB"});
      s.rows_bytes += k.bytes;
    }
    method.spans.push_back(std::move(s));
  }
  if (!method.spans.empty()) method.spans.back().boundary = plan::Boundary::kOutput;

  std::vector<plan::LayerWork> layers(graph_.ops.size());
  for (std::size_t i = 0; i < program.commands.size(); i++) {
    const CommandMeta& meta = program.meta[i];
    const Command& command = program.commands[i];
    plan::Span& s = method.spans[std::size_t(std::max(0, span_of[std::size_t(meta.op)]))];
    plan::CommandWork work{.op = command.name(),
                           .layer = meta.op,
                           .image = meta.image,
                           .first_row = meta.first_row,
                           .rows = meta.rows,
                           .start = meta.start,
                           .complete = meta.complete,
                           .cycles = meta.cycles};
    work.bytes.commands = work.bus_bytes.commands = std::int64_t(kCommandBytes);
    const bool boundary = meta.tensor >= 0 && boundary_of[std::size_t(meta.tensor)] >= 0;
    const auto kind = kind_of(command, meta, boundary);
    work.bytes.*kind += meta.bytes_read() + meta.bytes_written();
    const BusBeats beats = bus_beats(command.body, meta, config_);
    work.bus_bytes.*kind += (beats.read + beats.written) * config_.axi_bytes;
    if (meta.packed) {
      method.zvc_raw_bytes += meta.read_bytes + meta.written_bytes;
      method.zvc_packed_bytes += meta.packed->bytes;
    }
    s.bytes += work.bytes;
    s.bus_bytes += work.bus_bytes;
    plan::LayerWork& layer = layers[std::size_t(meta.op)];
    layer.commands++;
    layer.bytes += work.bytes;
    layer.bus_bytes += work.bus_bytes;
    method.commands.push_back(work);
    switch (command.queue()) {
      case Queue::kLoad:
        s.cycles.load += meta.cycles;
        break;
      case Queue::kConv:
        s.cycles.array += meta.cycles;
        break;
      case Queue::kVector:
        s.cycles.vector += meta.cycles;
        break;
      case Queue::kStore:
        s.cycles.store += meta.cycles;
        break;
    }
  }
  for (plan::Span& s : method.spans) {
    s.traffic_bytes = s.bytes.total() - s.bytes.residual;
    method.penalty_bytes += s.bytes.residual;
    method.traffic_bytes += s.bytes.total();
    method.bytes += s.bytes;
    method.bus_bytes += s.bus_bytes;
  }
  const std::vector<LayerTime> times = modelled_layer_times(program);
  for (const LayerInfo& info : program.layers) {
    const std::size_t op = std::size_t(info.op);
    plan::LayerWork& layer = layers[op];
    if (layer.commands == 0) continue;
    layer.number = info.op;
    layer.name = graph_.ops[op].name;
    layer.op = name_of(graph_.ops[op].kind);
    layer.cycles = std::int64_t(times[op].cycles);
    layer.limited_by = limited_by(info.array_macs > 0, times[op]);
    method.layers.push_back(std::move(layer));
  }
  return method;
}

// Compact weights and parameters once, each image and its outputs once.
plan::Method MachinePlanner::bound() {
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

std::vector<int> MachinePlanner::operators(const std::vector<int>& cuts) const {
  std::vector<int> ops;
  ops.reserve(cuts.size());
  for (int p : cuts) ops.push_back(op_of_[std::size_t(p) - 1]);
  return ops;
}

bool MachinePlanner::fits(const std::vector<int>& cuts) const {
  SpanOptions options;
  options.images = options_.images;
  options.cuts = operators(cuts);
  if (options_.before_each) options_.before_each();
  try {
    const Lowering lowering = lower(graph_, config_, RoundingStyle::LiteRt);
    SpanMemo memo;
    plan_spans(graph_, lowering, config_, options, memo);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

std::vector<int> MachinePlanner::greedy_cuts() const {
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

std::vector<int> MachinePlanner::residual_cuts() const {
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
