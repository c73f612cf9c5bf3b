// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/common/state.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/error.h"
#include "graph/ends.h"

namespace kaiten::importing {

namespace {

// Bytes of constants that files of any size may have.
constexpr std::int64_t kSmallConstants = std::int64_t(256) << 10;

}  // namespace

ImportState::ImportState(const std::string& name, Framework framework, std::int64_t sharing_,
                         std::size_t file_bytes)
    : sharing(sharing_), constant_budget(std::max(sharing_ * std::int64_t(file_bytes), kSmallConstants)) {
  result.name = name;
  graph.name = name;
  graph.framework = framework;
}

void refuse(ImportState& s, const Unsupported& what) {
  s.refused_layers++;
  for (Refusal& known : s.result.refusals) {
    const bool same = known.limit == what.limit && known.hint == what.hint;
    if (!same || (known.value != what.value && known.op != s.layer.op)) continue;
    known.layers++;
    return;
  }
  s.result.refusals.push_back({s.layer.name, s.layer.op, what.limit, what.value, what.hint});
}

void fail_layer(const ImportState& s, const std::string& what) { fail(here(s) + what); }

std::string here(const ImportState& s) { return "layer '" + s.layer.name + "' (" + s.layer.op + "): "; }

void charge_constant(ImportState& s, std::int64_t bytes) {
  s.constant_budget -= bytes;
  if (s.constant_budget < 0)
    fail("its constants add up to more than " + std::to_string(s.sharing) + " times the file");
}

void charge_activation(ImportState& s, std::int64_t bytes, const std::string& where) {
  s.activation_bytes += bytes;
  if (s.activation_bytes > kMaxActivationBytes)
    fail("its activations exceed the limit of " + std::to_string(kMaxActivationBytes) + " bytes" + where);
}

int activation_of_constant(ImportState& s, int tensor) {
  Tensor made = s.graph.tensors[std::size_t(tensor)];
  made.data.clear();
  charge_activation(s, std::int64_t(made.bytes()));
  Op op;
  op.name = s.layer_names.unique(made.name);
  op.kind = OpKind::Constant;
  op.inputs = {s.graph.inputs.front()};
  op.weights = tensor;
  op.output = int(s.graph.tensors.size());
  s.graph.tensors.push_back(std::move(made));
  s.graph.ops.push_back(std::move(op));
  return s.graph.ops.back().output;
}

void drop_unread(ImportState& s, const std::function<bool(const Op& op)>& may_go) {
  std::map<int, int> readers;
  for (const int output : s.graph.outputs) readers[output]++;
  for (const int wanted : s.before_tail) readers[wanted]++;
  for (const Op& op : s.graph.ops) {
    for (const int input : op.inputs) readers[input]++;
  }
  for (std::size_t i = s.graph.ops.size(); i-- > 0;) {
    const Op& op = s.graph.ops[i];
    if (readers[op.output] > 0 || !may_go(op)) continue;
    for (const int input : op.inputs) readers[input]--;
    s.graph.ops.erase(s.graph.ops.begin() + std::ptrdiff_t(i));
  }
}

bool is_tail(const std::string& op) {
  constexpr std::array kNames = {
      "CUSTOM", "NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5", "NonMaxSuppression", "TOPK_V2", "TopK"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](const std::string& name) { return op == name || op.starts_with(name + " "); });
}

void end_before(ImportState& s, const Unsupported& what, const std::vector<int>& inputs) {
  refuse(s, what);
  s.tail_operators++;
  if (s.tail.empty()) s.tail = "'" + s.layer.name + "' (" + s.layer.op + ")";
  s.before_tail.insert(s.before_tail.end(), inputs.begin(), inputs.end());
}

namespace {

// The tensors that operators of the graph compute, each once.
std::vector<int> results_among(const Graph& graph, const std::vector<int>& tensors) {
  const std::vector<bool> computed = computed_tensors(graph);
  std::vector<int> results;
  for (const int t : tensors) {
    const bool is_input = std::find(graph.inputs.begin(), graph.inputs.end(), t) != graph.inputs.end();
    const bool known = std::find(results.begin(), results.end(), t) != results.end();
    if (computed[std::size_t(t)] && !is_input && !known) results.push_back(t);
  }
  return results;
}

std::string names_of(const Graph& graph, const std::vector<int>& tensors) {
  std::string names;
  for (const int t : tensors)
    names += (names.empty() ? "'" : ", '") + graph.tensors[std::size_t(t)].name + "'";
  return names;
}

void end_at_until(ImportState& s) {
  const std::vector<int> ends = results_among(s.graph, s.graph.outputs);
  if (ends.empty() && s.result.refusals.empty())
    throw InputError("no operator computes tensor '" + s.until + "': the network cannot end there");
  if (ends.empty()) return;
  end_at(s.graph, ends);
  s.graph.notes.push_back("the network up to '" + s.until + "' (--until)");
  s.result.refusals.clear();
}

bool has_weights(const Op& op) {
  return op.kind == OpKind::Conv2D || op.kind == OpKind::DepthwiseConv2D || op.kind == OpKind::FullyConnected;
}

void end_before_tail(ImportState& s) {
  std::vector<int> wanted = s.before_tail;
  const std::vector<bool> computed = computed_tensors(s.graph);
  for (const Op& op : s.graph.ops) {
    if (computed[std::size_t(op.output)]) continue;
    if (has_weights(op)) return;  // it is no tail
    wanted.insert(wanted.end(), op.inputs.begin(), op.inputs.end());
  }
  wanted.insert(wanted.end(), s.graph.outputs.begin(), s.graph.outputs.end());
  const std::vector<int> ends = results_among(s.graph, wanted);
  if (ends.empty()) return;
  end_at(s.graph, ends);
  s.graph.notes.push_back(
      "cut before " + s.tail + ", which cannot run" +
      (s.tail_operators > 1 ? " (and " + std::to_string(s.tail_operators - 1) + " more like it)" : "") +
      ": the outputs are " + names_of(s.graph, ends));
  s.result.refusals.clear();
}

}  // namespace

ImportResult finish(ImportState& s) {
  if (!s.until.empty()) {
    end_at_until(s);
  } else if (s.tail_operators > 0 && s.tail_operators == s.refused_layers) {
    end_before_tail(s);
  }
  if (s.result.refusals.empty()) s.result.graph = std::move(s.graph);
  return std::move(s.result);
}

}  // namespace kaiten::importing
