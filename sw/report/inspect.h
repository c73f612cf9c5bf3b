// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What `kaiten inspect MODEL` prints: one line per layer of a model that can run, every reason of one that
// cannot.
#ifndef KAITEN_REPORT_INSPECT_H
#define KAITEN_REPORT_INSPECT_H

#include <cstddef>
#include <string>
#include <vector>

#include "import/import.h"
#include "program/program.h"

namespace kaiten {

// Where each operator of the graph runs: "array", "vector", "host", "nothing to do", or "-" where it is part
// of others.
std::vector<std::string> places(const Graph& graph, const Program& program);
// The same for a graph that does not run: "refused" for the layers that the compiler's refusals name, else
// "-".
std::vector<std::string> places(const Graph& graph, const std::vector<std::string>& refusals);

// With a graph: a table of the layers (name, operator, shapes, window, multiply-accumulates, weight bytes,
// quantisation, where it runs), then totals, inputs and outputs. Without: the number of refusals and each on
// a line of its own. Columns are separated by two spaces or more; the numbers are plain decimals. width: of
// the terminal, 0: unlimited.
std::string inspect_text(const ImportResult& model, const std::vector<std::string>& places = {},
                         std::size_t width = 0);

}  // namespace kaiten

#endif  // KAITEN_REPORT_INSPECT_H
