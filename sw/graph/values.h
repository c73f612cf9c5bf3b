// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Values of tensors, as the graph stores them (graph/graph.h).
#ifndef KAITEN_GRAPH_VALUES_H
#define KAITEN_GRAPH_VALUES_H

#include <cstdint>
#include <span>
#include <vector>

namespace kaiten {

/// Stored values of an activation, dense NHWC; of a float32, int32 or int64 tensor (host only) its bytes, in
/// the model's order.
using Int8Values = std::vector<int8_t>;

/// Float32 values as bytes, 4 each in the byte order of this computer.
Int8Values bytes_of(std::span<const float> values);
/// The reverse. Bytes after the last whole value are left out.
std::vector<float> floats_of(std::span<const int8_t> bytes);

}  // namespace kaiten

#endif  // KAITEN_GRAPH_VALUES_H
