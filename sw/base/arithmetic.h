// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Integer division as hardware sizes need it.
#ifndef KAITEN_BASE_ARITHMETIC_H
#define KAITEN_BASE_ARITHMETIC_H

#include <cstdint>

namespace kaiten {

constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
// The next multiple of `step`.
constexpr std::int64_t align_up(std::int64_t n, std::int64_t step) { return (n + step - 1) / step * step; }
// a mod b in 0..b-1, also for negative a.
constexpr int positive_mod(int a, int b) { return ((a % b) + b) % b; }

}  // namespace kaiten

#endif  // KAITEN_BASE_ARITHMETIC_H
