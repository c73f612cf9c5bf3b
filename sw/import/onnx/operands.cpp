// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <limits>

#include "import/onnx/importer.h"

namespace kaiten::onnx_import {

const Constant& Importer::constant(int value, const char* role) {
  const Value& v = at(value);
  if (v.form != Form::Constant)
    throw Refused{"constant " + std::string(role), "'" + v.name + "' is computed", ""};
  if (v.constant.bytes.empty() && elements_of(v.constant.shape) > 0) {
    throw Refused{std::string(role) + " of float32, int8, uint8, int32, int64", type_name(v.constant.type),
                  ""};
  }
  return v.constant;
}

std::vector<int64_t> Importer::numbers(int value, const char* role) {
  const Constant& c = constant(value, role);
  if (c.type != kInt64 && c.type != kInt32) fail(here() + role + " must be integers");
  if (c.size() > 64) fail(here() + role + " has " + std::to_string(c.size()) + " values");
  std::vector<int64_t> values;
  for (size_t i = 0; i < c.size(); i++) values.push_back(c.integer(i));
  return values;
}

Scales Importer::scales_of(const Node& node, int scale, int zero_point, int type) {
  Scales s;
  const Constant& c = constant(input(node, scale), "scale");
  if (c.type != kFloat) throw Refused{"scales of float32", type_name(c.type), ""};
  if (c.shape.size() > 1) throw Refused{"scales per tensor or per channel", "blocked scales", ""};
  if (c.size() == 0) fail(here() + "has an empty scale");
  for (size_t i = 0; i < c.size(); i++) {
    const float value = c.real(i);
    if (!(value > 0.0F) || !std::isfinite(value))
      fail(here() + "scale is " + number(value) + ", scales must be positive and finite");
    s.scale.push_back(value);
  }
  s.zero_point.assign(s.scale.size(), 0);
  s.type = type;
  if (has_input(node, zero_point)) {
    const Constant& z = constant(input(node, zero_point), "zero point");
    s.type = z.type;
    if (z.size() != s.scale.size() && z.size() != 1)
      fail(here() + "has " + std::to_string(s.scale.size()) + " scales but " + std::to_string(z.size()) +
           " zero points");
    for (size_t i = 0; i < s.zero_point.size(); i++) {
      const int64_t value = z.integer(z.size() == 1 ? 0 : i);
      if (value < -256 || value > 65535) fail(here() + "zero point is " + std::to_string(value));
      s.zero_point[i] = int(value);
    }
  }
  // More scales than one for a tensor are sometimes all the same.
  return s;
}

std::pair<float, float> Importer::clip_limits(const Node& node) {
  float lo = -std::numeric_limits<float>::infinity();
  float hi = std::numeric_limits<float>::infinity();
  if (node.op_type() == "Relu") return {0.0F, hi};
  lo = real(node, "min", lo);
  hi = real(node, "max", hi);
  const auto limit = [&](int i, float otherwise) {
    if (!has_input(node, i)) return otherwise;
    const Value& v = at(input(node, i));
    if (v.form == Form::Dequantised && at(v.source).form == Form::Constant) return dequantised(v).front();
    const Constant& c = constant(input(node, i), "limits");
    if (c.type != kFloat || c.size() != 1) throw Refused{"limits of one float32", type_name(c.type), ""};
    return c.real(0);
  };
  lo = limit(1, lo);
  hi = limit(2, hi);
  if (std::isnan(lo) || std::isnan(hi)) fail(here() + "limits are not numbers");
  return {lo, hi};
}

bool Importer::is_dequantised_activation(int value) {
  return value >= 0 && at(value).form == Form::Dequantised && at(at(value).source).form == Form::Quantised;
}

bool Importer::is_constant_value(int value) {
  return value >= 0 && (at(value).form == Form::Constant ||
                        (at(value).form == Form::Dequantised && at(at(value).source).form == Form::Constant));
}

int Importer::activation_of(int value) { return read_as(at(value).source, at(value).scales); }

std::vector<float> Importer::dequantised(const Value& v) {
  const Constant& c = at(v.source).constant;
  charge(int64_t(c.size()) * 4);
  size_t inner = 1;
  for (size_t d = size_t(v.scales.axis) + 1; d < c.shape.size(); d++) inner *= size_t(c.shape[d]);
  std::vector<float> values(c.size());
  for (size_t i = 0; i < values.size(); i++) {
    const size_t k = v.scales.scale.size() == 1 ? 0 : i / inner % v.scales.scale.size();
    values[i] = float(c.integer(i) - v.scales.zero_point[k]) * v.scales.scale[k];
  }
  return values;
}

}  // namespace kaiten::onnx_import
