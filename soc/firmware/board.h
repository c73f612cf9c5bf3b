// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The driver's port in a LiteX system with a VexRiscv: registers, memory, caches, the interrupt, time.
#ifndef KAITEN_SOC_BOARD_H
#define KAITEN_SOC_BOARD_H

#include "kaiten.h"

struct board {
  struct kaiten_device* device;  // whose interrupt this is
  uint32_t patience;             // cycles after which wait() gives up
  uint32_t started;              // when memory was last made to agree with the caches
  uint32_t cycles;               // from that before a run to its end, when the driver saw it
  uint32_t interrupts;           // since board_open()
  struct kaiten_port port;
};

// Fills the port and lets interrupts come.
void board_open(struct board* board, struct kaiten_device* device);
// Memory for programs: what the firmware leaves of main memory.
uint64_t board_memory(void);
uint64_t board_memory_bytes(void);
// Cycles, the lowest 32 bits.
uint32_t board_now(void);
// What the processor wrote is in memory, and what it reads next comes from there.
void board_synchronise(void);

#endif  // KAITEN_SOC_BOARD_H
