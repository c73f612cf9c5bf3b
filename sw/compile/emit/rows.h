// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Rows of activations on their way from memory into the rings that operators read.
#ifndef KAITEN_COMPILE_EMIT_ROWS_H
#define KAITEN_COMPILE_EMIT_ROWS_H

#include <array>
#include <optional>
#include <vector>

#include "compile/emit/command_list.h"
#include "compile/lower/image_windows.h"
#include "compile/lower/lowered.h"
#include "compile/pack/weight_packing.h"
#include "program/config.h"
#include "program/memory_layout.h"
#include "program/ring.h"

namespace kaiten {

// A part of a map in memory.
struct RowSource {
  int op = -1;      // of the graph: the operator that the bytes are counted for
  int tensor = -1;  // of the graph
  int zero = 0;     // its zero point, for the lanes of a last word that memory does not hold
  int image = 0;    // of the batch, whose memory it is
  MemoryLayout memory;
  std::optional<MemoryLayout>
      shape_of;          // what the bytes were stored as, where they are read as another shape
  RowLayout rows;        // of the rings
  int first_column = 0;  // of the map, in the rings column 0
  int first_group = 0;   // word of a pixel where the part begins
  StorageId storage;
  int mod3_offset = 0;                  // of the storage
  std::optional<ImageWindows> windows;  // the rows of an image as its windows

  // Columns [begin, end) of it, in rings that keep no others; where the last segment is shorter, that apart.
  std::vector<RowSource> columns(int begin, int end) const;
  // The same, with no more segments each than a LOAD can have.
  std::vector<RowSource> by_segments() const;
};

// LOADs of rows [begin, end) into the rings there are; in order, at most kMaxLoadBytes each.
std::vector<Offer> load_rows(const Config& config, const CommandList& list, const RowSource& source,
                             const std::array<std::optional<Ring>, kBuffers>& rings, int begin, int end);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_EMIT_ROWS_H
