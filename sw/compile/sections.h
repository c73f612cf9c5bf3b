// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A network with operators on the host between operators on the device runs in sections: the device runs a program, the host
// computes with what that leaves in memory, the device runs the next program. Most networks are one section, with the host's
// operators at its ends.
#ifndef KAITEN_COMPILE_SECTIONS_H
#define KAITEN_COMPILE_SECTIONS_H

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compile/compiler.h"
#include "graph/graph.h"
#include "program/program.h"

namespace kaiten {

struct Section {
  // All tensors of the network under their own indices; the operators of this section. Shared by configurations.
  std::shared_ptr<const Graph> graph;
  std::vector<int> ops;  // which these are in the network
  Program program;
};

// Where a network is cut, for all configurations that have the same operators on the host: weights are copied once.
class SectionCuts {
 public:
  // The graph must outlive it.
  explicit SectionCuts(const Graph& graph) : graph_(graph) {}

  const Graph& graph() const { return graph_; }
  // Sections without programs, by operator whether the host has it. Threads may share the cuts.
  std::vector<Section> of(const std::vector<bool>& on_host);

 private:
  const Graph& graph_;
  std::mutex guard_;
  std::map<std::vector<bool>, std::vector<Section>> known_;
};

struct CompiledSections {
  std::vector<Section> sections;      // in the order they run; empty where something is refused
  std::vector<std::string> refusals;  // one line each
  std::vector<std::string> moved;     // why operators that an engine has run on the host all the same
};

// An operator that no engine has, or that is beyond an engine's limits, runs on the host: the notes of the programs say which
// and why.
CompiledSections try_compile_sections(const Graph& graph, const Config& config,
                                      const CompileOptions& options = {});
CompiledSections try_compile_sections(SectionCuts& cuts, const Config& config, const CompileOptions& options);
// Throws InputError with the first refusal.
std::vector<Section> compile_sections(const Graph& graph, const Config& config,
                                      const CompileOptions& options = {});

}  // namespace kaiten

#endif  // KAITEN_COMPILE_SECTIONS_H
