// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Target mode for networks of several programs (compile/sections.h): the plans of all sections as one.
#ifndef KAITEN_TARGET_PLAN_SECTIONS_PLAN_H
#define KAITEN_TARGET_PLAN_SECTIONS_PLAN_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compile/sections.h"
#include "plan/methods.h"
#include "plan/network.h"
#include "plan/plan.h"

namespace kaiten {

class SectionsPlanner {
 public:
  // Bytes and cycles are those of a batch of `options.images`, with a memory of `bytes_per_cycle`, 0: as fast as the bus. Throws
  // InputError for what cannot run. Where the host runs all layers, network() has none and there is nothing to run().
  SectionsPlanner(const Graph& graph, const Config& config, const CompileOptions& options,
                  double bytes_per_cycle = 0);
  ~SectionsPlanner();
  SectionsPlanner(const SectionsPlanner&) = delete;
  SectionsPlanner& operator=(const SectionsPlanner&) = delete;

  // The layers of all sections in the order they run. Where the host stands between sections, a layer's input is the map that
  // the section before ended with.
  const plan::Network& network() const { return network_; }
  // Numbers of layers are those of network(), of operators those of the graph; commands follow each other without the host's
  // time.
  plan::Method run(plan::MethodKind kind);
  // Of the method with this index among those run: one a program.
  std::vector<plan::SectionWork> sections(std::size_t method) const;

 private:
  struct Part;
  void add_network(Part& part);

  int images_;
  plan::Network network_;
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace kaiten

#endif  // KAITEN_TARGET_PLAN_SECTIONS_PLAN_H
