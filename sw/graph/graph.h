// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The graph: what every importer produces and what the compiler and the reference executor read. Plain
/// values, no pointers: tensors and operators are named by their index.
///
/// Conventions
/// - Activations are NHWC with rank 1 to 6 as in the file; nhwc() gives the four-dimensional view (missing
///   leading dimensions are 1, those before the last three are one batch; batches are the host's). Kernels of Conv2D are OHWI, of DepthwiseConv2D 1HWO with
///   O = I * depth_multiplier, of FullyConnected OI: the layouts of TensorFlow Lite, whose file format this
///   follows.
/// - real = scale * (stored - zero_point).
/// - Windows carry explicit padding in elements; "same" and "valid" are resolved by the importer.
/// - Quantised activations and weights are int8 here whatever the model has: uint8 values and zero points are
///   stored less 128. Tensor::model_type remembers what the model calls them, Tensor::model_layout in which
///   order its user sees rank 4 (ONNX: NCHW); from_model() and to_model() convert.
/// - Float32 activations exist on the host only, around the quantised part (ONNX). Their shape and order are
///   the model's own; quantize and dequantize are where the order changes. The same goes for the integers that
///   ArgMax gives.
/// - Ops stand in execution order; every activation is a graph input or the output of an earlier op.
/// - A graph that comes out of an importer is consistent: every index in range, every shape and size agreeing,
///   every quantisation usable by op_params() in quantize.h. Consumers need not check again.
#ifndef KAITEN_GRAPH_GRAPH_H
#define KAITEN_GRAPH_GRAPH_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kaiten {

/// Of a tensor's values.
enum class ElementType : uint8_t { Int8, UInt8, Int32, Int64, Float32 };

/// Bytes per element.
int element_bytes(ElementType type);
/// "int8", "uint8", "int32", "int64", "float32".
std::string_view name_of(ElementType type);

/// One scale and zero point for the whole tensor, or one of each per index of dimension `axis`. Empty for
/// tensors that hold no quantised values (shapes, axes).
struct Quantization {
  std::vector<float> scale;         ///< positive
  std::vector<int32_t> zero_point;  ///< as many
  int axis = 0;                     ///< dimension, counted from 0

  bool empty() const { return scale.empty(); }           ///< not quantised
  bool per_channel() const { return scale.size() > 1; }  ///< one for each index of `axis`
};

/// Four-dimensional view of a tensor shape: batch, rows, columns, channels.
struct Nhwc {
  int n = 1;  ///< images
  int h = 1;  ///< rows
  int w = 1;  ///< columns
  int c = 1;  ///< channels

  /// The product of all four.
  size_t elements() const { return size_t(n) * size_t(h) * size_t(w) * size_t(c); }
  bool operator==(const Nhwc&) const = default;  ///< in all four
};

/// Order of the dimensions of a tensor of rank 4.
enum class Layout : uint8_t { Nhwc, Nchw };

/// A constant with its values, or an activation without.
struct Tensor {
  std::string name;                      ///< that of the model file, or one made from such
  ElementType type = ElementType::Int8;  ///< of the stored values
  std::vector<int> shape;  ///< rank 0 to 6, every dimension at least 1; NHWC unless NCHW below and not int8
  ElementType model_type = ElementType::Int8;  ///< activations: UInt8 if the model's bytes are these plus 128
  Layout model_layout = Layout::Nhwc;          ///< activations of rank 4: as the model's user sees them
  Quantization quantization;                   ///< of the stored values
  /// Constants: little-endian, elements() * element_bytes(type) bytes. Activations: empty.
  std::vector<uint8_t> data;

  bool is_constant() const { return !data.empty(); }  ///< it has values
  size_t elements() const;                            ///< the product of the shape; 1 for rank 0
  /// elements() times their size.
  size_t bytes() const { return elements() * size_t(element_bytes(type)); }
  /// The last dimension is c, the one before w, and so on; missing ones are 1. Tensors of rank 4 that are not
  /// int8 are read by their layout.
  Nhwc nhwc() const;
  /// The shape as the model's user sees it.
  std::vector<int> model_shape() const;
  /// Zero point of a per-tensor quantisation; 0 where there is none.
  int zero_point() const {
    return quantization.zero_point.empty() ? 0 : int(quantization.zero_point.front());
  }
  /// Element i of an int8 constant. No bounds check.
  int8_t int8_at(size_t i) const { return static_cast<int8_t>(data[i]); }
  /// All elements of an int32 constant.
  std::vector<int32_t> int32_values() const;
};

