// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>

#include "base/error.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/source.h"
#include "cli/terminal.h"
#include "program/config.h"

namespace kaiten::cli {

namespace po = boost::program_options;

int estimate_command(const Arguments& arguments) {
  std::string model, until;
  double clock_mhz = 0;
  CompileOptions options;
  po::options_description all("options");
  auto add = all.add_options();
  add("help,h", "print this text");
  add("model", po::value(&model)->value_name("FILE"),
      "TensorFlow Lite or ONNX model, '-': standard input (also as first argument)");
  add("until", po::value(&until)->value_name("TENSOR"), "the network up to this tensor");
  add("batch", po::value(&options.images)->value_name("N")->default_value(1), "images of a run");
  add_clock_option(all, clock_mhz);
  add("json", po::value<std::string>()->value_name("FILE"), "write the estimates as JSON");
  po::variables_map values;
  constexpr const char* kUsage =
      "usage: kaiten estimate MODEL [OPTIONS]\n"
      "Cycles, bytes and memory of a model on all configurations, by the cycle model: nothing is run.\n";
  if (!read_options(arguments, all, "model", kUsage, values)) return kDone;
  if (model.empty()) throw InputError("estimate needs a model (see kaiten estimate --help)");
  require_clock(values, clock_mhz);
  if (options.images < 1 || options.images > kMostBatch)
    throw InputError(fmt::format("--batch is 1 to {}, not {}", kMostBatch, options.images));
  const Outputs outputs("estimate", values, {"json"}, {"model"});
  ProgressLine progress;
  const Graph graph = require_graph(import_model(model, until));
  std::mutex guard;  // of it and of `estimated`: configurations are compiled side by side
  std::size_t estimated = 0;
  const std::span<const Config> configs = presets();
  const auto show = [&](std::size_t done) {
    const std::lock_guard lock(guard);
    estimated = std::max(estimated, done);
    progress.show(fmt::format("estimated on {} of {} configurations", estimated, configs.size()),
                  double(estimated) / double(configs.size()));
  };
  options.cancellation_check = [&] {
    check_interrupt();
    show(0);
  };
  Estimate result = estimate(graph, configs, options, [&](std::size_t done, std::size_t) { show(done); });
  progress.clear();
  result.clock_mhz = clock_mhz;
  if (outputs.wanted("json")) outputs.write_json("json", json_of(result));
  outputs.print(to_text(result, output_width()));
  return kDone;
}

}  // namespace kaiten::cli
