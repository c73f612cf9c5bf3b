// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Windows of convolutions and poolings: what both formats ask of them.
#ifndef KAITEN_IMPORT_COMMON_WINDOWS_H
#define KAITEN_IMPORT_COMMON_WINDOWS_H

#include <array>
#include <optional>

#include "import/common/state.h"

namespace kaiten::importing {

// Rows and columns of a map.
struct MapSize {
  int rows = 0;
  int columns = 0;
};

// Kernel sides, strides and dilations.
std::array<int, 6> sides_of(const Window& window);
// The refusal of a kernel side, stride or dilation above kMaxWindow, if it is one.
std::optional<Unsupported> window_limit(std::int64_t side);

// TensorFlow's "same" padding; an odd amount puts the extra element after.
Padding same_pad(const Window& window, MapSize in);
// What the window makes of a map; 0 where it does not fit.
MapSize window_outputs(const Window& window, MapSize in);

}  // namespace kaiten::importing

#endif  // KAITEN_IMPORT_COMMON_WINDOWS_H
