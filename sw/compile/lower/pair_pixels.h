// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Convolutions of which the array computes two neighbouring pixels at once: 1x1, over at most four words of input
// channels. The words of both pixels must lie in different banks, those that are read and those that are written, so the
// distance of pixels (P) in these maps may grow.
#ifndef KAITEN_COMPILE_LOWER_PAIR_PIXELS_H
#define KAITEN_COMPILE_LOWER_PAIR_PIXELS_H

#include "compile/lower/lowered.h"
#include "program/config.h"

namespace kaiten {

// Chooses `pixel` of the storages and `pair_groups` of the convolutions. Views and storages are final.
void pair_pixels(Lowering& lowering, const Config& config);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_LOWER_PAIR_PIXELS_H
