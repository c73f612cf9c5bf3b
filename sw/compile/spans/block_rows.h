// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// How many output rows a command computes.
#ifndef KAITEN_COMPILE_SPANS_BLOCK_ROWS_H
#define KAITEN_COMPILE_SPANS_BLOCK_ROWS_H

#include "compile/lower/lowered.h"
#include "program/config.h"

namespace kaiten {

// Of about so many pixels, 0: as many as suit the array.
int block_rows(const LoweredOp& op, const Config& config, int pixels);

// Fewer rows: half as many while the pixels still hide the loading of weights (shrink 1), a quarter (2), and
// so on.
int shrunk_rows(const LoweredOp& op, const Config& config, int rows, int shrink);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_SPANS_BLOCK_ROWS_H
