// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What `kaiten plan` tells: for people a table of the spans of the best plan and a comparison of the methods,
// for programs JSON with the keys of the interface (docs/compiler/planning.md lists them).
#ifndef KAITEN_REPORT_PLAN_REPORT_H
#define KAITEN_REPORT_PLAN_REPORT_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/energy.h"
#include "plan/network.h"
#include "plan/plan.h"
#include "plan/stap.h"

namespace kaiten {

struct SweepPoint {
  std::int64_t capacity_bytes = 0;
  std::vector<std::optional<std::int64_t>> traffic_bytes;  // by method; nothing where a layer does not fit
};

struct PlanReport {
  plan::Network network;  // as planned
  std::string mode;       // "paper" or "hardware"
  std::string config;     // target mode
  std::string compress;   // target mode: "off", "on" or "auto"
  std::int64_t capacity_bytes = 0;
  int batch = 1;
  double planning_ms = 0;
  std::vector<plan::Method> methods;   // the first one's spans are shown
  std::vector<plan::Energy> energies;  // one a method
  std::vector<plan::SectionWork>
      sections;                // target mode, of the first method; one where there is one program
  bool show_commands = false;  // of the first method, target mode
  std::vector<SweepPoint> sweep;
  std::optional<plan::Pipeline> pipeline;  // of the first method's spans
  std::vector<std::string> notes;
  plan::EnergyParameters energy;
  double array_macs_per_cycle = 0;  // target mode
  double clock_mhz = 0;             // 0: none

  // Time of so many cycles at clock_mhz.
  double milliseconds(double cycles) const { return cycles / (clock_mhz * 1e3); }
};

// Name and, where it has one, closure: "optimal (rolling)".
std::string title_of(const plan::Method& method);

// width 0: as wide as needed.
std::string to_text(const PlanReport& report, std::size_t width);

}  // namespace kaiten

#endif  // KAITEN_REPORT_PLAN_REPORT_H
