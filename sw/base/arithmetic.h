// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Integer division as hardware sizes need it.
#ifndef KAITEN_BASE_ARITHMETIC_H
#define KAITEN_BASE_ARITHMETIC_H

namespace kaiten {

constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
// a mod b in 0..b-1, also for negative a.
constexpr int positive_mod(int a, int b) { return ((a % b) + b) % b; }

}  // namespace kaiten

#endif  // KAITEN_BASE_ARITHMETIC_H
