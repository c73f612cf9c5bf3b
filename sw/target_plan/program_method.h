// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// A compiled program as a method of a plan: its spans, layers and commands with their bytes and modelled cycles.
#ifndef KAITEN_TARGET_PLAN_PROGRAM_METHOD_H
#define KAITEN_TARGET_PLAN_PROGRAM_METHOD_H

#include <vector>

#include "graph/graph.h"
#include "plan/plan.h"
#include "program/config.h"
#include "program/program.h"

namespace kaiten {

// `layer_of`: the plan's layer of each operator of the graph, -1: none. Bytes and cycles are those of all images;
// multiply-accumulates and the name are left to the caller.
plan::Method method_of(const Graph& graph, const std::vector<int>& layer_of, const Config& config,
                       const Program& program);

}  // namespace kaiten

#endif  // KAITEN_TARGET_PLAN_PROGRAM_METHOD_H
