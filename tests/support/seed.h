// SPDX-FileCopyrightText: the Kaiten authors
// SPDX-License-Identifier: Apache-2.0

// The seed of randomised tests: KAITEN_SEED if set (decimal or 0x...), else a fixed default, so that a plain run repeats
// itself. Printed once per program, so that a failure can be repeated from its log.
#ifndef KAITEN_TESTS_SUPPORT_SEED_H
#define KAITEN_TESTS_SUPPORT_SEED_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace kaiten::test {

inline std::uint64_t seed() {
  static const std::uint64_t value = [] {
    const char* text = std::getenv("KAITEN_SEED");
    const std::uint64_t s = text && *text ? std::strtoull(text, nullptr, 0) : 1;
    std::printf("KAITEN_SEED=%llu\n", static_cast<unsigned long long>(s));
    return s;
  }();
  return value;
}

}  // namespace kaiten::test

#endif  // KAITEN_TESTS_SUPPORT_SEED_H
