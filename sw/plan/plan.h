// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A plan: which layers share the chip. The result of every method, in analytic mode and in target mode, and
/// what a compiler needs to carry it out (docs/compiler/planning.md, "Execution invariants"). All sizes in bytes, per
/// image unless a batch was asked for.
#ifndef KAITEN_PLAN_PLAN_H
#define KAITEN_PLAN_PLAN_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kaiten::plan {

/// What happens to the output of a span.
enum class Boundary : std::uint8_t { kSpilled, kHeld, kOutput };

std::string_view name_of(Boundary boundary);  ///< "spilled", "held", "output"

/// What a span keeps of a map: rows, or columns where the span goes along them.
struct KeptRows {
  int map = 0;             ///< map 0 is the image, map m + 1 the output of layer m
  int rows = 0;            ///< of the map's height, or columns of its width, kept circularly
  std::int64_t bytes = 0;  ///< of these rows
  std::string buffer;      ///< target mode: "SB" or "VB"
};

/// Bytes by kind, as the counters of the device tell them (target mode): payload, or, as bus_bytes, whole words of the
/// bus.
struct Bytes {
  std::int64_t weights = 0;     ///< read
  std::int64_t parameters = 0;  ///< of requantisation, read
  std::int64_t commands = 0;    ///< read
  std::int64_t input = 0;       ///< the network's, read
  std::int64_t output = 0;      ///< the network's, written
  std::int64_t spilled = 0;     ///< boundaries, written and read
  std::int64_t residual = 0;    ///< what crosses boundaries beside their own map, written and read

  /// Of all kinds.
  std::int64_t total() const { return weights + parameters + commands + input + output + spilled + residual; }
  /// Kind by kind.
  Bytes& operator+=(const Bytes& b) {
    weights += b.weights;
    parameters += b.parameters;
    commands += b.commands;
    input += b.input;
    output += b.output;
    spilled += b.spilled;
    residual += b.residual;
    return *this;
  }
  bool operator==(const Bytes&) const = default;  ///< kind by kind
};

/// What an operator of the model takes (target mode): cycles that are its own by the rule of
/// observe/layer_clock.h, so that those of all layers add up to the method's.
struct LayerWork {
  int number = 0;           ///< of the operator
  std::string name;         ///< of the layer
  std::string op;           ///< as name_of(OpKind) calls it
  int commands = 0;         ///< of the program that are its own
  std::int64_t cycles = 0;  ///< modelled
  std::string limited_by;   ///< array, vector, weights, rows, output or commands
  Bytes bytes;              ///< payload
  Bytes bus_bytes;          ///< whole words of the bus
};

/// A command of the program (target mode).
struct CommandWork {
  std::string_view op;        ///< operation, static text
  int layer = 0;              ///< operator
  int image = 0;              ///< of the batch
  int first_row = 0;          ///< of the map it reads, computes or writes
  int rows = 0;               ///< 0: it concerns no rows
  std::int64_t start = 0;     ///< modelled, from the start of the run
  std::int64_t complete = 0;  ///< modelled, likewise
  std::int64_t cycles = 0;    ///< in its engine
  Bytes bytes;                ///< its own 64 included
  Bytes bus_bytes;            ///< whole words of the bus
};

/// Busy cycles of the engines by the compiler's model (target mode).
struct Cycles {
  std::int64_t array = 0;   ///< CONV
  std::int64_t vector = 0;  ///< VECTOR
  std::int64_t load = 0;    ///< LOAD
  std::int64_t store = 0;   ///< STORE
};

/// Layers that share the chip: what passes between them stays there.
struct Span {
  int first = 0;                           ///< first layer
  int last = 0;                            ///< last layer, inclusive
  std::int64_t weights_bytes = 0;          ///< of its layers
  std::int64_t rows_bytes = 0;             ///< kept on chip of its maps, rows or columns
  std::int64_t traffic_bytes = 0;          ///< off chip, without what residual edges over its end cost
  Boundary boundary = Boundary::kSpilled;  ///< what happens to its output
  std::vector<KeptRows> kept;              ///< by map
  bool columns = false;     ///< analytic mode: columns of the maps are kept, they take less than rows
  std::vector<int> layers;  ///< target mode, where they do not run in the network's order
  /// Analytic mode: missing for one more layer; 0: it would fit, traffic decided.
  std::int64_t short_bytes = 0;
  bool streamed = false;  ///< target mode: weights follow each other through the weight buffer
  Bytes bytes;            ///< target mode
  Bytes bus_bytes;        ///< target mode
  Cycles cycles;          ///< target mode
  int tile = 0;           ///< Layer Fusion: side of the output tiles
};

/// Target mode: one program of several, with what the host does before and after it.
struct SectionWork {
  std::int64_t cycles = 0;                  ///< modelled
  std::int64_t traffic_bytes = 0;           ///< off chip
  std::int64_t host_written_bytes = 0;      ///< by the host, before the program
  std::int64_t host_read_bytes = 0;         ///< by the host, after it
  std::vector<std::string> host_operators;  ///< before or after the program, by name
};

/// A plan of a whole network: its spans and what they cost.
struct Method {
  std::string name;                   ///< as the command line calls it
  std::string closure;                ///< "rolling", "paper" or "" where it has none
  std::vector<Span> spans;            ///< in execution order, all layers
  std::int64_t penalty_bytes = 0;     ///< residual edges that cuts cross
  std::int64_t traffic_bytes = 0;     ///< of the spans, and the penalty
  Bytes bytes;                        ///< target mode: of all spans
  Bytes bus_bytes;                    ///< target mode: of all spans, whole words of the bus
  std::vector<LayerWork> layers;      ///< target mode: that have commands
  std::vector<CommandWork> commands;  ///< target mode: of the program, in its order
  std::int64_t cycles = 0;            ///< target mode: from start to end, modelled
  std::int64_t macs = 0;              ///< with what is computed more than once
  std::int64_t zvc_raw_bytes = 0;     ///< target mode: what compressed bytes stand for
  std::int64_t zvc_packed_bytes = 0;  ///< target mode: what they take
  bool exactly_predicted = true;      ///< false: what they take is, of some map, expected only
};

}  // namespace kaiten::plan

#endif  // KAITEN_PLAN_PLAN_H
