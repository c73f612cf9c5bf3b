// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// What Verilator's runtime asks of Linux and Emscripten's C library declares without having it: which processors threads run on.
// There is one thread here.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>

int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t* set) {
  (void)thread, (void)size, (void)set;
  return ENOSYS;
}

int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t* set) {
  (void)thread, (void)size, (void)set;
  return ENOSYS;
}

int sched_getcpu(void) { return 0; }
