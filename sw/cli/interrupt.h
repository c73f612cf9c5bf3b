// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Ctrl-C, SIGTERM and SIGHUP. The first one asks: long work calls check_interrupt() often, which throws, so that files and
// terminal are put in order on the way out. A second one ends the program at once.
#ifndef KAITEN_CLI_INTERRUPT_H
#define KAITEN_CLI_INTERRUPT_H

namespace kaiten::cli {

struct Interrupted {
  int signal;
};

void catch_interrupts();
// The signal that asked, 0: none.
int interrupt_signal();
void check_interrupt();

}  // namespace kaiten::cli

#endif  // KAITEN_CLI_INTERRUPT_H
