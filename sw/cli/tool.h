// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The command-line tool: what `kaiten` and `tb` do, with everything that differs between them in their main
// files. Exit codes: 0 done (and exact), 1 the result differs from the reference, 2 the input or the command
// line is at fault, 3 the hardware reported an error or a limit inside the tool was hit, 128 + N ended by signal N (130:
// Ctrl-C).
#ifndef KAITEN_CLI_TOOL_H
#define KAITEN_CLI_TOOL_H

#include <functional>
#include <string>
#include <vector>

namespace kaiten::cli {

enum ExitCode : int { kDone = 0, kDiffers = 1, kBadInput = 2, kFailed = 3, kOfSignal = 128 };

using Arguments = std::vector<std::string>;

// What the command returns, or the exit code of what it throws, which `program` says in one line to standard error.
int guarded(const std::string& program, const std::function<int()>& command);
// `kaiten COMMAND ...`; the arguments without the program's name.
int kaiten_main(const Arguments& arguments);
// `tb ...`: runs the demo network, or takes the options of `kaiten run`.
int tb_main(const Arguments& arguments);

// The commands. They throw InputError, DeviceError, Interrupted or boost::program_options::error.
int run_command(const Arguments& arguments, bool is_tb);
int compare_command(const Arguments& arguments);
int compile_command(const Arguments& arguments);
int inspect_command(const Arguments& arguments);
int explain_command(const Arguments& arguments);
int estimate_command(const Arguments& arguments);
int explore_command(const Arguments& arguments);
int report_command(const Arguments& arguments);
int plan_command(const Arguments& arguments);
int compress_command(const Arguments& arguments);
int offload_command(const Arguments& arguments);
int eval_command(const Arguments& arguments);
int quantize_command(const Arguments& arguments);
int swap_command(const Arguments& arguments);
int cluster_command(const Arguments& arguments);
int board_command(const Arguments& arguments);
int bridge_command(const Arguments& arguments);
int roofline_command(const Arguments& arguments);
int serve_command(const Arguments& arguments);
int volume_command(const Arguments& arguments);
int disasm_command(const Arguments& arguments);
int info_command(const Arguments& arguments);

// "kaiten 0.2.0 (commit), Verilator 5.048 ...".
std::string version_text();

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_TOOL_H
