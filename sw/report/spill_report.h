// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What `kaiten cluster --spill-limit` tells: what spilled, what each chip waited for, beside the model's.
#ifndef KAITEN_REPORT_SPILL_REPORT_H
#define KAITEN_REPORT_SPILL_REPORT_H

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cluster/spill.h"

namespace kaiten {

struct SpillReport {
  std::string model, policy;
  cluster::Topology topology;
  cluster::SpillPlan plan;
  cluster::SpillResult result;
  bool checked = true;
};

std::string to_text(const SpillReport& report, std::size_t width = 0);
nlohmann::ordered_json json_of(const SpillReport& report);

}  // namespace kaiten

#endif  // KAITEN_REPORT_SPILL_REPORT_H
