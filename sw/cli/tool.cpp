// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/tool.h"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <new>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/interrupt.h"
#include "cli/misused.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "commit.inc.h"
#include "report/json_report.h"
#include "sim/sim_device.h"

namespace kaiten::cli {

namespace {

struct CommandEntry {
  const char* name;
  const char* arguments;
  const char* text;
  int (*function)(const Arguments&);
};

// What there is, in the order of the help; scripts/shell_pages.py reads the same by `kaiten --help=json`.
constexpr CommandEntry kCommands[] = {
    {"run", "MODEL", "run a model on the simulated accelerator and compare every tensor with the reference",
     [](const Arguments& a) { return run_command(a, false); }},
    {"compare", "MODEL", "the same, tensor by tensor, down to the first element that differs",
     compare_command},
    {"compile", "MODEL", "write the program of a model as an image for systems without this tool",
     compile_command},
    {"inspect", "MODEL", "list the layers of a model, or every reason why it cannot run", inspect_command},
    {"report", "MODEL", "run a model and write a page: where its cycles and bytes go, what would help",
     report_command},
    {"explain", "MODEL LAYER", "the same of one layer, on the terminal", explain_command},
    {"estimate", "MODEL", "cycles, bytes and memory on all configurations, by the cycle model",
     estimate_command},
    {"explore", "NETWORK...", "accelerators that could be built: which no other one beats in cycles and area",
     explore_command},
    {"eval", "MODEL IMAGES", "the answers for a folder of images or a .npz, and how many are right",
     eval_command},
    {"quantize", "MODEL", "a float32 ONNX model made int8, with ranges from images", quantize_command},
    {"plan", "MODEL|TABLE", "which layers share the chip so that the least traffic leaves it", plan_command},
    {"compress", "FILE", "how much smaller lossless codecs make a file of elements, or a model's tensors",
     compress_command},
    {"offload", "TABLE", "training with activations in the host's memory, with and without compression",
     offload_command},
    {"swap", "NETWORK", "training on devices that share links, with activations swapped to the host",
     swap_command},
    {"cluster", "MODEL",
     "a network on several accelerators behind links: stages on chips, or images side by side",
     cluster_command},
    {"serve", "", "queries served by SubNets of one SuperNet, shared weights staying on chip", serve_command},
    {"roofline", "[SUPERNET]",
     "what SubNets attain at most on a machine, with and without weights that stay in PB", roofline_command},
    {"volume", "NETWORK", "slide a network of 3-D convolutions over a volume, by the fastest plan that fits",
     volume_command},
    {"board", "MODEL", "run a model on an accelerator of this machine's board, or on that of a bridge",
     board_command},
    {"bridge", "FOLDER", "a simulated accelerator that programs in other processes use like a board's",
     bridge_command},
    {"disasm", "PROGRAM", "print the commands of a program, or those a model compiles to", disasm_command},
    {"info", "", "print the configurations and what they hold", info_command},
};

std::string usage_text() {
  std::string text = "usage: kaiten COMMAND [OPTIONS]\n\n";
  for (const CommandEntry& c : kCommands)
    text += fmt::format("  {:<20} {}\n", std::string(c.name) + " " + c.arguments, c.text);
  return wrapped(text +
                 "\n"
                 "  kaiten COMMAND --help      options of a command\n"
                 "  kaiten --version [--json]  version, commit and simulator\n");
}

std::string commands_json() {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const CommandEntry& c : kCommands)
    all.push_back({{"name", c.name}, {"arguments", c.arguments}, {"text", c.text}});
  return json_text(all);
}

std::string version_json() {
  return json_text(nlohmann::ordered_json{{"name", "kaiten"},
                                          {"version", KAITEN_VERSION},
                                          {"commit", kCommit},
                                          {"simulator", sim::verilator_version()},
                                          {"schema_version", kSchemaVersion},
                                          {"configs", sim::sim_configs()}});
}

bool is_version(const std::string& argument) {
  return argument == "--version" || argument == "-V" || argument == "version";
}

int print_version(const Arguments& rest) {
  if (rest.empty()) {
    std::cout << version_text() << "\n";
  } else if (rest == Arguments{"--json"} || rest == Arguments{"--json", "-"}) {
    std::cout << version_json();
  } else {
    throw InputError("--version knows --json alone, not '" + rest.front() + "'");
  }
  return kDone;
}

int complain(const std::string& program, const std::string& message, int code) {
  print_error(program, message);
  return code;
}

}  // namespace

int with_help(const std::string& call, const std::function<int()>& command) {
  const auto explained = [&](const std::exception& e) {
    return InputError(std::string(e.what()) + " (see " + call + " --help)");
  };
  try {
    return command();
  } catch (const Misused& e) {
    throw explained(e);
  } catch (const boost::program_options::error& e) {
    throw explained(e);
  }
}

int guarded(const std::string& program, const std::function<int()>& command) {
  catch_interrupts();
  try {
    const int code = command();
    std::cout.flush();
    if (!std::cout) return complain(program, "cannot write to standard output", kBadInput);
    return code;
  } catch (const Interrupted& e) {
    return complain(program, "interrupted", kOfSignal + e.signal);
  } catch (const InputError& e) {
    return complain(program, e.what(), kBadInput);
  } catch (const DeviceError& e) {
    return complain(program, e.what(), kFailed);
  } catch (const std::bad_alloc&) {
    return complain(program, "out of memory: the input is too large for this computer", kBadInput);
  } catch (const std::exception& e) {
    return complain(program, e.what(), kFailed);
  }
}

std::string version_text() {
  return std::string("kaiten ") + KAITEN_VERSION + " (" + kCommit + "), " + sim::verilator_version();
}

int kaiten_main(const Arguments& arguments) {
  if (arguments.empty()) {
    std::fputs(usage_text().c_str(), stderr);
    return kBadInput;
  }
  const std::string& first = arguments.front();
  const Arguments rest(arguments.begin() + 1, arguments.end());
  if ((first == "help" || first == "--help" || first == "-h") && !rest.empty() &&
      !rest.front().starts_with('-'))
    return kaiten_main({rest.front(), "--help"});
  return guarded("kaiten", [&]() -> int {
    if (first == "--help" || first == "-h" || first == "help") {
      std::cout << usage_text();
      return kDone;
    }
    if (first == "--help=json") {
      std::cout << commands_json();
      return kDone;
    }
    if (is_version(first)) return print_version(rest);
    std::vector<std::string> names{"help", "version"};
    for (const CommandEntry& c : kCommands) {
      if (first == c.name) return with_help("kaiten " + first, [&] { return c.function(rest); });
      names.emplace_back(c.name);
    }
    if (first.starts_with('-')) {
      throw InputError("no option '" + first + "'" + suggestion(first, {"--help", "--version"}) +
                       " (see kaiten --help)");
    }
    throw InputError("no command '" + first + "'" + suggestion(first, names) + " (see kaiten --help)");
  });
}

int tb_main(const Arguments& arguments) {
  return guarded("tb", [&]() -> int {
    if (!arguments.empty() && arguments.front() == "--version")
      return print_version({arguments.begin() + 1, arguments.end()});
    return with_help("tb", [&] { return run_command(arguments, true); });
  });
}

}  // namespace kaiten::cli
