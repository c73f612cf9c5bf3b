// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// From real scales to the integer parameters the hardware and the reference executor share, and the rounding
// rules of the requantiser. Source of every formula: docs/compiler/numerics.md and the TensorFlow Lite reference
// kernels it was measured against (kernels/internal/common.h, kernels/kernel_util.cc, reference/integer_ops).
// All real arithmetic is IEEE double unless a function says float.
//
// Requantisation: y = clamp(round(acc * M * 2^(shift - 31)) + zero_point, low, high), with M in [2^30, 2^31) or 0
// (Mean, which folds 1 / count into M: [2^29, 2^31) or 0).
#ifndef KAITEN_GRAPH_QUANTIZE_H
#define KAITEN_GRAPH_QUANTIZE_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <variant>
#include <vector>

#include "graph/graph.h"
#include "graph/rounding.h"
#include "graph/rounding_style.h"

namespace kaiten {

// A real factor m >= 0 as M * 2^(shift - 31).
struct Multiplier {
  int32_t m = 0;
  int shift = 0;  // -31 to 30; positive: the accumulator is shifted left before the multiply

  bool operator==(const Multiplier&) const = default;
};

// Largest real factor that has a Multiplier: below 2^30. Scales that ask for more are refused at import.
constexpr double kMaxRealMultiplier = 1073741824.0;

// M = round(frac * 2^31) with real = frac * 2^e, frac in [0.5, 1), ties away from zero; M = 2^31 becomes 2^30
// with e + 1; e < -31 gives {0, 0}. Throws InputError for a value that is negative, not finite or >=
// kMaxRealMultiplier.
Multiplier quantize_multiplier(double real);

// (a * b * 2 + rounding) / 2^32 in 64 bits: the saturating rounding doubling high multiply of gemmlowp. Only
// INT32_MIN * INT32_MIN saturates.
int32_t doubling_high_multiply(int32_t a, int32_t b);
// x / 2^exponent, ties away from zero. exponent in [0, 31].
int32_t rounding_divide_by_pot(int32_t x, int exponent);

// Rule Double without zero point and clamp. x * 2^max(shift, 0) must fit int32; the importer refuses models
// where it might not.
int32_t requantize_double(int32_t x, Multiplier multiplier);
// Rule Single without zero point and clamp: x * M / 2^(31 - shift) rounded once, saturated to int32.
int32_t requantize_single(int32_t x, Multiplier multiplier);
// Rule Float: rint(float(x) * factor), saturated to int32, where the multiplier holds a float32 exactly.
int32_t requantize_float(int32_t x, Multiplier multiplier);
// Double, Single or Float.
int32_t requantize(int32_t x, Multiplier multiplier, Rounding rounding);
// Rule Average: sum / count, ties away from zero. count >= 1.
int32_t average(int32_t sum, int32_t count);

// Limits of the stored int8 output for a fused activation: zp + round(bound / scale) in float, intersected
// with [-128, 127].
struct ActivationRange {
  int lo = -128;
  int hi = 127;

  bool operator==(const ActivationRange&) const = default;
};
ActivationRange activation_range(Activation activation, float scale, int zero_point);

// How results are stored: rounded by `rule`, plus the zero point, clamped. Fields of every command that computes.
struct OutputQuant {
  int zero_point = 0;
  int low = -128;
  int high = 127;
  Rounding rule = Rounding::Double;

  // x: rounded.
  int8_t stored(int32_t x) const {
    return int8_t(std::clamp(int64_t(x) + zero_point, int64_t(low), int64_t(high)));
  }
  bool operator==(const OutputQuant&) const = default;
};

// Conv2D, DepthwiseConv2D, FullyConnected. Per output channel: acc = bias + sum((a - zp_in) * (w -
// zp_weights)), cells outside the map have a = zp_in. zp_weights is 0 but in uint8 models. bias, multiplier
// and shift have one entry per output channel.
struct ConvParams {
  std::vector<int32_t> bias;  // as in the model (zeros where it has none); see folded_bias()
  std::vector<int32_t> multiplier;
  std::vector<int> shift;
  int zp_in = 0;
  int zp_weights = 0;
  OutputQuant output;

