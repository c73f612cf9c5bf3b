// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What `kaiten swap` tells: throughput, waiting, memory, links and triggers of a training step on a machine, and its
// timeline.
#ifndef KAITEN_REPORT_SWAP_REPORT_H
#define KAITEN_REPORT_SWAP_REPORT_H

#include <string>

#include "swap/policy.h"

namespace kaiten {

struct SwapReport {
  std::string policy;
  swap::Scenario setup;
  swap::Choice choice;  // fits

  double images_per_second() const;  // of one device
  double stall_share() const;        // of the step, mean of the devices
};

std::string to_text(const SwapReport& report, std::size_t width = 0);
std::string to_html(const SwapReport& report);
// The step for Perfetto (ui.perfetto.dev; observe/trace.h names the format): a process for each device, a track for its
// computation and each DMA engine.
std::string trace_of(const SwapReport& report);

}  // namespace kaiten

#endif  // KAITEN_REPORT_SWAP_REPORT_H
