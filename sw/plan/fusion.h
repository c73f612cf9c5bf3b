// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Layer Fusion (Alwani et al., MICRO 2016), as Occam compares with it (section IV): on given spans, the
/// largest square tile of the output whose pyramid of input tiles fits with the weights. Each tile computes
/// its whole pyramid, so that what neighbouring pyramids share is fetched and computed again.
#ifndef KAITEN_PLAN_FUSION_H
#define KAITEN_PLAN_FUSION_H

#include "plan/partition.h"

namespace kaiten::plan {

/// Side, in pixels, of the largest tile of span [begin, end): layers, end excluded. 0 when not even one pixel fits.
int largest_tile(const Dataflow& dataflow, const PaperOptions& options, int begin, int end);

/// What a span costs in tiles, for one image.
struct Pyramids {
  std::int64_t input_bytes = 0;  ///< fetched over all tiles
  std::int64_t macs = 0;         ///< computed over all tiles
};
/// Of layers begin .. end - 1 in tiles of `tile` x `tile` pixels; tile >= 1.
Pyramids pyramids(const Dataflow& dataflow, int begin, int end, int tile);

}  // namespace kaiten::plan

#endif  // KAITEN_PLAN_FUSION_H
