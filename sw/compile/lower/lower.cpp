// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/lower/lower.h"

#include <string>

#include "base/arithmetic.h"
#include "base/error.h"
#include "compile/lower/builder.h"
#include "compile/lower/limits.h"
#include "compile/lower/lower_operators.h"
#include "compile/lower/operators.h"
#include "compile/lower/value_functions.h"

namespace kaiten {

namespace {

// What importers and the reference executor know and the accelerator does not run yet.
void require_supported(const Graph& graph, const Op& op) {
  require(runs_on_accelerator(op.kind), operators_text(), std::string(name_of(op.kind)));
  if (runs_on_host(op.kind)) return;
  for (int tensor : op.inputs) {
    const Tensor& t = graph.tensors[std::size_t(tensor)];
    require(t.type == ElementType::Int8, "int8 activations", std::string(name_of(t.type)));
  }
}

void lower_device(LoweringBuilder& b, const Op& op) {
  switch (op.kind) {
    case OpKind::Add:
      return lower_add(b, op);
    case OpKind::Sub:
    case OpKind::Mul:
      return lower_two(b, op);
    case OpKind::Concat:
      return lower_concat(b, op);
    case OpKind::Slice:
      return lower_slice(b, op);
    case OpKind::Shuffle:
      return lower_shuffle(b, op);
    case OpKind::Pad:
      return lower_border(b, op);
    default:
      return lower_window(b, op);
  }
}

void lower_op(LoweringBuilder& b, const Op& op) {
  if (op.on_host) return lower_on_host(b, op);
  // Done by the operator before.
  if (b.view_of(op.output).exists()) return b.add_without_commands(op, Engine::kNone);
  require_supported(b.graph(), op);
  if (op.kind == OpKind::Reshape || keeps_values(b.graph(), op)) return lower_reshape(b, op);
  if (belongs_to_host(b, op)) return lower_on_host(b, op);
  if (lower_function(b, op)) return;
  lower_device(b, op);
}

}  // namespace

Lowering lower(const Graph& graph, const Config& config, RoundingStyle style) {
  LoweringBuilder b(graph, config, style);
  for (std::size_t i = 0; i < graph.ops.size(); i++) {
    const Op& op = graph.ops[i];
    b.begin_operator(int(i));
    try {
      lower_op(b, op);
    } catch (const Unsupported& u) {
      b.refuse(op, "layer '" + op.name + "' (" + std::string(name_of(op.kind)) + "): limit: " + u.limit +
                       ", found: " + u.value);
    } catch (const InputError& e) {
      b.refuse(op, e.what());
    }
  }
  return b.finish();
}

void finish_last_words(Lowering& lowering) {
  const std::size_t cp = std::size_t(lowering.cp);
  for (LoweredOp& op : lowering.ops) {
    if (on_device(op.engine) && op.params_per_tile()) op.params.resize(align_up(op.params.size(), cp));
  }
}

}  // namespace kaiten
