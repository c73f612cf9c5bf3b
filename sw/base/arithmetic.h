// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// Integer division as hardware sizes need it.
#ifndef KAITEN_BASE_ARITHMETIC_H
#define KAITEN_BASE_ARITHMETIC_H

#include <concepts>

namespace kaiten {

// a / b rounded up, of a >= 0 and b > 0.
template <std::integral A, std::integral B>
constexpr auto ceil_div(A a, B b) {
  return (a + b - 1) / b;
}
// The first multiple of `step` that is not below n, of n >= 0 and step > 0.
template <std::integral A, std::integral B>
constexpr auto align_up(A n, B step) {
  return ceil_div(n, step) * step;
}
// a mod b in 0..b-1, also for negative a.
constexpr int positive_mod(int a, int b) { return ((a % b) + b) % b; }

}  // namespace kaiten

#endif  // KAITEN_BASE_ARITHMETIC_H
