// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

#include "console.h"

#include <generated/csr.h>

static void say_byte(char byte) {
  while (uart_txfull_read()) {
  }
  uart_rxtx_write((uint8_t)byte);
}

void say(const char* text) {
  for (; *text; text++) {
    if (*text == '\n') say_byte('\r');
    say_byte(*text);
  }
}

void say_number(int64_t value) {
  char digits[21];
  char* first = digits + sizeof digits - 1;
  uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
  *first = 0;
  do *--first = (char)('0' + rest % 10);
  while (rest /= 10);
  if (value < 0) *--first = '-';
  say(first);
}

void say_hex(uint32_t value) {
  say("0x");
  for (int at = 28; at >= 0; at -= 4) say_byte("0123456789abcdef"[value >> at & 15]);
}

void say_all(void) {
  while (!uart_txempty_read()) {
  }
}
