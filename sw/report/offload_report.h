// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What `kaiten offload` tells: what each policy sends over the link and how long a training step takes with
// it, and layer by layer what travels and what stalls.
#ifndef KAITEN_REPORT_OFFLOAD_REPORT_H
#define KAITEN_REPORT_OFFLOAD_REPORT_H

#include <string>

#include "offload/offload.h"

namespace kaiten {

struct OffloadReport {
  std::string network;
  std::string densities;  // where they come from
  offload::Options options;
  offload::Result result;
};

std::string to_text(const OffloadReport& report, std::size_t width = 0);
std::string to_html(const OffloadReport& report);

}  // namespace kaiten

#endif  // KAITEN_REPORT_OFFLOAD_REPORT_H
