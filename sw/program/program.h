// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A program: what the compiler makes of a graph for one configuration and the driver loads into a device.
#ifndef KAITEN_PROGRAM_PROGRAM_H
#define KAITEN_PROGRAM_PROGRAM_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "program/channel_span.h"
#include "program/command.h"
#include "program/config.h"
#include "program/memory_layout.h"
#include "program/row_death.h"

namespace kaiten {

// What the base registers point to.
enum class Base : std::uint8_t { kConstants = 0, kActivations = 1, kInputs = 2, kOutputs = 3 };
constexpr int kBases = 4;

// What crosses the bus for compressed bytes.
struct Moved {
  std::int64_t bytes = 0;  // with the size surface
  std::int64_t beats = 0;  // without it
};

// What a command does for whom. For CONV and VECTOR commands the result word that leaves with `tiles`, `rows`
// and `columns` counted down from the command's own numbers belongs to `tensor` at
//   row first_row + rows_done, column first_column + columns_done, channels from first_channel + tiles_done *
//   tile_channels.
struct CommandMeta {
  enum class Bytes : std::uint8_t { kNone, kWeights, kParameters, kActivations };

  int op = -1;             // index in the graph
  int tensor = kNoTensor;  // loaded, stored or computed
  int image = 0;           // of the batch
  int first_row = 0;
  int rows = 0;
  int first_column = 0;
  int columns = 0;
  int first_channel = 0;
  int tiles = 0;
  int tile_channels = 0;  // channels from one tile to the next
  // Where results are not the tensor's channels one by one: position in Program::channel_spans; first_channel
  // counts lanes.
  int spans = -1;
  Bytes kind = Bytes::kNone;
  std::int64_t read_bytes = 0;     // payload moved from memory; with compression: that it stands for
  std::int64_t written_bytes = 0;  // and to it
  std::optional<Moved> packed;     // with compression: what is expected to move; exact for weights
  std::int64_t cycles = 0;         // modelled time in its engine, start-up left out
  // Modelled, from the start of the run (compile/emit/cycle_model.h).
  std::int64_t start = 0;
  std::int64_t complete = 0;

  // What crosses the bus.
  std::int64_t bytes_read() const { return packed && read_bytes > 0 ? packed->bytes : read_bytes; }
  std::int64_t bytes_written() const { return packed && written_bytes > 0 ? packed->bytes : written_bytes; }
};

// A tensor the driver exchanges with the device.
struct MemoryTensor {
  int tensor = kNoTensor;
  MemoryLayout layout;
};

// Some channels of a tensor in memory, the next ones of `layout` from `lane` on.
struct MemoryPart {
  MemoryLayout layout;
  int lane = 0;
  int channels = 0;
};

// A map that the device compresses.
struct CompressedMap {
  int tensor = kNoTensor;
  int op = -1;  // of the graph, makes it
  MemoryLayout layout;
};

// A tensor the host reads; parts in the order of its channels.
struct MemoryOutput {
  int tensor = kNoTensor;
  std::vector<MemoryPart> parts;

  // The tensor's values of an image, dense, from the bytes at the base register of outputs.
  std::vector<std::int8_t> gather(std::span<const std::uint8_t> memory, int image = 0) const;
  // The same of some rows of a map in one part, from the bytes of these rows.
  std::vector<std::int8_t> gather_rows(std::span<const std::uint8_t> memory, int first_row, int rows) const;
};

// A layer of the report.
enum class Place : std::uint8_t { kNothing, kHost, kArray, kVector };
// "nothing to do", "host", "array", "vector".
std::string_view name_of(Place place);

struct LayerInfo {
  int op = -1;
  Place place = Place::kNothing;  // of its last command, kNothing: a view of what exists
  bool on_host = false;
  std::uint64_t array_macs = 0;  // of an image
  std::uint64_t vector_macs = 0;
};

// Operators whose rows share the chip (compile/spans/spans.h). Bytes are payload; a layer whose weights follow each other
// through the weight buffer may be several spans or one, `streamed`.
struct SpanInfo {
  enum class Boundary : std::uint8_t { kOutput, kHeld, kSpilled };

  // Rows of a map in a buffer.
  struct Kept {
    int tensor = kNoTensor;
    bool in_vb = false;  // else in SB
    int rows = 0;        // slots of its ring
    std::int64_t bytes = 0;
  };

  std::vector<int> ops;  // of the graph, in the order they were planned
  std::vector<Kept> kept;
  int first_op = 0;  // of the graph, in the order they run
  int last_op = 0;
  bool streamed = false;
  std::int64_t weights_bytes = 0;         // weights and parameters it loads
  std::int64_t rows_bytes = 0;            // of SB and VB that its rows take
  std::int64_t activation_bytes = 0;      // loaded and stored
  Boundary boundary = Boundary::kOutput;  // of what its last operator makes
};

struct Program {
  Config config;
  int images = 1;  // of the batch it runs
  std::vector<Command> commands;
  std::vector<CommandMeta> meta;        // one a command
  std::vector<RowDeath> deaths;         // of the rows of SB and VB, for test benches
  std::vector<std::uint8_t> constants;  // at base register kConstants; empty where none were asked for
  std::int64_t constant_bytes = 0;      // that there are or would be
  std::int64_t modelled_cycles = 0;     // compile/emit/cycle_model.h
  int wb_split = 0;                     // first row of WB that does not stay from run to run, where some do
  std::int64_t activation_bytes = 0;    // at the other base registers
  std::int64_t input_bytes = 0;
  std::int64_t output_bytes = 0;
  // What the device reads: inputs of the graph, or what operators on the host make of them, dense.
  std::vector<MemoryTensor> inputs;
  std::vector<MemoryOutput>
      outputs;  // what the host needs: graph outputs and inputs of operators on the host
  std::vector<CompressedMap> compressed;
  std::vector<std::vector<ChannelSpan>> channel_spans;
  std::vector<std::uint64_t> results;  // values of every graph tensor that the engines compute, of an image
  std::vector<LayerInfo> layers;       // one an operator, in the graph's order
  std::vector<SpanInfo> spans;         // in the order they run
  std::vector<std::string> notes;      // sentences for the report: what runs on the host, what was split

  // As they lie in memory, and their blocks of kCommandBytes: extensions stand before their commands.
  std::vector<std::uint8_t> command_bytes() const;
  std::size_t command_blocks() const;
  // Whether predicted bytes are exact for the values the compiler was given.
  bool sizes_known() const;
};

// Checks the rules a program must keep (docs/hardware/control.md, "Queues and completion"): waits name earlier
// commands, a STORE only if its producer is earlier too, and a STORE stands immediately before a command with
// its loops that feeds it. Throws DeviceError naming the command.
void check_rules(const std::vector<Command>& commands);

}  // namespace kaiten

#endif  // KAITEN_PROGRAM_PROGRAM_H
