// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Checks of shapes and axes, and of what the arithmetic of an operator can hold.
#ifndef KAITEN_IMPORT_COMMON_SHAPES_H
#define KAITEN_IMPORT_COMMON_SHAPES_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "import/common/state.h"

namespace kaiten::importing {

using Shape = std::vector<int>;

constexpr int kMaxRank = 4;
constexpr int kMaxHostRank = 6;  // of what the host moves

// Elements of a shape whose dimensions are positive and whose product is at most kMaxTensorElements.
// Otherwise InputError, which begins with `whose`: "tensor 'x' has ".
std::int64_t checked_elements(const Shape& shape, const std::string& whose);

// `axis` of a tensor of this rank, counted from its end where negative: 0 to rank - 1, or InputError.
int checked_axis(const ImportState& s, std::int64_t axis, int rank);

// Whether `order` holds every number from 0 to rank - 1 once.
bool is_permutation(const std::vector<std::int64_t>& order, int rank);

// One scale and one zero point each, and the same.
bool same_quantization(const Quantization& a, const Quantization& b);

// The refusal of activations that have `scales` of them.
Unsupported one_scale(const std::string& scales);
// The refusal of a batch other than 1; `hint`: how to make the model anew.
Unsupported one_batch(const std::string& batch, const std::string& hint);

// What keeps the operator from tensors of more dimensions than four: the kind sees maps.
std::optional<Unsupported> rank_limit(const Graph& graph, const Op& op);

// What keeps the hardware from computing the operator, if anything does: its scales must give representable
// factors, and no input may carry an accumulator out of 32 bits. For every rounding style, so that --rounding
// never decides whether a model runs.
std::optional<Unsupported> arithmetic_limit(const Graph& graph, const Op& op);

}  // namespace kaiten::importing

#endif  // KAITEN_IMPORT_COMMON_SHAPES_H
