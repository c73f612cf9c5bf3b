// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Operators that the host does, before the device or after it.
#include <algorithm>

#include "compile/lower/limits.h"
#include "compile/lower/lower.h"
#include "compile/lower/lower_operators.h"
#include "graph/float_average.h"

namespace kaiten {

namespace {

bool has_batch(const Graph& graph, const Op& op) {
  return graph.output_of(op).nhwc().n != 1 || std::any_of(op.inputs.begin(), op.inputs.end(), [&](int t) {
           return graph.tensors[std::size_t(t)].nhwc().n != 1;
         });
}

bool average_is_integer(const Graph& graph, const Op& op) {
  if (graph.framework != Framework::Onnx) return true;
  return averages_agree(pool_params(graph, op), op.window, graph.input_of(op).nhwc(),
                        graph.output_of(op).nhwc());
}

bool is_dilated(const Window& w) { return w.extent_h() != w.kernel_h || w.extent_w() != w.kernel_w; }

// What of an operator the host does, for want of an engine.
std::string work_of_host(const Graph& graph, const Op& op) {
  if (op.kind != OpKind::Reshape && has_batch(graph, op)) return "batches inside the network";
  if (op.kind == OpKind::Resize) return "resizing";
  if (op.kind == OpKind::Mean && mean_window(graph, op)[0] == 0)
    return "means over other axes than rows and columns";
  const bool pooling = op.kind == OpKind::AveragePool || op.kind == OpKind::MaxPool;
  if (pooling && is_dilated(op.window)) return "dilated pooling";
  if (op.kind == OpKind::AveragePool && !average_is_integer(graph, op))
    return "averages in float32 that may be ties";
  if (op.kind != OpKind::Concat) return "";
  const int axis = concat_axis(graph, op);
  return axis == 1 || axis == 2 ? "concatenation of rows or columns" : "";
}

// Whatever follows the operator runs on the host too.
void require_at_end(const Graph& graph, const std::string& work, const Op& op) {
  for (const Op& consumer : graph.ops) {
    if (std::find(consumer.inputs.begin(), consumer.inputs.end(), op.output) == consumer.inputs.end())
      continue;
    const bool follows = consumer.kind == OpKind::Quantize || consumer.kind == OpKind::Table ||
                         !work_of_host(graph, consumer).empty() || runs_on_host(consumer.kind);
    require(follows, work + " at the end of the network", "its result feeds layer '" + consumer.name + "'");
    require_at_end(graph, work, consumer);
  }
}

}  // namespace

bool needs_host(const Graph& graph, const Op& op) {
  return op.on_host || runs_on_host(op.kind) || !work_of_host(graph, op).empty();
}

bool belongs_to_host(LoweringBuilder& b, const Op& op) {
  const std::string work = work_of_host(b.graph(), op);
  if (!work.empty()) require_at_end(b.graph(), work, op);
  if (needs_host(b.graph(), op)) return true;
  // After an operator on the host the few values stay there.
  return (op.kind == OpKind::Quantize || op.kind == OpKind::Table) && b.storage_of(op.inputs[0]).on_host;
}

void lower_on_host(LoweringBuilder& b, const Op& op) {
  bool before = true;
  for (int t : op.inputs) {
    if (b.tensor(t).is_constant()) continue;
    before = before && b.storage_of(t).is_input;
    b.fetch(t);
  }
  const Nhwc shape = b.nhwc(op.output);
  b.set_view(op.output,
             before ? b.maps().add_input(op.output, shape, op.output) : b.maps().add_host(op.output, shape));
  b.add_without_commands(op, Engine::kHost);
}

}  // namespace kaiten