/// "1x32x32x3"; "scalar" for rank 0.
std::string shape_text(const std::vector<int>& shape);

/// The bytes a model's user gives for a graph input, in the model's own type and order, to stored values (int8, NHWC;
/// other tensors keep their bytes). bytes.size() == tensor.bytes(), not checked.
std::vector<int8_t> from_model(const Tensor& tensor, std::span<const uint8_t> bytes);
/// The reverse, for a graph output. values.size() == tensor.bytes(), not checked.
std::vector<uint8_t> to_model(const Tensor& tensor, std::span<const int8_t> values);

/// Kinds of operators. They run on the device where nothing else is said.
enum class OpKind : uint8_t {
  Conv2D,
  DepthwiseConv2D,
  FullyConnected,
  Add,
  AveragePool,
  MaxPool,
  Mean,     ///< over all rows and columns; with dims, ascending axes of the input instead
  Reshape,  ///< same bytes, other shape: nothing is computed
  Softmax,  ///< over the last dimension; on the host
  Sub,      ///< first less second
  Mul,
  Quantize,  ///< from one scale and zero point to another
  Concat,    ///< along `axis`
  Pad,       ///< with the zero point
  Slice,     ///< a box of the input; split is several of them
  Table,     ///< one function of one value: leaky relu, hard-swish, sigmoid, tanh, clamps
  Resize,    ///< rows and columns
  Shuffle,   ///< channel o of the output is channel dims[o] of the input
  ArgMax,  ///< where the largest value along `axis`, or the smallest, stands, the first of equals; on the host
  ToInt8,     ///< float32 to quantised, on the host (QuantizeLinear on a model's input)
  ToFloat,    ///< quantised to float32, on the host (DequantizeLinear before a float tail)
  HostFloat,  ///< float32 arithmetic on the host: host_kind says which
  /// The values in another order, on the host: dims are a position in the input, then size and step of each of some
  /// dimensions, the outermost first, whose product is the output's size.
  Rearrange,
  Minimum,  ///< of two operands of one scale and zero point, broadcast like numpy; on the host
  Maximum,  ///< likewise
  PRelu,  ///< first where it is not negative, else its product with the second, an int8 constant; on the host
  ReduceMax,  ///< over `dims`, ascending axes of the input; on the host
  ReduceMin,  ///< likewise
  ReduceSum,  ///< likewise
  /// The square of first less second, broadcast like numpy; on the host.
  SquaredDifference,
  /// Products of matrices, the last two dimensions, transposed where transpose_a or transpose_b says so; those before them
  /// broadcast like numpy; on the host.
  BatchMatMul,
  L2Norm,    ///< over the last dimension; on the host
  Gather,    ///< positions `dims` of dimension `axis`; on the host
  Constant,  ///< the values of `weights`, whatever the input holds; on the host
};

/// "conv", "depthwise", "fc", "add", "average_pool", "max_pool", "mean", "reshape", "softmax", "sub", "mul",
/// "quantize", "concat", "pad", "slice", "table", "resize", "channel_shuffle", "argmax", "to_int8",
/// "to_float", "host_float", "rearrange", "minimum", "maximum", "prelu", "reduce_max", "reduce_min",
/// "reduce_sum", "squared_difference", "batch_matmul", "l2_norm", "gather", "constant".
std::string_view name_of(OpKind kind);

/// Functions of a Table.
enum class Function : uint8_t {
  LeakyRelu,
  HardSwish,
  Sigmoid,
  Tanh,
  HardSigmoid,
  Clamp,
  Exp,
  Log,
  Sqrt,
  Rsqrt,
  Abs,
  Neg,
  Gelu,
  GeluTanh,
  Elu,
  Values  ///< Op::dims
};
std::string_view name_of(Function function);  ///< "leaky_relu", "hard_swish", ...

