// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// SubNets that kaiten serve compiles: the table's times by the compiler's cycle model, and queries on the simulated accelerator.
#ifndef KAITEN_CLI_SERVE_SUBNETS_H
#define KAITEN_CLI_SERVE_SUBNETS_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "report/serve_report.h"
#include "run/subnet_plans.h"
#include "run/subnet_runner.h"
#include "serve/model.h"
#include "serve/server.h"

namespace kaiten::cli {

class ServedSubNets {
 public:
  struct Options {
    std::string supernet;  // ofa-resnet50 or ofa-mobilenetv3
    int image = 224;       // its rows and columns
    std::uint64_t seed = 1;
  };

  // Columns of the table are the empty PB and then the candidates. Models have synthetic weights.
  ServedSubNets(Options options, std::vector<serve::Candidate> candidates,
                const serve::Accelerator& accelerator);

  // Every SubGraph cut to what is worth keeping, every SubNet compiled with it; under mpirun each rank has a share of them.
  serve::Table table();
  // Some entries of the table, drawn from the seed, on the simulated accelerator.
  ServeReport::SpotCheck spot_check(std::size_t entries);
  // Queries there.
  serve::Executor executor();
  const ServeReport::Rtl& report() const { return report_; }

 private:
  std::vector<SubNetPlans::Plan> shared_plans(const std::vector<supernet::Encoding>& subgraphs) const;
  const SubNetPlans::Plan& plan(std::size_t column);
  SubNetRunner& runner();
  serve::Taken taken(const SubNetRunner::Result& r);

  Options options_;
  supernet::Family family_;
  std::vector<serve::Candidate> candidates_;
  serve::Accelerator accelerator_;
  SubNetPlans plans_;
  std::map<std::size_t, SubNetPlans::Plan> planned_;  // by column
  std::unique_ptr<SubNetRunner> runner_;
  ServeReport::Rtl report_;
};

// Throws InputError for a SuperNet of which no models are made.
void require_models(const std::string& supernet);

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_SERVE_SUBNETS_H
