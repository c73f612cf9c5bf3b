// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>

#include "cli/options.h"
#include "cli/terminal.h"
#include "cli/tool.h"
#include "compile/lower/operators.h"
#include "import/import.h"
#include "program/config.h"
#include "report/table.h"
#include "sim/sim_device.h"

namespace kaiten::cli {

namespace po = boost::program_options;

int info_command(const Arguments& arguments) {
  std::string config;
  po::options_description all("options");
  all.add_options()("help,h", "print this text")("config", po::value(&config)->value_name("NAME"),
                                                 "only this configuration")(
      "operators", "which operators run where, and their limits (docs/compiler/operators.md)")(
      "imported", "which operators of model files become which (docs/compiler/imported_operators.md)");
  po::variables_map values;
  constexpr const char* kUsage =
      "usage: kaiten info [OPTIONS]\nPrints the configurations: sizes of array, bus and memories.\n";
  if (!read_options(arguments, all, "", kUsage, values)) return kDone;
  if (values.count("operators") != 0) {
    print(operators_page());
    return kDone;
  }
  if (values.count("imported") != 0) {
    print(imported_operators_page());
    return kDone;
  }
  if (!config.empty()) preset(config);
  Table table({{"configuration", false, 0, false},
               {"KP x CP", false, 0, false},
               {"MACs/cycle array", true, 0, false},
               {"vector", true, 4, false},
               {"bus bytes", true, 5, false},
               {"WB KiB", true, 6, false},
               {"VWB KiB", true, 2, false},
               {"SB KiB", true, 6, false},
               {"VB KiB", true, 6, false},
               {"OB pixels", true, 3, false},
               {"ZSB channels", true, 1, false},
               {"simulator", false, 3, false}});
  const std::vector<std::string> built = sim::sim_configs();
  for (const Config& c : presets()) {
    if (!config.empty() && c.name != config) continue;
    const auto kib = [](long long bytes) { return fmt::format("{:.4g}", double(bytes) / 1024); };
    const long long row = 9LL * c.cp;
    table.add({c.name, fmt::format("{} x {}", c.kp, c.cp), std::to_string(c.array_multipliers()),
               std::to_string(c.vector_multipliers()), std::to_string(c.axi_bytes), kib(row * c.wb_rows),
               kib(row * c.vwb_rows), kib(row * c.sb_depth), kib(row * c.vb_depth),
               std::to_string(c.ob_pixels), fmt::format("{} + {}", c.zsb_array, c.zsb_vector),
               std::find(built.begin(), built.end(), c.name) != built.end() ? "built in" : "-"});
  }
  print(table.text(output_width()) + version_text() + "\n");
  return kDone;
}

}  // namespace kaiten::cli
