// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Text over the serial line.
#ifndef KAITEN_SOC_CONSOLE_H
#define KAITEN_SOC_CONSOLE_H

#include <stdint.h>

void say(const char* text);
void say_number(int64_t value);
void say_hex(uint32_t value);
// Until the last byte has left.
void say_all(void);

#endif  // KAITEN_SOC_CONSOLE_H
