// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <cstring>

#include "import/onnx/importer.h"

namespace kaiten::onnx_import {

Value Importer::constant_node(const Node& node) const {
  const auto* a = attribute(node, "value");
  if (a == nullptr || !a->has_t()) throw Refused{"constants with a value tensor", "another form", ""};
  if (a->t().data_location() == 1)
    throw Refused{"weights inside the model file", "a constant in another file", ""};
  Value value;
  value.form = Form::Constant;
  value.constant = read_constant(a->t());
  value.shape = value.constant.shape;
  return value;
}

std::optional<Value> Importer::fold(const Node& node) {
  const std::string& op = node.op_type();
  Value value;
  value.form = Form::Constant;
  Constant& c = value.constant;
  c.type = kInt64;
  const auto finish = [&](const std::vector<int64_t>& values, const Shape& shape) {
    c.shape = shape;
    c.bytes.resize(values.size() * 8);
    if (!values.empty()) std::memcpy(c.bytes.data(), values.data(), c.bytes.size());
    value.shape = shape;
    return std::optional<Value>(std::move(value));
  };
  if (op == "Shape") {
    const Shape& shape = at(input(node, 0)).shape;
    return finish({shape.begin(), shape.end()}, {int(shape.size())});
  }
  if (node.input_size() == 0 || at(input(node, 0)).form != Form::Constant) return std::nullopt;
  const Constant& first = at(input(node, 0)).constant;
  if (op == "Identity") {
    value.constant = first;
    value.shape = first.shape;
    return value;
  }
  if ((first.type != kInt64 && first.type != kInt32) || first.size() > 64) return std::nullopt;
  const std::vector<int64_t> values = numbers(input(node, 0), "operand");
  if (op == "Cast") return integer(node, "to", kInt64) == kInt64 ? finish(values, first.shape) : std::nullopt;
  if (op == "Unsqueeze") return finish(values, {int(values.size())});
  if (op == "Squeeze") return finish(values, values.size() == 1 ? Shape{} : Shape{int(values.size())});
  if (op == "Gather") {
    std::vector<int64_t> picked;
    const Constant& indices = constant(input(node, 1), "indices");
    for (const int64_t index : numbers(input(node, 1), "indices")) {
      const int64_t i = index < 0 ? index + int64_t(values.size()) : index;
      if (i < 0 || i >= int64_t(values.size()))
        fail(here() + "index " + std::to_string(index) + " out of range");
      picked.push_back(values[size_t(i)]);
    }
    return finish(picked, indices.shape);
  }
  if (op == "Concat") {
    std::vector<int64_t> all;
    for (int i = 0; i < node.input_size(); i++) {
      for (const int64_t v : numbers(input(node, i), "operand")) all.push_back(v);
    }
    if (all.size() > 64) fail(here() + "has " + std::to_string(all.size()) + " values");
    return finish(all, {int(all.size())});
  }
  return std::nullopt;
}

}  // namespace kaiten::onnx_import
