// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/spans/stripes.h"

#include <algorithm>

namespace kaiten {

namespace {

// Where the first window of a column begins, left of the map below 0.
int window_begin(const LoweredOp& op, int column) { return column * op.column_stride - op.pad_left; }

}  // namespace

Stripe stripe_of(const LoweredOp& op, int number, int stripes) {
  Stripe s;
  s.out_begin = int(std::int64_t(op.out.w) * number / stripes);
  s.out_end = int(std::int64_t(op.out.w) * (number + 1) / stripes);
  s.in_begin = std::max(0, window_begin(op, s.out_begin));
  s.in_end = std::min(op.in.w, window_begin(op, s.out_end - 1) + op.kernel_columns);
  return s;
}

bool can_stripe(const LoweredOp& op, int stripes) {
  // A single pixel that meets all others has no columns.
  if (op.broadcast || stripes > op.out.w) return false;
  for (int i = 0; i < stripes; i++) {
    const Stripe s = stripe_of(op, i, stripes);
    if (s.in_begin >= s.in_end) return false;  // beside the map
  }
  return true;
}

LoweredOp narrowed(const LoweredOp& op, const Stripe& stripe) {
  LoweredOp narrow = op;
  narrow.in.w = stripe.in_end - stripe.in_begin;
  narrow.out.w = stripe.out_end - stripe.out_begin;
  narrow.pad_left = stripe.in_begin - window_begin(op, stripe.out_begin);
  return narrow;
}

int widest_input(const LoweredOp& op, int stripes) {
  int widest = 0;
  for (int i = 0; i < stripes; i++) {
    const Stripe s = stripe_of(op, i, stripes);
    widest = std::max(widest, s.in_end - s.in_begin);
  }
  return widest;
}

int widest_output(const LoweredOp& op, int stripes) { return ceil_div(op.out.w, stripes); }

std::int64_t loaded_bytes(const LoweredOp& op, const Storage& storage, std::int64_t bytes, int stripes) {
  if (stripes == 1) return bytes;
  std::int64_t all = 0;
  for (int i = 0; i < stripes; i++) {
    const Stripe s = stripe_of(op, i, stripes);
    all += storage.windows ? std::int64_t(storage.shape.h) *
                                 some_windows(*storage.windows, s.in_begin, s.in_end).row_bytes()
                           : bytes / storage.shape.w * (s.in_end - s.in_begin);
  }
  return all;
}

ImageWindows some_windows(const ImageWindows& windows, int begin, int end) {
  ImageWindows some = windows;
  const int first = begin * windows.step - windows.lead;
  some.columns = end - begin;
  some.lead = std::max(0, -first);
  some.skip = std::max(0, first);
  return some;
}

}  // namespace kaiten
