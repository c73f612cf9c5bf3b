// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// How Method::Patches cuts images into overlapping patches of one transform's size.
#ifndef KAITEN_FFT_CUT_H
#define KAITEN_FFT_CUT_H

#include <algorithm>
#include <cstdint>

#include "fft/convolution.h"
#include "fft/work.h"

namespace kaiten::fft {

// Patches along an axis.
struct Axis {
  int transform = 1;  // length
  int count = 1;      // of patches
  int extent = 1;     // of a patch, in the image
  int result = 1;     // of a patch, in the result

  // The last patch is moved to end with the image.
  int begin(int patch, int whole_result) const { return std::min(patch * result, whole_result - result); }
};

struct Cut {
  Axis depth, height, width;

  Size transform() const { return {depth.transform, height.transform, width.transform}; }
  Size extent() const { return {depth.extent, height.extent, width.extent}; }
  Size result() const { return {depth.result, height.result, width.result}; }
  std::int64_t count() const { return std::int64_t(depth.count) * height.count * width.count; }
};

// At most `count` patches an axis, as small as that allows; 1: the whole image.
Axis cut_axis(int image, int kernel, int count);
Work work_of(const Cut& cut, const LayerShape& layer);
// The cut of least time by a cost model.
Cut best_cut(const LayerShape& layer);

}  // namespace kaiten::fft

#endif  // KAITEN_FFT_CUT_H
