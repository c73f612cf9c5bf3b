// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The firmware begins here, from ROM or BIOS: no interrupts, stack, data, zeros, main().
  .section .text.start, "ax"
  .global _start
_start:
  csrci mstatus, 8
  la sp, stack_top
  la a0, data_start
  la a1, data_end
  la a2, data_source
copy:
  bgeu a0, a1, copied
  lw a3, 0(a2)
  sw a3, 0(a0)
  addi a0, a0, 4
  addi a2, a2, 4
  j copy
copied:
  la a0, bss_start
  la a1, bss_end
clear:
  bgeu a0, a1, cleared
  sw zero, 0(a0)
  addi a0, a0, 4
  j clear
cleared:
  call main
stop:
  j stop
