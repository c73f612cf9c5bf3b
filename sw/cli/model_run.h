// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What `report` and `explain` have in common: a run with its timeline, and what the compiler knows of the network.
#ifndef KAITEN_CLI_MODEL_RUN_H
#define KAITEN_CLI_MODEL_RUN_H

#include <boost/program_options.hpp>
#include <functional>

#include "cli/job.h"
#include "report/analysis.h"

namespace kaiten::cli {

// Options beside those of Job.
struct ModelRunOptions {
  explicit ModelRunOptions(boost::program_options::options_description& all);

  bool no_check = false;
  int batch = 1;
};

struct ModelRun {
  Graph graph;
  RunResult result;
  Analysis analysis;
};

// After job.parse(). `look`, where there is one, sees the graph before anything runs. Throws InputError, DeviceError, Interrupted.
ModelRun run_model(Job& job, const ModelRunOptions& options,
                   const std::function<void(const Graph&)>& look = {});

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_MODEL_RUN_H
