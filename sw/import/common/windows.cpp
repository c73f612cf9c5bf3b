// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "import/common/windows.h"

#include <string>

namespace kaiten::importing {

std::array<int, 6> sides_of(const Window& w) {
  return {w.kernel_h, w.kernel_w, w.stride_h, w.stride_w, w.dilation_h, w.dilation_w};
}

std::optional<Unsupported> window_limit(std::int64_t side) {
  if (side <= kMaxWindow) return std::nullopt;
  return Unsupported{"kernels, strides and dilations up to " + std::to_string(kMaxWindow),
                     std::to_string(side)};
}

Padding same_pad(const Window& w, MapSize in) {
  const auto rows = same_padding(in.rows, w.extent_h(), w.stride_h);
  const auto columns = same_padding(in.columns, w.extent_w(), w.stride_w);
  return {rows[0], rows[1], columns[0], columns[1]};
}

MapSize window_outputs(const Window& w, MapSize in) {
  return {kaiten::window_outputs(in.rows, w.pad.top, w.pad.bottom, w.extent_h(), w.stride_h),
          kaiten::window_outputs(in.columns, w.pad.left, w.pad.right, w.extent_w(), w.stride_w)};
}

}  // namespace kaiten::importing
