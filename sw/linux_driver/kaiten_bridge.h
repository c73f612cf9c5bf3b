// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// How a program and a simulated accelerator in another process (`kaiten bridge FOLDER`) talk: two files in a folder that both
// map, `registers` with the page below and `memory` with the bytes that both reach. The page carries one register access at
// a time and the interrupt; the client waits for the answer to each, as a processor does on a bus. C11.
#ifndef KAITEN_LINUX_DRIVER_KAITEN_BRIDGE_H
#define KAITEN_LINUX_DRIVER_KAITEN_BRIDGE_H

// NOLINTBEGIN(modernize-deprecated-headers): C, for C++ too
#include <stdbool.h>
#include <stdint.h>
// NOLINTEND(modernize-deprecated-headers)

#ifdef __cplusplus
extern "C" {
#endif

#define KAITEN_BRIDGE_MAGIC 0x5242544bu  // "KTBR", written last
#define KAITEN_BRIDGE_VERSION 1u
#define KAITEN_BRIDGE_PAGE_BYTES 4096u
#define KAITEN_BRIDGE_REGISTERS "registers"
#define KAITEN_BRIDGE_MEMORY "memory"

// Words that both sides change are read and written by the functions below only.
struct kaiten_bridge_page {
  uint32_t magic, version;
  uint64_t memory_address, memory_bytes;  // as the accelerator sees the file `memory`
  uint32_t server;                        // its process
  uint32_t request;                       // number of the client's last access; its words stand there before
  uint32_t answer;                        // number of the last access that was done
  uint32_t is_write, offset, value;
  uint32_t armed;       // 1: the client waits for an interrupt; as with UIO, one takes it away
  uint32_t interrupts;  // so many until now
};

uint32_t kaiten_bridge_get(const uint32_t* word);
// Wakes who sleeps on the word.
void kaiten_bridge_set(uint32_t* word, uint32_t value);
// Sleeps while the word has the value, no longer than so many milliseconds.
void kaiten_bridge_sleep(uint32_t* word, uint32_t value, int milliseconds);

#ifdef __cplusplus
}
#endif

#endif  // KAITEN_LINUX_DRIVER_KAITEN_BRIDGE_H
