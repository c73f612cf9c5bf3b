// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What both importers carry while they work on a model: the graph so far, the refusals so far, the layer that
// messages name, and the budgets that keep memory proportional to the file. Each importer adds what it knows
// of its format to a state of its own; functions take it as their first argument.
#ifndef KAITEN_IMPORT_COMMON_STATE_H
#define KAITEN_IMPORT_COMMON_STATE_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/unsupported.h"
#include "graph/graph.h"
#include "import/common/layer_names.h"
#include "import/common/text.h"
#include "import/import.h"

namespace kaiten::importing {

// The layer in hand, as the file names it.
struct Layer {
  std::string name;  // its output tensor's
  std::string op;    // "CONV_2D", "QLinearConv"
};

struct ImportState {
  // Constants may add up to `sharing` times the bytes of the file, or 256 KiB.
  ImportState(const std::string& name, Framework framework, std::int64_t sharing, std::size_t file_bytes);

  ImportResult result;
  Graph graph;
  LayerNames layer_names;
  Layer layer;
  std::size_t refused_layers = 0;  // with those that share a reason
  std::int64_t sharing;
  std::int64_t constant_budget;       // bytes
  std::int64_t activation_bytes = 0;  // of all activations so far
  std::string until;                  // tensor that the graph shall end at; empty: the model's outputs
  std::vector<int> before_tail = {};  // tensors that operators of end_before() would have read
  std::size_t tail_operators = 0;     // refused layers that are these operators
  std::string tail;                   // the first of these operators
};

// Whether an operator is of those that turn a network's results into a list of boxes: where one of them is refused, the
// graph may end before it, unless layers with weights follow.
bool is_tail(const std::string& op);
// Refuses the layer in hand, which is_tail() or computes with what is not quantised; `inputs` are the tensors it reads that are computed.
void end_before(ImportState& s, const Unsupported& what, const std::vector<int>& inputs);

// Refuses the layer in hand; a reason that an earlier layer has, with the same operator or value, is stated once.
void refuse(ImportState& s, const Unsupported& what);
// InputError about the layer in hand.
[[noreturn]] void fail_layer(const ImportState& s, const std::string& what);
// The beginning of its message: "layer 'x' (CONV_2D): ".
std::string here(const ImportState& s);

// Takes `bytes` of copied constants off the budget. Throws InputError where it is used up.
void charge_constant(ImportState& s, std::int64_t bytes);
// Likewise for the activations of the graph; `where` ends the message.
void charge_activation(ImportState& s, std::int64_t bytes, const std::string& where = "");

// The values of a constant tensor where operators take activations alone: a tensor that an operator of its own writes.
int activation_of_constant(ImportState& s, int tensor);
// Removes operators whose results nothing needs, the last first, where may_go(op).
void drop_unread(ImportState& s, const std::function<bool(const Op& op)>& may_go);

// The graph if nothing was refused, or nothing that `until` or the operators before a tail need; and all other refusals. `s`
// is used up.
ImportResult finish(ImportState& s);

}  // namespace kaiten::importing

#endif  // KAITEN_IMPORT_COMMON_STATE_H
