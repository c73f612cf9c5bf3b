// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/common/shapes.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include "base/error.h"
#include "graph/quantize.h"

namespace kaiten::importing {

std::int64_t checked_elements(const Shape& shape, const std::string& whose) {
  std::int64_t elements = 1;
  for (const int dim : shape) {
    if (dim < 1) fail(whose + "shape " + shape_text(shape) + ", dimensions must be positive");
    elements *= dim;  // both factors below 2^31
    if (elements > kMaxTensorElements) {
      fail(whose + "shape " + shape_text(shape) + ", limit " + std::to_string(kMaxTensorElements) +
           " elements");
    }
  }
  return elements;
}

int checked_axis(const ImportState& s, std::int64_t axis, int rank) {
  const std::int64_t positive = axis < 0 ? axis + rank : axis;
  if (positive < 0 || positive >= rank) fail_layer(s, "axis " + std::to_string(axis) + " out of range");
  return int(positive);
}

bool is_permutation(const std::vector<std::int64_t>& order, int rank) {
  std::vector<std::int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); i++) {
    if (sorted[i] != std::int64_t(i)) return false;
  }
  return sorted.size() == std::size_t(rank);
}

bool same_quantization(const Quantization& a, const Quantization& b) {
  return a.scale == b.scale && a.zero_point == b.zero_point;
}

Unsupported one_scale(const std::string& scales) {
  return {"one scale per activation tensor", scales,
          "quantise activations per tensor; only weights may be per channel"};
}

Unsupported one_batch(const std::string& batch, const std::string& hint) {
  return {"batch of 1", batch, hint + "; kaiten run --batch runs several inputs one after the other"};
}

namespace {

// Kinds that need no four-dimensional view.
bool takes_any_rank(OpKind kind) {
  static const std::set<OpKind> kKinds = {OpKind::Reshape,   OpKind::Rearrange,
                                          OpKind::Concat,    OpKind::Quantize,
                                          OpKind::Table,     OpKind::ToInt8,
                                          OpKind::ToFloat,   OpKind::HostFloat,
                                          OpKind::Gather,    OpKind::BatchMatMul,
                                          OpKind::L2Norm,    OpKind::ReduceMin,
                                          OpKind::ReduceSum, OpKind::SquaredDifference,
                                          OpKind::Softmax,   OpKind::Mean,
                                          OpKind::ReduceMax, OpKind::Constant,
                                          OpKind::Add,       OpKind::Sub,
                                          OpKind::Mul,       OpKind::PRelu,
                                          OpKind::Minimum,   OpKind::Maximum};
  return kKinds.contains(kind);
}

}  // namespace

std::optional<Unsupported> rank_limit(const Graph& graph, const Op& op) {
  if (takes_any_rank(op.kind)) return std::nullopt;
  std::vector<int> tensors = op.inputs;
  tensors.push_back(op.output);
  for (const int t : tensors) {
    const Tensor& tensor = graph.tensors[std::size_t(t)];
    if (tensor.shape.size() <= kMaxRank) continue;
    return Unsupported{"tensors of rank " + std::to_string(kMaxRank) + " at most",
                       "'" + tensor.name + "' of rank " + std::to_string(tensor.shape.size())};
  }
  return std::nullopt;
}

std::optional<Unsupported> arithmetic_limit(const Graph& graph, const Op& op) {
  for (const RoundingStyle style : {RoundingStyle::LiteRt, RoundingStyle::Tflm}) {
    if (style == RoundingStyle::Tflm && !depends_on_style(graph, op)) continue;
    OpParams params;
    try {
      params = op_params(graph, op, style);
    } catch (const InputError&) {
      return Unsupported{"requantisation factors below 2^30",
                         "input, weight and output scales that give a larger one",
                         "the scales of this layer look damaged"};
    }
    const AccumulatorRange range = accumulator_range(graph, op, params);
    if (range.fits_int32()) continue;
    return Unsupported{"accumulators of 32 bits for every input, -2147483648 to 2147483647",
                       std::to_string(range.min) + " to " + std::to_string(range.max) + " in the worst case",
                       ""};
  }
  return std::nullopt;
}

}  // namespace kaiten::importing
