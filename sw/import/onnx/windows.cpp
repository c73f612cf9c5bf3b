// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/onnx/importer.h"

namespace kaiten::onnx_import {

Window Importer::window(const Node& node, const Shape& in, int kernel_h, int kernel_w, Shape& out) const {
  if (in.size() != 4)
    throw Refused{"two-dimensional convolutions and pooling", "an input of shape " + shape_text(in), ""};
  const auto pair = [&](const char* name) {
    const std::vector<int64_t> values = integers(node, name);
    if (values.empty()) return std::array<int64_t, 2>{1, 1};
    if (values.size() != 2) fail(here() + name + " has " + std::to_string(values.size()) + " values");
    return std::array<int64_t, 2>{values[0], values[1]};
  };
  const auto strides = pair("strides");
  const auto dilations = pair("dilations");
  for (const int64_t value :
       {int64_t(kernel_h), int64_t(kernel_w), strides[0], strides[1], dilations[0], dilations[1]}) {
    if (value < 1) fail(here() + "kernel, stride and dilation must be at least 1");
    if (value > kMaxWindow)
      throw Refused{"kernels, strides and dilations up to " + std::to_string(kMaxWindow),
                    std::to_string(value), ""};
  }
  Window w{kernel_h, kernel_w, int(strides[0]), int(strides[1]), int(dilations[0]), int(dilations[1]), {}};
  const auto* auto_pad = attribute(node, "auto_pad");
  const std::string mode = auto_pad == nullptr || auto_pad->s().empty() ? "NOTSET" : auto_pad->s();
  if (mode == "NOTSET") {
    const std::vector<int64_t> pads = integers(node, "pads");
    if (!pads.empty() && pads.size() != 4)
      fail(here() + "pads has " + std::to_string(pads.size()) + " values");
    for (const int64_t pad : pads) {
      if (pad < 0) throw Refused{"padding of 0 or more", std::to_string(pad), ""};
      if (pad > kMaxWindow)
        throw Refused{"padding up to " + std::to_string(kMaxWindow), std::to_string(pad), ""};
    }
    if (!pads.empty()) w.pad = {int(pads[0]), int(pads[2]), int(pads[1]), int(pads[3])};
  } else if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    auto rows = same_padding(in[2], w.extent_h(), w.stride_h);
    auto columns = same_padding(in[3], w.extent_w(), w.stride_w);
    if (mode == "SAME_LOWER") {
      std::swap(rows[0], rows[1]);
      std::swap(columns[0], columns[1]);
    }
    w.pad = {rows[0], rows[1], columns[0], columns[1]};
  } else if (mode != "VALID") {
    fail(here() + "auto_pad is " + clean_name(mode));
  }
  if (integer(node, "ceil_mode", 0) != 0) {
    // A last window that starts inside the map or its leading padding counts: pad until it fits.
    const auto extra = [](int in_size, int before, int& after, int extent, int stride) {
      const int64_t room = int64_t(in_size) + before + after - extent;
      if (room < 0 || room % stride == 0) return;
      const int64_t last = (room / stride + 1) * stride;
      if (last < int64_t(in_size) + before) after += int(stride - room % stride);
    };
    extra(in[2], w.pad.top, w.pad.bottom, w.extent_h(), w.stride_h);
    extra(in[3], w.pad.left, w.pad.right, w.extent_w(), w.stride_w);
  }
  out[2] = window_outputs(in[2], w.pad.top, w.pad.bottom, w.extent_h(), w.stride_h);
  out[3] = window_outputs(in[3], w.pad.left, w.pad.right, w.extent_w(), w.stride_w);
  if (out[2] < 1 || out[3] < 1) fail(here() + "kernel does not fit its input " + shape_text(in));
  return w;
}

Shape Importer::conv_shape(const Node& node, const Shape& in, const Shape& kernel) const {
  if (kernel.size() != 4 || in.size() != 4)
    throw Refused{"two-dimensional convolutions", "weights of rank " + std::to_string(kernel.size()), ""};
  for (const int dim : kernel) {
    if (dim < 1) fail(here() + "weights of shape " + shape_text(kernel));
  }
  const int64_t groups = integer(node, "group", 1);
  if (groups < 1 || groups > kernel[0] || kernel[0] % groups != 0 || kernel[1] * groups != in[1]) {
    fail(here() + "weights of shape " + shape_text(kernel) + " and " + std::to_string(groups) +
         " groups do not fit an input of shape " + shape_text(in));
  }
  const std::vector<int64_t> stated = integers(node, "kernel_shape");
  if (!stated.empty() && (stated.size() != 2 || stated[0] != kernel[2] || stated[1] != kernel[3]))
    fail(here() + "kernel_shape differs from the weights' shape");
  Shape out = {in[0], kernel[0], 0, 0};
  window(node, in, kernel[2], kernel[3], out);
  return out;
}

Shape Importer::take_pool_window(const Node& node, const Shape& in, Op& op) const {
  const std::vector<int64_t> kernel = integers(node, "kernel_shape");
  if (kernel.size() != 2 || in.size() != 4)
    throw Refused{"two-dimensional pooling", "an input of shape " + shape_text(in), ""};
  for (const int64_t k : kernel) {
    if (k < 1 || k > kMaxWindow) fail(here() + "kernel side " + std::to_string(k));
  }
  Shape out = in;
  op.window = window(node, in, int(kernel[0]), int(kernel[1]), out);
  const Window& w = op.window;
  const auto touches = [](int outputs, int size, int before, int side, int stride, int dilation) {
    for (int y = 0; y < outputs; y++) {
      bool any = false;
      for (int i = 0; i < side && !any; i++) {
        const int at = y * stride - before + i * dilation;
        any = at >= 0 && at < size;
      }
      if (!any) return false;
    }
    return true;
  };
  if (!touches(out[2], in[2], w.pad.top, w.kernel_h, w.stride_h, w.dilation_h) ||
      !touches(out[3], in[3], w.pad.left, w.kernel_w, w.stride_w, w.dilation_w)) {
    throw Refused{"windows with a cell inside the map", "padding of a whole window", ""};
  }
  op.count_pad = integer(node, "count_include_pad", 0) != 0;
  if (op.count_pad && integer(node, "ceil_mode", 0) != 0) {
    // What ceil_mode adds at the end does not count, what `pads` adds does.
    const std::vector<int64_t> pads = integers(node, "pads");
    if (w.pad.bottom != (pads.empty() ? 0 : pads[2]) || w.pad.right != (pads.empty() ? 0 : pads[3]))
      throw Refused{"count_include_pad where windows fit", "together with ceil_mode", ""};
  }
  if (w.pad == Padding{}) op.count_pad = false;
  return out;
}

}  // namespace kaiten::onnx_import
