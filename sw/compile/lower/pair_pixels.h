// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Convolutions of which the array computes two neighbouring windows at once: 1x1, in the last pass over their input channels
// where that has at most four words. The words of both windows must lie in different banks, so the distance of pixels (P) in
// these maps may grow. Of results it grows where there is one pass.
#ifndef KAITEN_COMPILE_LOWER_PAIR_PIXELS_H
#define KAITEN_COMPILE_LOWER_PAIR_PIXELS_H

#include "compile/lower/lowered.h"
#include "program/config.h"

namespace kaiten {

// Words of the last pass where two windows at once can be taken of it, as far as the operator alone decides that; else 0.
int groups_of_pairs(const LoweredOp& op, const Config& config);

// Chooses `pixel` of the storages, `pair_groups` and `pair_splits` of the convolutions. Views and storages are final.
void pair_pixels(Lowering& lowering, const Config& config);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_LOWER_PAIR_PIXELS_H
