// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/fold.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/onnx/operands.h"

namespace kaiten::importing::from_onnx {

namespace {

constexpr std::size_t kMostNumbers = 64;

using Numbers = std::vector<std::int64_t>;

Value constant_value(Constant constant) {
  Value value;
  value.form = Form::Constant;
  value.shape = constant.shape;
  value.constant = std::move(constant);
  return value;
}

Value numbers_value(const Numbers& numbers, const Shape& shape) {
  return constant_value(Constant::of(numbers, shape));
}

Value floats_value(const std::vector<float>& floats, const Shape& shape) {
  return constant_value(Constant::of(floats, shape));
}

std::optional<Value> fold_cast(const State& s, const Node& node, const Numbers& numbers) {
  if (integer(node, "to", kInt64) != kInt64) return std::nullopt;
  return numbers_value(numbers, s.at(input(s, node, 0)).constant.shape);
}

std::optional<Value> fold_concat(const State& s, const Node& node, const Numbers&) {
  Numbers all;
  for (int i = 0; i < node.input_size(); i++) {
    for (const std::int64_t v : numbers(s, input(s, node, i), "operand")) all.push_back(v);
  }
  if (all.size() > kMostNumbers) fail_layer(s, "has " + std::to_string(all.size()) + " values");
  return numbers_value(all, {int(all.size())});
}

std::optional<Value> fold_gather(const State& s, const Node& node, const Numbers& values) {
  const int indices = input(s, node, 1);
  const Shape& shape = constant(s, indices, "indices").shape;
  const auto count = std::int64_t(values.size());
  Numbers picked;
  for (const std::int64_t index : numbers(s, indices, "indices")) {
    const std::int64_t i = index < 0 ? index + count : index;
    if (i < 0 || i >= count) fail_layer(s, "index " + std::to_string(index) + " out of range");
    picked.push_back(values[std::size_t(i)]);
  }
  return numbers_value(picked, shape);
}

std::optional<Value> fold_squeeze(const State&, const Node&, const Numbers& numbers) {
  return numbers_value(numbers, numbers.size() == 1 ? Shape{} : Shape{int(numbers.size())});
}

std::optional<Value> fold_unsqueeze(const State&, const Node&, const Numbers& numbers) {
  return numbers_value(numbers, {int(numbers.size())});
}

// Two lists of one length, or of which one has one number.
template <typename F>
std::optional<Value> fold_pair(const State& s, const Node& node, const Numbers& a, F f) {
  const int second = input(s, node, 1);
  if (s.at(second).form != Form::Constant) return std::nullopt;
  const Numbers b = numbers(s, second, "operand");
  if (a.empty() || b.empty() || (a.size() != b.size() && a.size() != 1 && b.size() != 1)) return std::nullopt;
  Numbers result;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); i++) {
    const std::int64_t y = b[b.size() == 1 ? 0 : i];
    const std::int64_t x = a[a.size() == 1 ? 0 : i];
    if (std::abs(x) > kMaxTensorElements || std::abs(y) > kMaxTensorElements) return std::nullopt;
    result.push_back(f(x, y));
  }
  const Shape& shape = s.at(input(s, node, 0)).constant.shape;
  const Shape& other = s.at(second).constant.shape;
  return numbers_value(result, shape.size() >= other.size() ? shape : other);
}

std::optional<Value> fold_add(const State& s, const Node& node, const Numbers& a) {
  return fold_pair(s, node, a, [](std::int64_t x, std::int64_t y) { return x + y; });
}
std::optional<Value> fold_sub(const State& s, const Node& node, const Numbers& a) {
  return fold_pair(s, node, a, [](std::int64_t x, std::int64_t y) { return x - y; });
}
std::optional<Value> fold_mul(const State& s, const Node& node, const Numbers& a) {
  return fold_pair(s, node, a, [](std::int64_t x, std::int64_t y) { return x * y; });
}
std::optional<Value> fold_div(const State& s, const Node& node, const Numbers& a) {
  return fold_pair(s, node, a, [&](std::int64_t x, std::int64_t y) {
    if (y == 0) fail_layer(s, "divides by 0");
    return x / y;
  });
}

// A range of a list.
std::optional<Value> fold_slice(const State& s, const Node& node, const Numbers& a) {
  const Numbers starts = numbers_of(s, node, 1, "starts"), ends = numbers_of(s, node, 2, "ends");
  const Numbers steps = numbers_of(s, node, 4, "steps");
  if (starts.size() != 1 || ends.size() != 1 || (!steps.empty() && steps != Numbers{1})) return std::nullopt;
  const auto count = std::int64_t(a.size());
  const auto place = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + count : at, 0, count);
  };
  const std::int64_t begin = place(starts[0]), end = std::max(begin, place(ends[0]));
  return numbers_value({a.begin() + begin, a.begin() + end}, {int(end - begin)});
}

// The shape of a value, from dimension `start` to before dimension `end`.
Value shape_of(const State& s, const Node& node) {
  const Shape& shape = s.at(input(s, node, 0)).shape;
  const auto rank = std::int64_t(shape.size());
  const auto place = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t begin = place(integer(node, "start", 0));
  const std::int64_t end = std::max(begin, place(integer(node, "end", rank)));
  return numbers_value({shape.begin() + begin, shape.begin() + end}, {int(end - begin)});
}

// Operators on integer constants: the first input's values are given.
struct Folding {
  std::string_view name;
  std::optional<Value> (*fold)(const State& s, const Node& node, const Numbers& numbers);
};

constexpr Folding kFoldings[] = {
    {"Add", fold_add},       {"Cast", fold_cast},
    {"Concat", fold_concat}, {"Div", fold_div},
    {"Gather", fold_gather}, {"Mul", fold_mul},
    {"Slice", fold_slice},   {"Squeeze", fold_squeeze},
    {"Sub", fold_sub},       {"Unsqueeze", fold_unsqueeze},
};

}  // namespace

Value constant_node(State&, const Node& node) {
  if (const auto* one = attribute(node, "value_float")) return floats_value({one->f()}, {});
  if (const auto* some = attribute(node, "value_floats"))
    return floats_value({some->floats().begin(), some->floats().end()}, {some->floats_size()});
  if (const auto* one = attribute(node, "value_int")) return numbers_value({one->i()}, {});
  if (attribute(node, "value_ints") != nullptr) {
    const Numbers some = integers(node, "value_ints");
    return numbers_value(some, {int(some.size())});
  }
  const auto* a = attribute(node, "value");
  if (a == nullptr || !a->has_t()) throw Unsupported{"constants with a value tensor", "another form"};
  if (a->t().data_location() == 1)
    throw Unsupported{"weights inside the model file", "a constant in another file"};
  return constant_value(read_constant(a->t()));
}

std::optional<Value> fold(const State& s, const Node& node) {
  const std::string& op = node.op_type();
  if (op == "Shape") return shape_of(s, node);
  if (node.input_size() == 0 || s.at(input(s, node, 0)).form != Form::Constant) return std::nullopt;
  const Constant& first = s.at(input(s, node, 0)).constant;
  if (op == "Identity") return constant_value(first);
  if ((first.type != kInt64 && first.type != kInt32) || first.size() > kMostNumbers) return std::nullopt;
  const Numbers values = numbers(s, input(s, node, 0), "operand");
  const auto* const folding = std::find_if(std::begin(kFoldings), std::end(kFoldings),
                                           [&](const Folding& f) { return f.name == op; });
  if (folding == std::end(kFoldings)) return std::nullopt;
  return folding->fold(s, node, values);
}

}  // namespace kaiten::importing::from_onnx
