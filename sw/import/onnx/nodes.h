// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The walk over the nodes of a model: their order, and the values they write.
#ifndef KAITEN_IMPORT_ONNX_NODES_H
#define KAITEN_IMPORT_ONNX_NODES_H

#include <string>
#include <vector>

#include "import/onnx/state.h"

namespace kaiten::importing::from_onnx {

// A value under the name the file has for it; its index. InputError for a name that another has.
int add_value(State& s, const std::string& raw_name, Value value);
int add_constant(State& s, const std::string& name, Constant constant);

// Producers before consumers, otherwise in the file's order. InputError for cycles and unknown names.
std::vector<const Node*> sorted_nodes(const State& s);

// Converts a node into the values it writes, or refuses it.
void import_node(State& s, const Node& node);

// refuse(), once per reason and layer: several consumers may ask for the same float operator.
void refuse_once(State& s, const Unsupported& what);

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_NODES_H
