// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/windows.h"

#include <array>
#include <string>
#include <utility>

#include "import/common/windows.h"
#include "import/onnx/lines.h"

namespace kaiten::importing::from_onnx {

namespace {

// Rows and columns of a map in the model's order.
MapSize map_size(const Shape& in) { return {in[2], in[3]}; }

// An attribute of one number for rows and one for columns; {1, 1} where it is absent.
std::array<std::int64_t, 2> pair_of(const State& s, const Node& node, const char* name) {
  const std::vector<std::int64_t> values = integers(node, name);
  if (values.empty()) return {1, 1};
  if (values.size() != 2)
    fail_layer(s, std::string(name) + " has " + std::to_string(values.size()) + " values");
  return {values[0], values[1]};
}

Padding explicit_pad(const State& s, const Node& node) {
  const std::vector<std::int64_t> pads = integers(node, "pads");
  if (pads.empty()) return {};
  if (pads.size() != 4) fail_layer(s, "pads has " + std::to_string(pads.size()) + " values");
  for (const std::int64_t pad : pads) {
    if (pad < 0) throw Unsupported{"padding of 0 or more", std::to_string(pad)};
    if (pad > kMaxWindow)
      throw Unsupported{"padding up to " + std::to_string(kMaxWindow), std::to_string(pad)};
  }
  return {int(pads[0]), int(pads[2]), int(pads[1]), int(pads[3])};
}

Padding stated_pad(const State& s, const Node& node, const Window& w, const Shape& in) {
  const std::string mode = text(node, "auto_pad", "NOTSET");
  if (mode == "NOTSET") return explicit_pad(s, node);
  if (mode == "VALID") return {};
  if (mode != "SAME_UPPER" && mode != "SAME_LOWER") fail_layer(s, "auto_pad is " + clean_name(mode));
  Padding pad = same_pad(w, map_size(in));
  if (mode == "SAME_LOWER") {
    std::swap(pad.top, pad.bottom);
    std::swap(pad.left, pad.right);
  }
  return pad;
}

// ceil_mode: a last window that starts inside the map or its leading padding counts. What to pad at the end
// until it fits.
int extra_pad(int size, int before, int after, int extent, int stride) {
  const std::int64_t room = std::int64_t(size) + before + after - extent;
  if (room < 0 || room % stride == 0) return 0;
  const std::int64_t last = (room / stride + 1) * stride;
  return last < std::int64_t(size) + before ? int(stride - room % stride) : 0;
}

// Whether every window has a cell inside the map, along one side of it.
bool all_touch(int outputs, int size, int before, int kernel, int stride, int dilation) {
  for (int y = 0; y < outputs; y++) {
    bool any = false;
    for (int i = 0; i < kernel && !any; i++) {
      const int at = y * stride - before + i * dilation;
      any = at >= 0 && at < size;
    }
    if (!any) return false;
  }
  return true;
}

void check_divisor(const Node& node, const Window& w) {
  // What ceil_mode adds at the end does not count, what `pads` adds does.
  const std::vector<std::int64_t> pads = integers(node, "pads");
  const bool stated = pads.size() == 4;
  if (w.pad.bottom != (stated ? pads[2] : 0) || w.pad.right != (stated ? pads[3] : 0))
    throw Unsupported{"count_include_pad where windows fit", "together with ceil_mode"};
}

// The padding of a transposed convolution: stated, or what is left over between the whole result and the size that is wanted.
Padding transposed_pad(const State& s, const Node& node, const Window& w, const Shape& in,
                       const std::vector<std::int64_t>& more) {
  const std::string mode = text(node, "auto_pad", "NOTSET");
  std::vector<std::int64_t> wanted = integers(node, "output_shape");
  if (wanted.size() == 4) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (mode != "SAME_UPPER" && mode != "SAME_LOWER" && wanted.empty())
    return mode == "VALID" ? Padding{} : explicit_pad(s, node);
  if (wanted.empty()) wanted = {std::int64_t(in[2]) * w.stride_h, std::int64_t(in[3]) * w.stride_w};
  if (wanted.size() != 2) fail_layer(s, "output_shape of " + std::to_string(wanted.size()) + " dimensions");
  const std::int64_t rows = std::int64_t(w.stride_h) * (in[2] - 1) + more[0] + w.extent_h() - wanted[0];
  const std::int64_t columns = std::int64_t(w.stride_w) * (in[3] - 1) + more[1] + w.extent_w() - wanted[1];
  if (rows < 0 || columns < 0)
    throw Unsupported{"results of transposed convolutions up to their whole size",
                      std::to_string(wanted[0]) + " x " + std::to_string(wanted[1])};
  if (window_limit(rows) || window_limit(columns)) throw Unsupported{*window_limit(std::max(rows, columns))};
  const int top = int(rows / 2), left = int(columns / 2);
  const int bottom = int(rows) - top, right = int(columns) - left;
  // The odd one at the end for SAME_UPPER, else at the beginning.
  return mode == "SAME_UPPER" ? Padding{top, bottom, left, right} : Padding{bottom, top, right, left};
}

}  // namespace

Window window_of(const State& s, const Node& node, const Shape& in, int kernel_h, int kernel_w) {
  if (in.size() != 4)
    throw Unsupported{"two-dimensional convolutions and pooling", "an input of shape " + shape_text(in)};
  const auto strides = pair_of(s, node, "strides");
  const auto dilations = pair_of(s, node, "dilations");
  for (const std::int64_t side :
       {std::int64_t(kernel_h), std::int64_t(kernel_w), strides[0], strides[1], dilations[0], dilations[1]}) {
    if (side < 1) fail_layer(s, "kernel, stride and dilation must be at least 1");
    if (const auto limit = window_limit(side)) throw Unsupported{*limit};
  }
  Window w{kernel_h, kernel_w, int(strides[0]), int(strides[1]), int(dilations[0]), int(dilations[1]), {}};
  w.pad = stated_pad(s, node, w, in);
  if (integer(node, "ceil_mode", 0) != 0) {
    w.pad.bottom += extra_pad(in[2], w.pad.top, w.pad.bottom, w.extent_h(), w.stride_h);
    w.pad.right += extra_pad(in[3], w.pad.left, w.pad.right, w.extent_w(), w.stride_w);
  }
  const MapSize out = window_outputs(w, map_size(in));
  if (out.rows < 1 || out.columns < 1) fail_layer(s, "kernel does not fit its input " + shape_text(in));
  return w;
}

Shape conv_shape(const State& s, const Node& node, const Shape& in, const Shape& weights) {
  const Shape kernel = as_kernel(weights, in);
  if (kernel.size() != 4 || in.size() != 4)
    throw Unsupported{"two-dimensional convolutions", "weights of rank " + std::to_string(kernel.size())};
  for (const int dim : kernel) {
    if (dim < 1) fail_layer(s, "weights of shape " + shape_text(kernel));
  }
  const std::int64_t groups = integer(node, "group", 1);
  if (groups < 1 || groups > kernel[0] || kernel[0] % groups != 0 || kernel[1] * groups != in[1]) {
    fail_layer(s, "weights of shape " + shape_text(kernel) + " and " + std::to_string(groups) +
                      " groups do not fit an input of shape " + shape_text(in));
  }
  const std::vector<std::int64_t> stated = integers(node, "kernel_shape");
  if (!stated.empty() && (stated.size() != 2 || stated[0] != kernel[2] || stated[1] != kernel[3]))
    fail_layer(s, "kernel_shape differs from the weights' shape");
  const MapSize out = window_outputs(window_of(s, node, in, kernel[2], kernel[3]), map_size(in));
  return {in[0], kernel[0], out.rows, out.columns};
}

Shape take_pool_window(const State& s, const Node& node, const Shape& in, Op& op) {
  const std::vector<std::int64_t> kernel = integers(node, "kernel_shape");
  if (kernel.size() != 2 || in.size() != 4)
    throw Unsupported{"two-dimensional pooling", "an input of shape " + shape_text(in)};
  for (const std::int64_t k : kernel) {
    if (k < 1 || k > kMaxWindow) fail_layer(s, "kernel side " + std::to_string(k));
  }
  const Window w = op.window = window_of(s, node, in, int(kernel[0]), int(kernel[1]));
  const MapSize out = window_outputs(w, map_size(in));
  if (!all_touch(out.rows, in[2], w.pad.top, w.kernel_h, w.stride_h, w.dilation_h) ||
      !all_touch(out.columns, in[3], w.pad.left, w.kernel_w, w.stride_w, w.dilation_w)) {
    throw Unsupported{"windows with a cell inside the map", "padding of a whole window"};
  }
  op.count_pad = integer(node, "count_include_pad", 0) != 0;
  if (op.count_pad && integer(node, "ceil_mode", 0) != 0) check_divisor(node, w);
  if (w.pad == Padding{}) op.count_pad = false;
  return {in[0], in[1], out.rows, out.columns};
}

Shape take_transposed_window(const State& s, const Node& node, const Shape& in, const Shape& kernel, Op& op) {
  if (in.size() != 4 || kernel.size() != 4)
    throw Unsupported{"two-dimensional convolutions", "weights of rank " + std::to_string(kernel.size())};
  const std::int64_t groups = integer(node, "group", 1);
  if (groups < 1 || kernel[0] != in[1] || in[1] % groups != 0)
    fail_layer(s,
               "weights of shape " + shape_text(kernel) + " do not fit an input of shape " + shape_text(in));
  op.groups = int(groups);
  const auto strides = pair_of(s, node, "strides");
  const auto dilations = pair_of(s, node, "dilations");
  std::vector<std::int64_t> more = integers(node, "output_padding");
  more.resize(2);
  for (const std::int64_t side :
       {strides[0], strides[1], dilations[0], dilations[1], more[0] + 1, more[1] + 1}) {
    if (side < 1) fail_layer(s, "strides and dilations must be at least 1, padding at least 0");
    if (const auto limit = window_limit(side)) throw Unsupported{*limit};
  }
  op.window = {kernel[2],         kernel[3], int(strides[0]), int(strides[1]), int(dilations[0]),
               int(dilations[1]), {}};
  op.window.pad = transposed_pad(s, node, op.window, in, more);
  const Padding& pad = op.window.pad;
  const std::int64_t rows = strides[0] * (in[2] - 1) + more[0] + op.window.extent_h() - pad.top - pad.bottom;
  const std::int64_t columns =
      strides[1] * (in[3] - 1) + more[1] + op.window.extent_w() - pad.left - pad.right;
  if (rows < 1 || columns < 1 || rows * columns * kernel[1] * groups > kMaxTensorElements)
    fail_layer(s, "makes " + std::to_string(rows) + " rows and " + std::to_string(columns) + " columns");
  return {in[0], int(kernel[1] * groups), int(rows), int(columns)};
}

Shape shape_of_conv_transpose(State& s, const Node& node, const Operands& x, int) {
  if (x.size() < 2 || x[1] < 0) fail_layer(s, "has no weights");
  Op ignored;
  return take_transposed_window(s, node, s.at(x[0]).shape, s.at(x[1]).shape, ignored);
}

Shape shape_of_conv(State& s, const Node& node, const Operands& x, int) {
  if (x.size() < 2 || x[1] < 0) fail_layer(s, "has no weights");
  return conv_shape(s, node, s.at(x[0]).shape, s.at(x[1]).shape);
}

Shape shape_of_pool(State& s, const Node& node, const Operands& x, int) {
  Op ignored;
  return take_pool_window(s, node, s.at(x[0]).shape, ignored);
}

}  // namespace kaiten::importing::from_onnx
