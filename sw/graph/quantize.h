// From real scales to the integer parameters the hardware and the reference executor share, and the rounding
// rules of the requantiser. Source of every formula: docs/numerics.md and the TensorFlow Lite reference
// kernels it was measured against (kernels/internal/common.h, kernels/kernel_util.cc, reference/integer_ops).
// All real arithmetic is IEEE double unless a function says float.
//
// Requantisation: y = clamp(round(acc * M * 2^(shift - 31)) + zp_out, lo, hi), with M in [2^30, 2^31) or 0
// (Mean, which folds 1 / count into M: [2^29, 2^31) or 0).
#ifndef KAITEN_GRAPH_QUANTIZE_H
#define KAITEN_GRAPH_QUANTIZE_H

#include <cstdint>
#include <limits>
#include <string_view>
#include <variant>
#include <vector>

#include "graph/graph.h"

namespace kaiten {

// Rounding rule of one operator.
enum class Rounding : uint8_t {
  Double,   // two roundings: doubling high multiply, then divide by a power of two, ties away from zero
  Single,   // one rounding of the 64-bit product, ties away from zero
  Average,  // exact integer sum divided by the number of cells, ties away from zero; no multiplier
};

std::string_view name_of(Rounding rounding);  // "double", "single", "average"

// Whose answers to reproduce: LiteRT's reference kernels (fully connected layers use Single) or
// tflite-micro's (Double there too). The option --rounding litert|tflm.
enum class RoundingStyle : uint8_t { LiteRt, Tflm };

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
// Double or Single.
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

// Conv2D, DepthwiseConv2D, FullyConnected. Per output channel: acc = bias + sum((a - zp_in) * w), cells
// outside the map have a = zp_in. bias, multiplier and shift have one entry per output channel.
struct ConvParams {
  std::vector<int32_t> bias;  // as in the model (zeros where it has none); see folded_bias()
  std::vector<int32_t> multiplier;
  std::vector<int> shift;
  int zp_in = 0;
  int zp_out = 0;
  int lo = -128;
  int hi = 127;
  Rounding rounding = Rounding::Double;

  Multiplier channel(size_t c) const { return {multiplier[c], shift[c]}; }
};

// Add: each operand (a - zp_in) << left_shift through its multiplier, the sum through the output multiplier;
// all three steps by rule Double.
struct AddParams {
  int left_shift = 20;
  int zp_in[2] = {0, 0};
  Multiplier in[2];
  Multiplier out;
  int zp_out = 0;
  int lo = -128;
  int hi = 127;
  Rounding rounding = Rounding::Double;
};

// AveragePool (rule Average over the cells inside the map) and MaxPool (raw maximum). Input and output have
// the same quantisation, so stored values go through unchanged but for the clamp.
struct PoolParams {
  int lo = -128;
  int hi = 127;
  Rounding rounding = Rounding::Average;
};

// Mean over all rows and columns: x = sum(a) - count * zp_in through the multiplier, which has 1 / count
// folded in.
struct MeanParams {
  int32_t count = 1;
  Multiplier multiplier;
  int zp_in = 0;
  int zp_out = 0;
  int lo = -128;
  int hi = 127;
  Rounding rounding = Rounding::Double;
};

// Softmax on the host in double: y = floor(256 * p + 0.5) - 128, p from exp(scale * beta * (a - max)).
struct SoftmaxParams {
  double input_scale = 1.0;  // scale * beta
};

struct ReshapeParams {};

using OpParams = std::variant<ConvParams, AddParams, PoolParams, MeanParams, SoftmaxParams, ReshapeParams>;

// The final integer parameters of an operator; the alternative follows from op.kind. The graph must be
// consistent (graph.h). Throws InputError, naming the layer, where the scales give a multiplier outside the
// representable range.
OpParams op_params(const Graph& graph, const Op& op, RoundingStyle style);
// The same for one alternative; the kind must fit.
ConvParams conv_params(const Graph& graph, const Op& op, RoundingStyle style);
AddParams add_params(const Graph& graph, const Op& op);
PoolParams pool_params(const Graph& graph, const Op& op);
MeanParams mean_params(const Graph& graph, const Op& op);
SoftmaxParams softmax_params(const Graph& graph, const Op& op);

// bias[c] - zp_in * sum(w of channel c): with it the array multiplies stored values and padding supplies
// zp_in. Fits int32 whenever accumulator_range() does.
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
