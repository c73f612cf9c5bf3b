// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE  // syscall()

#include "kaiten_bridge.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint32_t kaiten_bridge_get(const uint32_t* word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }

void kaiten_bridge_set(uint32_t* word, uint32_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
  syscall(SYS_futex, word, FUTEX_WAKE, 1, 0, 0, 0);
}

void kaiten_bridge_sleep(uint32_t* word, uint32_t value, int milliseconds) {
  const struct timespec limit = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  syscall(SYS_futex, word, FUTEX_WAIT, value, &limit, 0, 0);
}
