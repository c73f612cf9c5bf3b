// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Integers that a file computes from shapes and constants alone: the sizes of reshapes, slices and paddings. Shapes are
// fixed, so their values are known here and no operator of the graph computes them.
#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "import/tflite/layer.h"
#include "import/tflite/operators.h"
#include "import/tflite/tensors.h"

namespace kaiten::importing::from_tflite {

namespace {

using Integers = std::vector<std::int64_t>;

constexpr std::int64_t kMostIntegers = 64;

bool is_integer(tflite::TensorType type) {
  return type == tflite::TensorType::INT32 || type == tflite::TensorType::INT64;
}

// What is known of the integers of a tensor: computed before, or a constant of the file.
const Folded* known(State& s, int index) {
  if (index == kNoTensor) return nullptr;
  if (const auto at = s.folded.find(index); at != s.folded.end()) return &at->second;
  const tflite::TensorType type = s.file_tensor(index).type();
  if (!is_integer(type) || s.status_of(index) != Status::Untouched || !has_data(s, index)) return nullptr;
  const std::optional<Shape> shape = stated_shape(s, index);
  const std::int64_t count = shape ? check_shape(s, index, *shape) : 1;
  const auto* data = buffer_of(s, index).data();
  const std::size_t width = type == tflite::TensorType::INT32 ? 4 : 8;
  if (count > kMostIntegers || data == nullptr || data->size() != std::size_t(count) * width) return nullptr;
  Folded f{shape.value_or(Shape{}), {}};
  for (std::size_t i = 0; i < std::size_t(count); i++) {
    f.values.push_back(width == 4 ? fb::ReadScalar<std::int32_t>(data->Data() + i * width)
                                  : fb::ReadScalar<std::int64_t>(data->Data() + i * width));
  }
  return &s.folded.emplace(index, std::move(f)).first->second;
}

Shape list_of(std::size_t n) { return {int(n)}; }

// Of lists and single numbers alone. Nothing: it is not known how.
using Operands = std::vector<const Folded*>;

std::optional<Folded> joined(const Operands& operands) {
  Folded all;
  for (const Folded* f : operands) {
    all.values.insert(all.values.end(), f->values.begin(), f->values.end());
    if (std::int64_t(all.values.size()) > kMostIntegers) return std::nullopt;
  }
  all.shape = list_of(all.values.size());
  return all;
}

std::optional<Folded> pack(State&, const Node&, const Operands& operands) {
  for (const Folded* f : operands) {
    if (f->values.size() != 1) return std::nullopt;
  }
  return joined(operands);
}

std::optional<Folded> concatenate(State&, const Node&, const Operands& operands) {
  for (const Folded* f : operands) {
    if (f->shape.size() != 1) return std::nullopt;
  }
  return joined(operands);
}

// From begin to end, in steps of `stride`, of a list; begins and ends beyond it are at its ends.
std::optional<Folded> strided_slice(State& s, const Node& node, const Operands& operands) {
  const auto& settings = options<tflite::StridedSliceOptions>(s, node);
  if (operands.size() != 4 || operands[0]->shape.size() != 1 || settings.ellipsis_mask() != 0 ||
      settings.new_axis_mask() != 0)
    return std::nullopt;
  for (std::size_t i = 1; i < 4; i++) {
    if (operands[i]->values.size() != 1) return std::nullopt;
  }
  const Integers& from = operands[0]->values;
  const auto size = std::int64_t(from.size());
  const std::int64_t stride = operands[3]->values[0];
  if (stride < 1) return std::nullopt;
  const auto position = [&](std::int64_t v) {
    return std::clamp<std::int64_t>(v < 0 ? v + size : v, 0, size);
  };
  std::int64_t begin = (settings.begin_mask() & 1) != 0 ? 0 : position(operands[1]->values[0]);
  const bool one = (settings.shrink_axis_mask() & 1) != 0;
  std::int64_t end = one                              ? begin + 1
                     : (settings.end_mask() & 1) != 0 ? size
                                                      : position(operands[2]->values[0]);
  if (one && begin >= size) fail_layer(s, "slice leaves its input");
  Folded f;
  for (; begin < end; begin += std::min(stride, end - begin)) f.values.push_back(from[std::size_t(begin)]);
  f.shape = one ? Shape{} : list_of(f.values.size());
  return f;
}

std::optional<Folded> slice(State& s, const Node&, const Operands& operands) {
  if (operands.size() != 3 || operands[0]->shape.size() != 1 || operands[1]->values.size() != 1 ||
      operands[2]->values.size() != 1)
    return std::nullopt;
  const Integers& from = operands[0]->values;
  const auto size = std::int64_t(from.size());
  const std::int64_t begin = operands[1]->values[0];
  if (begin < 0 || begin > size) fail_layer(s, "slice leaves its input");
  const std::int64_t count = operands[2]->values[0] == -1 ? size - begin : operands[2]->values[0];
  if (count < 0 || count > size - begin) fail_layer(s, "slice leaves its input");
  Folded f;
  f.values.assign(from.begin() + begin, from.begin() + begin + count);
  f.shape = list_of(f.values.size());
  return f;
}

std::optional<Folded> gather(State& s, const Node&, const Operands& operands) {
  if (operands.size() != 2 || operands[0]->shape.size() != 1) return std::nullopt;
  Folded f{operands[1]->shape, {}};
  for (const std::int64_t i : operands[1]->values) {
    if (i < 0 || i >= std::int64_t(operands[0]->values.size())) fail_layer(s, "gathers beyond its input");
    f.values.push_back(operands[0]->values[std::size_t(i)]);
  }
  return f;
}

std::optional<Folded> cast(State&, const Node&, const Operands& operands) { return *operands[0]; }

// To a list or a single number, which the output says.
std::optional<Folded> reshape(State& s, const Node& node, const Operands& operands) {
  const Shape to = stated_shape(s, node.outputs()->Get(0)).value_or(Shape{});
  if (to.size() > 1 || (to.empty() && operands[0]->values.size() != 1)) return std::nullopt;
  return Folded{to.empty() ? to : list_of(operands[0]->values.size()), operands[0]->values};
}

std::optional<Folded> product(State&, const Node&, const Operands& operands) {
  if (operands[0]->shape.size() != 1) return std::nullopt;
  std::int64_t value = 1;
  for (const std::int64_t v : operands[0]->values) {
    if (__builtin_mul_overflow(value, v, &value)) return std::nullopt;
  }
  return Folded{{}, {value}};
}

// Of lists of one length, or with single numbers.
template <class F>
std::optional<Folded> each(const Operands& operands, F f) {
  if (operands.size() != 2 || operands[0]->shape.size() > 1 || operands[1]->shape.size() > 1)
    return std::nullopt;
  const Integers &a = operands[0]->values, &b = operands[1]->values;
  if (a.empty() || b.empty()) return std::nullopt;
  if (a.size() != b.size() && a.size() != 1 && b.size() != 1) return std::nullopt;
  const std::size_t n = std::max(a.size(), b.size());
  Folded out{operands[0]->shape.empty() && operands[1]->shape.empty() ? Shape{} : list_of(n), {}};
  for (std::size_t i = 0; i < n; i++) {
    const std::optional<std::int64_t> value = f(a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
    if (!value) return std::nullopt;
    out.values.push_back(*value);
  }
  return out;
}

std::optional<Folded> add(State&, const Node&, const Operands& operands) {
  return each(operands, [](std::int64_t a, std::int64_t b) -> std::optional<std::int64_t> {
    std::int64_t v = 0;
    return __builtin_add_overflow(a, b, &v) ? std::nullopt : std::optional(v);
  });
}

std::optional<Folded> subtract(State&, const Node&, const Operands& operands) {
  return each(operands, [](std::int64_t a, std::int64_t b) -> std::optional<std::int64_t> {
    std::int64_t v = 0;
    return __builtin_sub_overflow(a, b, &v) ? std::nullopt : std::optional(v);
  });
}

std::optional<Folded> multiply(State&, const Node&, const Operands& operands) {
  return each(operands, [](std::int64_t a, std::int64_t b) -> std::optional<std::int64_t> {
    std::int64_t v = 0;
    return __builtin_mul_overflow(a, b, &v) ? std::nullopt : std::optional(v);
  });
}

// Of what sizes are, numbers from 0: the quotient rounded down and the one towards zero are the same.
std::optional<Folded> divide(State&, const Node&, const Operands& operands) {
  return each(operands, [](std::int64_t a, std::int64_t b) -> std::optional<std::int64_t> {
    return a < 0 || b <= 0 ? std::nullopt : std::optional(a / b);
  });
}

std::optional<Folded> minimum(State&, const Node&, const Operands& operands) {
  return each(operands, [](std::int64_t a, std::int64_t b) { return std::optional(std::min(a, b)); });
}

std::optional<Folded> maximum(State&, const Node&, const Operands& operands) {
  return each(operands, [](std::int64_t a, std::int64_t b) { return std::optional(std::max(a, b)); });
}

constexpr struct {
  Code code;
  std::optional<Folded> (*fold)(State& s, const Node& node, const Operands& operands);
} kFolds[] = {{Code::ADD, add},
              {Code::CAST, cast},
              {Code::CONCATENATION, concatenate},
              {Code::DIV, divide},
              {Code::EXPAND_DIMS, reshape},
              {Code::FLOOR_DIV, divide},
              {Code::GATHER, gather},
              {Code::MAXIMUM, maximum},
              {Code::MINIMUM, minimum},
              {Code::MUL, multiply},
              {Code::PACK, pack},
              {Code::REDUCE_PROD, product},
              {Code::RESHAPE, reshape},
              {Code::SLICE, slice},
              {Code::SQUEEZE, reshape},
              {Code::STRIDED_SLICE, strided_slice},
              {Code::SUB, subtract}};

std::optional<Folded> shape_of(const State& s, int index) {
  if (index == kNoTensor) return std::nullopt;
  const Status status = s.status_of(index);
  if (status != Status::Ready && status != Status::Regrouped && status != Status::Real) return std::nullopt;
  const std::optional<Shape> stated = stated_shape(s, index);
  const Shape& shape = status == Status::Regrouped ? *stated : s.tensor(index).shape;
  return Folded{list_of(shape.size()), Integers(shape.begin(), shape.end())};
}

std::optional<Folded> value_of(State& s, const Node& node, Code code) {
  if (code == Code::SHAPE) return shape_of(s, node.inputs()->Get(0));
  const auto* const entry =
      std::find_if(std::begin(kFolds), std::end(kFolds), [&](const auto& f) { return f.code == code; });
  if (entry == std::end(kFolds)) return std::nullopt;
  Operands operands;
  for (const int index : *node.inputs()) {
    operands.push_back(known(s, index));
    if (operands.back() == nullptr) return std::nullopt;
  }
  return is_clamped(node) ? std::nullopt : entry->fold(s, node, operands);
}

}  // namespace

std::vector<std::string> folded_operators() {
  std::vector<std::string> all;
  for (const auto& f : kFolds) all.emplace_back(tflite::EnumNameOperator(f.code));
  all.emplace_back("SHAPE");
  return all;
}

bool folds(State& s, const Node& node, Code code) {
  if (node.outputs()->size() != 1) return false;
  const int out = node.outputs()->Get(0);
  if (!is_integer(s.file_tensor(out).type()) || code == Code::ARG_MAX) return false;
  std::optional<Folded> value = value_of(s, node, code);
  if (!value || value->values.size() > kMostIntegers) return false;
  if (s.status_of(out) != Status::Untouched || has_data(s, out)) fail_layer(s, "an output is written twice");
  s.status_of(out) = Status::Folded;
  s.folded[out] = *std::move(value);
  return true;
}

const Folded* folded_integers(const State& s, int index) {
  const auto at = s.status_of(index) == Status::Folded ? s.folded.find(index) : s.folded.end();
  return at == s.folded.end() ? nullptr : &at->second;
}

}  // namespace kaiten::importing::from_tflite
