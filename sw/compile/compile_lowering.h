// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Compilation in two steps, for callers that compile one graph several times: lowering depends on the graph, the
// configuration, and the options `rounding` and `compress` alone.
#ifndef KAITEN_COMPILE_COMPILE_LOWERING_H
#define KAITEN_COMPILE_COMPILE_LOWERING_H

#include <cstdint>
#include <string>
#include <vector>

#include "compile/compiler.h"
#include "compile/lower/lowered.h"

namespace kaiten {

// With its refusals.
Lowering lower_for(const Graph& graph, const Config& config, const CompileOptions& options);
// The first of several refusals, and how many more there are.
std::string first_of(const std::vector<std::string>& refusals);
// Throws InputError like compile().
Lowering lower_or_throw(const Graph& graph, const Config& config, const CompileOptions& options);

// The lowerings of a network's sections (sections.h) where the host has only what no engine has, or why that is refused.
struct SectionLowerings {
  std::vector<Lowering> lowerings;
  std::vector<std::string> refusals;  // one line each
};
SectionLowerings lower_sections(const Graph& graph, const Config& config, const CompileOptions& options);

// Which plans get commands: those that may be the best, or all (tests).
enum class PlansTried : std::uint8_t { kThatMayBeBest, kAll };

// What compile() makes of a lowering without refusals.
Program compile_lowering(const Graph& graph, const Config& config, Lowering lowering,
                         const CompileOptions& options, PlansTried tried = PlansTried::kThatMayBeBest);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_COMPILE_LOWERING_H