/// Float arithmetic of ONNX's operators of these names, on tensors in the model's own order.
/// Kinds that share their fields stand in one line:
// clang-format off
enum class HostKind : uint8_t {
  None,
  Reshape,            ///< Flatten, Squeeze, Unsqueeze, Identity too
  Rearrange,          ///< dims: as in OpKind::Rearrange
  Pad,                ///< dims: before and after of each dimension; with `lo`
  Gemm,               ///< inputs a, b and perhaps c; MatMul is a Gemm of factors 1, perhaps of several matrices
  ConvTranspose,      ///< inputs x, weights and perhaps bias; window, groups
  Softmax, LogSoftmax,  ///< along `axis`
  GlobalAveragePool,
  GlobalMaxPool,
  AveragePool, MaxPool,  ///< window
  ReduceMean, ReduceSum, ReduceMax, ReduceMin,  ///< dims: the axes, ascending
  Concat,             ///< along `axis`
  Lrn,                ///< over `groups` neighbours in the second dimension; alpha, beta, bias `lo`
  /// Less their mean, over their deviation (alpha is added to its square), times the factors of the second input, plus the
  /// offsets of the third: of all that follow dimension `axis`, or of all cells of each channel.
  LayerNorm, InstanceNorm,
  Add, Sub, Mul, Div, Min, Max, Pow, PRelu,  ///< of two, by numpy broadcasting
  Clip,               ///< of one, as all that follow: lo, hi; Relu is one
  LeakyRelu, Elu,     ///< alpha
  HardSigmoid,        ///< alpha, beta
  Sigmoid, Tanh, HardSwish, Erf, Gelu, Softplus, Exp, Log, Sqrt, Reciprocal, Abs, Neg, Floor, Ceil, Round, Sign,
};
// clang-format on
std::string_view name_of(HostKind kind);  ///< "reshape", "transpose", ...

/// Whose arithmetic a graph follows.
enum class Framework : uint8_t { TfLite, Onnx };

/// The order in which onnxruntime adds up a window's cells in float32: one by one, each column first, or into four sums in turn
/// (float_average.h).
enum class Additions : uint8_t { ByRows, ByColumns, InLanes };

/// Limits of an operator's real output: none, 0 and more, 0 to 6, -1 to 1.
enum class Activation : uint8_t { None, Relu, Relu6, ReluN1To1 };

/// "none", "relu", "relu6", "relu_n1_to_1".
std::string_view name_of(Activation activation);

/// Elements added around the map. Negative values do not occur.
struct Padding {
  int top = 0;     ///< rows above
  int bottom = 0;  ///< rows below
  int left = 0;    ///< columns on the left
  int right = 0;   ///< columns on the right

  bool operator==(const Padding&) const = default;  ///< on all sides
};

/// The window of a convolution or pooling operator, in elements. Output row y sees the input rows y * stride_h
/// - pad.top + i * dilation_h for i in [0, kernel_h); columns alike.
struct Window {
  int kernel_h = 1;    ///< taps down
  int kernel_w = 1;    ///< taps across
  int stride_h = 1;    ///< input rows from one output row to the next
  int stride_w = 1;    ///< input columns alike
  int dilation_h = 1;  ///< rows from tap to tap
  int dilation_w = 1;  ///< columns from tap to tap
  Padding pad;         ///< added around the input

  int extent_h() const { return (kernel_h - 1) * dilation_h + 1; }  ///< rows under the dilated kernel
  int extent_w() const { return (kernel_w - 1) * dilation_w + 1; }  ///< columns under it
  bool operator==(const Window&) const = default;                   ///< field by field
};

constexpr int kNoTensor = -1;           ///< index of a tensor that an operator does not have
constexpr std::size_t kMaxAddends = 4;  ///< activations that one Add sums

