// Rows of activations on their way from memory into the rings that operators read.
#ifndef KAITEN_COMPILE_ROWS_H
#define KAITEN_COMPILE_ROWS_H

#include <array>
#include <cstddef>
#include <vector>

#include "compile/command_list.h"
#include "compile/lower.h"
#include "compile/place.h"

namespace kaiten {

class RowLoader {
 public:
  RowLoader(const Config& config, const Lowering& lowering, const Plan& plan, CommandList& list);

  // The operator (position in the lowering) begins.
  void start(std::size_t op);
  // A next chunk of its tiles begins: rings that do not hold the whole map start again.
  void start_chunk(std::size_t op);
  // Loads what is missing of input rows [begin, end); earlier rows are not needed any more.
  void need(std::size_t op, int begin, int end);

 private:
  void load(const LoweredOp& op, int storage, const Ring& ring, int begin, int end);

  const Config& config_;
  const Lowering& lowering_;
  const Plan& plan_;
  CommandList& list_;
  std::vector<std::array<int, kBuffers>> loaded_;  // rows of inputs that stay in a buffer
  std::vector<int> streamed_to_;                   // rows of the current operator's rings
};

}  // namespace kaiten

#endif  // KAITEN_COMPILE_ROWS_H
