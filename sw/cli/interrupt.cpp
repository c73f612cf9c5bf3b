// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/interrupt.h"

#include <csignal>

namespace kaiten::cli {

namespace {

volatile std::sig_atomic_t interrupted = 0;

extern "C" void on_interrupt(int) { interrupted = 1; }

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = int(SA_RESETHAND);  // the second one has its usual effect
  sigaction(SIGINT, &action, nullptr);
}

void check_interrupt() {
  if (interrupted != 0) throw Interrupted{};
}

}  // namespace kaiten::cli
