// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What a float expression between DequantizeLinear and QuantizeLinear becomes: one function per operator of
// the table, which gives the output tensor of scales `out`, or kNoTensor where the operands do not allow a
// quantised operator. `op` has the limits that clamps after the expression set.
#ifndef KAITEN_IMPORT_ONNX_FUSE_H
#define KAITEN_IMPORT_ONNX_FUSE_H

#include "import/onnx/operators.h"

namespace kaiten::importing::from_onnx {

// Of a value: an expression, or a dequantised value that is quantised again.
int fuse(State& s, int value, const Op& op, const Scales& out);

int fuse_add(State& s, const Expression& e, Op op, const Scales& out);
// Convolutions and products in a value that is to be quantised read what moves do to a dequantised activation as a dequantised
// activation.
void move_operands_before_dequantising(State& s, int value);
int fuse_batch_normalisation(State& s, const Expression& e, Op op, const Scales& out);
int fuse_average_pool(State& s, const Expression& e, Op op, const Scales& out);
int fuse_concat(State& s, const Expression& e, Op op, const Scales& out);
int fuse_conv(State& s, const Expression& e, Op op, const Scales& out);
int fuse_gemm(State& s, const Expression& e, Op op, const Scales& out);
int fuse_max_pool(State& s, const Expression& e, Op op, const Scales& out);
int fuse_global_average(State& s, const Expression& e, Op op, const Scales& out);
int fuse_move(State& s, const Expression& e, Op op, const Scales& out);
int fuse_mul(State& s, const Expression& e, Op op, const Scales& out);
int fuse_reshape(State& s, const Expression& e, Op op, const Scales& out);
int fuse_resize(State& s, const Expression& e, Op op, const Scales& out);
int fuse_slice(State& s, const Expression& e, Op op, const Scales& out);
int fuse_sub(State& s, const Expression& e, Op op, const Scales& out);
int fuse_table(State& s, const Expression& e, Op op, const Scales& out);

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_FUSE_H
