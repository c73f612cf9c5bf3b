// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Windows over lines, as Conv1d and MaxPool1d of other frameworks become: they are windows over maps of one row.
#ifndef KAITEN_IMPORT_ONNX_LINES_H
#define KAITEN_IMPORT_ONNX_LINES_H

#include <vector>

#include "import/onnx/state.h"

namespace kaiten::importing::from_onnx {

// Whether the node has windows and reads a tensor of three dimensions.
bool has_lines(const State& s, const Node& node);
// Such a node as three: Unsqueeze, the windows over a map of one row, Squeeze. They live as long as the state.
std::vector<const Node*> as_rows(State& s, const Node& node);

// Whether a map of one row (in NCHW) and a line hold the same columns.
bool is_row_of(const Shape& map, const Shape& line);
// Weights over lines as weights over rows; others as they are.
Shape as_kernel(const Shape& weights, const Shape& in);

// Reshapes that make lines of maps and that no operator reads, since the next windows take the map, leave the graph.
void drop_unread_lines(State& s);

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_LINES_H
