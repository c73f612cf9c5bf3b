// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/classes.h"
#include "cli/drawing.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/outputs.h"
#include "draw/draw.h"
#include "report/json_report.h"

namespace kaiten::cli {

namespace po = boost::program_options;

namespace {

constexpr int kMostSeconds = 86400;

std::vector<Int8Values> golden_of(const Graph& graph, const std::string& file, int batch) {
  const std::vector<std::uint8_t> bytes = read_file(file);
  return raw_outputs(graph, {reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                     "golden '" + file + "'", batch);
}

// What the run was given, and what was made of it.
void add_notes(std::vector<std::string>& notes, const Job& job, const ModelInputs& inputs,
               const Classes& classes, bool keep_weights) {
  notes.push_back("input: " + inputs.origin);
  if (keep_weights) notes.emplace_back("the second run: weights that fit on chip are there since the first");
  if (!job.fault_note().empty()) notes.push_back(job.fault_note());
  if (!classes.note.empty()) notes.push_back(classes.note);
  if (!inputs.image) return;
  for (const std::string& note : job.metadata().notes) notes.push_back("metadata: " + note);
}

constexpr const char* kRunUsage =
    "usage: kaiten run MODEL [OPTIONS]\n"
    "Runs a model on the simulated accelerator. MODEL 'demo' is the embedded demo network.\n";
constexpr const char* kTbUsage =
    "usage: tb [OPTIONS]\n"
    "Without arguments: the demo network on the default configuration, checked bit for bit.\n";

}  // namespace

int run_command(const Arguments& arguments, bool is_tb) {
  std::string labels, golden;
  RunOptions options;
  po::options_description all("options");
  Job job(all, is_tb);
  job.add_clock();
  bool keep_weights = false;
  auto add = all.add_options();
  add("output", po::value<std::string>()->value_name("FILE"),
      "write the output tensors, raw; '-': to standard output, nothing else is");
  add("golden", po::value(&golden)->value_name("FILE"),
      "output tensors that somebody else computed, raw, as --output writes them: compared with the run's");
  add("check", po::bool_switch(), "compare every tensor with the reference (the default)");
  add("no-check", po::bool_switch(), "do not compare");
  add("keep-weights", po::bool_switch(&keep_weights),
      "run twice and report the second run, which finds the weights that fit on chip there");
  add("batch", po::value(&job.session_options().batch)->value_name("N")->default_value(1),
      "images of the run: inputs one image behind the other; weights are loaded once for all of them");
  add("json", po::value<std::string>()->value_name("FILE"), "write the report as JSON");
  add("labels", po::value(&labels)->value_name("FILE"), "names of the classes, one a line");
  add("trace", po::value<std::string>()->value_name("FILE"),
      "write queues, commands and stalls as a timeline for ui.perfetto.dev (JSON)");
  add_draw_options(all);
  add("seconds", po::value(&options.seconds)->value_name("S")->default_value(0),
      "repeat the run until the simulation has lasted so long, to measure its speed");
  const auto values = job.parse(arguments, is_tb ? kTbUsage : kRunUsage);
  if (!values) return kDone;
  if ((*values)["check"].as<bool>() && (*values)["no-check"].as<bool>())
    throw InputError("--check and --no-check together");
  if (!(options.seconds >= 0 && options.seconds <= kMostSeconds))
    throw InputError(fmt::format("--seconds is 0 to {}, not {:g}", kMostSeconds, options.seconds));
  if (job.session_options().batch < 1 || job.session_options().batch > kMostBatch)
    throw InputError(fmt::format("--batch is 1 to {}, not {}", kMostBatch, job.session_options().batch));
  options.check = !(*values)["no-check"].as<bool>();
  if (!options.check && job.has_interpreter())
    throw InputError("--oracle " + (*values)["oracle"].as<std::string>() + " and --no-check together");
  const Outputs outputs("run", *values, {"output", "json", "trace", "wave", "draw"},
                        {"model", "input", "labels", "golden"});
  const draw::FindOptions find_options = draw_options(*values);
  options.trace = outputs.wanted("trace");
  const std::vector<std::string> names = read_labels(labels);

  ProgressLine progress;
  job.session_options().keep_weights = keep_weights;
  Session session = job.open(progress);
  Classes classes = classes_of_file(session.graph(), names, labels);
  const ModelInputs inputs = job.inputs(session.graph());
  if (labels.empty() && inputs.image) classes = classes_of_metadata(session.graph(), job.metadata());
  options.labels = classes.names;
  if (outputs.wanted("draw") && !inputs.image) throw InputError("--draw needs an image as --input");
  options.interpreter = job.interpreter(session.graph());
  if (!golden.empty()) options.golden = golden_of(session.graph(), golden, job.session_options().batch);
  check_interrupt();
  if (keep_weights) session.run(inputs.values, {.check = false});
  RunResult result = session.run(inputs.values, options);
  progress.clear();
  RunReport& report = result.report;
  report.clock_mhz = job.clock_mhz();
  add_notes(report.notes, job, inputs, classes, keep_weights);

  std::optional<draw::Findings> found;
  if (outputs.wanted("draw")) {
    found = findings_in(session.graph(), *inputs.image, job.fit(), result.outputs, find_options);
    report.notes.push_back("drawn: " + draw::summary(*found));
    outputs.write("draw", encode_png(draw::drawn(*inputs.image, *found)));
  }
  if (outputs.wanted("output")) outputs.write("output", raw_bytes(session.graph(), result.outputs));
  outputs.write("trace", result.trace);
  if (outputs.wanted("json")) {
    nlohmann::ordered_json json = json_of(report);
    if (found) json["findings"] = json_of(*found);
    outputs.write_json("json", std::move(json));
  }
  outputs.print(to_text(report, output_width()));
  return report.exact.value_or(true) ? kDone : kDiffers;
}

}  // namespace kaiten::cli
