// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/model_run.h"
#include "cli/outputs.h"
#include "report/annotate.h"
#include "report/json_report.h"
#include "report/model_page.h"

namespace kaiten::cli {

namespace po = boost::program_options;

namespace {

// A viewer goes by the name of a file.
void require_name(const std::string& file, Framework framework) {
  const std::string extension = std::filesystem::path(file).extension().string();
  const bool onnx = framework == Framework::Onnx;
  if (extension != (onnx ? ".tflite" : ".onnx")) return;
  throw InputError(fmt::format("--annotate: limit: the model's own format, {}, found: '{}'",
                               onnx ? "ONNX (.onnx)" : "TensorFlow Lite (.tflite)", file));
}

AnnotatedModel annotate(std::span<const std::uint8_t> file, Framework framework, const RunReport& report) {
  const std::vector<Annotation> annotations = annotations_of(report);
  return framework == Framework::Onnx ? annotate_onnx(file, annotations) : annotate_tflite(file, annotations);
}

}  // namespace

int report_command(const Arguments& arguments) {
  po::options_description all("options");
  Job job(all, false);
  job.add_clock();
  ModelRunOptions options(all);
  auto add = all.add_options();
  add("output", po::value<std::string>()->value_name("FILE"), "the page (HTML); '-': standard output");
  add("json", po::value<std::string>()->value_name("FILE"),
      "write what kaiten run reports as JSON, with spans, bound, memory and what would help");
  add("annotate", po::value<std::string>()->value_name("FILE"),
      "write the model with engine and cycles of each layer as metadata, which Netron shows");
  const auto values = job.parse(
      arguments,
      "usage: kaiten report MODEL --output FILE.html [OPTIONS]\n"
      "Runs a model on the simulated accelerator and writes one page: the network with its spans, where its\n"
      "cycles and bytes go, what would make it faster. MODEL 'demo' is the embedded demo network.\n");
  if (!values) return kDone;
  if (values->count("output") + values->count("json") + values->count("annotate") == 0)
    throw InputError("report needs --output, --json or --annotate (see kaiten report --help)");
  const Outputs outputs("report", *values, {"output", "json", "annotate", "wave"}, {"model", "input"});
  if (outputs.wanted("annotate")) {
    job.keep_file();
    const bool onnx = std::filesystem::path(job.model()).extension() == ".onnx";
    if (job.model() != kStandardInput)
      require_name((*values)["annotate"].as<std::string>(), onnx ? Framework::Onnx : Framework::TfLite);
  }
  const ModelRun done = run_model(job, options);
  const RunReport& report = done.result.report;
  if (outputs.wanted("annotate")) require_name((*values)["annotate"].as<std::string>(), done.graph.framework);
  if (outputs.wanted("output")) outputs.write("output", model_page(done.graph, report, done.analysis));
  if (outputs.wanted("json")) {
    nlohmann::ordered_json json = json_of(report);
    json.update(json_of(done.graph, done.analysis));
    outputs.write_json("json", std::move(json));
  }
  if (outputs.wanted("annotate")) {
    const AnnotatedModel annotated = annotate(job.file(), done.graph.framework, report);
    outputs.write("annotate", annotated.file);
  }
  const std::string text = to_text(report, output_width());
  outputs.print(text.substr(text.rfind('\n', text.size() - 2) + 1));
  return report.exact.value_or(true) ? kDone : kDiffers;
}

}  // namespace kaiten::cli
