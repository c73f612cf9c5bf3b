// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Channel shuffles in ONNX: Reshape, Transpose, Reshape (channel_shuffle.h).
#ifndef KAITEN_IMPORT_ONNX_SHUFFLE_H
#define KAITEN_IMPORT_ONNX_SHUFFLE_H

#include <optional>

#include "import/onnx/state.h"

namespace kaiten::importing::from_onnx {

// What a Reshape or Transpose of an operand is, as a step of a channel shuffle; nothing where it is none.
std::optional<MapRegrouping> regroup(State& s, const Node& node, int operand, const Shape& shape);

// Only the rest of the shuffle can read such a value: for all others it becomes a quantised tensor.
void settle(State& s, int value);

// The quantised value, of this shape, that a regrouped map is; `op`: further limits of its values.
Value regrouped(State& s, const MapRegrouping& regrouping, const Shape& shape, const Op& op,
                const Scales& out);

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_SHUFFLE_H
