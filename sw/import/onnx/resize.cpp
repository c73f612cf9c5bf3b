// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/resize.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "import/onnx/layers.h"
#include "import/onnx/operands.h"
#include "import/onnx/tensors.h"

namespace kaiten::importing::from_onnx {

namespace {

// Scales stand in input 1 of opset 10, in input 2 since; sizes in input 3. Empty tensors count as absent.
std::vector<double> stated_factors(const State& s, const Node& node, const Shape& in) {
  std::vector<double> factors;
  if (has_input(node, 3)) {
    const std::vector<std::int64_t> sizes = numbers(s, input(s, node, 3), "sizes");
    for (std::size_t d = 0; d < sizes.size() && d < 4; d++) factors.push_back(double(sizes[d]) / in[d]);
  } else {
    const Constant& scales = constant(s, input(s, node, node.input_size() > 2 ? 2 : 1), "scales");
    for (std::size_t d = 0; d < scales.size(); d++) factors.push_back(double(scales.real(d)));
  }
  if (factors.size() != 4) fail_layer(s, "scales or sizes for 4 dimensions expected");
  return factors;
}

Shape resized_shape(const State& s, const Node& node, const Shape& in) {
  if (in.size() != 4) throw Unsupported{"two-dimensional resizing", "an input of shape " + shape_text(in)};
  if (text(node, "mode", "nearest") != "nearest" || attribute(node, "axes") != nullptr) {
    throw Unsupported{"nearest neighbours, all dimensions given",
                      "mode " + clean_name(text(node, "mode", "nearest"))};
  }
  const std::vector<double> factors = stated_factors(s, node, in);
  // Whole factors repeat pixels in every mode but align_corners; others depend on it.
  const std::string mode = text(node, "coordinate_transformation_mode", "half_pixel");
  const std::string nearest = text(node, "nearest_mode", "round_prefer_floor");
  const bool repeats = (mode == "asymmetric" && nearest == "floor") ||
                       ((mode == "half_pixel" || mode == "pytorch_half_pixel") &&
                        (nearest == "round_prefer_floor" || nearest == "round_prefer_ceil"));
  Shape out = in;
  for (std::size_t d = 0; d < 4; d++) {
    const double factor = factors[d];
    const bool whole = factor >= 1 && factor <= kMaxWindow && factor == std::floor(factor);
    if (!whole || !repeats || (d < 2 && factor != 1)) {
      throw Unsupported{"rows and columns repeated a whole number of times",
                        clean_name(mode) + ", " + clean_name(nearest) + ", factor " + number(factor)};
    }
    out[d] = int(in[d] * factor);
  }
  return out;
}

}  // namespace

Shape shape_of_resize(State& s, const Node& node, const Operands& x, int) {
  return resized_shape(s, node, s.at(x[0]).shape);
}

int resize(State& s, const Node& node, const Shape& in, int in_tensor, const Scales& scales) {
  const Shape shape = resized_shape(s, node, in);
  Op op;
  op.kind = OpKind::Resize;
  op.inputs = {plain(s, in_tensor)};
  return emit_quantised(s, std::move(op), inner_name(s, "/resized"), shape, scales);
}

}  // namespace kaiten::importing::from_onnx
