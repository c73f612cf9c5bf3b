// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "compile/spans/block_rows.h"

#include <algorithm>

#include "base/arithmetic.h"

namespace kaiten {

namespace {

// Passes of fewer pixels than the array has rows cannot hide the loading of weights, and every command costs
// a few cycles; smaller ones let the engines work on neighbouring layers at the same time.
constexpr int kMinBlockPixels = 16;

}  // namespace

int block_rows(const LoweredOp& op, const Config& config, int pixels) {
  // Windows of one stride down and another one across: a command has one stride, so it has one row.
  if (op.engine == Engine::kWindow && op.stride != op.column_stride) return 1;
  if (pixels <= 0) pixels = std::max(kMinBlockPixels, config.stages() * 3 / 2);
  int rows = ceil_div(pixels, op.out.w);
  if (op.engine == Engine::kConv) rows = std::min(rows, config.ob_pixels / op.out.w);
  // The array steps over a stride at once, so its ring must be that long; a map may be shorter.
  if (op.engine == Engine::kConv && op.stride > op.in.h) rows = 1;
  rows = std::clamp(rows, 1, op.out.h);
  return ceil_div(op.out.h, ceil_div(op.out.h, rows));
}

int shrunk_rows(const LoweredOp& op, const Config& config, int rows, int shrink) {
  if (shrink == 0) return rows;
  const int hiding = shrink == 1 ? std::min(rows, ceil_div(config.stages(), op.out.w)) : 1;
  return std::max(hiding, rows >> shrink);
}

}  // namespace kaiten
