// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Addresses for a span plan: rings in SB and VB span by span, tensors in memory.
#ifndef KAITEN_COMPILE_SPANS_PLACE_H
#define KAITEN_COMPILE_SPANS_PLACE_H

#include <cstdint>
#include <optional>
#include <vector>

#include "compile/lower/lowered.h"
#include "compile/spans/compression.h"
#include "compile/spans/spans.h"
#include "program/config.h"
#include "program/memory_layout.h"
#include "program/program.h"
#include "program/ring.h"

namespace kaiten {

struct PlacedSpan {
  SpanRows rows;
  std::vector<Ring> rings;  // like rows.rings

  // As it is for an image, or a stripe of it.
  Ring ring(int r, int pass) const {
    Ring ring = rings[std::size_t(r)];
    ring.row0 = pass * rows.flow.pitch(r);
    return ring;
  }
};

// A part of a storage in memory, where it is stored or loaded.
struct PartPlan {
  bool in_memory = false;
  MemoryLayout memory;
};

struct Placement {
  std::vector<PlacedSpan> spans;
  IndexedVector<StorageId, std::vector<PartPlan>> parts;
  std::int64_t activation_bytes = 0;
  std::int64_t input_bytes = 0;
  std::int64_t output_bytes = 0;
};

// Rings as large as there is room for, up to `max_slack` blocks more than their rows need. Nothing when the gaps
// between rings keep the plan from fitting; then `too_small` is the buffer.
std::optional<Placement> place(const Lowering& lowering, const Config& config, const SpanPlan& plan,
                               const Compression& compression, int max_slack, Buffer& too_small);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_SPANS_PLACE_H
