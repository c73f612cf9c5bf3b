// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What every kind of operator becomes, over a LoweringBuilder. Each function gives the operator's output its view and adds
// what has to be done for it; it throws Unsupported for a limit that the operator breaks. A new operator is a function here
// and a line in lower_device() (lower.cpp).
#ifndef KAITEN_COMPILE_LOWER_LOWER_OPERATORS_H
#define KAITEN_COMPILE_LOWER_LOWER_OPERATORS_H

#include "compile/lower/builder.h"

namespace kaiten {

// lower_host.cpp
// Whether the host does the operator, for want of an engine or because its operands are there. Throws Unsupported where
// something must follow on the device.
bool belongs_to_host(LoweringBuilder& b, const Op& op);
// Runs before the device where its operands are known by then, else after it.
void lower_on_host(LoweringBuilder& b, const Op& op);

// lower_windows.cpp
// Convolutions, and depthwise layers whose channels move; other depthwise layers, pooling and Mean.
bool has_array_windows(const Op& op);
bool has_vector_windows(const Op& op);
// A function of another tensor's values: no work where nobody misses it, else a table, unless the operator's own engine takes
// less. False: it is none, or the latter.
bool lower_function(LoweringBuilder& b, const Op& op);
// Conv2D, DepthwiseConv2D, FullyConnected, pooling, Mean, Quantize, Table: one window, or one value, after the other.
void lower_window(LoweringBuilder& b, const Op& op);
// `op`, perhaps with a border, on its engine.
void lower_on_engine(LoweringBuilder& b, const Op& op, LoweredOp& l);

// lower_ranges.cpp
// So many ranges of channels that the vector buffer has room for the rows of a window, where the operator and the one that
// makes its input can go by ranges; else 1.
int channel_ranges(LoweringBuilder& b, const Op& op, ViewId v);
// Both operators, one range after the other. The results of the ranges are parts of one map.
void lower_by_ranges(LoweringBuilder& b, const Op& op, ViewId v, int ranges);

// lower_operands.cpp
// Add of any number of operands.
void lower_add(LoweringBuilder& b, const Op& op);
// Add, Sub and Mul of two maps, or a map and constants, in either order.
void lower_two(LoweringBuilder& b, const Op& op);

// lower_views.cpp
// A reshaped tensor is what it was made from; a consumer that needs its own shape asks for it (map_of).
void lower_reshape(LoweringBuilder& b, const Op& op);
// Inputs that an operator of the device writes, and nothing else has joined, become parts of one map.
void lower_concat(LoweringBuilder& b, const Op& op);
void lower_slice(LoweringBuilder& b, const Op& op);
void lower_shuffle(LoweringBuilder& b, const Op& op);
// A border belongs to the window of a convolution that is its only consumer, else it is made.
void lower_border(LoweringBuilder& b, const Op& op);

// Dimension of a Concat: 0 batches, 1 rows, 2 columns, 3 channels.
int concat_axis(const Graph& graph, const Op& op);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_LOWER_LOWER_OPERATORS_H
