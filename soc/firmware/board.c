// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "board.h"

#include <generated/csr.h>
#include <generated/mem.h>
#include <generated/soc.h>
#include <irq.h>
#include <stddef.h>
#include <system.h>

#include "console.h"

extern uint8_t firmware_end[];  // link.ld
extern void trap_handler(void);

static struct board* interrupted_board;

// GCC calls these for copies and zeroed structs; there is no C library.
void* memcpy(void* to, const void* from, size_t bytes) {
  uint8_t* t = to;
  const uint8_t* f = from;
  while (bytes-- > 0) *t++ = *f++;
  return to;
}

void* memset(void* to, int value, size_t bytes) {
  uint8_t* t = to;
  while (bytes-- > 0) *t++ = (uint8_t)value;
  return to;
}

static void* memory_at(uint64_t address) { return (void*)(uintptr_t)address; }

static volatile uint32_t* register_at(uint32_t offset) {
  return (volatile uint32_t*)(uintptr_t)(KAITEN_BASE + offset);
}

static uint32_t read_register(void* context, uint32_t offset) {
  (void)context;
  return *register_at(offset);
}

static void write_register(void* context, uint32_t offset, uint32_t value) {
  (void)context;
  *register_at(offset) = value;
}

static void write_memory(void* context, uint64_t address, const void* data, uint32_t bytes) {
  (void)context;
  memcpy(memory_at(address), data, bytes);
}

static void read_memory(void* context, uint64_t address, void* data, uint32_t bytes) {
  (void)context;
  memcpy(data, memory_at(address), bytes);
}

void board_synchronise(void) {
  flush_cpu_dcache();  // it writes through
#ifdef CONFIG_L2_SIZE
  // Kaiten is on the far side of the L2 cache. Reading twice its size replaces every line, dirty ones are written back.
  const volatile uint32_t* memory = memory_at(MAIN_RAM_BASE);
  for (uint32_t i = 0; i < 2 * CONFIG_L2_SIZE / sizeof *memory; i++) (void)memory[i];
  flush_cpu_dcache();
#endif
}

// Before a start and after the end.
static void synchronise(void* context) {
  struct board* board = context;
  const uint32_t now = board_now();
  board_synchronise();
  board->cycles = now - board->started;
  board->started = board_now();
}

static bool wait(void* context) {
  const struct board* board = context;
  for (int i = 0; i < 50; i++) __asm__ volatile("");  // off the bus for a while
  return board_now() - board->started < board->patience;
}

uint32_t board_now(void) {
  timer0_uptime_latch_write(1);
  return (uint32_t)timer0_uptime_cycles_read();
}

uint64_t board_memory(void) {
  const uintptr_t page = KAITEN_MEMORY_ALIGN;
  return ((uintptr_t)firmware_end + page - 1) / page * page;
}

uint64_t board_memory_bytes(void) { return (uint64_t)MAIN_RAM_BASE + (uint32_t)MAIN_RAM_SIZE - board_memory(); }

// An exception ends everything: nothing of this firmware may cause one.
__attribute__((interrupt("machine"), aligned(4))) void trap_handler(void) {
  const uint32_t cause = csrr(mcause);
  if (!(cause >> 31)) {
    say("exception ");
    say_number(cause);
    say(" at ");
    say_hex(csrr(mepc));
    say(": FAIL\n");
    for (;;) {
    }
  }
  if (!(irq_pending() & irq_getmask() & 1U << KAITEN_INTERRUPT)) return;
  kaiten_interrupt(interrupted_board->device);
  interrupted_board->interrupts++;
}

void board_open(struct board* board, struct kaiten_device* device) {
  board->device = device;
  board->patience = UINT32_MAX;
  board->interrupts = 0;
  board->port = (struct kaiten_port){board,       read_register, write_register, write_memory, read_memory,
                                     synchronise, wait};
  interrupted_board = board;
  csrw(mtvec, (uint32_t)(uintptr_t)trap_handler);
  csrw(mie, 1U << 11);  // external interrupts
  kaiten_ev_enable_write(1);
  irq_setmask(1U << KAITEN_INTERRUPT);
  irq_setie(1);
}
