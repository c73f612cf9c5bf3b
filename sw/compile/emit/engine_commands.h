// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The commands of one block of rows of an operator: CONV, Window or Add, and the STORE of its results.
#ifndef KAITEN_COMPILE_EMIT_ENGINE_COMMANDS_H
#define KAITEN_COMPILE_EMIT_ENGINE_COMMANDS_H

#include <array>
#include <boost/container/small_vector.hpp>
#include <optional>
#include <vector>

#include "compile/emit/weights.h"
#include "compile/lower/lowered.h"
#include "program/command.h"
#include "program/config.h"
#include "program/memory_layout.h"
#include "program/ring.h"

namespace kaiten {

// Where the rows of an operator are.
struct EngineContext {
  const Config& config;
  const Lowering& lowering;
  boost::container::small_vector<Ring, 4> inputs;
  std::array<std::optional<Ring>, kBuffers> outputs;
  const MemoryLayout* memory = nullptr;  // of the output, where it is stored
};

// Output rows [row, row + rows) of the chunk's tiles.
CommandBody engine_command(const EngineContext& x, const LoweredOp& op, const Chunk& c, int row, int rows);
// Where they go in memory.
// What stands before it where some of the chunk's weights lie in PB.
std::optional<ExtendConvCommand> extension_of(const LoweredOp& op, const Chunk& c);
StoreCommand store_command(const EngineContext& x, const LoweredOp& op, const Chunk& c, int row, int rows);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_EMIT_ENGINE_COMMANDS_H
