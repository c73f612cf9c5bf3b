// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Channel shuffles in TensorFlow Lite: RESHAPE, TRANSPOSE, RESHAPE (channel_shuffle.h).
#include <optional>
#include <string>
#include <utility>

#include "import/common/channel_shuffle.h"
#include "import/tflite/constants.h"
#include "import/tflite/layer.h"
#include "import/tflite/operators.h"
#include "import/tflite/tensors.h"

namespace kaiten::importing::from_tflite {

namespace {

constexpr fb::uoffset_t kMaxGroupedRank = 8;  // between the reshapes

// Whether an operator TRANSPOSE reads the tensor, and nothing else.
bool feeds_transpose(State& s, int tensor) {
  if (!s.readers) {
    s.readers.emplace();
    for (const Node* node : *s.operators) {
      if (node->inputs() == nullptr) continue;
      const bool transpose = code_of(s, *node) == Code::TRANSPOSE;
      for (const int in : *node->inputs()) {
        const auto known = s.readers->try_emplace(in, transpose).first;
        known->second = known->second && transpose;
      }
    }
  }
  const auto found = s.readers->find(tensor);
  return found != s.readers->end() && found->second;
}

// Whether the file states a shape for `out` that the tensor has as many elements as; it may leave the first dimension open.
bool states_as_many(const State& s, int tensor, int out) {
  const std::optional<Shape> shape = stated_shape(s, out);
  return shape && check_shape(s, out, *shape) == std::int64_t(s.tensor(tensor).elements());
}

// The order is empty after a refusal.
Regrouping transposed(State& s, const Node& node, Regrouping regrouping, const Shape& shape) {
  if (node.inputs()->size() != 2) fail_layer(s, "has " + std::to_string(node.inputs()->size()) + " inputs");
  regrouping.order = import_numbers(s, node.inputs()->Get(1), "order");
  const auto& [map, dims, order] = regrouping;
  if (order.empty()) return regrouping;
  if (!is_permutation({order.begin(), order.end()}, int(dims.size())))
    fail_layer(s, "its order is no permutation");
  Shape expected;
  for (const int d : order) expected.push_back(dims[std::size_t(d)]);
  if (shape != expected) fail_layer(s, "output has shape " + shape_text(shape));
  return regrouping;
}

}  // namespace

bool regroups(State& s, const Node& node, Code code) {
  const int in = node.inputs()->Get(0);
  const int out = node.outputs()->Get(0);
  const bool reshape = code == Code::RESHAPE && feeds_transpose(s, out);
  const bool transpose = code == Code::TRANSPOSE && in != kNoTensor && s.status_of(in) == Status::Regrouped &&
                         s.regrouped[in].order.empty();
  if ((!reshape && !transpose) || in == kNoTensor || s.status_of(in) == Status::Untouched) return false;
  if (reshape && s.status_of(in) == Status::Regrouped) return false;
  if (reshape && s.tensor(in).type != ElementType::Int8) return false;
  if (!states_shape(s, out)) return false;
  if (reshape && s.status_of(in) == Status::Ready && !states_as_many(s, in, out)) return false;
  if (s.status_of(out) != Status::Untouched || has_data(s, out)) fail_layer(s, "an output is written twice");
  s.status_of(out) = Status::Unsupported;
  if (s.status_of(in) == Status::Unsupported) return true;
  if (s.file_tensor(in).type() != s.file_tensor(out).type()) fail_layer(s, "changes the type");
  const std::optional<Shape> shape = stated_shape(s, out);
  if (!shape || shape->size() > kMaxGroupedRank) fail_layer(s, "output has no sound shape");
  Regrouping next = reshape ? Regrouping{in, *shape, {}} : transposed(s, node, s.regrouped[in], *shape);
  if (transpose && next.order.empty()) return true;  // refused
  s.regrouped[out] = std::move(next);
  s.status_of(out) = Status::Regrouped;
  return true;
}

bool import_shuffle(State& s, Op& op, const Regrouping& regrouping) {
  op.kind = OpKind::Shuffle;
  op.inputs = {regrouping.map};
  const Tensor& in = s.graph.input_of(op);
  const Tensor& out = s.graph.output_of(op);
  const auto from = regrouping.order.empty()
                        ? std::nullopt
                        : shuffled_channels(regrouping.dims, regrouping.order, in.nhwc().c, true);
  if (!from || in.shape != out.shape) return import_regrouped(s, op, regrouping);
  op.dims = *from;
  return expect_same_quantization(s, op);
}

}  // namespace kaiten::importing::from_tflite
