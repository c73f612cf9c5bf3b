// Which tensors stay in the streaming buffers and where: a plan for the whole program, made before any
// command is. A tensor whose rows all fit in a buffer for its whole life stays there; what does not is stored
// in memory and read through a ring of rows. When even the smallest ring of a layer does not fit, the largest
// tensor that is in the way moves to memory and the plan is made again.
#ifndef KAITEN_COMPILE_PLACE_H
#define KAITEN_COMPILE_PLACE_H

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compile/config.h"
#include "compile/layout.h"
#include "compile/lower.h"

namespace kaiten {

enum class Buffer : std::uint8_t { kSb, kVb };
constexpr int kBuffers = 2;

struct StoragePlan {
  std::array<std::optional<Ring>, kBuffers> whole;  // all rows, for the tensor's whole life
  bool in_memory = false;
  MemoryLayout memory;  // where in_memory or an input that the device reads
};

struct OpPlan {
  // Per input: the ring it is read from. A ring that is not the storage's own belongs to this operator alone
  // and is filled from memory.
  std::vector<Ring> rings;
  std::vector<bool> streamed;
  int block_rows = 1;   // output rows of a command
  int chunk_tiles = 1;  // tiles whose weights are loaded together
};

struct Plan {
  std::vector<StoragePlan> storages;
  std::vector<OpPlan> ops;  // in the order of the lowering
  std::int64_t activation_bytes = 0;
  std::int64_t input_bytes = 0;
  std::int64_t output_bytes = 0;
};

// The buffer an engine reads.
constexpr Buffer buffer_of(Engine engine) { return engine == Engine::kConv ? Buffer::kSb : Buffer::kVb; }

// Throws InputError naming the layer whose rows do not fit.
Plan place(const Graph& graph, const Lowering& lowering, const Config& config, bool keep_on_chip,
           int block_pixels);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_PLACE_H
