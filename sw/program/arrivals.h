// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Rows that cross the accelerator's border while it works: those of an input that come from outside as they are made, and those
// of an output that may leave as they are stored. For programs of one image with one input and one output, all of whose
// operators run on the accelerator.
#ifndef KAITEN_PROGRAM_ARRIVALS_H
#define KAITEN_PROGRAM_ARRIVALS_H

#include <vector>

#include "graph/graph.h"
#include "program/program.h"

namespace kaiten {

// What field wait_arrived and register arrived hold.
inline constexpr int kMostRows = 4095;

// Makes each LOAD wait for the rows of the input that it reads, so that the program may start before they are there. Returns
// their number, or 0 where the program must have the whole input before it starts: it is unchanged then.
int wait_for_rows(Program& program, const Graph& graph);
bool waits_for_rows(const Program& program);

// By the number of complete STORE commands, from none on: how many rows of the output, from the first, are in memory. Empty
// where the output is not the device's rows as the host has them.
std::vector<int> rows_stored(const Program& program, const Graph& graph);

}  // namespace kaiten

#endif  // KAITEN_PROGRAM_ARRIVALS_H
