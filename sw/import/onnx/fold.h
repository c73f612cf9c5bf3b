// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Constants of the graph, and arithmetic on shapes done at import.
#ifndef KAITEN_IMPORT_ONNX_FOLD_H
#define KAITEN_IMPORT_ONNX_FOLD_H

#include <optional>

#include "import/onnx/state.h"

namespace kaiten::importing::from_onnx {

Value constant_node(State& s, const Node& node);

// The constant that a node makes whose inputs are constants (or only asked for their shape). Nothing where the
// node is none of this kind.
std::optional<Value> fold(const State& s, const Node& node);

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_FOLD_H
