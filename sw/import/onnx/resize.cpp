// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/resize.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "import/onnx/host.h"
#include "import/onnx/layers.h"
#include "import/onnx/operands.h"
#include "import/onnx/rearrange.h"
#include "import/onnx/shapes.h"
#include "import/onnx/tensors.h"

namespace kaiten::importing::from_onnx {

namespace {

constexpr int kFirstOfCoordinates = 11;  // the operator's version that knows more than asymmetric positions
constexpr int kRows = 2, kColumns = 3;   // dimensions of a map

struct Resizing {
  Shape out;
  std::vector<float> factors;  // of all dimensions
  std::string positions;       // coordinate_transformation_mode
  std::string nearest;         // nearest_mode; "simple": before version 11
  bool linear = false;
};

// Dimensions that are stated, in the order of scales or sizes.
std::vector<int> resized_axes(const State& s, const Node& node) {
  if (attribute(node, "axes") == nullptr) return {0, 1, 2, 3};
  std::vector<int> axes;
  for (const std::int64_t axis : integers(node, "axes")) axes.push_back(checked_axis(s, axis, 4));
  return axes;
}

void take_sizes(const State& s, const Node& node, const Shape& in, Resizing& r) {
  const std::vector<int> axes = resized_axes(s, node);
  r.out = in;
  r.factors.assign(4, 1.0F);
  const bool by_size = has_input(node, 3);
  std::vector<std::int64_t> sizes;
  std::vector<float> factors;
  if (by_size) {
    sizes = numbers(s, input(s, node, 3), "sizes");
  } else {
    const Constant& scales = constant(s, input(s, node, node.input_size() > 2 ? 2 : 1), "scales");
    for (std::size_t i = 0; i < scales.size(); i++) factors.push_back(scales.real(i));
  }
  if (std::max(sizes.size(), factors.size()) != axes.size())
    fail_layer(s, "scales or sizes for " + std::to_string(axes.size()) + " dimensions expected");
  for (std::size_t i = 0; i < axes.size(); i++) {
    const auto d = std::size_t(axes[i]);
    const double size = by_size ? double(sizes[i]) : std::floor(double(factors[i] * float(in[d])));
    if (!(size >= 1) || size > double(kMaxTensorElements)) fail_layer(s, "resizes to " + number(size));
    r.out[d] = int(size);
    r.factors[d] = by_size ? float(r.out[d]) / float(in[d]) : factors[i];
    if (d < kRows && r.factors[d] != 1)
      throw Unsupported{"resizing of rows and columns",
                        "factor " + number(double(r.factors[d])) + " of dimension " + std::to_string(d)};
  }
}

Resizing resizing_of(const State& s, const Node& node, const Shape& in) {
  if (in.size() != 4) throw Unsupported{"two-dimensional resizing", "an input of shape " + shape_text(in)};
  Resizing r;
  const bool old = s.opset < kFirstOfCoordinates;
  const std::string mode = text(node, "mode", "nearest");
  r.positions = text(node, "coordinate_transformation_mode", old ? "asymmetric" : "half_pixel");
  r.nearest = text(node, "nearest_mode", old ? "simple" : "round_prefer_floor");
  r.linear = mode == "linear";
  if (mode != "nearest" && mode != "linear")
    throw Unsupported{"nearest or linear resizing", "mode " + clean_name(mode)};
  if (r.positions == "tf_crop_and_resize")
    throw Unsupported{"resizing of whole maps", clean_name(r.positions)};
  if (integer(node, "antialias", 0) != 0) throw Unsupported{"resizing without filter", "antialias"};
  if (const std::string policy = text(node, "keep_aspect_ratio_policy", "stretch"); policy != "stretch")
    throw Unsupported{"stated sizes", "keep_aspect_ratio_policy " + clean_name(policy)};
  take_sizes(s, node, in, r);
  if (std::int64_t(r.out[kRows]) * r.out[kColumns] > kMaxTensorElements)
    fail_layer(s, "makes too many elements");
  return r;
}

// Where cell `at` of the result lies in the map, along dimension d.
float position(const State& s, const Resizing& r, std::size_t d, int from, int at) {
  const float factor = r.factors[d], x = float(at), to = float(r.out[d]), size = float(from);
  const std::string& mode = r.positions;
  if (mode == "asymmetric") return x / factor;
  if (mode == "half_pixel") return (x + 0.5F) / factor - 0.5F;
  if (mode == "pytorch_half_pixel") return to > 1 ? (x + 0.5F) / factor - 0.5F : 0.0F;
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5F) / factor;
  if (mode == "align_corners") return to == 1 ? 0.0F : x * (size - 1) / (to - 1);
  if (mode == "half_pixel_symmetric") {
    const float adjustment = to / (factor * size);
    return size / 2 * (1 - adjustment) + (x + 0.5F) / factor - 0.5F;
  }
  fail_layer(s, "coordinate_transformation_mode is " + clean_name(mode));
}

int nearest_cell(const State& s, const Resizing& r, std::size_t d, float x) {
  if (r.nearest == "simple") return int(r.factors[d] < 1 ? std::ceil(x) : x);
  if (r.nearest == "floor") return int(std::floor(x));
  if (r.nearest == "ceil") return int(std::ceil(x));
  if (r.nearest == "round_prefer_ceil") return int(std::round(x));
  if (r.nearest != "round_prefer_floor") fail_layer(s, "nearest_mode is " + clean_name(r.nearest));
  return x == float(int(x)) + 0.5F ? int(x) : int(std::round(x));
}

std::vector<int> nearest_cells(const State& s, const Resizing& r, std::size_t d, int from) {
  std::vector<int> cells;
  for (int at = 0; at < r.out[d]; at++) {
    const int cell = r.factors[d] == 1 ? at : nearest_cell(s, r, d, position(s, r, d, from, at));
    cells.push_back(std::clamp(cell, 0, from - 1));
  }
  return cells;
}

// The two cells that each result lies between, along one dimension, and their shares.
struct Between {
  std::vector<int> lower, upper;
  std::vector<float> of_lower, of_upper;
};

Between between(const State& s, const Resizing& r, std::size_t d, int from) {
  Between b;
  for (int at = 0; at < r.out[d]; at++) {
    const float stated = r.factors[d] == 1 ? float(at) : position(s, r, d, from, at);
    const float x = std::clamp(stated, 0.0F, float(from - 1));
    const int lower = std::min(int(x), from - 1), upper = std::min(lower + 1, from - 1);
    b.lower.push_back(lower);
    b.upper.push_back(upper);
    // At the border both are the same cell.
    b.of_lower.push_back(lower == upper ? 0.5F : std::abs(x - float(upper)));
    b.of_upper.push_back(lower == upper ? 0.5F : std::abs(x - float(lower)));
  }
  return b;
}

// Whole factors, for which the operator of TensorFlow Lite repeats the same pixels.
bool repeats(const Resizing& r, const Shape& in) {
  const bool by_floor = r.positions == "asymmetric" && r.nearest == "floor";
  const bool by_rounding = (r.positions == "half_pixel" || r.positions == "pytorch_half_pixel") &&
                           r.nearest.starts_with("round_prefer");
  const auto whole = [&](std::size_t d) {
    return r.factors[d] >= 1 && r.factors[d] == std::floor(r.factors[d]) &&
           r.out[d] == in[d] * int(r.factors[d]);
  };
  return (by_floor || by_rounding) && whole(kRows) && whole(kColumns);
}

int host_of(State& s, HostKind kind, std::vector<int> inputs, const std::string& name, const Shape& shape) {
  Op op;
  op.kind = OpKind::HostFloat;
  op.host_kind = kind;
  op.inputs = std::move(inputs);
  return emit_float(s, std::move(op), name, shape);
}

// A share of each cell of the result, rows times columns, of one of the four cells around it.
int shares(State& s, const Resizing& r, const std::string& name, const std::vector<float>& rows,
           const std::vector<float>& columns) {
  std::vector<float> values;
  for (const float row : rows) {
    for (const float column : columns) values.push_back(column * row);
  }
  return float_constant(s, name, {1, 1, r.out[kRows], r.out[kColumns]}, values);
}

int linear_in_float(State& s, const std::string& layer, const Resizing& r, int tensor, const Shape& in,
                    const Scales& scales) {
  const Between rows = between(s, r, kRows, in[kRows]), columns = between(s, r, kColumns, in[kColumns]);
  int sum = kNoTensor;
  // In onnxruntime's order.
  for (int corner = 0; corner < 4; corner++) {
    const bool lower_row = corner < 2, lower_column = corner % 2 == 0;
    const std::string name = layer + "/corner" + std::to_string(corner);
    const int of_rows = gathered(s, tensor, in, kRows, lower_row ? rows.lower : rows.upper, scales);
    Shape shape = in;
    shape[kRows] = r.out[kRows];
    Op real;
    real.kind = OpKind::ToFloat;
    real.inputs = {
        gathered(s, of_rows, shape, kColumns, lower_column ? columns.lower : columns.upper, scales)};
    const int cell = emit_float(s, std::move(real), name, r.out);
    const int share = shares(s, r, name + "/share", lower_row ? rows.of_lower : rows.of_upper,
                             lower_column ? columns.of_lower : columns.of_upper);
    const int product = host_of(s, HostKind::Mul, {share, cell}, name + "/product", r.out);
    sum = corner == 0 ? product
                      : host_of(s, HostKind::Add, {sum, product}, corner == 3 ? layer : name + "/sum", r.out);
  }
  return sum;
}

// onnxruntime resizes stored values as numbers, in float32, and cuts off what is behind the point.
int linear_of_stored(State& s, const Resizing& r, int tensor, const Shape& in, const Scales& scales) {
  const std::string name = s.layer.name;
  const Scales as_numbers{{1.0F}, {0}, scales.type, scales.axis};
  s.layer.name = name + "/linear";
  const int linear = linear_in_float(s, s.layer.name, r, tensor, in, as_numbers);
  s.layer.name = name;
  const int sign = host_of(s, HostKind::Sign, {linear}, name + "/sign", r.out);
  const int size = host_of(s, HostKind::Abs, {linear}, name + "/size", r.out);
  const int whole = host_of(s, HostKind::Floor, {size}, name + "/whole", r.out);
  const int number = host_of(s, HostKind::Mul, {sign, whole}, name + "/number", r.out);
  const int zero = float_constant(s, name + "/zero", {}, {float(scales.zero_point[0])});
  const int scale = float_constant(s, name + "/scale", {}, scales.scale);
  const int centred = host_of(s, HostKind::Sub, {number, zero}, name + "/centred", r.out);
  Op op;
  op.kind = OpKind::ToInt8;
  op.inputs = {host_of(s, HostKind::Mul, {centred, scale}, name + "/real", r.out)};
  return emit_quantised(s, std::move(op), inner_name(s, "/resized"), r.out, scales);
}

}  // namespace

