// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// build/tb, the entry of the design: without arguments the demo network on the default configuration, checked
// bit for bit; with --model FILE any other, with the options of `kaiten run`.
#include "cli/tool.h"

int main(int argc, char** argv) { return kaiten::cli::tb_main({argv + 1, argv + argc}); }
