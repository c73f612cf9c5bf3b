// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>

#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/outputs.h"
#include "program/program.h"
#include "report/table.h"

namespace kaiten::cli {

namespace po = boost::program_options;

namespace {

constexpr const char* kUsage =
    "usage: kaiten compare MODEL [OPTIONS]\n"
    "Runs a model on the simulated accelerator and in the reference, compares them tensor by tensor and "
    "names the\n"
    "first element that differs. MODEL 'demo' is the embedded demo network.\n";

std::string place_text(const Mismatch& m) {
  return fmt::format("{}, {}, {}: {:.9g}, not {:.9g}", m.row, m.column, m.channel, m.found, m.expected);
}

}  // namespace

int compare_command(const Arguments& arguments) {
  po::options_description all("options");
  Job job(all, false);
  const auto values = job.parse(arguments, kUsage);
  if (!values) return kDone;
  const Outputs outputs("compare", *values, {"wave"}, {"model", "input"});

  ProgressLine progress;
  Session session = job.open(progress);
  const ModelInputs inputs = job.inputs(session.graph());
  check_interrupt();
  const RunResult result = session.run(inputs.values, {.interpreter = job.interpreter(session.graph())});
  progress.clear();

  const Graph& graph = session.graph();
  Table table({{"layer", false, 0, true},
               {"operator", false, 1, false},
               {"shape", false, 3, false},
               {"elements", true, 0, false},
               {"different", true, 0, false},
               {"by at most", true, 0, false},
               {"first (row, column, channel)", false, 0, false}});
  std::uint64_t elements = 0;
  std::size_t differing = 0;
  const auto add = [&](const TensorComparison& c, const std::string& with) {
    const Op& op = graph.ops[std::size_t(c.op)];
    const Tensor& tensor = graph.tensors[std::size_t(c.tensor)];
    elements += with.empty() ? c.seen : 0;
    differing += c.different > 0;
    table.add({op.name + with, std::string(name_of(op.kind)), shape_text(tensor.shape), grouped(c.seen),
               grouped(c.different), c.different > 0 ? fmt::format("{:.9g}", c.largest) : "-",
               c.different > 0 ? place_text(c.first) : "-"});
  };
  for (const TensorComparison& c : result.comparisons) add(c, "");
  for (const TensorComparison& c : result.interpreted) {
    if (c.different > 0) add(c, " (" + result.report.confirmation.title() + ")");
  }
  std::string text = table.text(output_width()) + "\ninput: " + inputs.origin + "\n";
  for (const std::string& note : result.report.notes) text += note + "\n";
  text += to_text(result.report.confirmation);
  const std::string title = graph.name + " on " + session.program().config.name + ": ";
  const bool equal = result.report.difference.empty();
  text += equal ? fmt::format("EQUAL {}{} elements of {} tensors\n", title, grouped(elements),
                              result.comparisons.size())
                : fmt::format("DIFFERS {}{}; {} of {} tensors differ\n", title, result.report.difference,
                              differing, result.comparisons.size());
  outputs.print(text);
  return equal ? kDone : kDiffers;
}

}  // namespace kaiten::cli
