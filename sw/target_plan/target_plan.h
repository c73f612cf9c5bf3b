// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Target mode of `kaiten plan`: the partitions that the compiler makes for a configuration, stated like those of analytic
// mode. Their bytes are those of the compiled commands, which the counters of a run must equal.
#ifndef KAITEN_TARGET_PLAN_TARGET_PLAN_H
#define KAITEN_TARGET_PLAN_TARGET_PLAN_H

#include <optional>
#include <vector>

#include "compile/compiler.h"
#include "compile/lower/lowered.h"
#include "compile/spans/spans.h"
#include "plan/methods.h"

namespace kaiten {

class TargetPlanner {
 public:
  // `network` has the graph's layers: layer m is operator network.layers[m].number, or m where the graph was
  // made from the network (to_graph.h). All must outlive the planner. Bytes and cycles are those of a whole
  // batch, `options.images`, with a memory of `bytes_per_cycle`, 0: as fast as the bus; a method says what stays on chip, where
  // spans end and the order of operators.
  TargetPlanner(const Graph& graph, const plan::Network& network, bool made_from_network,
                const Config& config, CompileOptions options = {}, double bytes_per_cycle = 0);

  // Throws InputError for what cannot run, and for Layer Fusion, which no configuration executes.
  plan::Method run(plan::MethodKind kind);

 private:
  // Of the graph, once for all methods: it does not depend on cuts. Throws InputError for what cannot run.
  const Lowering& lowering();
  Program compiled(const CompileOptions& options);
  plan::Method method(const Program& program) const;
  plan::Method bound();
  std::vector<int> greedy_cuts();
  std::vector<int> residual_cuts();
  // True when the spans between cuts fit; cuts are maps, ascending.
  bool fits(const std::vector<int>& cuts);
  std::vector<int> operators(const std::vector<int>& cuts) const;

  const Graph& graph_;
  const plan::Network& network_;
  const Config& config_;
  CompileOptions options_;
  double bytes_per_cycle_;
  plan::Dataflow dataflow_;
  std::vector<int> layer_of_;  // by operator, -1: none
  std::vector<int> op_of_;     // by layer
  std::optional<Lowering> lowering_;
  SpanMemo spans_seen_;  // by fits()
  std::optional<plan::Method> best_;
  std::int64_t parameter_bytes_ = 0;  // of all layers
};

}  // namespace kaiten

#endif  // KAITEN_TARGET_PLAN_TARGET_PLAN_H
