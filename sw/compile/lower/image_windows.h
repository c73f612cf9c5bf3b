// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// An image of few channels, as LOAD presents it to the array: row-flattened (docs/hardware/load_store.md).
#ifndef KAITEN_COMPILE_LOWER_IMAGE_WINDOWS_H
#define KAITEN_COMPILE_LOWER_IMAGE_WINDOWS_H

#include <algorithm>

namespace kaiten {

// How an image in dense memory is presented row-flattened: a pixel is what a kernel row covers for an
// output column, `bytes` bytes from column * step - lead of the row on; `fill` stands for what lies outside.
struct ImageWindows {
  int width = 0;  // of the image
  int channels = 0;
  int columns = 0;  // output columns
  int bytes = 0;
  int step = 0;
  int lead = 0;
  int fill = 0;
  int skip = 0;  // bytes of a row before the first window

  // What LOAD reads of a row.
  int row_bytes() const { return std::min(width * channels - skip, (columns - 1) * step - lead + bytes); }
};

}  // namespace kaiten

#endif  // KAITEN_COMPILE_LOWER_IMAGE_WINDOWS_H
