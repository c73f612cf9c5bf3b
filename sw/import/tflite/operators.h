// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The operators of TensorFlow Lite that Kaiten runs. To add one: a function here, and a line in the table of
// operators.cpp.
#ifndef KAITEN_IMPORT_TFLITE_OPERATORS_H
#define KAITEN_IMPORT_TFLITE_OPERATORS_H

#include <string>
#include <utility>
#include <vector>

#include "import/tflite/state.h"

namespace kaiten::importing::from_tflite {

// Names and kinds of what the importer takes, in the order of the names.
std::vector<std::pair<std::string, OpKind>> imported_operators();
// fold.cpp
std::vector<std::string> folded_operators();
// Those that compute functions of dequantised values.
std::vector<std::string> functions_of_reals();

// Converts one operator of the file and what it writes, or refuses it.
void import_operator(State& s, const Node& node);
Code code_of(const State& s, const Node& node);

// The activation that `op` writes, converted or refused.
void produce_output(State& s, const Op& op);
// int8 and uint8 meet in QUANTIZE only: InputError.
void check_types(const State& s, const Op& op);

// append.cpp
// Takes a complete operator into the graph. One of constants alone is computed here and none of the graph; its output is a
// constant then.
void append(State& s, Op op);
// Appends an operator of the name of its layer, complete but for its output: an activation like another one, of this shape.
// Which one; kNoTensor after a refusal.
int append_step(State& s, Op step, int like, const Shape& shape);
// Another operator before `op`, complete but for name and output, an activation of this shape, which `op` reads then. False: refused.
bool step_before(State& s, Op& op, Op step, const Shape& shape);
// A tensor that is no constant and has the values of this one.
int activation_of(State& s, int index);
// A new activation with the type and quantisation of this one.
int similar(State& s, int index, const Shape& shape);
// The tensor in another shape of as many elements.
int reshaped(State& s, int index, const Shape& shape);

// Each of these completes `op`, whose name, kind and output are set, from a node with as many inputs as the
// table states. False: refused, in the state's refusals. Files that contradict themselves throw InputError.

// weighted.cpp
bool import_conv(State& s, const Node& node, Op& op);
bool import_depthwise(State& s, const Node& node, Op& op);
bool import_fully_connected(State& s, const Node& node, Op& op);

// transpose_conv.cpp
bool import_transpose_conv(State& s, const Node& node, Op& op);

// batches.cpp
bool import_space_to_batch(State& s, const Node& node, Op& op);
bool import_batch_to_space(State& s, const Node& node, Op& op);
// Takes the SPACE_TO_BATCH_ND and the BATCH_TO_SPACE_ND around a convolution, and what is between them, as one dilated
// convolution of the map before them: the node, the first of the three, is none of the graph then. False: it is no such node.
bool dilates(State& s, const Node& node, Code code);

// prelu.cpp
bool import_prelu(State& s, const Node& node, Op& op);

// arithmetic.cpp
// InputError where numpy's rules do not make the output of both operands.
void expect_stretched(State& s, const Op& op);
bool import_add(State& s, const Node& node, Op& op);
bool import_sub(State& s, const Node& node, Op& op);
bool import_mul(State& s, const Node& node, Op& op);
bool import_quantize(State& s, const Node& node, Op& op);
bool import_dequantize(State& s, const Node& node, Op& op);
bool import_pool(State& s, const Node& node, Op& op);
bool import_mean(State& s, const Node& node, Op& op);
bool import_reduction(State& s, const Node& node, Op& op);  // REDUCE_MAX, REDUCE_MIN, SUM
bool import_squared_difference(State& s, const Node& node, Op& op);
bool import_batch_matmul(State& s, const Node& node, Op& op);
bool import_l2_norm(State& s, const Node& node, Op& op);
bool import_extreme(State& s, const Node& node, Op& op);  // MINIMUM, MAXIMUM
bool import_softmax(State& s, const Node& node, Op& op);
bool import_log_softmax(State& s, const Node& node, Op& op);
bool import_arg_max(State& s, const Node& node, Op& op);
bool import_arg_min(State& s, const Node& node, Op& op);

// functions.cpp
bool import_leaky_relu(State& s, const Node& node, Op& op);
bool import_hard_swish(State& s, const Node& node, Op& op);
bool import_logistic(State& s, const Node& node, Op& op);
bool import_tanh(State& s, const Node& node, Op& op);
bool import_relu(State& s, const Node& node, Op& op);
bool import_relu6(State& s, const Node& node, Op& op);
bool import_relu_n1_to_1(State& s, const Node& node, Op& op);
bool import_exp(State& s, const Node& node, Op& op);
bool import_log(State& s, const Node& node, Op& op);
bool import_sqrt(State& s, const Node& node, Op& op);
bool import_rsqrt(State& s, const Node& node, Op& op);
bool import_abs(State& s, const Node& node, Op& op);
bool import_neg(State& s, const Node& node, Op& op);
bool import_elu(State& s, const Node& node, Op& op);
bool import_gelu(State& s, const Node& node, Op& op);

// reals.cpp
// Takes note of what a DEQUANTIZE, `op`, makes of its activation.
void dequantises(State& s, const Op& op);
// Takes a node that computes functions of dequantised values: it is none of the graph. False: it is no such node.
bool is_real(State& s, const Node& node, Code code);
// A QUANTIZE of such values: the table of what their activation becomes.
bool import_function_of_real(State& s, const Node& node, Op& op);

// moves.cpp
bool import_reshape(State& s, const Node& node, Op& op);
bool import_concat(State& s, const Node& node, Op& op);
bool import_pad(State& s, const Node& node, Op& op);
bool import_slice(State& s, const Node& node, Op& op);
bool import_strided_slice(State& s, const Node& node, Op& op);
bool import_resize_nearest(State& s, const Node& node, Op& op);
bool import_resize_bilinear(State& s, const Node& node, Op& op);
bool import_pack(State& s, const Node& node, Op& op);
// One slice per output, which they append to the graph themselves.
void import_split(State& s, const Node& node);  // SPLIT_V too
void import_unpack(State& s, const Node& node);

// fold.cpp
// Takes a node that computes integers from shapes and constants: it is none of the graph. False: it is no such node.
bool folds(State& s, const Node& node, Code code);
// The integers that such a node computed; null: none did.
const Folded* folded_integers(const State& s, int index);

// shuffle.cpp
// Takes a node that is a step of a channel shuffle, but the last: nothing is computed, and the tensors,
// perhaps of rank 5, are none of the graph. False: it is no such step.
bool regroups(State& s, const Node& node, Code code);
// The last reshape of a channel shuffle.
bool import_shuffle(State& s, Op& op, const Regrouping& regrouping);

// rearrange.cpp
// The last reshape of a transposition between two reshapes that is no channel shuffle.
bool import_regrouped(State& s, Op& op, const Regrouping& regrouping);
// A tensor between the reshapes that another operator, or the network's user, reads: it is made then.
void complete_regrouping(State& s, int index);
// Of what is no step of a channel shuffle.
bool import_transpose(State& s, const Node& node, Op& op);
bool import_depth_to_space(State& s, const Node& node, Op& op);
bool import_space_to_depth(State& s, const Node& node, Op& op);
bool import_tile(State& s, const Node& node, Op& op);
bool import_reverse(State& s, const Node& node, Op& op);
bool import_broadcast(State& s, const Node& node, Op& op);
bool import_filled(State& s, const Node& node, Op& op);
bool import_gather(State& s, const Node& node, Op& op);
bool import_mirror_pad(State& s, const Node& node, Op& op);
// Cells of a dimension: `size` of them from `begin` on, `stride` apart, as a dimension of the output or, a single one, as none.
struct Range {
  int begin = 0;
  int size = 1;
  int stride = 1;
  bool drops = false;
};
// All cells of each dimension.
std::vector<Range> whole(const Shape& shape);
// One range a dimension of the operator's input: a Slice where it is a box, else a Rearrange.
bool import_ranges(State& s, Op& op, const std::vector<Range>& ranges);

}  // namespace kaiten::importing::from_tflite

#endif  // KAITEN_IMPORT_TFLITE_OPERATORS_H
