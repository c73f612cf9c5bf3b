// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The port of the C driver (firmware/kaiten.h) for programs on Linux, no kernel module of ours: registers and interrupt by UIO
// (generic-uio), memory by u-dma-buf; or both of a simulated accelerator in another process (`kaiten bridge`). C11 and POSIX.
// docs/software/linux.md says what a board needs. One thread at a time.
#ifndef KAITEN_LINUX_DRIVER_KAITEN_LINUX_H
#define KAITEN_LINUX_DRIVER_KAITEN_LINUX_H

// NOLINTBEGIN(modernize-deprecated-headers): C, for C++ too
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
// NOLINTEND(modernize-deprecated-headers)

#include "firmware/kaiten.h"
#include "linux_driver/kaiten_bridge.h"

#ifdef __cplusplus
extern "C" {
#endif

struct kaiten_linux {
  struct kaiten_port port;           // for kaiten_open()
  uint64_t memory_address;           // bus address of the buffer, a multiple of KAITEN_MEMORY_ALIGN
  uint64_t memory_bytes;             // of the buffer
  struct kaiten_device* interrupts;  // told of interrupts while port.wait() sleeps; null: nobody
  int patience;  // milliseconds from a start after which port.wait() gives up; kaiten_linux_open(): 10,000
  bool lost;     // the simulated accelerator is gone: registers read as ones, nothing comes
  // inside
  int registers_file, memory_file;
  uint64_t register_bytes;
  volatile uint32_t* registers;       // null: a bridge
  struct kaiten_bridge_page* bridge;  // null: UIO
  uint8_t* memory;
  uint32_t interrupts_seen;
  int waited;
};

// Opens "UIO,BUFFER", as "uio0,udmabuf0", of the folders /dev and /sys below `root` ("" of the system), or "bridge:FOLDER".
// False: `fault` says why in a sentence.
bool kaiten_linux_open(struct kaiten_linux* l, const char* device, const char* root, char* fault,
                       size_t fault_bytes);
// Sleeps until an interrupt, no longer than so many milliseconds. True: one came.
bool kaiten_linux_wait(struct kaiten_linux* l, int milliseconds);
void kaiten_linux_close(struct kaiten_linux* l);

#ifdef __cplusplus
}
#endif

#endif  // KAITEN_LINUX_DRIVER_KAITEN_LINUX_H
