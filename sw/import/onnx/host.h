// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Float expressions, and their arithmetic on the host: one function per operator of the table, which gives the
// tensor of the expression.
#ifndef KAITEN_IMPORT_ONNX_HOST_H
#define KAITEN_IMPORT_ONNX_HOST_H

#include "import/onnx/operators.h"

namespace kaiten::importing::from_onnx {

// Output `part` of a node on float values: nothing is computed yet.
Value expression(State& s, const Node& node, int part);

// The value as a tensor of the graph, with the host operators that make it; as_float: a float32 one.
int on_host(State& s, int value);

// The tensor of a value as an output of the network, float ones computed on the host. Throws Unsupported.
int output_tensor(State& s, int value);
int as_float(State& s, int value);
// Whether the host can compute it in float32.
bool can_be_float(const State& s, int value);

// Emits host arithmetic of the first `used` operands.
int emit_host(State& s, const Expression& e, HostKind kind, Op op, std::size_t used);

int emit_chain(State& s, const Expression& e, HostKind kind);
int emit_reduction(State& s, const Expression& e, HostKind kind);

template <HostKind kKind>
int host_single(State& s, const Expression& e) {
  return emit_host(s, e, kKind, {}, 1);
}

template <HostKind kKind>
int host_pair(State& s, const Expression& e) {
  return emit_host(s, e, kKind, {}, 2);
}

// Of any number of operands, the first two, then the result and the next.
template <HostKind kKind>
int host_chain(State& s, const Expression& e) {
  return emit_chain(s, e, kKind);
}

// Over axes.
template <HostKind kKind>
int host_reduction(State& s, const Expression& e) {
  return emit_reduction(s, e, kKind);
}

int host_arg_max(State& s, const Expression& e);
struct BatchNormalisation {
  std::vector<float> factor, offset;  // of each channel
};
BatchNormalisation batch_normalisation_of(State& s, const Expression& e);
int host_batch_normalisation(State& s, const Expression& e);
int host_conv_transpose(State& s, const Expression& e);
int host_concat(State& s, const Expression& e);
int host_function(State& s, const Expression& e);
int host_gemm(State& s, const Expression& e);
int host_instance_norm(State& s, const Expression& e);
int host_layer_norm(State& s, const Expression& e);
int host_lrn(State& s, const Expression& e);
int host_pad(State& s, const Expression& e);
int host_pool(State& s, const Expression& e);
int host_softmax(State& s, const Expression& e);

}  // namespace kaiten::importing::from_onnx

#endif  // KAITEN_IMPORT_ONNX_HOST_H
