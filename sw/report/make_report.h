// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// From a program, counters and times to the report of a run.
#ifndef KAITEN_REPORT_MAKE_REPORT_H
#define KAITEN_REPORT_MAKE_REPORT_H

#include <cstdint>
#include <string>
#include <vector>

#include "device/counters.h"
#include "graph/graph.h"
#include "observe/layer_clock.h"
#include "program/program.h"
#include "report/run_report.h"

namespace kaiten {

// Fills everything that follows from program, counters and times.
RunReport make_report(const Graph& graph, const Program& program, const Counters& counters,
                      const std::vector<LayerTime>& times);

// Of a part of a run: `ops` are its layers' numbers in the whole network.
struct PartOfReport {
  RunReport report;
  std::vector<int> ops;
};
// The whole of parts that ran one after the other, its layers in the order of `graph`. At least one part.
RunReport joined(const Graph& graph, std::vector<PartOfReport> parts);

// What the device counted otherwise than the compiler predicts, the first kind of bytes as a sentence; empty
// where nothing.
std::string bytes_difference(const RunReport& report);

OutputReport output_report(const Tensor& tensor, const std::vector<std::int8_t>& values,
                           const std::vector<std::string>& labels);

}  // namespace kaiten

#endif  // KAITEN_REPORT_MAKE_REPORT_H
