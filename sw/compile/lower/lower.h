// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Operators as the accelerator sees them. Lowering decides what one operator becomes (windows of the array,
// windows of the vector engine, an addition, a part of a map that exists already) and checks the limits of
// the hardware; it knows nothing of memories.
#ifndef KAITEN_COMPILE_LOWER_LOWER_H
#define KAITEN_COMPILE_LOWER_LOWER_H

#include "compile/lower/lowered.h"
#include "graph/graph.h"
#include "graph/quantize.h"
#include "program/config.h"

namespace kaiten {

// No engine has it, or it is to run on the host all the same (Op::on_host).
bool needs_host(const Graph& graph, const Op& op);

Lowering lower(const Graph& graph, const Config& config, RoundingStyle style);

// Parameters for the lanes after the last channel too, where it does not fill its word: their results are the
// zero point, whatever weights and sums stand there. So the packed size of a map does not depend on what was
// left in the buffers; no operator reads these lanes.
void finish_last_words(Lowering& lowering);

}  // namespace kaiten

#endif  // KAITEN_COMPILE_LOWER_LOWER_H
