// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/operands.h"

#include <cmath>
#include <limits>
#include <string>

namespace kaiten::importing::from_onnx {

namespace {

constexpr std::size_t kMostNumbers = 64;

// One limit of a Clip.
float limit_of(State& s, const Node& node, int i, float otherwise) {
  if (!has_input(node, i)) return otherwise;
  const int value = input(s, node, i);
  const Value& v = s.at(value);
  if (v.form == Form::Dequantised && is_constant_value(s, value)) {
    const std::vector<float> values = dequantised(s, v);
    if (values.size() != 1)
      throw Unsupported{"limits of one float32", std::to_string(values.size()) + " values"};
    return values.front();
  }
  const Constant& c = constant(s, value, "limits");
  if (c.type != kFloat || c.size() != 1) throw Unsupported{"limits of one float32", type_name(c.type)};
  return c.real(0);
}

// The zero points of `s.scale.size()` scales.
void take_zero_points(const State& state, const Constant& z, Scales& s) {
  s.type = z.type;
  if (z.size() != s.scale.size() && z.size() != 1) {
    fail_layer(state, "has " + std::to_string(s.scale.size()) + " scales but " + std::to_string(z.size()) +
                          " zero points");
  }
  for (std::size_t i = 0; i < s.zero_point.size(); i++) {
    const std::int64_t value = z.integer(z.size() == 1 ? 0 : i);
    if (value < -256 || value > 65535) fail_layer(state, "zero point is " + std::to_string(value));
    s.zero_point[i] = int(value);
  }
}

}  // namespace

int input(const State& s, const Node& node, int i) {
  if (!has_input(node, i)) fail_layer(s, "input " + std::to_string(i) + " is absent");
  return s.by_name.at(node.input(i));
}

const Constant& constant(const State& s, int value, const char* role) {
  const Value& v = s.at(value);
  if (v.form != Form::Constant)
    throw Unsupported{"constant " + std::string(role), "'" + v.name + "' is computed"};
  if (v.constant.bytes.empty() && elements_of(v.constant.shape) > 0) {
    throw Unsupported{std::string(role) + " of float32, int8, uint8, int32, int64",
                      type_name(v.constant.type)};
  }
  return v.constant;
}

std::vector<std::int64_t> numbers(const State& s, int value, const char* role) {
  const Constant& c = constant(s, value, role);
  if (c.type != kInt64 && c.type != kInt32) fail_layer(s, std::string(role) + " must be integers");
  if (c.size() > kMostNumbers)
    fail_layer(s, std::string(role) + " has " + std::to_string(c.size()) + " values");
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < c.size(); i++) values.push_back(c.integer(i));
  return values;
}

std::vector<std::int64_t> numbers_of(const State& s, const Node& node, int input_index, const char* name) {
  return has_input(node, input_index) ? numbers(s, input(s, node, input_index), name) : integers(node, name);
}

Scales scales_of(const State& s, const Node& node, int scale, int zero_point, int type) {
  Scales scales;
  const Constant& c = constant(s, input(s, node, scale), "scale");
  if (c.type != kFloat) throw Unsupported{"scales of float32", type_name(c.type)};
  if (c.shape.size() > 1) throw Unsupported{"scales per tensor or per channel", "blocked scales"};
  if (c.size() == 0) fail_layer(s, "has an empty scale");
  for (std::size_t i = 0; i < c.size(); i++) {
    const float value = c.real(i);
    if (!(value > 0.0F) || !std::isfinite(value))
      fail_layer(s, "scale is " + number(double(value)) + ", scales must be positive and finite");
    scales.scale.push_back(value);
  }
  scales.zero_point.assign(scales.scale.size(), 0);
  scales.type = type;
  if (has_input(node, zero_point))
    take_zero_points(s, constant(s, input(s, node, zero_point), "zero point"), scales);
  return scales;
}

std::pair<float, float> clip_limits(State& s, const Node& node) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (node.op_type() == "Relu") return {0.0F, kInfinity};
  const float lo = limit_of(s, node, 1, real(node, "min", -kInfinity));
  const float hi = limit_of(s, node, 2, real(node, "max", kInfinity));
  if (std::isnan(lo) || std::isnan(hi)) fail_layer(s, "limits are not numbers");
  return {lo, hi};
}

bool is_dequantised_activation(const State& s, int value) {
  return value >= 0 && s.at(value).form == Form::Dequantised &&
         s.at(s.at(value).source).form == Form::Quantised;
}

bool is_constant_value(const State& s, int value) {
  if (value < 0) return false;
  const Value& v = s.at(value);
  return v.form == Form::Constant || (v.form == Form::Dequantised && s.at(v.source).form == Form::Constant);
}

std::vector<float> dequantised(State& s, const Value& v) {
  const Constant& c = s.at(v.source).constant;
  charge_constant(s, std::int64_t(c.size()) * 4);
  std::size_t inner = 1;
  for (std::size_t d = std::size_t(v.scales.axis) + 1; d < c.shape.size(); d++)
    inner *= std::size_t(c.shape[d]);
  std::vector<float> values(c.size());
  for (std::size_t i = 0; i < values.size(); i++) {
    const std::size_t k = v.scales.scale.size() == 1 ? 0 : i / inner % v.scales.scale.size();
    values[i] = float(c.integer(i) - v.scales.zero_point[k]) * v.scales.scale[k];
  }
  return values;
}

std::vector<float> real_values(State& s, int value) {
  if (is_constant_value(s, value) && s.at(value).form == Form::Dequantised)
    return dequantised(s, s.at(value));
  const Constant& c = constant(s, value, "operand");
  if (c.type != kFloat) throw Unsupported{"operands of float32", type_name(c.type)};
  std::vector<float> values;
  for (std::size_t i = 0; i < c.size(); i++) values.push_back(c.real(i));
  return values;
}

}  // namespace kaiten::importing::from_onnx
