// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <boost/program_options.hpp>

#include "base/error.h"
#include "base/text.h"
#include "cli/compiling.h"
#include "cli/demo.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/source.h"
#include "cli/terminal.h"
#include "cli/tool.h"
#include "compile/sections.h"

namespace kaiten::cli {

namespace po = boost::program_options;

int disasm_command(const Arguments& arguments) {
  std::string file;
  std::string config = "base";
  std::string compress = "off";
  po::options_description all("options");
  all.add_options()("help,h", "print this text")(
      "program", po::value(&file)->value_name("FILE"),
      "program of 64-byte commands, or a model, '-': standard input (also as first argument)")(
      "config", po::value(&config)->value_name("NAME")->default_value(config),
      "configuration a model is compiled for")(
      "compress", po::value(&compress)->value_name("auto|on|off")->default_value(compress),
      "of a model, as kaiten run does; auto, which knows nothing of its maps here, weights only")(
      "output", po::value<std::string>()->value_name("FILE"), "write the program, raw, to a file");
  po::variables_map values;
  constexpr const char* kUsage =
      "usage: kaiten disasm PROGRAM|MODEL [OPTIONS]\n"
      "Prints one line a command: number, operation, waits (LOAD CONV VECTOR STORE), fields that are not "
      "zero. On a terminal lines are cut to its width; --wide: complete.\n";
  if (!read_options(arguments, all, "program", kUsage, values)) return kDone;
  if (file.empty()) throw InputError("disasm needs a program or a model (see kaiten disasm --help)");
  const Outputs outputs("disasm", values, {"output"}, {"program"});
  std::vector<std::uint8_t> bytes;
  std::vector<std::string> layers;  // of each command, for models
  if (file == kDemoName) {
    const auto model = demo_model();
    bytes.assign(model.begin(), model.end());
  } else {
    bytes = read_file(file);
  }
  if (is_model(file, bytes)) {
    ProgressLine progress;
    const Graph graph = require_graph(import_model(file, bytes));
    CompileOptions options{.cancellation_check = compiling(progress)};
    options.compress = compress_of(compress);
    const std::vector<Section> sections = compile_sections(graph, preset(config), options);
    progress.clear();
    if (sections.size() > 1 && outputs.wanted("output")) {
      throw InputError(
          fmt::format("--output takes one program, '{}' becomes {}, with operators on the host between them",
                      file, sections.size()));
    }
    bytes.clear();
    for (const Section& section : sections) {
      const std::string of =
          sections.size() > 1 ? fmt::format(" (program {})", &section - sections.data() + 1) : "";
      for (const CommandMeta& m : section.program.meta)
        layers.push_back(section.graph->ops[std::size_t(m.op)].name + of);
      const std::vector<std::uint8_t> commands = section.program.command_bytes();
      bytes.insert(bytes.end(), commands.begin(), commands.end());
    }
  }
  if (bytes.empty() || bytes.size() % kCommandBytes != 0) {
    throw InputError(fmt::format("'{}' is neither a model nor a program: {} bytes are no multiple of {}",
                                 file, bytes.size(), kCommandBytes));
  }
  std::string last;
  Decoder decoder;
  std::size_t i = 0;  // extensions have no number
  for (std::size_t at = 0; at < bytes.size(); at += kCommandBytes) {
    if (i < layers.size() && layers[i] != last)
      outputs.print(fitted_line(printable("# " + (last = layers[i]))) + "\n");
    try {
      const auto command = decoder.next(std::span(bytes).subspan(at).first<kCommandBytes>());
      if (command) outputs.print(fitted_line(fmt::format("{:5}  {}", i++, to_text(*command))) + "\n");
    } catch (const InputError& e) {
      throw InputError(fmt::format("command {}: {}", i, e.what()));
    }
    check_interrupt();
  }
  if (decoder.waits()) throw InputError(fmt::format("command {}: no conv command follows an extend_conv", i));
  outputs.write("output", bytes);
  return kDone;
}

}  // namespace kaiten::cli
