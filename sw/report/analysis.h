// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What the compiler knows of a network on a configuration beside a run of it: the spans that share the chip, the least
// bytes that have to move, the memory it takes, and what the cycle model says of the same network on an accelerator with
// more of one thing. Bytes and cycles are those of a whole batch.
#ifndef KAITEN_REPORT_ANALYSIS_H
#define KAITEN_REPORT_ANALYSIS_H

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "compile/compiler.h"
#include "compile/sections.h"
#include "graph/graph.h"
#include "plan/plan.h"
#include "program/program.h"

namespace kaiten {

// Bytes of memory that a network takes: off chip, and of the buffers on chip at most at a time.
struct Footprint {
  std::int64_t weights = 0;       // and parameters of requantisation, as packed for the array
  std::int64_t commands = 0;      // the programs themselves
  std::int64_t inputs = 0;        // of the network and from the host
  std::int64_t outputs = 0;       // of the network and for the host
  std::int64_t activations = 0;   // maps that leave the chip
  std::int64_t span_weights = 0;  // weights of the span that has most
  std::int64_t span_rows = 0;     // rows in SB and VB of the span that has most

  std::int64_t total() const { return weights + commands + inputs + outputs + activations; }  // off chip
};

Footprint footprint_of(const std::vector<Section>& sections);

// An accelerator with more of something.
struct Change {
  std::string name;                         // "bus of 128 bytes"
  std::int64_t cycles = 0;                  // modelled; 0: the network does not compile for it
  std::vector<std::uint64_t> layer_cycles;  // by operator of the network
};

struct Analysis {
  std::int64_t cycles = 0;                  // modelled, as it is
  std::vector<std::uint64_t> layer_cycles;  // by operator of the network
  std::vector<SpanInfo> spans;              // operators and tensors are those of the network
  std::vector<Change> changes;              // largest saving first
  plan::Bytes bytes;                        // that move by the plan
  plan::Bytes bound;                        // that have to move at least
  Footprint footprint;
};

// Throws InputError for a network that does not compile. `progress` has what share of the work is done, 0..1.
Analysis analyse(const Graph& graph, const Config& config, const CompileOptions& options,
                 const std::function<void(double done)>& progress = {});

nlohmann::ordered_json json_of(const Footprint& footprint);
// {"modelled_cycles", "what_if", "spans", "bound_bytes", "footprint"}
nlohmann::ordered_json json_of(const Graph& graph, const Analysis& analysis);

}  // namespace kaiten

#endif  // KAITEN_REPORT_ANALYSIS_H