  Multiplier channel(size_t c) const { return {multiplier[c], shift[c]}; }
};

// Add and Sub: each operand (a - zp_in) << left_shift through its multiplier by rule Double, the sum or
// difference through the output multiplier by `output.rule`. ONNX graphs mean rint((((a - zp_in[0]) * scale[0] +
// (b - zp_in[1]) * scale[1]) + ...) / out_scale), every step in float32; the multipliers are chosen to agree
// with that (float_pairs.h).
//
// ONNX's QLinearAdd is onnxruntime's float32: with r = scale / out_scale of each operand and f = zp_out - fma(r[0],
// zp_in[0], r[1] * zp_in[1]) it is rint(fma(a, r[0], fma(b, r[1], f))), on values as the model has them. Where the first
// operand is repeated along the innermost dimension that is not 1, the operands change places.
struct AddParams {
  size_t operands = 2;
  bool subtract = false;  // of two
  int left_shift = 20;
  int zp_in[kMaxAddends] = {};
  Multiplier in[kMaxAddends];
  Multiplier out;
  float scale[kMaxAddends] = {1.0F, 1.0F, 1.0F, 1.0F};  // ONNX
  float out_scale = 1.0F;
  bool qlinear = false;         // QLinearAdd: above
  bool second_is_last = false;  // the first operand is repeated
  int model_offset = 0;         // the model's stored values less these, 128 or 0
  int differing_pairs = 0;  // of the 65,536 pairs of two operands: for which the integers differ from float32
  OutputQuant output;
};

// Mul: (a - zp_in[0]) * (b - zp_in[1]) through the multiplier. ONNX graphs mean rint((a - zp) * scale[0] *
// ((b - zp) * scale[1]) / out_scale), every step in float32; QLinearMul rint(product of the integers *
// (scale[0] * scale[1] / out_scale) + zp_out), likewise.
struct MulParams {
  int zp_in[2] = {0, 0};
  Multiplier multiplier;
  float scale[2] = {1.0F, 1.0F};  // ONNX
  float out_scale = 1.0F;
  bool qlinear = false;  // these three as in AddParams
  int model_offset = 0;
  int differing_pairs = 0;
  OutputQuant output;
};

// A function of one stored value: entry value + 128.
using ValueTable = std::array<int8_t, 256>;
ValueTable identity_table();  // every value as it is

// Quantize by rule Double: (a - zp_in) through the multiplier. ONNX graphs have a Table instead.
struct QuantizeParams {
  Multiplier multiplier;
  int zp_in = 0;
  OutputQuant output;
};

struct TableParams {
  ValueTable table{};
};

// Concat: one table per input; the identity where quantisations agree.
struct ConcatParams {
  std::vector<ValueTable> tables;
};

// AveragePool (rule Average over the cells inside the map) and MaxPool (raw maximum). Input and output have
// the same quantisation, so stored values go through unchanged but for the clamp. Averages are taken of the
// values the model has: `offset`, 128 in uint8 models, is added before, and the output's zero point takes it
// off.
//
// Averages of ONNX graphs (rule Float) are float_mean() of graph/float_average.h; where averages_agree(), the accelerator takes
// sum(a - zp_in) over the cells inside the map through pool_factor().
struct PoolParams {
  int offset = 0;
  bool count_pad = false;                   // these seven: rule Float
  Additions additions = Additions::ByRows;  // as in Op
  bool qlinear = false;                     // the zero point is added before rounding
  int model_offset = 0;                     // as in AddParams
  int zp_in = 0;
  float in_scale = 1.0F;
  float out_scale = 1.0F;
  OutputQuant output;
};

// Mean over all rows and columns: x = sum(a) - count * zp_in through the multiplier, which has 1 / count
// folded in.
struct MeanParams {
  int32_t count = 1;
  Multiplier multiplier;
  int zp_in = 0;
  OutputQuant output;
};

// Softmax on the host in fixed point: exponents (a - max) * scale * beta through the multiplier by rule Double, as
// multiples of 2^-26; values whose a - max is below `least` count as 0.
struct SoftmaxParams {
  Multiplier multiplier;  // shift up to 31
  int least = -255;
};

// x = a - zp_in, times the multiplier `positive`; where x < 0, (x * (b - zp_slope)) times `negative`.
struct PReluParams {
  Multiplier positive;
  Multiplier negative;
  int zp_in = 0;
  int zp_slope = 0;
  OutputQuant output;
};

struct ReshapeParams {};

using OpParams = std::variant<ConvParams, AddParams, PoolParams, MeanParams, SoftmaxParams, ReshapeParams,
                              MulParams, QuantizeParams, TableParams, ConcatParams, PReluParams>;

// The final integer parameters of an operator; the alternative follows from op.kind. The graph must be
// consistent (graph.h). Throws InputError, naming the layer, where the scales give a multiplier outside the
// representable range.
OpParams op_params(const Graph& graph, const Op& op, RoundingStyle style);
// Whether they differ between the styles: those of fully connected layers in TensorFlow Lite's arithmetic do.
bool depends_on_style(const Graph& graph, const Op& op);
// The same for one alternative; the kind must fit.
ConvParams conv_params(const Graph& graph, const Op& op, RoundingStyle style);
AddParams add_params(const Graph& graph, const Op& op);
PoolParams pool_params(const Graph& graph, const Op& op);
MeanParams mean_params(const Graph& graph, const Op& op);
SoftmaxParams softmax_params(const Graph& graph, const Op& op);
MulParams mul_params(const Graph& graph, const Op& op);
QuantizeParams quantize_params(const Graph& graph, const Op& op);
TableParams table_params(const Graph& graph, const Op& op);  // Table, and Quantize of an ONNX graph
ConcatParams concat_params(const Graph& graph, const Op& op);
PReluParams prelu_params(const Graph& graph, const Op& op);
// SquaredDifference: operands as in Add, the square of their difference through the output multiplier.
AddParams squared_difference_params(const Graph& graph, const Op& op);
// BatchMatMul: sums of (a - zp_in[0]) * (b - zp_in[1]) through the multiplier.
MulParams matmul_params(const Graph& graph, const Op& op);

// Rule Float: the factor of a window of `count` cells, as in onnxruntime's QLinearGlobalAveragePool. Throws
// InputError where it is not representable.
Multiplier pool_factor(const PoolParams& params, int count);

// bias[c] - zp_in * sum(w - zp_weights of channel c): with it the array multiplies stored values and padding
// supplies zp_in; what remains is - zp_weights * sum(a) of the window. Fits int32 whenever
// accumulator_range() does.
std::vector<int32_t> folded_bias(const Graph& graph, const Op& op, const ConvParams& params);

// Smallest and largest accumulator an operator can meet with any int8 input, over all channels and, for rule
// Double with a positive shift, after that left shift: what must fit int32. For Mean and AveragePool the sum
// of the window. {0, 0} for kinds without an accumulator.
struct AccumulatorRange {
  int64_t min = 0;
  int64_t max = 0;

  bool fits_int32() const {
    return min >= std::numeric_limits<int32_t>::min() && max <= std::numeric_limits<int32_t>::max();
  }
};
AccumulatorRange accumulator_range(const Graph& graph, const Op& op, const OpParams& params);

}  // namespace kaiten

#endif  // KAITEN_GRAPH_QUANTIZE_H
