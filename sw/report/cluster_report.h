// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What `kaiten cluster` tells: stages on chips, what each did, and period and latency beside the model's.
#ifndef KAITEN_REPORT_CLUSTER_REPORT_H
#define KAITEN_REPORT_CLUSTER_REPORT_H

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cluster/cluster.h"

namespace kaiten {

struct ClusterReport {
  std::string model;
  cluster::Topology topology;
  cluster::Pipeline pipeline;
  cluster::ClusterResult result;
  bool checked = true;
  double clock_mhz = 0;  // 0: the topology's
};

std::string to_text(const ClusterReport& report, std::size_t width = 0);
nlohmann::ordered_json json_of(const ClusterReport& report);

}  // namespace kaiten

#endif  // KAITEN_REPORT_CLUSTER_REPORT_H
