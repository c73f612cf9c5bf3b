// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/tool.h"

int main(int argc, char** argv) { return kaiten::cli::kaiten_main({argv + 1, argv + argc}); }
