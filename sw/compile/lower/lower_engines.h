// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What the operators become on the two engines: shapes, windows, packed parameters, and the limits that the
// engines put on them. `in`, its lanes and `out` of the
// lowered operator are set; nothing is known of storages.
#ifndef KAITEN_COMPILE_LOWER_LOWER_ENGINES_H
#define KAITEN_COMPILE_LOWER_LOWER_ENGINES_H

#include "compile/lower/lowered.h"
#include "graph/graph.h"
#include "graph/quantize.h"
#include "program/config.h"

namespace kaiten {

struct LowerContext {
  const Graph& graph;
  const Config& config;
  RoundingStyle style;
};

// Strides and padding of a window; strides do not matter where there is one output.
void take_window(const Window& w, LoweredOp& l, int max_stride);
// Bias, multipliers, zero points and limits of Conv2D, DepthwiseConv2D and FullyConnected.
void take_conv_params(const LowerContext& c, const Op& op, LoweredOp& l);
// Throws Unsupported where a sum, shifted left by up to `largest_shift` before it is multiplied, leaves int32. Looks at all
// weights for rules Single and Float (float32 of a sum next to the ends of int32 would have 33 bits), for Double only where
// something is shifted left, which a quantised network hardly does.
void require_sums(const LowerContext& c, const Op& op, const OpParams& params, Rounding rule,
                  int largest_shift);
// Throws Unsupported where an operator needs an option that the configuration leaves out.
void require_options(const Config& config, const LoweredOp& l);
// Whether half of ZSB has room for the table and a tile's parameters.
bool has_room_for_table(const Config& config, const LoweredOp& l);
// Throws Unsupported where a map is larger than the fields of a command can hold.
void require_shape(const LowerContext& c, const Nhwc& s);

// lower_array.cpp
// `image`: its input lies in memory as dense bytes.
void lower_conv(const LowerContext& c, const Op& op, bool image, LoweredOp& l);
// `in` is the map: its pixels one by one, or all of it under one kernel.
void lower_fully_connected(const LowerContext& c, const Op& op, LoweredOp& l);
// Tiles and passes of a convolution whose window and channels are known, and their limits.
void take_tiles(const LowerContext& c, LoweredOp& l);
// Output channel o is input channel from[o].
void lower_move(const LowerContext& c, const std::vector<int>& from, LoweredOp& l);

// lower_vector.cpp
void lower_depthwise(const LowerContext& c, const Op& op, LoweredOp& l);
void lower_average(const LowerContext& c, const Op& op, LoweredOp& l);
void lower_maximum(const LowerContext& c, const Op& op, LoweredOp& l);
void lower_table(const LowerContext& c, const Op& op, LoweredOp& l);
void lower_quantize(const LowerContext& c, const Op& op, LoweredOp& l);
void lower_mean(const LowerContext& c, const Op& op, LoweredOp& l);
// Every value as it is.
void lower_copy(const LowerContext& c, const ValueTable* table, LoweredOp& l);
// A border of the zero point around the map; a negative one leaves rows and columns out.
void lower_pad(const LowerContext& c, const Padding& pad, int zero_point, LoweredOp& l);
// Add, Sub, Mul; `swapped` where the second operand is read as the engine's first.
void lower_elements(const LowerContext& c, const Op& op, bool swapped, LoweredOp& l);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_LOWER_LOWER_ENGINES_H
