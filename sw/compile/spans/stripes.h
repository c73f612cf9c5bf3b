// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Column stripes: a layer whose rows are too long for the accelerator runs as several narrow ones, one after the
// other, over the same rows. Stripes of the output do not overlap, those of the input do where windows reach into
// the next.
#ifndef KAITEN_COMPILE_SPANS_STRIPES_H
#define KAITEN_COMPILE_SPANS_STRIPES_H

#include <cstdint>

#include "compile/lower/image_windows.h"
#include "compile/lower/lowered.h"

namespace kaiten {

// Columns of an operator's output, and what their windows see of its input.
struct Stripe {
  int out_begin = 0;
  int out_end = 0;
  int in_begin = 0;
  int in_end = 0;
};

// Stripe `number` of `stripes`.
Stripe stripe_of(const LoweredOp& op, int number, int stripes);
// Whether the operator can run in so many.
bool can_stripe(const LoweredOp& op, int stripes);
// The operator as that of a stripe alone: it pads at the edges of the map only.
LoweredOp narrowed(const LoweredOp& op, const Stripe& stripe);
// Columns of the widest stripe of the input, and of the output.
int widest_input(const LoweredOp& op, int stripes);
int widest_output(const LoweredOp& op, int stripes);
// Of a map with `bytes` of all rows in memory, what all stripes together load.
std::int64_t loaded_bytes(const LoweredOp& op, const Storage& storage, std::int64_t bytes, int stripes);
// The windows of some columns.
ImageWindows some_windows(const ImageWindows& windows, int begin, int end);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_SPANS_STRIPES_H
