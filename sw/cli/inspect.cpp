// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "report/inspect.h"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <iostream>

#include "base/error.h"
#include "cli/interrupt.h"
#include "cli/source.h"
#include "cli/terminal.h"
#include "cli/tool.h"
#include "compile/compiler.h"

namespace kaiten::cli {

namespace po = boost::program_options;

int inspect_command(const Arguments& arguments) {
  std::string model;
  std::string config = "base";
  po::options_description all("options");
  all.add_options()("help,h", "print this text")("model", po::value(&model)->value_name("FILE"),
                                                 "TensorFlow Lite or ONNX model (also as first argument)")(
      "config", po::value(&config)->value_name("NAME")->default_value(config),
      "configuration to compile for");
  po::positional_options_description positional;
  positional.add("model", 1);
  po::variables_map values;
  po::store(po::command_line_parser(arguments).options(all).positional(positional).run(), values);
  if (values.count("help") != 0) {
    std::cout << "usage: kaiten inspect MODEL [OPTIONS]\n"
                 "Lists the layers of a model and what they become, or every reason why it cannot run (exit "
                 "code 2).\n\n"
              << all;
    return kDone;
  }
  po::notify(values);
  if (model.empty()) throw InputError("inspect needs a model (see kaiten inspect --help)");
  const Config& target = preset(config);
  const ImportResult imported = import_model(model);
  if (!imported.graph) {
    print_inspect(std::cout, imported);
    throw InputError(fmt::format("{} cannot run: {} {}", imported.name, imported.refusals.size(),
                                 imported.refusals.size() == 1 ? "reason" : "reasons"));
  }
  const Graph& graph = *imported.graph;
  const Compiled compiled = try_compile(graph, target, {.cancellation_check = check_interrupt});
  const std::vector<std::string>& reasons = compiled.refusals;
  if (!reasons.empty()) {
    print_inspect(std::cout, imported, places(graph, reasons), output_width());
    std::cout << "on " << config << ": cannot run, " << reasons.size()
              << (reasons.size() == 1 ? " reason\n" : " reasons\n");
    for (const std::string& r : reasons) std::cout << "  " << r << "\n";
    throw InputError(fmt::format("{} cannot run on {}: {} {}", imported.name, config, reasons.size(),
                                 reasons.size() == 1 ? "reason" : "reasons"));
  }
  const Program& program = *compiled.program;
  print_inspect(std::cout, imported, places(graph, program), output_width());
  std::int64_t loaded = 0;
  std::int64_t stored = 0;
  for (const CommandMeta& m : program.meta) {
    if (m.kind == CommandMeta::Bytes::kActivations) loaded += m.read_bytes;
    stored += m.written_bytes;
  }
  std::cout << fmt::format(
      "on {}: {} commands, {} bytes of weights and parameters, activations read {} bytes, written {}\n",
      config, program.commands.size(), program.constants.size(), loaded, stored);
  for (const std::string& note : program.notes) std::cout << note << "\n";
  return kDone;
}

}  // namespace kaiten::cli
