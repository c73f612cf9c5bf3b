// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The compiler: graph and configuration to program. The operators are cut into spans whose rows are interleaved on chip
// (spans.h), the spans get their addresses (place.h) and their commands an order (emit.h); of several plans the one that
// moves fewest bytes is taken, ties are broken by the model of the queues: the fastest.
#ifndef KAITEN_COMPILE_COMPILER_H
#define KAITEN_COMPILE_COMPILER_H

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/quantize.h"
#include "program/compress_mode.h"
#include "program/config.h"
#include "program/optimise.h"
#include "program/program.h"
#include "program/ring.h"

namespace kaiten {

struct ResidentWeights;

// In which order the operators run.
enum class OperatorOrder : std::uint8_t {
  kBest,              // whichever of the others takes fewer modelled cycles
  kGraph,             // the model's
  kLongOperandsLast,  // lower.h
};

struct CompileOptions {
  RoundingStyle rounding = RoundingStyle::LiteRt;
  bool keep_on_chip = true;  // false: every tensor goes through memory (tests)
  OperatorOrder order = OperatorOrder::kBest;
  Optimise optimise = Optimise::kBytes;
  int block_pixels = 0;  // output pixels of a command, 0: a default that suits the array
  // Addresses of SB and VB that rings do not use.
  std::array<int, kBuffers> reserve{};
  // Called before each plan that is tried; what it throws ends the compilation.
  std::function<void()> cancellation_check = {};
  // Where not empty: operators of the graph after which the spans end, ascending.
  std::vector<int> cuts = {};
  // That one run computes: weights are loaded once for all of them, or for as many as move fewest bytes.
  int images = 1;
  bool constants = true;  // false: none, where only times and sizes are asked for
  // Weights that an earlier program left in PB and that are taken from there, where they are this network's; must outlive
  // the compilation. Their rows of WB are not used otherwise.
  const ResidentWeights* resident = nullptr;
  // Maps and weights that cross the memory bus compressed. Which maps, and how many bytes that moves, follows from
  // values they have, of as many images; without them auto compresses weights only.
  Compress compress = Compress::kOff;
  KnownValues known_values = {};  // must outlive the compilation
};

// Throws InputError naming layer, operator, limit and value for the first operator that cannot run. The graph
// must be consistent (graph.h).
Program compile(const Graph& graph, const Config& config, const CompileOptions& options = {});

// The same network for several runs in a row: `first` loads all weights, `again` finds those that fit in WB and VWB there
// since the run before. Nothing else may run on the device in between.
struct KeptPrograms {
  Program first;
  Program again;
};
KeptPrograms compile_kept(const Graph& graph, const Config& config, const CompileOptions& options = {});

// A program, or every reason why there is none, one line each.
struct Compiled {
  std::optional<Program> program;
  std::vector<std::string> refusals;
};
Compiled try_compile(const Graph& graph, const Config& config, const CompileOptions& options = {});

// Every reason why the graph cannot run on the configuration, one line each; empty when it can.
std::vector<std::string> refusals(const Graph& graph, const Config& config,
                                  const CompileOptions& options = {});

}  // namespace kaiten

#endif  // KAITEN_COMPILE_COMPILER_H
