// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What `kaiten serve` tells: what each scheduler came to, and of the first one what its queries asked for and got.
#ifndef KAITEN_REPORT_SERVE_REPORT_H
#define KAITEN_REPORT_SERVE_REPORT_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "serve/server.h"

namespace kaiten {

struct ServeReport {
  struct Scheduler {
    std::string name;
    serve::Summary summary;
  };

  // Of the queries that ran on the accelerator.
  struct Rtl {
    bool exact = true;                  // all results, against the reference executor
    bool bytes_equal_predicted = true;  // weights read, against what each program announces
    std::uint64_t cycles = 0;           // of queries and SubGraphs
  };

  // Of entries of the table that ran on the accelerator. Errors are the table's cycles by the RTL's, less 1.
  struct SpotCheck {
    std::size_t entries = 0;
    double worst = 0;   // the one farthest from 0
    double mean = 0;    // of magnitudes
    bool exact = true;  // all results, and bytes of weights as announced
  };

  const serve::Table* table = nullptr;  // outlives the report
  serve::SchedulerOptions options;
  std::string stream;                    // where it comes from
  std::vector<Scheduler> schedulers;     // at least one
  std::vector<std::uint64_t> served_by;  // queries of the first scheduler by SubNet
  std::vector<serve::Served> sample;     // of its queries, evenly spaced
  double picojoules = 0;                 // of a byte in memory
  bool complete = true;                  // else interrupted
  std::optional<Rtl> rtl;
  std::optional<SpotCheck> spot_check;
};

std::string to_text(const ServeReport& report, std::size_t width = 0);
std::string to_html(const ServeReport& report);

// The first queries of a stream as a timeline for Perfetto: waiting and serving, what PB holds and its loading, bytes of
// weights that each query reads. A millisecond is one of the viewer.
std::string serve_trace(const serve::Table& table, const std::vector<serve::Served>& queries);

}  // namespace kaiten

#endif  // KAITEN_REPORT_SERVE_REPORT_H
