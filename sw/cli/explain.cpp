// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/explain.h"

#include <boost/program_options.hpp>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/model_run.h"
#include "cli/outputs.h"

namespace kaiten::cli {

namespace po = boost::program_options;

int explain_command(const Arguments& arguments) {
  std::string layer;
  po::options_description all("options");
  Job job(all, false);
  job.add_clock();
  ModelRunOptions options(all);
  auto add = all.add_options();
  add("layer", po::value(&layer)->value_name("NAME"),
      "the layer: its name, the end or a part of it, or its number (also as second argument)");
  add("json", po::value<std::string>()->value_name("FILE"), "write what it says as JSON");
  const auto values = job.parse(arguments,
                                "usage: kaiten explain MODEL LAYER [OPTIONS]\n"
                                "Runs a model on the simulated accelerator and says where the time of one "
                                "layer goes and what would help.\n",
                                "layer");
  if (!values) return kDone;
  if (layer.empty()) throw InputError("explain needs a layer (see kaiten explain --help)");
  const Outputs outputs("explain", *values, {"json", "wave"}, {"model", "input"});
  const ModelRun done = run_model(job, options, [&](const Graph& graph) { layer_called(graph, layer); });
  const Explanation explanation{done.graph, done.result.report, done.analysis,
                                layer_called(done.graph, layer)};
  if (outputs.wanted("json")) outputs.write_json("json", json_of(explanation));
  outputs.print(to_text(explanation, output_width()));
  if (done.result.report.exact.value_or(true)) return kDone;
  outputs.print("FAIL " + done.result.report.difference + "\n");
  return kDiffers;
}

}  // namespace kaiten::cli
