// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The page of `kaiten report`: a run of a network, what the compiler knows of it, and what would make it faster.
#ifndef KAITEN_REPORT_MODEL_PAGE_H
#define KAITEN_REPORT_MODEL_PAGE_H

#include <string>

#include "graph/graph.h"
#include "report/analysis.h"
#include "report/run_report.h"

namespace kaiten {

// `run` with its timeline. One file that fetches nothing and needs no script (page.h).
std::string model_page(const Graph& graph, const RunReport& run, const Analysis& analysis);

// Its drawings.
std::string network_drawing(const Graph& graph, const Config& config, const Analysis& analysis);
std::string cycles_drawing(const RunReport& run);
std::string roofline_drawing(const RunReport& run);
std::string timeline_drawing(const RunReport& run);
std::string bytes_drawing(const RunReport& run, const Analysis& analysis);

}  // namespace kaiten

#endif  // KAITEN_REPORT_MODEL_PAGE_H
