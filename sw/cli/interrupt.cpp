// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/interrupt.h"

#include <csignal>
#include <initializer_list>

namespace kaiten::cli {

namespace {

volatile std::sig_atomic_t interrupted = 0;

extern "C" void on_interrupt(int signal) { interrupted = signal; }

}  // namespace

void catch_interrupts() {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows beyond its limit is a write that fails
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = int(SA_RESETHAND);  // the second one has its usual effect
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    // What was ignored stays so (nohup).
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN)
      sigaction(signal, &action, nullptr);
  }
}

int interrupt_signal() { return interrupted; }

void check_interrupt() {
  if (interrupted != 0) throw Interrupted{interrupted};
}

}  // namespace kaiten::cli
