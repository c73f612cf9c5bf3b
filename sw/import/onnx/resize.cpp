// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "import/onnx/importer.h"

namespace kaiten::onnx_import {

namespace {

std::string text(const onnx::NodeProto& node, const char* name, const char* otherwise) {
  const auto* a = attribute(node, name);
  return a == nullptr || a->s().empty() ? otherwise : a->s();
}

}  // namespace

// Scales stand in input 1 of opset 10, in input 2 since; sizes in input 3. Empty tensors count as absent.
Shape Importer::resized_shape(const Node& node, const Shape& in) {
  if (in.size() != 4) throw Refused{"two-dimensional resizing", "an input of shape " + shape_text(in), ""};
  if (text(node, "mode", "nearest") != "nearest" || attribute(node, "axes") != nullptr)
    throw Refused{"nearest neighbours, all dimensions given",
                  "mode " + clean_name(text(node, "mode", "nearest")), ""};
  std::vector<double> factors;
  if (has_input(node, 3)) {
    const std::vector<int64_t> sizes = numbers(input(node, 3), "sizes");
    for (size_t d = 0; d < sizes.size() && d < 4; d++) factors.push_back(double(sizes[d]) / in[d]);
  } else {
    const Constant& scales = constant(input(node, node.input_size() > 2 ? 2 : 1), "scales");
    for (size_t d = 0; d < scales.size(); d++) factors.push_back(double(scales.real(d)));
  }
  if (factors.size() != 4) fail(here() + "scales or sizes for 4 dimensions expected");
  // Whole factors repeat pixels in every mode but align_corners; others depend on it.
  const std::string mode = text(node, "coordinate_transformation_mode", "half_pixel");
  const std::string nearest = text(node, "nearest_mode", "round_prefer_floor");
  const bool repeats = (mode == "asymmetric" && nearest == "floor") ||
                       ((mode == "half_pixel" || mode == "pytorch_half_pixel") &&
                        (nearest == "round_prefer_floor" || nearest == "round_prefer_ceil"));
  Shape out = in;
  for (size_t d = 0; d < 4; d++) {
    const double factor = factors[d];
    const bool whole = factor >= 1 && factor <= kMaxWindow && factor == std::floor(factor);
    if (!whole || !repeats || (d < 2 && factor != 1)) {
      throw Refused{"rows and columns repeated a whole number of times",
                    clean_name(mode) + ", " + clean_name(nearest) + ", factor " + number(factor), ""};
    }
    out[d] = int(in[d] * factor);
  }
  return out;
}

int Importer::resize(const Node& node, const Shape& in, int in_tensor, const Scales& scales) {
  const Shape shape = resized_shape(node, in);
  Op op;
  op.kind = OpKind::Resize;
  op.inputs = {plain(in_tensor)};
  op.output = new_quantised_tensor(layer_ + (is_output_of_quantize() ? "/resized" : ""), shape, scales);
  const int tensor = op.output;
  emit(std::move(op));
  return tensor;
}

}  // namespace kaiten::onnx_import