/// One operator. Fields that a kind does not use keep their defaults.
struct Op {
  std::string name;              ///< of the layer: the name of its output tensor, made unique
  OpKind kind = OpKind::Conv2D;  ///< says which fields below mean anything
  /// Activations, in the operator's order: two for Add, Sub and Mul (each perhaps an int8 constant, broadcast
  /// like numpy) or, for Add, up to kMaxAddends activations of one shape; any number for Concat, float32 ones
  /// and constants for HostFloat, one for all others.
  std::vector<int> inputs;
  int output = kNoTensor;    ///< activation
  int weights = kNoTensor;   ///< Conv2D, DepthwiseConv2D, FullyConnected: int8 constant; Constant: any
  int bias = kNoTensor;      ///< same kinds: int32 constant, or kNoTensor for zeros
  Window window;             ///< Conv2D, DepthwiseConv2D, AveragePool, MaxPool
  int depth_multiplier = 1;  ///< DepthwiseConv2D: output channel o reads input channel o / depth_multiplier
  int groups = 1;            ///< Conv2D: output channel group g reads input channel group g
  bool qlinear =
      false;  ///< Add, Mul, AveragePool: as onnxruntime's QLinear operators compute them (quantize.h)
  Additions additions = Additions::ByRows;   ///< AveragePool of ONNX
  bool count_pad = false;                    ///< AveragePool: cells outside the map count in the divisor
  Activation activation = Activation::None;  ///< fused: limits of the real output
  /// Further limits of the real output, where a model clamps at other values than the activations do.
  float lo = -std::numeric_limits<float>::infinity();
  float hi = std::numeric_limits<float>::infinity();  ///< the upper one
  float beta = 1.0F;                                  ///< Softmax; HardSigmoid: offset; Gemm: factor of c
  float alpha = 1.0F;           ///< LeakyRelu, HardSigmoid: slope; Gemm: factor of a * b
  bool transpose_a = false;     ///< Gemm, BatchMatMul
  bool transpose_b = false;     ///< likewise
  int axis = 0;                 ///< Concat, Gather, HostFloat; ArgMax: in the model's order
  bool last_of_equals = false;  ///< ArgMax: not the first
  bool logarithm = false;       ///< Softmax: of it
  bool smallest = false;        ///< ArgMax: of the smallest value
  /// Table of Values: what each stored value becomes, from -128 on; Pad: before and after of each dimension;
  /// Slice: begin of each; Mean and Reduce...: axes; Gather: positions; Shuffle, Rearrange, HostFloat.
  std::vector<int> dims;
  std::optional<int> fill;                  ///< Pad: stored value instead of the zero point, on the host
  Function function = Function::LeakyRelu;  ///< Table
  HostKind host_kind = HostKind::None;      ///< HostFloat
  bool bilinear = false;                    ///< Resize; otherwise nearest
  bool align_corners = false;               ///< Resize
  bool half_pixel = false;                  ///< Resize
  bool on_host =
      false;  ///< it runs on the host whatever its kind: for want of an engine, or beyond an engine's limits
};

/// A network. A plain value without locks: any number of threads may read one, none while another changes it.
struct Graph {
  std::string name;                         ///< of the model, for reports
  Framework framework = Framework::TfLite;  ///< whose arithmetic it follows
  std::vector<Tensor> tensors;              ///< constants and activations
  std::vector<Op> ops;                      ///< in execution order
  std::vector<int> inputs;                  ///< tensor indices, in the model's order
  std::vector<int> outputs;                 ///< tensor indices, in the model's order
  std::vector<std::string> notes;  ///< where the importer departs from the model's arithmetic: for reports

  /// Input i of an operator. No bounds checks here and below.
  const Tensor& input_of(const Op& op, size_t i = 0) const { return tensors[size_t(op.inputs[i])]; }
  /// Its output.
  const Tensor& output_of(const Op& op) const { return tensors[size_t(op.output)]; }
  /// Its weights, where it has any.
  const Tensor& weights_of(const Op& op) const { return tensors[size_t(op.weights)]; }
};

/// True for the kinds that run on the host processor (those that say so above) or are nothing but a change of shape
/// (Reshape).
bool runs_on_host(OpKind kind);

/// The rows and columns that each result of a Mean comes from, {rows, columns}: the whole map, one row or one column of it.
/// {0, 0} for means over other axes, and where the output is no map of the other ones.
std::array<int, 2> mean_window(const Graph& graph, const Op& op);
/// The quantisation of an input; of a float32 one, that of the operator that quantises it.
Quantization quantization_of(const Graph& graph, int input);
/// Multiply-accumulates of one operator: kernel taps times channels times outputs, cells outside the map
/// included, as the usual tables count them; 0 for everything but Conv2D, DepthwiseConv2D and FullyConnected.
uint64_t macs(const Graph& graph, const Op& op);
/// Of all operators.
uint64_t macs(const Graph& graph);

/// Output length of a window over `in` elements: floor((in + before + after - extent) / stride) + 1, or 0 if
/// the window does not fit. stride >= 1.
int window_outputs(int in, int before, int after, int extent, int stride);

/// TensorFlow's "same" padding of one dimension, {before, after}: the output has ceil(in / stride) elements
/// and an odd amount puts the extra element after (tensorflow/lite/kernels/padding.h).
std::array<int, 2> same_padding(int in, int extent, int stride);

}  // namespace kaiten

#endif  // KAITEN_GRAPH_GRAPH_H