Shape shape_of_resize(State& s, const Node& node, const Operands& x, int) {
  return resizing_of(s, node, s.at(x[0]).shape).out;
}

int resize(State& s, const Node& node, const Shape& in, int in_tensor, const Scales& scales) {
  const Resizing r = resizing_of(s, node, in);
  const int tensor = plain(s, in_tensor);
  if (r.linear) return linear_of_stored(s, r, tensor, in, scales);
  if (!repeats(r, in)) {
    const int rows = gathered(s, tensor, in, kRows, nearest_cells(s, r, kRows, in[kRows]), scales);
    Shape shape = in;
    shape[kRows] = r.out[kRows];
    return gathered(s, rows, shape, kColumns, nearest_cells(s, r, kColumns, in[kColumns]), scales);
  }
  Op op;
  op.kind = OpKind::Resize;
  op.inputs = {tensor};
  return emit_quantised(s, std::move(op), inner_name(s, "/resized"), r.out, scales);
}

int host_resize(State& s, const Expression& e) {
  const int x = e.operands[0];
  if (!is_dequantised_activation(s, x))
    throw Unsupported{"resizing of quantised values", "a float32 result resized", "quantise it before"};
  const Shape in = s.at(x).shape;
  const Scales scales = s.at(x).scales;
  const int tensor = plain(s, activation_of(s, x));
  const Resizing r = resizing_of(s, e.node, in);
  if (r.linear) return linear_in_float(s, e.name, r, tensor, in, scales);
  Op real;
  real.kind = OpKind::ToFloat;
  real.inputs = {resize(s, e.node, in, tensor, scales)};
  return emit_float(s, std::move(real), e.name, e.shape);
}

}  // namespace kaiten::importing::from_onnx
