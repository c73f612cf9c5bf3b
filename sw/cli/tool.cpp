// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/tool.h"

#include <boost/program_options.hpp>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <new>

#include "base/error.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "commit.inc.h"
#include "sim/sim_device.h"

namespace kaiten::cli {

namespace {

constexpr const char* kUsage =
    "usage: kaiten COMMAND [OPTIONS]\n"
    "\n"
    "  run MODEL        run a model on the simulated accelerator and compare every tensor with the "
    "reference\n"
    "  compare MODEL    the same, tensor by tensor, down to the first element that differs\n"
    "  inspect MODEL    list the layers of a model, or every reason why it cannot run\n"
    "  report MODEL     run a model and write a page: where its cycles and bytes go, what would help\n"
    "  eval MODEL IMAGES the answers for a folder of images or a .npz, and how many are right\n"
    "  quantize MODEL   a float32 ONNX model made int8, with ranges from images\n"
    "  plan MODEL|TABLE which layers share the chip so that the least traffic leaves it\n"
    "  compress FILE    how much smaller lossless codecs make a file of elements, or a model's tensors\n"
    "  offload TABLE    training with activations in the host's memory, with and without compression\n"
    "  swap NETWORK     training on devices that share links, with activations swapped to the host\n"
    "  serve            queries served by SubNets of one SuperNet, shared weights staying on chip\n"
    "  volume NETWORK   slide a network of 3-D convolutions over a volume, by the fastest plan that fits\n"
    "  disasm PROGRAM   print the commands of a program, or those a model compiles to\n"
    "  info             print the configurations and what they hold\n"
    "\n"
    "  kaiten COMMAND --help   options of a command\n"
    "  kaiten --version        version, commit and simulator\n";

int complain(const std::string& program, const std::string& message, int code) {
  print_error(program, message);
  return code;
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
  } catch (const boost::program_options::error& e) {
    return complain(program, std::string(e.what()) + " (see --help)", kBadInput);
  } catch (const DeviceError& e) {
    return complain(program, e.what(), kFailed);
  } catch (const std::bad_alloc&) {
    return complain(program, "out of memory: the input is too large for this computer", kBadInput);
  } catch (const std::exception& e) {
    return complain(program, e.what(), kFailed);
  }
}

}  // namespace

std::string version_text() {
  return std::string("kaiten ") + KAITEN_VERSION + " (" + kCommit + "), " + sim::verilator_version();
}

int kaiten_main(const Arguments& arguments) {
  if (arguments.empty()) {
    std::fputs(kUsage, stderr);
    return kBadInput;
  }
  const std::string& first = arguments.front();
  const Arguments rest(arguments.begin() + 1, arguments.end());
  if ((first == "help" || first == "--help" || first == "-h") && !rest.empty() &&
      !rest.front().starts_with('-'))
    return kaiten_main({rest.front(), "--help"});
  return guarded("kaiten", [&]() -> int {
    if (first == "--help" || first == "-h" || first == "help") {
      std::cout << kUsage;
      return kDone;
    }
    if (first == "--version" || first == "-V" || first == "version") {
      std::cout << version_text() << "\n";
      return kDone;
    }
    if (first == "run") return run_command(rest, false);
    if (first == "compare") return compare_command(rest);
    if (first == "inspect") return inspect_command(rest);
    if (first == "eval") return eval_command(rest);
    if (first == "report") return report_command(rest);
    if (first == "quantize") return quantize_command(rest);
    if (first == "plan") return plan_command(rest);
    if (first == "compress") return compress_command(rest);
    if (first == "offload") return offload_command(rest);
    if (first == "swap") return swap_command(rest);
    if (first == "serve") return serve_command(rest);
    if (first == "volume") return volume_command(rest);
    if (first == "disasm") return disasm_command(rest);
    if (first == "info") return info_command(rest);
    throw InputError("no command '" + first + "' (see kaiten --help)");
  });
}

int tb_main(const Arguments& arguments) {
  return guarded("tb", [&]() -> int {
    if (!arguments.empty() && arguments.front() == "--version") {
      std::cout << version_text() << "\n";
      return kDone;
    }
    return run_command(arguments, true);
  });
}

}  // namespace kaiten::cli
