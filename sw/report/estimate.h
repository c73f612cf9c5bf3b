// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What `kaiten estimate` prints: a network on all configurations, by the compiler's model alone.
#ifndef KAITEN_REPORT_ESTIMATE_H
#define KAITEN_REPORT_ESTIMATE_H

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "report/analysis.h"

namespace kaiten {

struct Estimate {
  // Of one configuration. Cycles and bytes are those of a whole batch.
  struct Row {
    Config config;
    std::string refusal;  // why it does not run there; the rest is empty then
    std::int64_t cycles = 0;
    std::uint64_t array_macs = 0;
    std::int64_t bytes_read = 0;  // commands included
    std::int64_t bytes_written = 0;
    Footprint footprint;

    double array_utilization() const;  // 0..1
  };
  std::string network;
  std::uint64_t macs = 0;  // of an image
  int batch = 1;
  double clock_mhz = 0;  // 0: none
  std::vector<Row> rows;
};

// On every configuration of `configs`, as many at a time as there are processors: the options' check is called from all of
// these threads. `progress`, one call at a time, has those done and all. Throws nothing for a network that does not run on one.
Estimate estimate(const Graph& graph, std::span<const Config> configs, const CompileOptions& options,
                  const std::function<void(std::size_t done, std::size_t all)>& progress = {});

std::string to_text(const Estimate& estimate, std::size_t width);
nlohmann::ordered_json json_of(const Estimate& estimate);

}  // namespace kaiten

#endif  // KAITEN_REPORT_ESTIMATE_H
