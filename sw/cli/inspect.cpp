// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/inspect.h"

#include <fmt/format.h>

#include <boost/program_options.hpp>

#include "base/error.h"
#include "cli/compiling.h"
#include "cli/options.h"
#include "cli/source.h"
#include "cli/terminal.h"
#include "cli/tool.h"
#include "compile/sections.h"

namespace kaiten::cli {

namespace po = boost::program_options;

int inspect_command(const Arguments& arguments) {
  std::string model;
  std::string config = "base";
  std::string until;
  po::options_description all("options");
  all.add_options()("help,h", "print this text")(
      "model", po::value(&model)->value_name("FILE"),
      "TensorFlow Lite or ONNX model, '-': standard input (also as first argument)")(
      "config", po::value(&config)->value_name("NAME")->default_value(config),
      "configuration to compile for")("until", po::value(&until)->value_name("TENSOR"),
                                      "the network up to this tensor");
  po::variables_map values;
  constexpr const char* kUsage =
      "usage: kaiten inspect MODEL [OPTIONS]\n"
      "Lists the layers of a model and what they become, or every reason why it cannot run (exit code 2).\n";
  if (!read_options(arguments, all, "model", kUsage, values)) return kDone;
  if (model.empty()) throw InputError("inspect needs a model (see kaiten inspect --help)");
  const Config& target = preset(config);
  const ImportResult imported = import_model(model, until);
  if (!imported.graph) {
    print(inspect_text(imported));
    throw InputError(fmt::format("{} cannot run: {} {}", imported.name, imported.refusals.size(),
                                 imported.refusals.size() == 1 ? "reason" : "reasons"));
  }
  const Graph& graph = *imported.graph;
  ProgressLine progress;
  const CompiledSections compiled =
      try_compile_sections(graph, target, {.cancellation_check = compiling(progress), .constants = false});
  progress.clear();
  const std::vector<std::string>& reasons = compiled.refusals;
  if (!reasons.empty()) {
    std::string text = inspect_text(imported, places(graph, reasons), output_width()) +
                       fmt::format("on {}: cannot run, {} {}\n", config, reasons.size(),
                                   reasons.size() == 1 ? "reason" : "reasons");
    for (const std::string& r : reasons) text += "  " + r + "\n";
    print(text);
    throw InputError(fmt::format("{} cannot run on {}: {} {}", imported.name, config, reasons.size(),
                                 reasons.size() == 1 ? "reason" : "reasons"));
  }
  std::int64_t loaded = 0, stored = 0, constants = 0;
  std::size_t commands = 0;
  std::vector<std::string> where(graph.ops.size(), "-");
  std::string notes;
  for (const Section& section : compiled.sections) {
    const std::vector<std::string> here = places(*section.graph, section.program);
    for (std::size_t i = 0; i < here.size(); i++) where[std::size_t(section.ops[i])] = here[i];
    commands += section.program.commands.size();
    constants += section.program.constant_bytes;
    for (const CommandMeta& m : section.program.meta) {
      if (m.kind == CommandMeta::Bytes::kActivations) loaded += m.read_bytes;
      stored += m.written_bytes;
    }
    for (const std::string& note : section.program.notes) notes += note + "\n";
  }
  std::string text =
      inspect_text(imported, where, output_width()) +
      fmt::format(
          "on {}: {} commands, {} bytes of weights and parameters, activations read {} bytes, written {}\n",
          config, commands, constants, loaded, stored);
  if (compiled.sections.size() > 1) {
    text += fmt::format("{} programs one after the other, with operators on the host between them\n",
                        compiled.sections.size());
  }
  text += notes;
  print(text);
  return kDone;
}

}  // namespace kaiten::cli
