// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What a compilation asks now and then.
#ifndef KAITEN_CLI_COMPILING_H
#define KAITEN_CLI_COMPILING_H

#include "cli/interrupt.h"
#include "cli/terminal.h"

namespace kaiten::cli {

// Ends it where Ctrl-C asks for that, and shows that it goes on. `progress` must outlive what it is given to.
inline auto compiling(ProgressLine& progress) {
  return [&progress] {
    check_interrupt();
    progress.show("compiling");
  };
}

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_COMPILING_H
