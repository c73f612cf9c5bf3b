// Rows of activations on their way from memory into the rings that operators read.
#ifndef KAITEN_COMPILE_ROWS_H
#define KAITEN_COMPILE_ROWS_H

#include <array>
#include <optional>
#include <vector>

#include "compile/command_list.h"
#include "compile/config.h"
#include "compile/layout.h"
#include "compile/lower.h"

namespace kaiten {

struct RowSource {
  int op = -1;      // of the graph: whom the bytes are counted for
  int tensor = -1;  // of the graph
  MemoryLayout memory;
  bool flat = false;      // the map as one row of one pixel of `channels` channels
  int channels = 0;
};

// LOADs of rows [begin, end) into the rings there are; in order, at most kMaxLoadBytes each.
std::vector<Offer> load_rows(const Config& config, const CommandList& list, const RowSource& source,
                             const std::array<std::optional<Ring>, kBuffers>& rings, int begin, int end);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_ROWS_H
