// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The operators in integer loops, one function each, on dense NHWC int8 tensors. They follow
// docs/compiler/numerics.md to the letter and share nothing with the hardware but the integer parameters of
// graph/quantize.h.
//
// Shapes may have a batch (conformance suites do; imported graphs do not). Sizes of spans must fit the
// shapes; nothing is checked here. Accumulators must fit int32, see accumulator_range().
#ifndef KAITEN_REFERENCE_KERNELS_H
#define KAITEN_REFERENCE_KERNELS_H

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "graph/quantize.h"

namespace kaiten::reference {

using Input = std::span<const int8_t>;
using Output = std::span<int8_t>;

// What a convolution does, values apart.
struct Convolution {
  const ConvParams& params;
  Window window;
  Nhwc in;
  Nhwc out;
  int groups = 1;  // of conv2d
};

// weights OHWI with I = in.c / groups; output channel o reads input channels [g * I, (g + 1) * I) of its
// group g.
void conv2d(const Convolution& c, Input input, Input weights, Output output);

// The sums of products without bias alone: of some pixels in a row, from number `first` of the output on, all channels of a
// pixel beside each other.
using SumsOfPixels = std::function<void(size_t first, std::span<const int32_t> sums)>;
void conv2d_sums(const Convolution& c, Input input, Input weights, const SumsOfPixels& take);

// The result of a channel from a sum of products, without bias, modulo 2^32.
int8_t requantize_sum(const ConvParams& params, size_t channel, int32_t sum);

// weights HWO; output channel o reads input channel o / (out.c / in.c).
void depthwise(const Convolution& c, Input input, Input weights, Output output);

// weights OI; `rows` rows of input.size() / rows values each.
void fully_connected(const ConvParams& params, int rows, Input input, Input weights, Output output);

// Element by element; operands have the output's size.
void add(const AddParams& params, std::span<const Input> operands, Output output);  // Sub too
void multiply(const MulParams& params, Input a, Input b, Output output);
void quantize(const QuantizeParams& params, Input input, Output output);
void look_up(const ValueTable& table, Input input, Output output);

// Rows and columns by TensorFlow Lite's rules; bilinear of int8 in its integer arithmetic of 1/1024 steps, of uint8 in
// float32.
void resize_nearest(const Op& op, Nhwc in, Input input, Nhwc out, Output output);
void resize_bilinear(const Op& op, Nhwc in, Input input, Nhwc out, Output output);
void resize_bilinear_uint8(const Op& op, Nhwc in, Input input, Nhwc out, Output output);

// Channel o of a pixel of the output is channel from[o] of the same pixel of the input.
void shuffle_channels(std::span<const int> from, Input input, Output output);

// Lines of `depth` values that lie `inner` apart: where in the line the largest one stands, of equals the
// first or the last, line by line.
std::vector<int64_t> arg_max(std::span<const float> values, size_t depth, size_t inner, bool last_of_equals);

// Cells outside the map count neither in the sum nor in the divisor. Every window holds at least one cell.
void average_pool(const PoolParams& params, const Window& window, Nhwc in, Input input, Nhwc out,
                  Output output);
void max_pool(const PoolParams& params, const Window& window, Nhwc in, Input input, Nhwc out, Output output);

// softmax.cpp. Over the last dimension of `depth` values; output scale 1/256, zero point -128.
void softmax(const SoftmaxParams& params, int depth, Input input, Output output);
// onnxruntime's QLinearSoftmax: float32 exponentials by a table, added up from the first to the last.
void qlinear_softmax(float in_scale, float out_scale, int zero_point, int depth, Input input, Output output);
// Its logarithm: output scale 1/16, zero point 127.
void log_softmax(const SoftmaxParams& params, int depth, Input input, Output output);

}  // namespace kaiten::reference

#endif  // KAITEN_REFERENCE_KERNELS_H
