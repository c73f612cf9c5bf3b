// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Averages of ONNX models are float32 in onnxruntime: the cells' real values, added up by rows, or each column first, divided,
// and quantised. Where a mean is half-way between two results, rounding errors of the sums decide. The accelerator adds
// integers.
#ifndef KAITEN_GRAPH_FLOAT_AVERAGE_H
#define KAITEN_GRAPH_FLOAT_AVERAGE_H

#include <cstdint>
#include <span>

#include "graph/graph.h"
#include "graph/quantize.h"

namespace kaiten {

// The order of AveragePool's additions in onnxruntime. By rows from version 19 of the operator on. Before, in lanes for
// a window over a whole map, of steps of one cell; columns first where windows are at most two columns apart and a row
// of the map with its padding fits its buffer.
Additions additions_of(std::int64_t opset, const Window& window, const Nhwc& map);

// Sums of neighbouring values. In lanes, as GlobalAveragePool: into four sums in turn, then the values that fill no lanes. In
// packets, as ReduceMean and ReduceSum (Eigen's sums, vectors of 128 bits): four values at a time into two sums of four in
// turn, from the first value on whose place in the tensor is a multiple of four; the values before and behind one by one.
float sum_in_lanes(std::span<const float> values);
float sum_in_packets(std::span<const float> values, std::size_t place);

// What is quantised of a float32 sum of real values over `count` cells, less the zero point.
std::int32_t float_mean(const PoolParams& params, float sum, int count);

// Whether the accelerator's rule Float gives the same for every input of these windows, by a bound of the rounding errors.
bool averages_agree(const PoolParams& params, const Window& window, const Nhwc& in, const Nhwc& out);

}  // namespace kaiten

#endif  // KAITEN_GRAPH_FLOAT_AVERAGE_H
