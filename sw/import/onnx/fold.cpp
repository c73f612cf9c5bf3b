// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/fold.h"

#include <algorithm>
#include <cstring>
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
  Constant c;
  c.type = kInt64;
  c.shape = shape;
  c.bytes.resize(numbers.size() * 8);
  if (!numbers.empty()) std::memcpy(c.bytes.data(), numbers.data(), c.bytes.size());
  return constant_value(std::move(c));
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

// Operators on integer constants: the first input's values are given.
struct Folding {
  std::string_view name;
  std::optional<Value> (*fold)(const State& s, const Node& node, const Numbers& numbers);
};

constexpr Folding kFoldings[] = {
    {"Cast", fold_cast},       {"Concat", fold_concat},       {"Gather", fold_gather},
    {"Squeeze", fold_squeeze}, {"Unsqueeze", fold_unsqueeze},
};

}  // namespace

Value constant_node(State&, const Node& node) {
  const auto* a = attribute(node, "value");
  if (a == nullptr || !a->has_t()) throw Unsupported{"constants with a value tensor", "another form"};
  if (a->t().data_location() == 1)
    throw Unsupported{"weights inside the model file", "a constant in another file"};
  return constant_value(read_constant(a->t()));
}

std::optional<Value> fold(const State& s, const Node& node) {
  const std::string& op = node.op_type();
  if (op == "Shape") {
    const Shape& shape = s.at(input(s, node, 0)).shape;
    return numbers_value({shape.begin(), shape.end()}, {int(shape.size())});
  }
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
