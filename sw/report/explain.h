// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What `kaiten explain` prints: all that a report knows of one layer.
#ifndef KAITEN_REPORT_EXPLAIN_H
#define KAITEN_REPORT_EXPLAIN_H

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "report/analysis.h"
#include "report/run_report.h"

namespace kaiten {

struct Explanation {
  const Graph& graph;
  const RunReport& run;
  const Analysis& analysis;
  std::size_t layer = 0;  // index in run.layers
};

// The layer with this name or number (counted from 0), or the only one whose name ends with it, or else has it anywhere. Throws
// InputError, naming two of them where there are several.
std::size_t layer_called(const Graph& graph, const std::string& name);

std::string to_text(const Explanation& explanation, std::size_t width);
nlohmann::ordered_json json_of(const Explanation& explanation);

}  // namespace kaiten

#endif  // KAITEN_REPORT_EXPLAIN_H
